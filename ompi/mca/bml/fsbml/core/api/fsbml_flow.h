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
/** A piece of `bytes` bytes, alone on the rail, was delivered within this time. */
fsbml_live_change_t fsbml_live_trial(fsbml_live_t *live, size_t bytes, uint64_t took_ns) FSBML_NOEXCEPT;
/** ns per byte, by all that was seen so far. */
double fsbml_live_gap(const fsbml_live_t *live) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_FLOW_H */
