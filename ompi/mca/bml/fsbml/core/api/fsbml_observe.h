/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What an observer sees of messages: extremes, decisions, arrivals, and rates that change. Part of
 * fsbml_core.h. */
#ifndef FSBML_OBSERVE_H
#define FSBML_OBSERVE_H

#include "api/fsbml_schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A message that a rail got, and what there was to choose from at that moment. */
typedef struct fsbml_decision_t {
    uint64_t now_ns;
    uint64_t bytes;
    uint32_t peer;                        /**< its rank */
    uint32_t candidates;                  /**< rails, a bit mask */
    uint32_t rail;                        /**< the one that got it */
    uint64_t backlog_ns[FSBML_MAX_RAILS]; /**< of the candidates, before; the others' are 0 */
    uint64_t
        arrival_ns[FSBML_MAX_RAILS];    /**< predicted for the candidates, after now_ns; the others' are 0 */
    uint64_t extra_ns[FSBML_MAX_RAILS]; /**< of the arrival: what the destination adds to the model */
} fsbml_decision_t;

/** A message whose arrival was found out. */
typedef struct fsbml_arrival_t {
    uint32_t rail;
    uint64_t bytes;
    uint64_t predicted_ns; /**< from when it was given to the rail */
    uint64_t observed_ns;
} fsbml_arrival_t;

/** A rail that became slower or faster while the job ran. */
typedef struct fsbml_change_t {
    uint32_t rail;
    char name[FSBML_NAME_MAX]; /**< of the rail, on */
    char node[FSBML_NAME_MAX]; /**< this node */
    uint64_t ns;               /**< into the job */
    double before_mbps, after_mbps;
} fsbml_change_t;

#define FSBML_MOST_CHANGES 64
/** The largest ones, in the order of time, and how many more there were. */
typedef struct fsbml_changes_t {
    uint32_t n, more;
    fsbml_change_t change[FSBML_MOST_CHANGES];
} fsbml_changes_t;

/** Puts one in its place in time. One whose rates are none, or 0, is left out. */
void fsbml_changes_add(fsbml_changes_t *into, const fsbml_change_t *change) FSBML_NOEXCEPT;

/** Callbacks that get all of them; both are called with the observer's lock held, NULL: not wanted. */
typedef struct fsbml_audience_t {
    void *context;
    void (*decision)(void *context, const fsbml_decision_t *d);
    void (*arrival)(void *context, const fsbml_arrival_t *a);
} fsbml_audience_t;

typedef struct fsbml_observer_config_t {
    uint32_t trace_every;   /**< every Nth decision is kept; 0: none is */
    uint32_t trace_entries; /**< most decisions that are kept, the latest ones */
    fsbml_audience_t audience;
} fsbml_observer_config_t;

typedef struct fsbml_observer_t fsbml_observer_t;

/** One for a scheduler, whose charges it is told by fsbml_observer_charge(). NULL with errno set on
 * failure. */
fsbml_observer_t *fsbml_observer_create(fsbml_sched_t *s, const fsbml_observer_config_t *c) FSBML_NOEXCEPT;
void fsbml_observer_destroy(fsbml_observer_t *o) FSBML_NOEXCEPT;

/**
 * Charges its scheduler as fsbml_sched_charge(), and records the charge. `far` is what the
 * destination adds, NULL: nothing. Any thread; takes a lock for decisions that are traced or have an audience
 * only.
 */
void fsbml_observer_charge(fsbml_observer_t *o, size_t rail, uint64_t now_ns, size_t bytes,
                           uint32_t candidates, uint32_t peer, const fsbml_far_t *far) FSBML_NOEXCEPT;

void fsbml_observer_arrived(fsbml_observer_t *o, const fsbml_arrival_t *a) FSBML_NOEXCEPT;

/** What was seen of a rail since the observer is there. */
typedef struct fsbml_rail_seen_t {
    uint64_t passed_over;               /**< times that it was a candidate and another rail got the message */
    uint64_t backlog_max_ns;            /**< right after a charge */
    uint64_t arrivals;                  /**< that were found out */
    uint64_t predicted_ns, observed_ns; /**< sums over these */
    uint64_t error_ns;                  /**< sum of |observed - predicted| */
} fsbml_rail_seen_t;

void fsbml_observer_rail(const fsbml_observer_t *o, size_t rail, fsbml_rail_seen_t *out) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_OBSERVE_H */
