/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Fresh connections for paths over tcp that are dead, or whose connection was closed.
 *
 * A connection that was cut sends again in intervals that double, so after a long outage it stands still for
 * as long again. Here a dead path's network is asked four times a second, by a connection attempt of our own
 * to a port where nobody listens: any answer says that it works. Then the peer is asked by another path to
 * end the old connection, and once it has, this end does: so none of the two writes to a connection that the
 * other one has closed, which tcp would take for sent. The BTL makes a fresh one for the next probe. Where a
 * firewall drops the question, the old connection's own time counts. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "failover/failover.h"

enum {
    ASK_NS = 250000000,   /* between two questions, and two connections */
    TOLD_NS = 1000000000, /* the peer's answer may take */
    LOOK_NS = 10000000,   /* and whether there is an answer */
    NOBODY = 1,           /* the port of a service that nobody has any more (tcpmux) */
};

typedef struct fsbml_renewal_t {
    int fd; /* the question, -1: there is none */
    uint64_t asked_ns;
    uint64_t told_ns;         /* when the peer was asked to end it, 0: it was not */
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

static uint16_t port_of(const struct sockaddr_storage *at)
{
    return ntohs(AF_INET6 == at->ss_family ? ((const struct sockaddr_in6 *) at)->sin6_port
                                           : ((const struct sockaddr_in *) at)->sin_port);
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
    set_port(&peer, NOBODY);
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
    if (NULL != p->way[rail].renewal || !fsbml_socket_ends(path->btl, path->btl_endpoint, &ends)) {
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
    p->way[rail].ending = false;
    if (NULL != r) {
        hang_up(r);
        free(r);
        p->way[rail].renewal = NULL;
    }
}

/* No message takes it from now on. */
static void end_here(fsbml_framed_t *p, uint32_t rail, uint64_t now)
{
    const mca_bml_base_btl_t *path = &fsbml_path(p->ep, rail)->super;
    p->way[rail].ending = true;
    FSBML_VERBOSE(FSBML_V_PEER, "the connection of rail %s to %s is made anew", fsbml_rails.rail[rail].name,
                  OMPI_NAME_PRINT(&p->ep->proc->super.proc_name));
    fsbml_delivery_path_failed(p->delivery, p->way[rail].number, now);
    fsbml_socket_end(path->btl, path->btl_endpoint);
    fsbml_framed_due(p, now);
}

/* The ports say which connection is meant. False: no other path works. */
static bool tell_peer(fsbml_framed_t *p, uint32_t rail, uint8_t flags, uint32_t own, uint32_t peer)
{
    const uint32_t by = fsbml_framed_rails(p) & ~fsbml_bit(rail);
    const fsbml_packet_t packet = {.type = FSBML_PACKET_RENEW,
                                   .flags = flags,
                                   .from = *OMPI_PROC_MY_NAME,
                                   .seq = p->way[rail].number,
                                   .count = own,
                                   .bytes = peer};
    int rc = OMPI_ERR_UNREACH;
    if (0 != by) {
        opal_mutex_unlock(&p->lock);
        rc = fsbml_packet_send(&fsbml_path(p->ep, (uint32_t) __builtin_ctz(by))->super, &packet, NULL, 0, 0);
        opal_mutex_lock(&p->lock);
    }
    return OMPI_SUCCESS == rc;
}

/* What is left of the old connection is gone, so a fresh one may come. The end that was asked has it come:
 * two that connect at the same time, one of them not ready, would end each other's. */
static void closed(fsbml_framed_t *p, uint32_t rail, uint64_t now)
{
    fsbml_way_t *way = &p->way[rail];
    fsbml_renew_end(p, rail);
    way->renewed_ns = way->up_ns = now;
    fsbml_delivery_path_failed(p->delivery, way->number, now);
    if (0 != way->owed[0]) {
        way->up_ns = now + ASK_NS;
        (void) tell_peer(p, rail, FSBML_PACKET_ENDED, way->owed[0], way->owed[1]);
        way->owed[0] = 0;
    }
}

static void look_at(fsbml_framed_t *p, uint32_t rail, uint64_t now)
{
    const mca_bml_base_btl_t *path = &fsbml_path(p->ep, rail)->super;
    const uint32_t number = p->way[rail].number;
    fsbml_renewal_t *r = p->way[rail].renewal;
    if (p->way[rail].ending) {
        if (now - p->way[rail].renewed_ns >= ASK_NS && fsbml_socket_renew(path->btl, path->btl_endpoint)) {
            closed(p, rail, now);
        }
    } else if (0 != p->way[rail].up_ns) {
        if (now >= p->way[rail].up_ns) {
            p->way[rail].up_ns = 0;
            fsbml_delivery_path_up(p->delivery, number, now);
        }
    } else if (NULL != r && 0 != r->told_ns) {
        r->told_ns = now - r->told_ns < TOLD_NS ? r->told_ns : 0;
    } else if (NULL != r && is_answered(r)) {
        r->told_ns = tell_peer(p, rail, 0, port_of(&r->ends.own), port_of(&r->ends.peer)) ? now : 0;
    } else if (NULL != r && now - r->asked_ns >= ASK_NS) {
        ask(r, now);
    }
}

void fsbml_renew_look(fsbml_framed_t *p, uint64_t now)
{
    for (uint32_t left = p->up; 0 != left; left &= left - 1) {
        const uint32_t rail = (uint32_t) __builtin_ctz(left);
        look_at(p, rail, now);
        if (p->way[rail].ending) {
            fsbml_framed_due(p, now); /* at once, before anything else happens to it */
        } else if (0 != p->way[rail].up_ns || NULL != p->way[rail].renewal) {
            fsbml_framed_due(p, now + LOOK_NS);
        }
    }
}

/* The peer asks this end to end a connection, or has done so itself. */
static void peer_renews(mca_btl_base_module_t *btl, const fsbml_packet_t *packet, const void *payload,
                        size_t len)
{
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(packet->from);
    mca_bml_fsbml_endpoint_t *ep = NULL != proc ? fsbml_endpoint_of_proc(proc) : NULL;
    fsbml_framed_t *p = NULL != ep ? fsbml_framed_of(ep) : NULL;
    const bool is_answer = 0 != (packet->flags & FSBML_PACKET_ENDED);
    (void) btl;
    (void) payload;
    (void) len;
    if (NULL == p || packet->seq >= p->paths) {
        return;
    }
    fsbml_socket_ends_t ends;
    const uint32_t rail = p->rail[packet->seq];
    opal_mutex_lock(&p->lock);
    const mca_bml_base_btl_t *path = 0 != (p->up & fsbml_bit(rail)) ? &fsbml_path(ep, rail)->super : NULL;
    const bool is_meant = NULL != path && !p->way[rail].ending
                          && fsbml_socket_ends(path->btl, path->btl_endpoint, &ends)
                          && port_of(&ends.own) == packet->bytes && port_of(&ends.peer) == packet->count;
    if (is_meant) {
        p->way[rail].owed[0] = is_answer ? 0 : packet->bytes;
        p->way[rail].owed[1] = packet->count;
        end_here(p, rail, fsbml_now_ns());
    } else if (NULL != path && !is_answer && !p->way[rail].ending) {
        (void) tell_peer(p, rail, FSBML_PACKET_ENDED, packet->bytes, packet->count);
    }
    opal_mutex_unlock(&p->lock);
}

void fsbml_renew_setup(void)
{
    fsbml_packet_handle(FSBML_PACKET_RENEW, peer_renews);
}
