/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Feedback: what the transport says of the rails while the job runs. Part of fsbml_core.h. */
#ifndef FSBML_FLOW_H
#define FSBML_FLOW_H

#include "api/fsbml_base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fsbml_sched_t; /* fsbml_schedule.h */

/** Fragments and messages beyond this size may wait. */
enum { FSBML_FLOW_BULK = 8192 };

/** What a process learns of its rails while it sends, and how much bulk a rail may have
 * (core/flow/flow.hpp). One thread at a time may look; any may offer bulk. */
typedef struct fsbml_feedback_t fsbml_feedback_t;

typedef struct fsbml_feedback_config_t {
    struct fsbml_sched_t *sched; /**< whose rails these are; it is corrected */
    uint32_t watched;            /**< bits: rails whose transport can be asked */
    bool alone;                  /**< no other process uses the rails */
    bool may_refuse;             /**< bulk that is refused is offered again */
    uint64_t busy_step_ns;       /**< in steps of so much the transport counts how long it was busy */
} fsbml_feedback_config_t;

/** NULL with errno set on failure. */
fsbml_feedback_t *fsbml_feedback_create(const fsbml_feedback_config_t *config) FSBML_NOEXCEPT;
void fsbml_feedback_destroy(fsbml_feedback_t *f) FSBML_NOEXCEPT;
/** Size of fragments on a rail: what it must have to be busy. */
void fsbml_feedback_quantum(fsbml_feedback_t *f, size_t rail, size_t bytes) FSBML_NOEXCEPT;
/** What a byte of a fragment takes on a rail by now, in ns; 0: not known. Any thread. */
double fsbml_feedback_gap(const fsbml_feedback_t *f, size_t rail) FSBML_NOEXCEPT;

/* ---------------------------------------------------------------- looking */

/** What was seen of a rail since the look before. */
typedef struct fsbml_live_look_t {
    uint64_t elapsed_ns;   /**< since the look before */
    uint64_t busy_ns;      /**< of it, with bytes that were not acknowledged yet */
    uint64_t limited_ns;   /**< of it, held up by the receiver, not by the rail */
    uint64_t bytes;        /**< acknowledged in it */
    uint64_t uncounted_ns; /**< for so much longer than busy_ns it may have been busy */
    bool is_busy;          /**< at its end */
    bool is_uneven;        /**< acknowledgements may be: of several peers with bulk, or behind as much */
    bool may_have_idled; /**< it was so long ago that all that was queued then has been acknowledged meanwhile
                          */
} fsbml_live_look_t;

/** What all connections of a rail have done since the look before. */
typedef struct fsbml_flow_seen_t {
    size_t n;               /**< connections that are known; 0: nothing else is */
    fsbml_live_look_t look; /**< but for what follows from the look before: time, and whether it is busy */
    uint64_t queued;        /**< bytes that the rail has still to take, not what a receiver has no room for */
    uint64_t in_flight;     /**< of them, those that have been sent */
    size_t with_bulk;       /**< connections that have more than FSBML_FLOW_BULK of them */
    uint64_t received;      /**< bytes, the other way */
    uint64_t round_trip_ns; /**< the shortest */
    uint64_t usual_ns;      /**< of late, of those that received most */
    double payload;         /**< share of it in what an interface counts */
    bool all_known;         /**< there is no other connection on it */
    uint64_t counted;       /**< bytes that the interface has sent in all; 0: unknown. Not used if alone */
} fsbml_flow_seen_t;

/** What one connection has done since the look before, and what it has left. */
typedef struct fsbml_flow_connection_t {
    uint64_t acknowledged, busy_ns, limited_ns; /**< as in a look */
    uint64_t queued;                            /**< bytes that are not acknowledged */
    uint64_t in_flight;                         /**< of them, those that have been sent */
    uint64_t received;                          /**< bytes, the other way */
    uint64_t round_trip_ns, usual_ns;           /**< the shortest; of late */
    double payload;
    bool is_first;  /**< there was no look before: only what it has left counts */
    bool is_silent; /**< it waits for its peer, and not for the rail: a retransmission has timed out */
} fsbml_flow_connection_t;
/** Adds a connection to what was seen of its rail. */
void fsbml_flow_add(fsbml_flow_seen_t *seen, const fsbml_flow_connection_t *c) FSBML_NOEXCEPT;

