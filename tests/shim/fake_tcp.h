/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * tcp's endpoints as compat/socket.c expects them, with real connections of this machine to itself.
 */
#ifndef FSBML_TESTS_FAKE_TCP_H
#define FSBML_TESTS_FAKE_TCP_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "fake_pml.h"

static mca_btl_base_component_t tcp_component = {.btl_version = {MCA_BTL_DEFAULT_VERSION("tcp")}};

/* As in 4.1, 5.0 and 6.0: its name is what counts. */
typedef struct mca_btl_tcp_endpoint_t {
    opal_list_item_t super;
    const mca_btl_base_module_t *module;
    void *proc;
    struct in_addr *address;
    int descriptor, next_descriptor;
    char *cache[2];
    size_t cache_length;
    void *frag[2];
    int state;
    uint32_t retries;
} mca_btl_tcp_endpoint_t;
OBJ_CLASS_DECLARATION(mca_btl_tcp_endpoint_t);
OBJ_CLASS_INSTANCE(mca_btl_tcp_endpoint_t, opal_list_item_t, NULL, NULL);

enum { TCP_CLOSED = 2, TCP_FAILED = 3, TCP_CONNECTED = 4, TCP_MOST = 32 };

static mca_btl_tcp_endpoint_t *tcp_endpoint[2][N_PEERS]; /* rail, peer */
static struct mca_btl_base_endpoint_t *tcp_before[2][N_PEERS];
static struct in_addr tcp_address; /* of all ends: 127.0.0.1 */
static int tcp_opened[TCP_MOST], tcp_n_opened, tcp_listener = -1;

static int tcp_kept(int fd)
{
    CHECK(fd >= 0 && tcp_n_opened < TCP_MOST);
    return tcp_opened[tcp_n_opened++] = fd;
}

static int tcp_bound(void)
{
    const int small = 4096, fd = tcp_kept(socket(AF_INET, SOCK_STREAM, 0));
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = tcp_address};
    CHECK(0 == setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)));
    CHECK(0 == setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
    CHECK(0 == bind(fd, (struct sockaddr *) &at, sizeof(at)));
    return fd;
}

/* A new connection; *other is its other end. */
static int tcp_connection(int *other)
{
    struct sockaddr_in at;
    socklen_t len = sizeof(at);
    const int fd = tcp_bound();
    CHECK(0 == getsockname(tcp_listener, (struct sockaddr *) &at, &len));
    CHECK(0 == connect(fd, (struct sockaddr *) &at, sizeof(at)));
    *other = tcp_kept(accept(tcp_listener, NULL, NULL));
    return fd;
}

/* Two rails of tcp on the loopback interface, whose endpoints are connected to nothing. */
static inline void tcp_up(uint32_t peer_count)
{
    tcp_address.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < 2; ++i) {
        fake_construct(&fake[i], 4096, 65536, 10);
        fake[i].super.btl_component = &tcp_component;
    }
    world_up(2);
    while (n_peers < peer_count) {
        world_add_peer();
    }
    for (uint32_t p = 0; p < n_peers; ++p) {
        CHECK(OMPI_SUCCESS == mca_bml.bml_add_proc(peers[p]));
    }
    all_answer(2);
    for (uint32_t r = 0; r < 2; ++r) {
        snprintf(fsbml_rails.rail[r].name, sizeof(fsbml_rails.rail[r].name), "lo");
        for (uint32_t p = 0; p < n_peers; ++p) {
            mca_bml_base_btl_t *path = &fsbml_path(fsbml_endpoint_of_proc(peers[p]), r)->super;
            mca_btl_tcp_endpoint_t *e = OBJ_NEW(mca_btl_tcp_endpoint_t);
            e->module = path->btl;
            e->address = &tcp_address;
            e->descriptor = e->next_descriptor = -1;
            e->state = TCP_CLOSED;
            tcp_endpoint[r][p] = e;
            tcp_before[r][p] = path->btl_endpoint;
            path->btl_endpoint = (struct mca_btl_base_endpoint_t *) e;
        }
    }
    tcp_listener = tcp_bound();
    CHECK(0 == listen(tcp_listener, TCP_MOST));
}

static inline void tcp_down(void)
{
    for (uint32_t r = 0; r < 2; ++r) {
        for (uint32_t p = 0; p < n_peers; ++p) {
            fsbml_path(fsbml_endpoint_of_proc(peers[p]), r)->super.btl_endpoint = tcp_before[r][p];
            OBJ_RELEASE(tcp_endpoint[r][p]);
        }
    }
    while (tcp_n_opened > 0) {
        (void) close(tcp_opened[--tcp_n_opened]);
    }
    world_down(2);
}

/* Connects an endpoint; returns the other end. */
static inline int tcp_connect(uint32_t rail, uint32_t p)
{
    int other;
    tcp_endpoint[rail][p]->descriptor = tcp_connection(&other);
    tcp_endpoint[rail][p]->state = TCP_CONNECTED;
    return other;
}

#endif /* FSBML_TESTS_FAKE_TCP_H */
