/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Open MPI's progress engine, and time, of a test's own.
 */
#ifndef FSBML_TESTS_FAKE_PROGRESS_H
#define FSBML_TESTS_FAKE_PROGRESS_H

#include <sys/syscall.h>
#include <unistd.h>

#include "failover/failover.h"
#include "fake_btl.h"
#include "opal/runtime/opal_progress.h"

static _Atomic(opal_progress_callback_t) progress_fn;          /* of the proofs */
static _Atomic(opal_progress_callback_t) failover_progress_fn; /* while there is failover */
static _Atomic(opal_progress_callback_t) low_progress_fn;      /* of low priority, which comes last */
static _Atomic bool looks_are_told;

static int enter(opal_progress_callback_t fn, _Atomic(opal_progress_callback_t) *other)
{
    if (fsbml_away_looked == fn) {
        looks_are_told = true;
    } else {
        *(fsbml_failover_look == fn ? &failover_progress_fn : other) = fn;
    }
    return OPAL_SUCCESS;
}

int opal_progress_register(opal_progress_callback_t fn)
{
    return enter(fn, &progress_fn);
}

int opal_progress_register_lp(opal_progress_callback_t fn)
{
    return enter(fn, &low_progress_fn);
}

int opal_progress_unregister(opal_progress_callback_t fn)
{
    if (fsbml_away_looked == fn) {
        looks_are_told = false;
    }
    _Atomic(opal_progress_callback_t) *const all[] = {&progress_fn, &failover_progress_fn, &low_progress_fn};
    for (int i = 0; i < 3; ++i) {
        opal_progress_callback_t mine = fn;
        (void) atomic_compare_exchange_strong(all[i], &mine, NULL);
    }
    return OPAL_SUCCESS;
}

/* Time passes only when a test says so: the shim's one clock is this one. A look at it may take time. */
static _Atomic uint64_t virtual_ns = 1000000000u;
static uint64_t look_ns;
static _Atomic int other_clocks; /* looks at any other */

/* Libraries of Open MPI's (UCX) wait for time to pass while they are loaded, before main(). */
static bool time_is_virtual;

int clock_gettime(clockid_t id, struct timespec *ts)
{
    if (!time_is_virtual) {
        return (int) syscall(SYS_clock_gettime, id, ts);
    }
    virtual_ns += look_ns;
    const uint64_t now = virtual_ns;
    other_clocks += CLOCK_MONOTONIC != id;
    ts->tv_sec = (time_t) (now / 1000000000u);
    ts->tv_nsec = (long) (now % 1000000000u);
    return 0;
}

/* Time passes where a test says so: a processor that others want must not make a loop over a virtual second
 * take minutes. */
int sched_yield(void)
{
    return 0;
}

static inline void pass_time(unsigned ms)
{
    virtual_ns += (uint64_t) ms * 1000000u;
    if (looks_are_told) {
        (void) fsbml_away_looked();
    }
    const opal_progress_callback_t fn[2] = {progress_fn, failover_progress_fn};
    for (int i = 0; i < 2; ++i) {
        if (NULL != fn[i]) {
            (void) fn[i]();
        }
    }
}

#endif /* FSBML_TESTS_FAKE_PROGRESS_H */
