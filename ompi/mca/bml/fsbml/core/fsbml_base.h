/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* What all of the core's interface needs: bounds, and where log lines go. Part of fsbml_core.h. */
#ifndef FSBML_BASE_H
#define FSBML_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#    include <cstdint> /* the names in std, which the core's own files use */
#    define FSBML_NOEXCEPT noexcept
extern "C" {
#else
#    define FSBML_NOEXCEPT
#endif

/** Most rails that one process can have in use; rail sets are bit masks of this width. */
#define FSBML_MAX_RAILS 32
/** Most bytes in a rail's name or key, the terminating zero included. */
#define FSBML_NAME_MAX 64
/** Most bytes in a reason that a person reads, the terminating zero included. */
#define FSBML_REASON_MAX 160

/* ---------------------------------------------------------------- logging */

/** Receives one line of text without a newline; level as opal_output_verbose has it (lower = more
 * important). */
typedef void (*fsbml_log_fn_t)(void *context, int level, const char *line);

/** Sets where the core's log lines go; NULL drops them. Not thread-safe: call at set-up. */
void fsbml_log_set(fsbml_log_fn_t fn, void *context, int max_level) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_BASE_H */
