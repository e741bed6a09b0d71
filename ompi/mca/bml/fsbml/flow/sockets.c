/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The connections of this process' paths, and what the kernel says of them. */

#include "flow/flow.h"

enum {
    MOST_LOOKED_AT = 256, /* a process with more connections goes by the model */
    FEW = 8,              /* of so few, those are asked as well that had nothing to do at two looks */
};

/* Kept while the lock is held: no BTL is called, and ep->lock is not taken. */
static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static fsbml_connection_t **connection;
static size_t n_connections, room, next_turn;

int fsbml_sockets_add(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    if (!fsbml_socket_is_possible(path->super.btl)) {
        return OMPI_SUCCESS;
    }
    fsbml_connection_t *c = calloc(1, sizeof(*c));
    opal_mutex_lock(&lock);
    if (NULL != c && n_connections == room) {
        const size_t more = 0 != room ? 2 * room : 16;
        fsbml_connection_t **all = realloc(connection, more * sizeof(*all));
        room = NULL != all ? more : room;
        connection = NULL != all ? all : connection;
    }
    if (NULL != c && n_connections < room) {
        *c = (fsbml_connection_t){.ep = ep, .path = path, .place = n_connections, .fd = -1};
        connection[n_connections++] = c;
        path->connection = c;
        c = NULL;
    }
    opal_mutex_unlock(&lock);
    free(c); /* no memory for it: its path goes by the model */
    return OMPI_SUCCESS;
}

void fsbml_sockets_drop(mca_bml_fsbml_endpoint_t *ep)
{
    opal_mutex_lock(&lock);
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        fsbml_connection_t *c = ep->path[i].connection;
        if (NULL != c) {
            connection[c->place] = connection[--n_connections];
            connection[c->place]->place = c->place;
            ep->path[i].connection = NULL;
            free(c);
        }
    }
    opal_mutex_unlock(&lock);
}

void fsbml_sockets_forget(void)
{
    opal_mutex_lock(&lock);
    for (size_t i = 0; i < n_connections; ++i) {
        connection[i]->path->connection = NULL;
        free(connection[i]);
    }
    free(connection);
    connection = NULL;
    n_connections = room = 0;
    opal_mutex_unlock(&lock);
}

/* ------------------------------------------------------------- the descriptor */

/* Looks whether it is still the one that was proved, or another one, which is proved then: once a connection.
 * False: it is not connected, or nothing can be known of it. */
static bool is_connected(fsbml_connection_t *c)
{
    const mca_bml_base_btl_t *by = &c->path->super;
    const int fd = fsbml_socket_of(by->btl, by->btl_endpoint);
    if (fd != c->fd) {
        const bool is =
            fd >= 0 && fsbml_socket_is_proved(by->btl_endpoint, fd) && fsbml_kernel_is_on(fd, c->path->rail);
        *c = (fsbml_connection_t){.ep = c->ep,
                                  .path = c->path,
                                  .place = c->place,
                                  .fd = fd,
                                  .number = is ? fsbml_kernel_socket(fd) : 0};
        if (fd >= 0 && !is) {
            FSBML_VERBOSE(
                FSBML_V_PEER, "rail %s to %s: tcp's connection is not what it should be, and is not asked",
                fsbml_rails.rail[c->path->rail].name, OMPI_NAME_PRINT(&c->ep->proc->super.proc_name));
        }
    }
    return c->fd >= 0 && 0 != c->number;
}

/* What the kernel says of one that is connected; false: nothing. tcp may have closed it and connected anew,
 * by the same descriptor: then nothing that was known is true of it, and the next look proves it. */
static bool ask_connected(fsbml_connection_t *c, fsbml_kernel_flow_t *now)
{
    if (!fsbml_kernel_flow(c->fd, now) || c->number != fsbml_kernel_socket(c->fd)) {
        c->fd = -1;
        return false;
    }
    c->round_trip_ns = now->round_trip_ns;
    c->segments = now->segments;
    return true;
}

static bool ask(fsbml_connection_t *c, fsbml_kernel_flow_t *now)
{
    return is_connected(c) && ask_connected(c, now);
}

static bool one_by_one = true; /* written and read by the one thread that looks */

void fsbml_sockets_calm(bool are)
{
    one_by_one = are;
}

/* -------------------------------------------------------------- what was done */

/* Of many connections, one that had nothing to do is asked for no more than that. */
static bool has_something(const fsbml_connection_t *c, fsbml_flow_seen_t *seen)
{
    if (c->active || n_connections <= FEW) {
        return true;
    }
    const int64_t queued = fsbml_kernel_queued(c->fd);
    if (0 == queued) {
        ++seen->n;
    } else if (queued < 0) {
        seen->all_known = false;
    }
    return queued > 0;
}

