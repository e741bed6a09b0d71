/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers whose messages are framed: their list, and when there is something to do for one. */

#include "failover/failover.h"

static struct {
    opal_mutex_t lock;
    fsbml_framed_t *first;
    _Atomic uint64_t due_ns; /* the first of theirs */
} all = {.lock = OPAL_MUTEX_STATIC_INIT, .due_ns = UINT64_MAX};

static void lower(_Atomic uint64_t *due, uint64_t ns)
{
    uint64_t is = atomic_load_explicit(due, memory_order_relaxed);
    while (ns < is && !atomic_compare_exchange_weak(due, &is, ns)) {
    }
}

void fsbml_framed_due(fsbml_framed_t *p, uint64_t ns)
{
    lower(&p->due_ns, ns);
    lower(&all.due_ns, ns);
}

bool fsbml_framed_all_due(uint64_t ns)
{
    if (0 != opal_mutex_trylock(&all.lock)) {
        return false;
    }
    for (fsbml_framed_t *p = all.first; NULL != p; p = p->next) {
        fsbml_framed_due(p, ns);
    }
    opal_mutex_unlock(&all.lock);
    return true;
}

void fsbml_framed_each_due(uint64_t now, void (*act)(fsbml_framed_t *p))
{
    if (now < atomic_load_explicit(&all.due_ns, memory_order_relaxed) || 0 != opal_mutex_trylock(&all.lock)) {
        return;
    }
    atomic_store(&all.due_ns, UINT64_MAX); /* what comes meanwhile makes it less */
    for (fsbml_framed_t *p = all.first; NULL != p; p = p->next) {
        if (now >= atomic_load(&p->due_ns)) {
            act(p);
        }
        lower(&all.due_ns, atomic_load(&p->due_ns));
    }
    opal_mutex_unlock(&all.lock);
}

void fsbml_framed_add(fsbml_framed_t *p)
{
    OBJ_CONSTRUCT(&p->lock, opal_mutex_t);
    atomic_store(&p->due_ns, UINT64_MAX);
    opal_mutex_lock(&all.lock);
    p->next = all.first;
    p->to_this = &all.first;
    if (NULL != all.first) {
        all.first->to_this = &p->next;
    }
    all.first = p;
    opal_mutex_unlock(&all.lock);
}

void fsbml_framed_remove(fsbml_framed_t *p)
{
    opal_mutex_lock(&all.lock);
    *p->to_this = p->next;
    if (NULL != p->next) {
        p->next->to_this = p->to_this;
    }
    opal_mutex_unlock(&all.lock);
}

uint32_t fsbml_framed_rails(const fsbml_framed_t *p)
{
    uint32_t rails = 0;
    for (uint32_t paths = fsbml_delivery_paths(p->delivery); 0 != paths; paths &= paths - 1) {
        rails |= fsbml_bit(p->rail[__builtin_ctz(paths)]);
    }
    return rails & atomic_load_explicit(&p->ep->live, memory_order_acquire);
}
