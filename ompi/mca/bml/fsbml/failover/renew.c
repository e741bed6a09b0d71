/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Fresh connections for paths over tcp that are dead, or whose connection was closed.
 *
 * A connection that was cut sends again in intervals that double, so after a long outage it stands still for
 * as long again. Here a dead path's network is asked four times a second, by a connection attempt of our own
 * to a port where nothing listens: any answer says that it works. Then this end ends the old connection, and
 * says so by another path; the peer does likewise. Once both have, the end that counts the paths has its BTL
 * make a fresh one for its next probe. So none meets what the other one's BTL has left of the old connection:
 * a fragment in the midst of which the next connection would go on. Where a firewall drops the question, the
 * old connection's own time counts. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "failover/failover.h"

enum {
    ASK_NS = 250000000,   /* between two questions, and two connections */
    TOLD_NS = 1000000000, /* until the peer is told again */
    LOOK_NS = 10000000,   /* and whether there is an answer */
    UNUSED_PORT = 1,      /* of a service that is out of use (tcpmux) */
};

typedef struct fsbml_renewal_t {
    int fd; /* the question, -1: there is none */
    uint64_t asked_ns;
    fsbml_socket_ends_t ends; /* of the old connection */
} fsbml_renewal_t;

static void set_port(struct sockaddr_storage *at, uint16_t port)
{
    if (AF_INET6 == at->ss_family) {
        ((struct sockaddr_in6 *) at)->sin6_port = htons(port);
    } else {
        ((struct sockaddr_in *) at)->sin_port = htons(port);
    }
}

static void hang_up(fsbml_renewal_t *r)
{
    if (r->fd >= 0) {
        close(r->fd);
        r->fd = -1;
    }
}

static void ask(fsbml_renewal_t *r, uint64_t now)
{
    struct sockaddr_storage own = r->ends.own, peer = r->ends.peer;
    set_port(&own, 0);
    set_port(&peer, UNUSED_PORT);
    hang_up(r);
    r->asked_ns = now;
    r->fd = socket(own.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (r->fd >= 0
        && (0 != bind(r->fd, (const struct sockaddr *) &own, r->ends.len)
            || (0 != connect(r->fd, (const struct sockaddr *) &peer, r->ends.len) && EINPROGRESS != errno
                && ECONNREFUSED != errno))) {
        hang_up(r);
    }
}

/* Connected, or refused by the peer: its network works. The kernel says it once. */
static bool is_answered(fsbml_renewal_t *r)
{
    struct pollfd look = {.fd = r->fd, .events = POLLOUT};
    int error = EINPROGRESS;
    socklen_t len = sizeof(error);
    if (r->fd < 0 || poll(&look, 1, 0) <= 0) {
        return false;
    }
    const bool is_known = 0 == getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &error, &len);
    hang_up(r);
    return is_known && (0 == error || ECONNREFUSED == error);
}

void fsbml_renew_begin(fsbml_framed_t *p, uint32_t rail)
{
    const mca_bml_base_btl_t *path = &fsbml_path(p->ep, rail)->super;
    fsbml_socket_ends_t ends;
    if (NULL != p->way[rail].renewal || FSBML_CONNECTION_STANDS != p->way[rail].connection
        || !fsbml_socket_ends(path->btl, path->btl_endpoint, &ends)) {
        return;
    }
    fsbml_renewal_t *r = calloc(1, sizeof(*r));
    if (NULL != r) {
        r->fd = -1;
        r->ends = ends;
        p->way[rail].renewal = r;
        fsbml_framed_due(p, fsbml_now_ns());
    }
}

void fsbml_renew_end(fsbml_framed_t *p, uint32_t rail)
{
    fsbml_renewal_t *r = p->way[rail].renewal;
    if (NULL != r) {
        hang_up(r);
        free(r);
        p->way[rail].renewal = NULL;
    }
}

/* ------------------------------------------------------------------- both ends agree */

static bool should_stand(const fsbml_way_t *way)
{
    return way->renews && FSBML_CONNECTION_STANDS == way->connection && !way->connects;
}