/* What failover has taken from it goes by others. */
static bool is_closed(const fsbml_connection_t *c)
{
    return 0 != (atomic_load_explicit(&c->ep->closed, memory_order_relaxed) & fsbml_bit(c->path->rail));
}

static void add(fsbml_connection_t *c, fsbml_flow_seen_t *seen)
{
    fsbml_kernel_flow_t now;
    if (!is_connected(c)) {
        seen->all_known = seen->all_known && c->fd < 0;
        return;
    }
    if (!has_something(c, seen)) {
        return;
    }
    if (!ask_connected(c, &now)) {
        seen->all_known = false;
        return;
    }
    c->window = fsbml_socket_calm(c->fd, c->window, one_by_one);
    if (0 != now.queued && 0 == now.in_flight) {
        fsbml_socket_push(c->fd);
    }
    ++seen->n;
    const fsbml_flow_connection_t since = {.acknowledged = now.acknowledged - c->last.acknowledged,
                                           .busy_ns = now.busy_ns - c->last.busy_ns,
                                           .limited_ns = now.limited_ns - c->last.limited_ns,
                                           .queued = now.queued,
                                           .in_flight = now.in_flight,
                                           .received = now.received - c->last.received,
                                           .round_trip_ns = now.round_trip_ns,
                                           .usual_ns = now.usual_ns,
                                           .payload = now.payload,
                                           .is_silent = now.is_silent || is_closed(c),
                                           .is_first = !c->is_known};
    fsbml_flow_add(seen, &since);
    c->active = 0 != now.queued;
    c->is_known = true;
    c->last = now;
}

fsbml_flow_seen_t fsbml_sockets_look(uint32_t rail)
{
    fsbml_flow_seen_t seen = {.all_known = true};
    opal_mutex_lock(&lock);
    for (size_t i = 0; i < n_connections && n_connections <= MOST_LOOKED_AT; ++i) {
        if (rail == connection[i]->path->rail) {
            add(connection[i], &seen);
        }
    }
    opal_mutex_unlock(&lock);
    return seen;
}

bool fsbml_sockets_are_drained(void)
{
    int64_t all = 0;
    size_t n = 0;
    opal_mutex_lock(&lock);
    for (size_t i = 0; i < n_connections && n_connections <= MOST_LOOKED_AT && all <= FSBML_FLOW_BULK; ++i) {
        const int64_t queued = is_connected(connection[i]) ? fsbml_kernel_queued(connection[i]->fd) : -1;
        n += queued >= 0 ? 1 : 0;
        all += queued >= 0 ? queued : 0;
    }
    opal_mutex_unlock(&lock);
    return n > 0 && all <= FSBML_FLOW_BULK;
}

/* ---------------------------------------------------------------- one by one */

bool fsbml_sockets_is_idle(mca_bml_fsbml_endpoint_t *ep, uint32_t rail, size_t bytes)
{
    bool is = false;
    opal_mutex_lock(&lock);
    fsbml_connection_t *c = fsbml_path(ep, rail)->connection;
    if (NULL != c && n_connections > ep->n_paths && is_connected(c)) {
        const int64_t queued = fsbml_kernel_queued(c->fd);
        is = queued >= 0 && (size_t) queued < bytes;
    }
    opal_mutex_unlock(&lock);
    return is;
}

void fsbml_sockets_turn(void (*then)(mca_bml_fsbml_endpoint_t *ep))
{
    fsbml_kernel_flow_t now;
    opal_mutex_lock(&lock);
    if (0 != n_connections) {
        fsbml_connection_t *c = connection[next_turn++ % n_connections];
        (void) ask(c, &now);
        then(c->ep);
    }
    opal_mutex_unlock(&lock);
}

void fsbml_sockets_ask(mca_bml_fsbml_endpoint_t *ep, void (*then)(mca_bml_fsbml_endpoint_t *ep))
{
    fsbml_kernel_flow_t now;
    opal_mutex_lock(&lock);
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        if (NULL != ep->path[i].connection) {
            (void) ask(ep->path[i].connection, &now);
        }
    }
    then(ep);
    opal_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ in all */

bool fsbml_flow_tcp(uint32_t rail, fsbml_flow_tcp_t *sum)
{
    *sum = (fsbml_flow_tcp_t){.connections = 0};
    opal_mutex_lock(&lock);
    for (size_t i = 0; i < n_connections; ++i) {
        fsbml_kernel_flow_t now;
        if (rail == connection[i]->path->rail && ask(connection[i], &now)) {
            ++sum->connections;
            sum->busy_ns += now.busy_ns;
            sum->retransmitted += now.retransmitted;
        }
    }
    opal_mutex_unlock(&lock);
    return 0 != sum->connections;
}
