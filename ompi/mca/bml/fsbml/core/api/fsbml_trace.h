/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The decisions that an observer has kept, as a file (docs/trace.md): for `./fsbml trace` and `./fsbml
 * whatif`. No header of Open MPI. */
#ifndef FSBML_TRACE_H
#define FSBML_TRACE_H

#include "api/fsbml_core.h"
#include "api/fsbml_observe.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The peer of a decision that is no rank of this job, but of another one. */
#define FSBML_PEER_ELSEWHERE UINT32_MAX

/** What a process knows beside the decisions. */
typedef struct fsbml_trace_t {
    uint32_t rank, ranks;
    const char *node; /**< host name */
    fsbml_policy_t policy;
    uint32_t trace_every; /**< every Nth decision was kept */
    uint32_t n_rails;
    const char *name[FSBML_MAX_RAILS]; /**< "eth1" */
    const char *key[FSBML_MAX_RAILS];  /**< the same on every node: "tcp:10.71.1.0/24" */
    bool measured[FSBML_MAX_RAILS];
    fsbml_loggp_t model[FSBML_MAX_RAILS]; /**< of the measured ones, as the scheduler has it */
    uint64_t origin_ns;     /**< a moment before all decisions on the clock that these are told by, */
    uint64_t origin_day_ns; /**< and the same as the time of the day */
    uint64_t messages;      /**< that rails got: all decisions, kept or not */
    const fsbml_observer_t *observer;
    const fsbml_changes_t *changes; /**< of its rails' rates; NULL: none */
} fsbml_trace_t;

/**
 * Writes the decisions that the observer has kept, the file as a whole (mode 0600) and with its folders.
 * No message may be charged meanwhile. 0 or a negative errno, and then the reason; nothing is left over.
 * Holds a few lines of it at a time.
 */
int fsbml_trace_store(const char *path, const fsbml_trace_t *t, char reason[FSBML_REASON_MAX]) FSBML_NOEXCEPT;

/**
 * The name of a process' own file: RANK.SUFFIX in `to` if that is a folder, or ends with a slash (it is made
 * if need be, one level), else `to`.RANK.SUFFIX. `job` is 0, or the number of a spawned job, which is in the
 * name then: its ranks begin at 0 again. `epoch` counts how often MPI was initialised in this
 * process: from the second time on the name has it, too. 0 or -ENAMETOOLONG.
 */
int fsbml_record_name(const char *to, uint32_t rank, uint32_t job, uint32_t epoch, const char *suffix,
                      char *path, size_t len) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_TRACE_H */
