/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's word on tcp's connections: which descriptors are taken for one, and which are not. Real
 * connections, of this machine with itself. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <ifaddrs.h>
#include <netinet/tcp.h>

#include "fake_tcp.h"
#include "flow/flow.h"

static int n_lists; /* of all addresses of this machine, that were asked for */

int getifaddrs(struct ifaddrs **all)
{
    int (*real)(struct ifaddrs **) = (int (*)(struct ifaddrs **)) dlsym(RTLD_NEXT, "getifaddrs");
    ++n_lists;
    return real(all);
}

static void up(void)
{
    mca_bml_fsbml_params.feedback = false;
    tcp_up(1);
}

static uint32_t connections(uint32_t rail)
{
    fsbml_flow_tcp_t tcp;
    CHECK(fsbml_flow_tcp(rail, &tcp) == (0 != tcp.connections));
    return tcp.connections;
}

/* Sends to the other end, which acknowledges it. */
static void send_bytes(int fd, int other, size_t n)
{
    static char data[2048];
    for (size_t sent = 0; sent < n; sent += sizeof(data)) {
        CHECK(sizeof(data) == (size_t) send(fd, data, sizeof(data), 0));
        for (size_t got = 0; got < sizeof(data);) {
            const ssize_t some = recv(other, data, sizeof(data) - got, 0);
            CHECK(some > 0);
            got += some > 0 ? (size_t) some : sizeof(data);
        }
    }
    for (int i = 0; i < 2000 && 0 < fsbml_kernel_queued(fd); ++i) {
        (void) poll(NULL, 0, 1);
    }
    CHECK(0 == fsbml_kernel_queued(fd));
}

FAKE_TEST(a_connection_is_found_by_its_endpoint)
{
    up();
    mca_btl_tcp_endpoint_t *e = tcp_endpoint[0][0];
    CHECK(0 == connections(0) && 0 == fsbml_sockets_look(0).n && fsbml_sockets_look(0).all_known);
    const int other = tcp_connect(0, 0);
    CHECK(1 == connections(0) && 0 == connections(1));
    CHECK(1 == fsbml_sockets_look(0).n && fsbml_sockets_look(0).all_known);
    CHECK(0 == fsbml_sockets_look(0).look.bytes);
    send_bytes(e->descriptor, other, 65536);
    const fsbml_flow_seen_t seen = fsbml_sockets_look(0);
    CHECK(65536 == seen.look.bytes && 0 == seen.queued && seen.round_trip_ns > 0);
    CHECK(0 == fsbml_sockets_look(0).look.bytes && 0 == fsbml_sockets_look(1).n);
    CHECK(seen.round_trip_ns >= fsbml_flow_round_trip(fsbml_endpoint_of_proc(peer), 0));
    CHECK(0 == fsbml_flow_round_trip(fsbml_endpoint_of_proc(peer), 1));
    send_bytes(other, e->descriptor, 4096);
    const fsbml_flow_seen_t back = fsbml_sockets_look(0);
    CHECK(4096 == back.received && back.usual_ns >= back.round_trip_ns && 0 == back.look.bytes);
    e->state = TCP_CLOSED;
    CHECK(0 == connections(0) && 0 == fsbml_sockets_look(0).n);
    tcp_down();
}

/* An Open MPI whose struct is another one, or a value that is not the descriptor. */
FAKE_TEST(what_is_not_proved_tells_nothing)
{
    up();
    mca_btl_tcp_endpoint_t *e = tcp_endpoint[0][0];
    opal_class_t *class = ((opal_object_t *) e)->obj_class, changed = *class;
    struct in_addr elsewhere = {htonl(0x7f000002)};
    (void) tcp_connect(0, 0);
    const int fd = e->descriptor;
    for (int i = 0; i < 7; ++i) {
        int pipes[2] = {-1, -1};
        CHECK(0 == pipe(pipes));
        CHECK(1 == connections(0));
        changed = *class;
        changed.cls_name = 0 == i ? "mca_btl_other_endpoint_t" : class->cls_name;
        changed.cls_sizeof = 1 == i ? sizeof(opal_list_item_t) + 16 : class->cls_sizeof;
        ((opal_object_t *) e)->obj_class = i < 2 ? &changed : class;
        e->module = 2 == i ? &fake[1].super : &fake[0].super;
        e->address = 3 == i ? &elsewhere : &tcp_address;
        e->descriptor = 4 == i ? pipes[0] : 5 == i ? tcp_listener : 3 == i ? dup(fd) : fd;
        snprintf(fsbml_rails.rail[0].name, sizeof(fsbml_rails.rail[0].name), "%s", 6 == i ? "none" : "lo");
        e->descriptor = 6 == i ? dup(fd) : e->descriptor;
        CHECK(0 == connections(0) && 0 == fsbml_sockets_look(0).n);
        CHECK((i < 3) == fsbml_sockets_look(0).all_known); /* there is one, and it is not known */
        if (3 == i || 6 == i) {
            (void) close(e->descriptor);
        }
        (void) close(pipes[0]);
        (void) close(pipes[1]);
        ((opal_object_t *) e)->obj_class = class;
        e->module = &fake[0].super;
        e->address = &tcp_address;
        e->descriptor = fd;
        snprintf(fsbml_rails.rail[0].name, sizeof(fsbml_rails.rail[0].name), "lo");
    }
    CHECK(1 == connections(0));
    tcp_down();
}