/** To be called whenever the process looks after its networks. True, at most once a millisecond: its rails
 * are to be looked at, those that have something to do, and then fsbml_feedback_end() is to be called. */
bool fsbml_feedback_begin(fsbml_feedback_t *f, uint64_t now_ns) FSBML_NOEXCEPT;
/** Whether this rail's transport is to be asked. */
bool fsbml_feedback_asks(fsbml_feedback_t *f, size_t rail, uint64_t now_ns) FSBML_NOEXCEPT;
/** What it has said; n 0: it knows nothing of this rail, which goes by its model. */
void fsbml_feedback_seen(fsbml_feedback_t *f, size_t rail, uint64_t now_ns,
                         const fsbml_flow_seen_t *seen) FSBML_NOEXCEPT;
/** Processor time that this look has taken, times the processes that share a processor: looks have 2 % of it
 * at most. */
void fsbml_feedback_end(fsbml_feedback_t *f, uint64_t took_ns) FSBML_NOEXCEPT;

/** A rail's rate that has become another one, and has lasted. */
typedef struct fsbml_rate_change_t {
    uint32_t rail;
    double before_mbps, after_mbps;
} fsbml_rate_change_t;
/** The next change to be told of; false: there is none. */
bool fsbml_feedback_change(fsbml_feedback_t *f, fsbml_rate_change_t *change) FSBML_NOEXCEPT;

/* ------------------------------------------------------------------- bulk */

/** A fragment, or a message of more than FSBML_FLOW_BULK bytes, for which a rail is wanted. */
typedef struct fsbml_bulk_t {
    const void *of; /**< names the message */
    size_t left;    /**< bytes of it that were not given to any rail yet, these among them */
    size_t bytes;   /**< of this piece; may become less if it may be cut */
    uint32_t best;  /**< the rail on which it would be delivered first */
    uint32_t rails; /**< bits: those that reach the peer */
    bool may_cut;
    bool is_idle; /**< the peer has less than a fragment under way by `best` */
} fsbml_bulk_t;

/** The rail for a piece of bulk; -1: it is to wait, and to be offered again. `is_short`: small messages are
 * sent as well, so a rail gets no more than keeps it busy (core/flow/flow.hpp). */
int fsbml_feedback_rail(fsbml_feedback_t *f, uint64_t now_ns, bool is_short,
                        fsbml_bulk_t *piece) FSBML_NOEXCEPT;
/** How often bulk was refused. */
uint32_t fsbml_feedback_refusals(const fsbml_feedback_t *f) FSBML_NOEXCEPT;

/** What is known of the way to one peer over a rail, in ns. */
typedef struct fsbml_round_trip_t {
    uint64_t least_ns; /**< the kernel's shortest round trip, 0: not known */
    uint64_t samples;  /**< of so many */
    uint64_t
        measured_ns;    /**< the same of the pair that measured the rail, 0: not known; then it is twice L */
    uint64_t L_ns;      /**< of its model, 0: it has none */
    uint64_t counts_ns; /**< what the rail counts as farther than measured by now */
} fsbml_round_trip_t;

/** Compares a peer's rails, those in a bit mask (core/flow/flow.hpp): extra_ns is what each adds to its
 * L, mostly nothing. Returns those of which it is not what it counts as by now. */
uint32_t fsbml_distance(uint32_t rails, const fsbml_round_trip_t rail[FSBML_MAX_RAILS],
                        double extra_ns[FSBML_MAX_RAILS]) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_FLOW_H */
