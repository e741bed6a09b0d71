/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds that all of the core's interface needs. Part of fsbml_core.h. */
#ifndef FSBML_BASE_H
#define FSBML_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#    include <cstdint> /* the names in std, which the core's own files use */
#    define FSBML_NOEXCEPT noexcept
#else
#    define FSBML_NOEXCEPT
#endif

/** Most rails that one process can have in use; rail sets are bit masks of this width. */
#define FSBML_MAX_RAILS 32
/** Most bytes in a rail's name or key, the terminating zero included. */
#define FSBML_NAME_MAX 64
/** Most bytes in a reason that a user reads, the terminating zero included. */
#define FSBML_REASON_MAX 160

#endif /* FSBML_BASE_H */
