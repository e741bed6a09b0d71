/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections close without a fatal signal.
 *
 * tcp of 5.0 says goodbye on every connection that it closes, in del_procs and when it reads the peer's
 * goodbye. If the peer has closed its end and had not read all (messages that were not received, an answer
 * that came late), that raises SIGPIPE and ends the job in MPI_Finalize, with r2 too. The signal is the
 * writing thread's: it is held back there while connections close, and dropped; a thread that waits for one
 * of its own keeps it. */

#include <errno.h>
#include <pthread.h>

#include "compat/compat.h"

#include "ompi/mca/hook/base/base.h"
#include "ompi/runtime/mpiruntime.h"
#include "ompi/runtime/params.h"

uint32_t fsbml_life;

fsbml_closing_t fsbml_closing_begin(void)
{
    fsbml_closing_t c = {.was_pending = false};
    sigset_t pending;
    sigemptyset(&c.pipe);
    sigaddset(&c.pipe, SIGPIPE);
    c.was_pending = 0 == sigpending(&pending) && 1 == sigismember(&pending, SIGPIPE);
    c.held = 0 == pthread_sigmask(SIG_BLOCK, &c.pipe, &c.before);
    return c;
}

void fsbml_closing_end(const fsbml_closing_t *c)
{
    const struct timespec at_once = {0, 0};
    if (c->held && !c->was_pending) {
        while (-1 == sigtimedwait(&c->pipe, NULL, &at_once) && EINTR == errno) {
        }
    }
    if (c->held) {
        pthread_sigmask(SIG_SETMASK, &c->before, NULL);
    }
}

/* Peers close as soon as all are in MPI_Finalize; this process may still wait there for word of it. */
static fsbml_closing_t in_finalize;

static void (*at_beginning)(void);

static void finalize_begins(void)
{
    at_beginning();
    if (!in_finalize.held) { /* else MPI_Finalize was called twice */
        in_finalize = fsbml_closing_begin();
    }
}

static ompi_hook_base_component_t hook = {.hookm_mpi_finalize_top = finalize_begins};
static bool hooked;

void fsbml_closing_init(void (*finalize_has_begun)(void))
{
    at_beginning = finalize_has_begun;
    hooked = OMPI_SUCCESS == ompi_hook_base_register_callbacks(&hook);
}

void fsbml_closing_fini(void)
{
    if (hooked) {
        (void) ompi_hook_base_deregister_callbacks(&hook);
        hooked = false;
    }
    fsbml_closing_end(&in_finalize);
    in_finalize = (fsbml_closing_t){.held = false};
}

bool fsbml_closing_is_far_off(void)
{
    return OMPI_MPI_STATE_INIT_COMPLETED == ompi_mpi_state && !ompi_async_mpi_finalize;
}

bool fsbml_closing_has_begun(void)
{
    return ompi_mpi_state > OMPI_MPI_STATE_INIT_COMPLETED;
}
