/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners to events of peers: rooms above this one register here, as they cannot be called by name. */

#include "peers/peers.h"

#include "opal/runtime/opal_progress.h"

enum { MOST = 4 };
static const fsbml_peers_listener_t *listener[MOST];
static size_t n;

void fsbml_peers_setup(void)
{
    n = 0;
}

void fsbml_peers_listen(const fsbml_peers_listener_t *l)
{
    if (n < MOST) {
        listener[n++] = l;
    }
}

int fsbml_peers_path_known(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    int rc = OMPI_SUCCESS;
    for (size_t i = 0; i < n && OMPI_SUCCESS == rc; ++i) {
        rc = NULL != listener[i]->path_known ? listener[i]->path_known(ep, path) : OMPI_SUCCESS;
    }
    return rc;
}

void fsbml_peers_path_gone(mca_bml_fsbml_path_t *path)
{
    for (size_t i = 0; i < n; ++i) {
        if (NULL != listener[i]->path_gone) {
            listener[i]->path_gone(path);
        }
    }
}

void fsbml_peers_path_paired(mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path,
                             uint32_t peers_rail, uint16_t handle)
{
    for (size_t i = 0; i < n; ++i) {
        if (NULL != listener[i]->path_paired) {
            listener[i]->path_paired(ep, path, peers_rail, handle);
        }
    }
}

/* The same for events of one endpoint. */
#define TELL(what)                                        \
    void fsbml_peers_##what(mca_bml_fsbml_endpoint_t *ep) \
    {                                                     \
        for (size_t i = 0; i < n; ++i) {                  \
            if (NULL != listener[i]->what) {              \
                listener[i]->what(ep);                    \
            }                                             \
        }                                                 \
    }
TELL(path_live)
TELL(look)
TELL(no_path)
TELL(forget)

void fsbml_peers_answered(const fsbml_packet_t *packet)
{
    for (size_t i = 0; i < n; ++i) {
        if (NULL != listener[i]->answered) {
            listener[i]->answered(packet);
        }
    }
}

/* ------------------------------------------------------- endpoints with work */

/* Endpoints with something to do in the progress function: paths to be proved or told of, pending messages.
 */

static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
/* A ring, and the one to be looked after next. */
static mca_bml_fsbml_endpoint_t *watched;
static bool running; /* progress() is registered */
static int (*progress)(void);

void fsbml_watch_by(int (*look)(void))
{
    progress = look;
}

void fsbml_watch(mca_bml_fsbml_endpoint_t *ep)
{
    opal_mutex_lock(&lock);
    if (!ep->proving) {
        ep->proving = true;
        if (NULL == watched) {
            watched = ep->next = ep->before = ep;
        } else {
            ep->next = watched;
            ep->before = watched->before;
            ep->before->next = watched->before = ep;
        }
    }
    if (!running) { /* under the lock, so that no thread that has just found the list empty unregisters it
                       again */
        running = true;
        opal_progress_register(progress);
    }
    opal_mutex_unlock(&lock);
}

void fsbml_watch_end(mca_bml_fsbml_endpoint_t *ep)
{
    opal_mutex_lock(&lock);
    if (ep->proving) {
        ep->before->next = ep->next;
        ep->next->before = ep->before;
        watched = ep != watched ? watched : ep != ep->next ? ep->next : NULL;
        ep->proving = false;
    }
    opal_mutex_unlock(&lock);
}

size_t fsbml_watch_next(mca_bml_fsbml_endpoint_t **ep, size_t most)
{
    size_t n = 0;
    opal_mutex_lock(&lock);
    for (mca_bml_fsbml_endpoint_t *first = watched;
         NULL != watched && n < most && (0 == n || first != watched); watched = watched->next) {
        ep[n++] = watched;
    }
    opal_mutex_unlock(&lock);
    return n;
}

void fsbml_watch_find(bool (*fn)(mca_bml_fsbml_endpoint_t *ep, void *what), void *what)
{
    opal_mutex_lock(&lock);
    for (mca_bml_fsbml_endpoint_t *ep = watched; NULL != ep && !fn(ep, what);
         ep = ep->next != watched ? ep->next : NULL) {
    }
    opal_mutex_unlock(&lock);
}

void fsbml_watch_rest(void)
{
    opal_mutex_lock(&lock);
    if (running && NULL == watched) {
        running = false;
        opal_progress_unregister(progress);
    }
    opal_mutex_unlock(&lock);
}

void fsbml_watch_fini(void)
{
    opal_mutex_lock(&lock);
    bool stop = running;
    running = false;
    watched = NULL;
    opal_mutex_unlock(&lock);
    if (stop) {
        opal_progress_unregister(progress);
    }
}
