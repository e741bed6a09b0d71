/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The connections of this process on its rails, and what the kernel says of them. */

#include "flow/flow.h"

enum {
    MOST_SOCKETS = 256, /* a process with more connections goes by the model */
    FEW_SOCKETS = 8,    /* of so few, those are asked as well that had nothing to do at two looks */
};

typedef struct watched_t {
    fsbml_kernel_socket_t is;
    fsbml_kernel_flow_t last;
    bool is_known; /* has been asked */
    bool active;   /* had something to deliver at the last look */
} watched_t;

static watched_t *connection;
static size_t n_sockets;

/* Finds the connections, and keeps what is known of those that are still there. */
void fsbml_sockets_search(void)
{
    static fsbml_kernel_socket_t found[MOST_SOCKETS];
    watched_t *fresh = calloc(MOST_SOCKETS, sizeof(*fresh));
    size_t n = fsbml_kernel_sockets(found, MOST_SOCKETS);
    if (NULL == fresh || n > MOST_SOCKETS) {
        n = 0;
    }
    for (size_t i = 0; i < n; ++i) {
        fresh[i].is = found[i];
        for (size_t k = 0; k < n_sockets; ++k) {
            const fsbml_kernel_socket_t *was = &connection[k].is;
            if (was->fd == found[i].fd && was->cookie == found[i].cookie) {
                fresh[i] = connection[k];
            }
        }
    }
    free(connection);
    connection = fresh;
    n_sockets = n;
}

static void add(watched_t *s, fsbml_flow_seen_t *seen)
{
    fsbml_kernel_flow_t now;
    const int64_t queued = fsbml_kernel_queued(&s->is);
    if (queued < 0) {
        seen->is_stale = true;
        s->active = false;
        return;
    }
    ++seen->n;
    if ((0 == queued && !s->active && n_sockets > FEW_SOCKETS) || !fsbml_kernel_flow(&s->is, &now)) {
        return;
    }
    const fsbml_flow_connection_t since = {.acknowledged = now.acknowledged - s->last.acknowledged,
                                           .busy_ns = now.busy_ns - s->last.busy_ns,
                                           .limited_ns = now.limited_ns - s->last.limited_ns,
                                           .queued = now.queued,
                                           .in_flight = now.in_flight,
                                           .round_trip_ns = now.round_trip_ns,
                                           .payload = now.payload,
                                           .is_first = !s->is_known};
    fsbml_flow_add(seen, &since);
    s->active = 0 != now.queued;
    s->is_known = true;
    s->last = now;
}

fsbml_flow_seen_t fsbml_sockets_look(uint32_t rail)
{
    fsbml_flow_seen_t seen = {.n = 0};
    for (size_t i = 0; i < n_sockets; ++i) {
        if (rail == connection[i].is.rail) {
            add(&connection[i], &seen);
        }
    }
    return seen;
}

void fsbml_sockets_forget(void)
{
    free(connection);
    connection = NULL;
    n_sockets = 0;
}
