/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Stands in for the header of this name, which Open MPI 5.0.7 includes in opal/mca/threads/threads.h but does
 * not install. configure puts it on the include path only then.
 */
#ifndef OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H
#define OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H

#include "opal_config.h"

#include <pthread.h>
#include <signal.h>

BEGIN_C_DECLS

/** How the library yields: by the parameter of its pthreads component. */
OPAL_DECLSPEC extern void (*opal_threads_pthreads_yield_fn)(void);

/* A POSIX thread that polls does not have to yield for others to get on. */
#define OPAL_THREAD_YIELD_WHEN_IDLE_DEFAULT false

static inline void opal_thread_yield(void)
{
    opal_threads_pthreads_yield_fn();
}

END_C_DECLS

#endif /* OPAL_MCA_THREADS_PTHREADS_THREADS_PTHREADS_THREADS_H */
