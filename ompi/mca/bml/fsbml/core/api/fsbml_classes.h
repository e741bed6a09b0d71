/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The pairs of ranks that measure, found from hellos. Part of fsbml_core.h. */
#ifndef FSBML_CLASSES_H
#define FSBML_CLASSES_H

#include "api/fsbml_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most pairs of ranks that measure. */
#define FSBML_MAX_PAIRS 64

/** Two ranks of one job, on different nodes, that measure rails between them. */
typedef struct fsbml_pair_t {
    uint32_t rank[2]; /**< the leader, the mirror */
    uint32_t round;   /**< pairs of one round measure side by side: no rank is in two of them */
    uint32_t n_rails;
    uint32_t key[FSBML_MAX_RAILS]; /**< rails to measure: fsbml_digest() of their keys */
} fsbml_pair_t;

/** All of a job; none if no two nodes share two rails. Each rail is measured by one pair. */
typedef struct fsbml_pairs_t {
    uint32_t n;
    fsbml_pair_t pair[FSBML_MAX_PAIRS];
} fsbml_pairs_t;

/** Finds the pairs from hellos (core/measure/start/start.hpp). All processes get the same from the same
 * hellos. */
typedef struct fsbml_classes_t fsbml_classes_t;
/** On a job of one node, each rank counts as a node. NULL with errno set on failure. */
fsbml_classes_t *fsbml_classes_create(uint32_t n_ranks, bool one_node) FSBML_NOEXCEPT;
void fsbml_classes_destroy(fsbml_classes_t *c) FSBML_NOEXCEPT;
/** 1 and the rank whose hello is to be told next, or 0: no more is needed. */
int fsbml_classes_next(const fsbml_classes_t *c, uint32_t *rank) FSBML_NOEXCEPT;
/** What a rank says; NULL: it has no hello. */
int fsbml_classes_tell(fsbml_classes_t *c, uint32_t rank, const fsbml_hello_t *hello) FSBML_NOEXCEPT;
/** 1 and the ranks of the first pair, 0: there is none so far. Once there, it stays the same whatever else is
 * told. */
int fsbml_classes_first(const fsbml_classes_t *c, fsbml_pair_t *pair) FSBML_NOEXCEPT;
/** The pairs, by what was told so far. */
int fsbml_classes_plan(fsbml_classes_t *c, fsbml_pairs_t *out) FSBML_NOEXCEPT;

size_t fsbml_pairs_packed_max(void) FSBML_NOEXCEPT;
/** As fsbml_table_pack. */
long fsbml_pairs_pack(const fsbml_pairs_t *p, void *buf, size_t len) FSBML_NOEXCEPT;
/** Unpacks the list at the beginning of buf, which something may follow; returns the list's length, or as
 * fsbml_table_unpack. */
long fsbml_pairs_unpack(fsbml_pairs_t *p, const void *buf, size_t len) FSBML_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* FSBML_CLASSES_H */
