/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow: what the transport says of the rails while the job runs, and how much may wait on them.
 *
 * At most once a millisecond, while a rail has something to do, the kernel is asked what this process'
 * connections on it have delivered, and what is left. That corrects the rail's rate and its backlog. While
 * small messages are sent as well, a rail gets no more bulk than it needs to stay busy: what the PML is
 * refused it keeps, and offers again, so that the rail is chosen when there is room on it, and nothing small
 * waits behind much. The kernel also knows the shortest round trip to each peer, and so on which of its rails
 * a peer is farther than the pair that has measured them.
 */
#ifndef MCA_BML_FSBML_FLOW_H
#define MCA_BML_FSBML_FLOW_H

#include "peers/peers.h"

/** Messages up to this size are urgent, fragments and messages beyond the other may wait. */
enum { FSBML_FLOW_URGENT = 4096, FSBML_FLOW_BULK = 8192 };

/** Once there are rails. `urgent` is called when small messages are sent again, or no more. */
void fsbml_flow_setup(void (*urgent)(bool begins));
void fsbml_flow_teardown(void);
/** Size of fragments: what a rail must have to be busy. */
void fsbml_flow_quantum(const mca_bml_fsbml_group_t *group, size_t bytes);

/** What a byte of a fragment takes on a rail by now, in ns; 0: not known. */
double fsbml_flow_gap(uint32_t rail);

/** What the kernel says of this process' TCP connections to peers over a rail. */
typedef struct fsbml_flow_tcp_t {
    uint32_t connections;
    uint64_t busy_ns;       /**< sum of the times that there was data which the peer had not acknowledged */
    uint64_t retransmitted; /**< segments */
} fsbml_flow_tcp_t;
/** False: there is none. Any thread. */
bool fsbml_flow_tcp(uint32_t rail, fsbml_flow_tcp_t *sum);
/** The kernel's shortest round trip to a peer, in ns; 0: not known. */
uint64_t fsbml_flow_round_trip(mca_bml_fsbml_endpoint_t *ep, uint32_t rail);

typedef struct fsbml_flow_t {
    _Atomic uint64_t short_until_ns; /**< until then queues are short; UINT64_MAX: there is no feedback */
} fsbml_flow_t;
extern fsbml_flow_t fsbml_flow;

/** An urgent message was sent. */
static inline void fsbml_flow_urgent(uint64_t now)
{
    enum { FOR_NS = 1000000000, STEP_NS = 10000000 }; /* written once a step: others may read it */
    if (now + FOR_NS - STEP_NS > atomic_load_explicit(&fsbml_flow.short_until_ns, memory_order_relaxed)) {
        atomic_store_explicit(&fsbml_flow.short_until_ns, now + FOR_NS, memory_order_relaxed);
    }
}

/** The rail for a piece of bulk of *bytes bytes, of which `best` would deliver first of those in a mask; -1:
 * it is to wait, and to be refused: the PML offers it again. `of` names the message, `left` are its bytes
 * that were not given to any rail yet, these among them. *bytes becomes less only if it `may_cut`. */
int fsbml_flow_rail(uint32_t best, uint32_t rails, size_t *bytes, bool may_cut, const void *of, size_t left);

/* ------------------------------------------------------------------- inside the room */

/* flow/sockets.c: what the kernel says of this process' connections */
typedef struct fsbml_connection_t {
    mca_bml_fsbml_endpoint_t *ep;
    mca_bml_fsbml_path_t *path;
    size_t place;    /**< among all */
    int fd;          /**< tcp's descriptor, -1: it is not connected */
    uint64_t number; /**< the kernel's of that socket; 0: it is not what it should be, and nothing is known of
                        it */
    fsbml_kernel_flow_t last;         /**< what was said at the look before */
    bool is_known, active;            /**< there was one; there was something to deliver then */
    uint64_t round_trip_ns, segments; /**< when it was last asked */
} fsbml_connection_t;
/** A path that tcp has a connection for, or will have. */
int fsbml_sockets_add(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** Before its BTLs' endpoints go. */
void fsbml_sockets_drop(mca_bml_fsbml_endpoint_t *ep);
/** What all connections of a rail have done since the look before. */
typedef struct fsbml_flow_seen_t {
    size_t n; /**< connections that are known; 0: nothing else is */
    fsbml_live_look_t look;
    uint64_t queued;        /**< bytes that the rail has still to take, not what a receiver has no room for */
    uint64_t round_trip_ns; /**< the shortest */
    double payload;         /**< share of it in what an interface counts */
    bool all_known;         /**< there is no other connection on it */
} fsbml_flow_seen_t;
fsbml_flow_seen_t fsbml_sockets_look(uint32_t rail);
void fsbml_sockets_forget(void);
/** Asks the kernel for the round trip of one connection, each in its turn, or of a peer's, and calls a
 * function for that peer; meanwhile no connection goes. */
void fsbml_sockets_turn(void (*then)(mca_bml_fsbml_endpoint_t *ep));
void fsbml_sockets_ask(mca_bml_fsbml_endpoint_t *ep, void (*then)(mca_bml_fsbml_endpoint_t *ep));

/* flow/latency.c: peers that are farther than measured */
void fsbml_latency_setup(void);
void fsbml_latency_teardown(void);
void fsbml_latency_look_at(mca_bml_fsbml_endpoint_t *ep);
void fsbml_latency_forget(mca_bml_fsbml_endpoint_t *ep);

/* flow/room.c: what may be sent */
/** `alone`: no other rank uses the rails; `may`: bulk may be refused. */
void fsbml_room_begin(bool alone, bool may);
/** Returns how often bulk was refused. */
uint32_t fsbml_room_end(void);
/** What a byte takes on a rail, and with how much to do it takes no more bulk. */
void fsbml_room_set(uint32_t rail, double gap, uint64_t window_ns);
/** What this process has with it at a look. */
void fsbml_room_left(uint32_t rail, size_t bytes);
/** A rail is to have the next small piece; false: another one has, or is to. */
bool fsbml_room_try(uint32_t rail);
/** When a rail was given such a piece, and how large; 0: none is under way. */
uint64_t fsbml_room_tried(uint32_t rail, size_t *bytes);
void fsbml_room_try_end(void);

#endif /* MCA_BML_FSBML_FLOW_H */
