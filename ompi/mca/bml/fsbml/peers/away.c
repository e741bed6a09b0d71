/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* How late an answer is for other reasons than the network: this process had not looked, or the rail has more
 * to do. */

#include "peers/peers.h"

#include "opal/runtime/opal_progress.h"

uint32_t fsbml_away_late_ns(mca_bml_fsbml_endpoint_t *ep, const mca_btl_base_module_t *btl,
                            const fsbml_packet_t *question)
{
    const uint32_t tolerated = question->delay_ns;
    const uint64_t now = fsbml_now_ns();
    const mca_bml_fsbml_path_t *path = NULL != ep ? fsbml_path_over(ep, btl) : NULL;
    const uint64_t busy = NULL != path ? fsbml_sched_backlog(fsbml_rails.sched, path->rail, now) : 0;
    const uint64_t late = fsbml_away_ns(now, tolerated) + (busy > tolerated ? busy : 0);
    return late < UINT32_MAX ? (uint32_t) late : UINT32_MAX;
}

/* How long this process had not looked at its networks before it does now. What came in meanwhile came at a
 * unknown time: a program that computes would make every rail seem slow. Only while arrivals are
 * found out. */

enum { AWAY_NS = 100000 }; /* less is how long a look may take with much to be done */

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static bool watched;
static _Atomic bool watches;
/* Open MPI calls progress functions before it takes what came in by its event library, or after: so the look
 * before the last one is the one that surely was before. */
static _Atomic uint64_t last_ns, before_ns;

int fsbml_away_looked(void)
{
    const uint64_t now = fsbml_now_ns();
    atomic_store_explicit(&before_ns, atomic_exchange_explicit(&last_ns, now, memory_order_relaxed),
                          memory_order_relaxed);
    return 0;
}

void fsbml_away_watch(void)
{
    opal_mutex_lock(&lock);
    if (!watched) {
        watched = true;
        atomic_store(&last_ns, fsbml_now_ns());
        atomic_store(&before_ns, fsbml_now_ns());
        opal_progress_register(fsbml_away_looked);
        atomic_store(&watches, true);
    }
    opal_mutex_unlock(&lock);
}

void fsbml_away_stop(void)
{
    opal_mutex_lock(&lock);
    if (watched) {
        watched = false;
        atomic_store(&watches, false);
        opal_progress_unregister(fsbml_away_looked);
    }
    opal_mutex_unlock(&lock);
}

uint64_t fsbml_away_ns(uint64_t now, uint64_t tolerated)
{
    const uint64_t before = atomic_load_explicit(&before_ns, memory_order_relaxed);
    const uint64_t away =
        atomic_load_explicit(&watches, memory_order_relaxed) && now > before ? now - before : 0;
    return away > AWAY_NS && away > tolerated ? away : 0;
}