bool fsbml_renew_is_closed(const fsbml_framed_t *p, uint32_t rail)
{
    const mca_bml_base_btl_t *path = &fsbml_path(p->ep, rail)->super;
    return should_stand(&p->way[rail]) && fsbml_socket_is_closed(path->btl, path->btl_endpoint);
}

bool fsbml_renew_is_lost(const fsbml_framed_t *p, uint32_t rail)
{
    const mca_bml_base_btl_t *path = &fsbml_path(p->ep, rail)->super;
    return should_stand(&p->way[rail]) && fsbml_socket_is_lost(path->btl, path->btl_endpoint);
}

void fsbml_framed_failed(fsbml_framed_t *p, uint32_t rail)
{
    if (0 != (p->up & fsbml_bit(rail)) && !fsbml_closing_has_begun()) {
        const uint64_t now = fsbml_now_ns();
        fsbml_way_t *way = &p->way[rail];
        fsbml_delivery_path_failed(p->delivery, way->number, now);
        if (!way->renews) {
            p->broken |= fsbml_bit(rail);
        } else if (FSBML_CONNECTION_STANDS == way->connection) {
            FSBML_VERBOSE(FSBML_V_PEER, "the connection of rail %s to %s is made anew",
                          fsbml_rails.rail[rail].name, OMPI_NAME_PRINT(&p->ep->proc->super.proc_name));
            way->connection = FSBML_CONNECTION_ENDING;
            way->ended++;
            fsbml_renew_end(p, rail);
        }
        p->stranded = p->stranded || p->broken == p->up;
        fsbml_framed_due(p, now);
    }
}

/* False: no other path works. */
static bool tell_peer(fsbml_framed_t *p, uint32_t rail)
{
    uint32_t by = fsbml_framed_rails(p) & ~fsbml_bit(rail);
    while (0 != by && fsbml_renew_is_closed(p, (uint32_t) __builtin_ctz(by))) {
        by &= by - 1;
    }
    const fsbml_packet_t packet = {.type = FSBML_PACKET_ENDED,
                                   .from = *OMPI_PROC_MY_NAME,
                                   .seq = p->way[rail].number,
                                   .count = p->way[rail].ended};
    int rc = OMPI_ERR_UNREACH;
    if (0 != by) {
        opal_mutex_unlock(&p->lock);
        rc = fsbml_packet_send(&fsbml_path(p->ep, (uint32_t) __builtin_ctz(by))->super, &packet, NULL, 0, 0);
        opal_mutex_lock(&p->lock);
    }
    return OMPI_SUCCESS == rc;
}

/* The end that counts has it made by the next probe; the other one awaits its frames. */
static void connect_anew(fsbml_framed_t *p, uint32_t rail, uint64_t now, bool connects)
{
    p->way[rail].connection = FSBML_CONNECTION_STANDS;
    p->way[rail].connects = connects;
    p->way[rail].renewed_ns = now;
    fsbml_delivery_path_up(p->delivery, p->way[rail].number, now);
}

void fsbml_renew_came(fsbml_framed_t *p, uint32_t rail)
{
    if (!p->counts) {
        connect_anew(p, rail, fsbml_now_ns(), false);
    }
}

static void close_it(fsbml_framed_t *p, uint32_t rail, uint64_t now)
{
    fsbml_way_t *way = &p->way[rail];
    const mca_bml_base_btl_t *path = &fsbml_path(p->ep, rail)->super;
    fsbml_socket_end(path->btl, path->btl_endpoint);
    if (now - way->renewed_ns >= ASK_NS && fsbml_socket_renew(path->btl, path->btl_endpoint)) {
        fsbml_delivery_path_failed(p->delivery, way->number, now);
        way->connection = FSBML_CONNECTION_ENDED;
        way->renewed_ns = now;
        way->told_ns = 0;
    }
}