/* tcp has closed a connection and made a new one, which has got the same descriptor. */
FAKE_TEST(a_descriptor_that_is_used_again_is_another_connection)
{
    up();
    const mca_btl_tcp_endpoint_t *e = tcp_endpoint[0][0];
    const int other = tcp_connect(0, 0);
    int other_of_next;
    CHECK(1 == fsbml_sockets_look(0).n);
    send_bytes(e->descriptor, other, 65536);
    CHECK(65536 == fsbml_sockets_look(0).look.bytes);
    const int next = tcp_connection(&other_of_next);
    send_bytes(next, other_of_next, 131072);
    CHECK(e->descriptor == dup2(next, e->descriptor));
    CHECK(0 == fsbml_sockets_look(0).look.bytes); /* not 65536 */
    CHECK(0 == fsbml_sockets_look(0).look.bytes && 1 == fsbml_sockets_look(0).n);
    send_bytes(e->descriptor, other_of_next, 4096);
    CHECK(4096 == fsbml_sockets_look(0).look.bytes);
    tcp_down();
}

/* A job of many processes makes many at once: each list of addresses takes ten calls of the kernel. */
FAKE_TEST(a_rails_address_is_looked_up_once)
{
    tcp_up(3);
    n_lists = 0;
    snprintf(fsbml_rails.rail[1].name, sizeof(fsbml_rails.rail[1].name), "none");
    for (uint32_t p = 0; p < 3; ++p) {
        (void) tcp_connect(0, p);
        CHECK(p + 1 == connections(0));
    }
    CHECK(n_lists <= 1);
    (void) tcp_connect(1, 0); /* it is not there, whatever the other rail's is */
    CHECK(0 == connections(1) && n_lists > 0);
    tcp_down();
}

/* Nothing of a peer that has gone is looked at. */
FAKE_TEST(connections_go_with_their_peers)
{
    tcp_up(3);
    for (uint32_t p = 0; p < 3; ++p) {
        (void) tcp_connect(0, p);
    }
    CHECK(3 == connections(0));
    fsbml_proof_forget(fsbml_endpoint_of_proc(peers[0]));
    CHECK(2 == connections(0) && 2 == fsbml_sockets_look(0).n);
    fsbml_proof_forget(fsbml_endpoint_of_proc(peers[2]));
    CHECK(1 == connections(0));
    tcp_down();
}

/* Rails of other BTLs have no descriptors. */
FAKE_TEST(other_btls_are_not_asked)
{
    fakes_up(2);
    (void) peer_up();
    all_answer(2);
    mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of_proc(peer);
    CHECK(NULL == fsbml_path(ep, 0)->connection && 0 == connections(0) && 0 == fsbml_flow_round_trip(ep, 0));
    world_down(2);
}

static int window_of(int fd)
{
    int clamp = -1;
    socklen_t len = sizeof(clamp);
    CHECK(0 == getsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &clamp, &len) && clamp > 0);
    return clamp;
}

