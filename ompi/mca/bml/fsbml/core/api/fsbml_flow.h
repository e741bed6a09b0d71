/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Feedback: what the transport says of a rail's rate and backlog while the job runs. Part of fsbml_core.h. */
#ifndef FSBML_FLOW_H
#define FSBML_FLOW_H

#include "api/fsbml_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The rate of one rail, kept up to date by what its transport has delivered (core/flow/live_rate.hpp). */
typedef struct fsbml_live_t fsbml_live_t;

/** What was seen of a rail since the look before. */
typedef struct fsbml_live_look_t {
    uint64_t elapsed_ns; /**< since the look before */
    uint64_t busy_ns;    /**< of it, with bytes that were not acknowledged yet; in steps of some ms */
    uint64_t limited_ns; /**< of it, held up by the receiver, not by the rail */
    uint64_t bytes;      /**< acknowledged in it */
    bool is_busy;        /**< at its end */
} fsbml_live_look_t;

typedef enum fsbml_live_change_t {
    FSBML_LIVE_SAME = 0,
    FSBML_LIVE_DRIFT = 1, /**< the rate is another one, by a little */
    FSBML_LIVE_JUMP = 2,  /**< the rail has become far slower or faster */
} fsbml_live_change_t;

/**
 * `gap_ns_per_byte` is what a fragment's byte takes by the model, `burst_bytes` what a shaper's bucket holds,
 * `quantum` the bytes of a fragment. NULL with errno set on failure: -EINVAL for a gap that is none.
 */
fsbml_live_t *fsbml_live_create(double gap_ns_per_byte, double burst_bytes, size_t quantum) FSBML_NOEXCEPT;
void fsbml_live_destroy(fsbml_live_t *live) FSBML_NOEXCEPT;
fsbml_live_change_t fsbml_live_look(fsbml_live_t *live, const fsbml_live_look_t *look) FSBML_NOEXCEPT;
/** A piece of so many bytes, alone on the rail, was delivered within so long. */
fsbml_live_change_t fsbml_live_trial(fsbml_live_t *live, size_t bytes, uint64_t took_ns) FSBML_NOEXCEPT;
/** ns per byte, by all that was seen so far. */
double fsbml_live_gap(const fsbml_live_t *live) FSBML_NOEXCEPT;

/** What is known of the way to one peer over a rail, in ns. */
typedef struct fsbml_round_trip_t {
    uint64_t least_ns; /**< the kernel's shortest round trip, 0: not known */
    uint64_t samples;  /**< of so many */
    uint64_t
        measured_ns;    /**< the same of the pair that measured the rail, 0: not known; then it is twice L */
    uint64_t L_ns;      /**< of its model, 0: it has none */
    uint64_t counts_ns; /**< what the rail counts as farther than measured by now */
} fsbml_round_trip_t;

/** Compares a peer's rails, those in a bit mask (core/flow/distance.hpp): extra_ns is what each adds to its
 * L, mostly nothing. Returns those of which it is not what it counts as by now. */
uint32_t fsbml_distance(uint32_t rails, const fsbml_round_trip_t rail[FSBML_MAX_RAILS],
                        double extra_ns[FSBML_MAX_RAILS]) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_FLOW_H */