/* Where no other path works, the peer cannot be told, and has noticed by itself. */
static void agree(fsbml_framed_t *p, uint32_t rail, uint64_t now)
{
    fsbml_way_t *way = &p->way[rail];
    bool alone = false;
    if (now - way->told_ns >= TOLD_NS) {
        way->told_ns = now;
        alone = !tell_peer(p, rail) && now - way->renewed_ns >= TOLD_NS;
    }
    if (FSBML_CONNECTION_ENDED == way->connection && p->counts
        && (alone || (int32_t) (way->peer_ended - way->ended) >= 0)) {
        connect_anew(p, rail, now, true);
    }
}

/* The end that counts may have ended, or lost, the connection that this end's BTL has accepted since, and
 * could not say so as no other path worked: the BTL would refuse each later one. A fresh one brings a frame
 * at once. */
static void end_silent(fsbml_framed_t *p, uint32_t rail, uint64_t now)
{
    fsbml_way_t *way = &p->way[rail];
    const mca_bml_base_btl_t *path = &fsbml_path(p->ep, rail)->super;
    if (fsbml_socket_is_closed(path->btl, path->btl_endpoint)) {
        way->accepted_ns = 0;
    } else if (0 == way->accepted_ns) {
        way->accepted_ns = now;
    } else if (now - way->accepted_ns >= TOLD_NS) {
        way->accepted_ns = 0;
        way->connection = FSBML_CONNECTION_ENDING;
    }
}

static void look_at(fsbml_framed_t *p, uint32_t rail, uint64_t now)
{
    fsbml_renewal_t *r = p->way[rail].renewal;
    switch (p->way[rail].connection) {
    case FSBML_CONNECTION_ENDING:
        close_it(p, rail, now);
        break;
    case FSBML_CONNECTION_ENDED:
        agree(p, rail, now);
        if (!p->counts) {
            end_silent(p, rail, now);
        }
        break;
    case FSBML_CONNECTION_STANDS:
        if (NULL != r && is_answered(r)) {
            fsbml_framed_failed(p, rail);
        } else if (NULL != r && now - r->asked_ns >= ASK_NS) {
            ask(r, now);
        }
        break;
    }
}

void fsbml_renew_look(fsbml_framed_t *p, uint64_t now)
{
    for (uint32_t left = p->up; 0 != left; left &= left - 1) {
        const uint32_t rail = (uint32_t) __builtin_ctz(left);
        look_at(p, rail, now);
        if (FSBML_CONNECTION_ENDING == p->way[rail].connection) {
            fsbml_framed_due(p, now); /* at once, before anything else happens to it */
        } else if (FSBML_CONNECTION_ENDED == p->way[rail].connection || NULL != p->way[rail].renewal) {
            fsbml_framed_due(p, now + LOOK_NS);
        }
    }
}

static void peer_ended(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                       size_t len)
{
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(packet->from);
    mca_bml_fsbml_endpoint_t *ep = NULL != proc ? fsbml_endpoint_of_proc(proc) : NULL;
    fsbml_framed_t *p = NULL != ep ? fsbml_framed_of(ep) : NULL;
    (void) btl;
    (void) payload;
    (void) len;
    if (NULL == p || packet->seq >= p->paths) {
        return;
    }
    const uint32_t rail = p->rail[packet->seq];
    fsbml_way_t *way = &p->way[rail];
    opal_mutex_lock(&p->lock);
    if (0 != (p->up & fsbml_bit(rail)) && way->renews && !fsbml_closing_has_begun()) {
        const int32_t newer = (int32_t) (packet->count - way->ended);
        way->peer_ended = packet->count;
        if (newer > 0) {
            fsbml_framed_failed(p, rail);
            way->connection = FSBML_CONNECTION_ENDING;
            way->ended = packet->count;
        } else if (!p->counts) {
            way->told_ns = 0; /* it does not know that this end has ended as many */
        }
        fsbml_framed_due(p, fsbml_now_ns());
    }
    opal_mutex_unlock(&p->lock);
}

void fsbml_renew_setup(void)
{
    fsbml_packet_handle(FSBML_PACKET_ENDED, peer_ended);
}