FAKE_TEST(a_connection_has_room_for_what_comes_one_by_one)
{
    up();
    CHECK(0 == fsbml_socket_calm(-1, 0, true)); /* not connected */
    (void) tcp_connect(0, 0);
    const int fd = tcp_endpoint[0][0]->descriptor, before = window_of(fd);
    CHECK(0 == fsbml_socket_calm(fd, 0, false) && before == window_of(fd));
    const int calm = fsbml_socket_calm(fd, 0, true);
    CHECK(before - before / 8 == calm && calm == window_of(fd));
    CHECK(calm == fsbml_socket_calm(fd, calm, true) && calm == window_of(fd));
    CHECK(0 == fsbml_socket_calm(fd, calm, false) && before == window_of(fd));
    const int large = 1 << 20; /* an eighth of it would acknowledge a long message packet by packet */
    CHECK(0 == setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &large, sizeof(large)));
    CHECK(0 == fsbml_socket_calm(fd, calm, false) && large == window_of(fd)); /* not what it was */
    CHECK(large - 32768 == fsbml_socket_calm(fd, calm, true) && large - 32768 == window_of(fd));
    CHECK(0 == fsbml_socket_calm(fd, large - 32768, false) && large == window_of(fd));
    tcp_down();
}

/* As where a queue has refused it: a cork keeps what is queued, with nothing on its way that is acknowledged.
 */
FAKE_TEST(what_waits_in_the_kernel_is_sent)
{
    const int on = 1;
    char got[4];
    up();
    const int other = tcp_connect(0, 0), fd = tcp_endpoint[0][0]->descriptor;
    CHECK(0 == setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on)) && 4 == send(fd, "wait", 4, 0));
    CHECK(-1 == recv(other, got, sizeof(got), MSG_DONTWAIT));
    CHECK(1 == fsbml_sockets_look(0).n);
    CHECK(4 == recv(other, got, sizeof(got), MSG_DONTWAIT) && 0 == memcmp("wait", got, 4));
    tcp_down();
}

/* A kernel acknowledges for a process that does nothing; a network that is not there, or a queue that is
 * full, does not. */
FAKE_TEST(what_is_not_acknowledged_is_told_from_what_is_not_read)
{
    enum { MORE = 4, MOST_MS = 20000 };
    up();
    mca_btl_tcp_endpoint_t *e = tcp_endpoint[0][0];
    const mca_btl_base_module_t *btl = e->module;
    const struct mca_btl_base_endpoint_t *endpoint = (const struct mca_btl_base_endpoint_t *) e;
    CHECK(!fsbml_socket_is_resent(btl, endpoint));
    (void) tcp_connect(0, 0);
    CHECK(4 == send(e->descriptor, "busy", 4, 0));
    CHECK(!fsbml_socket_is_resent(btl, endpoint));

    struct sockaddr_in at;
    socklen_t len = sizeof(at);
    const int full = tcp_bound();
    CHECK(0 == listen(full, 1) && 0 == getsockname(full, (struct sockaddr *) &at, &len));
    for (int i = 0; i < MORE; ++i) { /* the last one gets no answer */
        e->descriptor = tcp_bound();
        CHECK(0 == fcntl(e->descriptor, F_SETFL, O_NONBLOCK));
        (void) connect(e->descriptor, (struct sockaddr *) &at, sizeof(at));
    }
    e->state = TCP_CLOSED; /* not connected yet */
    CHECK(!fsbml_socket_is_resent(btl, endpoint));
    for (int i = 0; i < MOST_MS && !fsbml_socket_is_resent(btl, endpoint); ++i) {
        (void) poll(NULL, 0, 1);
    }
    CHECK(fsbml_socket_is_resent(btl, endpoint));
    CHECK(!fsbml_socket_is_resent(&fake[1].super, endpoint)); /* another module's */
    e->descriptor = -1;
    tcp_down();
}

/* Of a connection that tcp has closed: 4.1 cannot tell whether the peer meant it. */
FAKE_TEST(a_lost_connection_is_told_from_one_that_ended_with_a_goodbye)
{
    up();
    mca_btl_tcp_endpoint_t *e = tcp_endpoint[0][0];
    const struct mca_btl_base_endpoint_t *endpoint = (const struct mca_btl_base_endpoint_t *) e;
    (void) tcp_connect(0, 0);
    CHECK(!fsbml_socket_is_lost(e->module, endpoint));
    e->descriptor = -1;
    e->state = TCP_FAILED;
    CHECK(fsbml_socket_is_lost(e->module, endpoint) && fsbml_socket_is_closed(e->module, endpoint));
    e->state = TCP_CLOSED;
    CHECK(FSBML_TCP_SAYS_GOODBYE != fsbml_socket_is_lost(e->module, endpoint));
    CHECK(fsbml_socket_is_closed(e->module, endpoint));
    tcp_down();
}
