/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* The faults of rails that this process has found, kept for the report at the end. Code that leaves a rail
 * out, or doubts one, notes it here beside telling it: what was told once on stderr is soon out of sight. */

#include "bml_fsbml.h"

static opal_mutex_t lock =
    OPAL_MUTEX_STATIC_INIT; /* of writers; readers go by the number, which is written last */
static fsbml_fault_t list[FSBML_FAULTS_MAX];
static _Atomic uint32_t n, beyond;

static bool same(const fsbml_fault_t *a, const fsbml_fault_t *b)
{
    return a->kind == b->kind && 0 == strcmp(a->rail, b->rail) && 0 == strcmp(a->from, b->from)
           && 0 == strcmp(a->to, b->to);
}

void fsbml_fault_note(const fsbml_fault_t *fault)
{
    bool known = false;
    opal_mutex_lock(&lock);
    const uint32_t at = atomic_load(&n);
    for (uint32_t i = 0; i < at && !known; ++i) {
        known = same(&list[i], fault);
    }
    if (known) {
        /* told before */
    } else if (at < FSBML_FAULTS_MAX) {
        list[at] = *fault;
        atomic_store(&n, at + 1);
    } else {
        atomic_fetch_add(&beyond, 1);
    }
    opal_mutex_unlock(&lock);
}

uint32_t fsbml_faults(const fsbml_fault_t **first, uint32_t *more)
{
    *first = list;
    if (NULL != more) {
        *more = atomic_load(&beyond);
    }
    return atomic_load(&n);
}

void fsbml_faults_reset(void)
{
    opal_mutex_lock(&lock);
    atomic_store(&n, 0);
    atomic_store(&beyond, 0);
    opal_mutex_unlock(&lock);
}
