/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow: what the transport says of the rails while the job runs, and how much may wait on them.
 *
 * The core decides (core/flow/flow.hpp): which rails are to be looked at, what follows for their rates
 * and backlogs, which rail bulk takes, and when it is to wait. This room reads the clock, asks the kernel
 * what this process' connections have delivered and what is left, and tells of rates that have changed: it
 * prints the line "rail0 fell from ..." (flow.c, at verbosity 5) and calls its listener. The kernel also
 * knows the shortest round trip to each peer, and so on which of its rails a peer has more latency than the
 * pair that has measured them.
 */
#ifndef MCA_BML_FSBML_FLOW_H
#define MCA_BML_FSBML_FLOW_H

#include "peers/peers.h"

/** Messages up to this size are urgent; those beyond FSBML_FLOW_BULK may wait. */
enum { FSBML_FLOW_URGENT = 4096 };
/** Of a message that comes in, up to so many bytes are sooner acknowledged packet by packet
 * (compat/socket.c). */
enum { FSBML_FLOW_CALM = 9216 };

/** Once there are rails. `urgent` is called when small messages come amid bulk again, or no more. */
void fsbml_flow_setup(void (*urgent)(bool begins));
void fsbml_flow_teardown(void);
/** The function that is told of a rail that has become slower or faster for good: once for each change,
 * `into_ns` after the rails were set up, with its rates in Mbit/s. It is called from a progress function, and
 * sends nothing. One at most, any time after fsbml_flow_setup() and until fsbml_flow_teardown(). */
void fsbml_flow_listen(void (*changed)(uint32_t rail, uint64_t into_ns, double before_mbps,
                                       double after_mbps));
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

/** What bulk is not to be in the way of: small messages, and the answers that other bulk waits for, as where
 * long messages cross. */
typedef enum { FSBML_FLOW_SMALL, FSBML_FLOW_ANSWER, FSBML_FLOW_KINDS } fsbml_flow_kind_t;

typedef struct fsbml_flow_t {
    _Atomic uint64_t short_until_ns[FSBML_FLOW_KINDS]; /**< until then queues are short for these */
    _Atomic uint64_t bulk_until_ns;  /**< until then this process' bulk is on its way, by the model */
    _Atomic uint64_t mixed_until_ns; /**< bulk that comes until then has small messages in its midst */
    /* what each message writes, apart from what it only reads */
    _Alignas(64) _Atomic bool has_sent; /**< since it has received */
    _Atomic uint32_t received;          /**< messages */
    _Atomic uint32_t answers;           /**< of a few packets, that came in behind one that was sent */
} fsbml_flow_t;
extern fsbml_flow_t fsbml_flow;

/** A message is sent, or has come in; the counts may miss some where several threads do it. */
static inline void fsbml_flow_sends(void)
{
    if (!atomic_load_explicit(&fsbml_flow.has_sent, memory_order_relaxed)) { /* or threads fight for it */
        atomic_store_explicit(&fsbml_flow.has_sent, true, memory_order_relaxed);
    }
}
static inline void fsbml_flow_receives(size_t bytes)
{
    const uint32_t received = atomic_load_explicit(&fsbml_flow.received, memory_order_relaxed);
    atomic_store_explicit(&fsbml_flow.received, received + 1, memory_order_relaxed);
    if (atomic_load_explicit(&fsbml_flow.has_sent, memory_order_relaxed)) {
        const uint32_t answers = atomic_load_explicit(&fsbml_flow.answers, memory_order_relaxed);
        atomic_store_explicit(&fsbml_flow.answers, answers + (bytes <= FSBML_FLOW_CALM ? 1 : 0),
                              memory_order_relaxed);
        atomic_store_explicit(&fsbml_flow.has_sent, false, memory_order_relaxed);
    }
}

static inline void fsbml_flow_reach(_Atomic uint64_t *to, uint64_t ns)
{
    if (ns > atomic_load_explicit(to, memory_order_relaxed)) {
        atomic_store_explicit(to, ns, memory_order_relaxed);
    }
}

/** Queues stay short for so long. */
enum { FSBML_FLOW_SHORT_NS = 1000000000 };

/** An urgent message is to be sent. A peer that waits for an answer has bulk to send, whatever this end sends
 * next; a small message may be the last of both. */
static inline void fsbml_flow_urgent(uint64_t now, fsbml_flow_kind_t kind)
{
    const uint64_t bulk = atomic_load_explicit(&fsbml_flow.bulk_until_ns, memory_order_relaxed);
    if (now < bulk) {
        if (FSBML_FLOW_ANSWER == kind) {
            fsbml_flow_reach(&fsbml_flow.short_until_ns[FSBML_FLOW_ANSWER], now + FSBML_FLOW_SHORT_NS);
        } else {
            fsbml_flow_reach(&fsbml_flow.mixed_until_ns, bulk);
        }
    }
}

/** Bulk is to be sent. */
void fsbml_flow_bulk_comes(uint64_t now);
/** The first part of a message is to be sent: it may be short, and bulk of which the rest waits for its
 * answer. */
static inline void fsbml_flow_begins(size_t bytes)
{
    if (bytes >= FSBML_FLOW_URGENT
        && 0 != atomic_load_explicit(&fsbml_flow.mixed_until_ns, memory_order_relaxed)) {
        fsbml_flow_bulk_comes(fsbml_now_ns());
    }
}

/** The rail for a piece of bulk of *bytes bytes to a peer, of which `best` would deliver first of those in a
 * mask; -1: it is to wait, and to be refused: the PML offers it again. `of` names the message, `left` are its
 * bytes that were not given to any rail yet, these among them. *bytes becomes less only if it `may_cut`. */
int fsbml_flow_rail(mca_bml_fsbml_endpoint_t *ep, uint32_t best, uint32_t rails, size_t *bytes, bool may_cut,
                    const void *of, size_t left);

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
    int window;                       /**< that fsbml_socket_calm has left; 0: the kernel's own */
} fsbml_connection_t;
/** Whether messages come one by one, each behind one that was sent, or several behind each other. */
void fsbml_sockets_calm(bool one_by_one);
/** A path that tcp has a connection for, or will have. */
int fsbml_sockets_add(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path);
/** Before its BTLs' endpoints go. */
void fsbml_sockets_drop(mca_bml_fsbml_endpoint_t *ep);
/** What all connections of a rail have done since the look before. */
fsbml_flow_seen_t fsbml_sockets_look(uint32_t rail);
/** Whether a peer has less than so many bytes under way by a rail, by which there are other peers. */
bool fsbml_sockets_is_idle(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, size_t bytes);
/** Whether no bulk of this process is under way by any connection, as far as the kernel tells of them. */
bool fsbml_sockets_are_drained(void);
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

#endif /* MCA_BML_FSBML_FLOW_H */
