/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What is known of tcp's connections, as a test wants it; nothing by default.
 */
#ifndef FSBML_TESTS_FAKE_SOCKETS_H
#define FSBML_TESTS_FAKE_SOCKETS_H

#include "compat/compat.h"
#include "fake_btl.h"

static struct {
    bool possible;
    int (*of)(int rail);  /* descriptors, of which all are proved; NULL: there are none */
    uint32_t resent;      /* rails whose networks do not answer */
    bool closed[N_FAKES]; /* by their BTL, until a message has it connect */
    bool said_goodbye;    /* the peer, then */
    int renewed[N_FAKES], shut[N_FAKES], calmed[N_FAKES]; /* how often; the last also: the reverse */
    int window;                                           /* another one: the kernel has set it anew */
} sockets;

bool fsbml_socket_is_possible(const mca_btl_base_module_t *btl)
{
    (void) btl;
    return sockets.possible;
}

int fsbml_socket_of(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    (void) endpoint;
    return NULL != sockets.of ? sockets.of(fake_number(btl)) : -1;
}

bool fsbml_socket_is_proved(const struct mca_btl_base_endpoint_t *endpoint, int fd)
{
    (void) endpoint;
    return fd >= 0;
}

int fsbml_socket_find(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    (void) endpoint;
    return NULL != sockets.of ? sockets.of(fake_number(btl)) : -1;
}

bool fsbml_socket_is_resent(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    (void) endpoint;
    return 0 != (sockets.resent & fsbml_bit((uint32_t) fake_number(btl)));
}

void fsbml_socket_hasten(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    (void) btl;
    (void) endpoint;
}

int fsbml_socket_calm(int fd, int before, bool calm)
{
    const int window = calm ? 1000000 + sockets.window : 0;
    if (fd >= 0) {
        sockets.calmed[fd] += before != window;
    }
    return window;
}

void fsbml_socket_push(int fd)
{
    (void) fd;
}

bool fsbml_socket_ends(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint,
                       fsbml_socket_ends_t *ends)
{
    (void) btl;
    (void) endpoint;
    (void) ends;
    return false;
}

void fsbml_socket_end(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    (void) endpoint;
    ++sockets.shut[fake_number(btl)];
}

bool fsbml_socket_is_closed(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    const int rail = fake_number(btl);
    (void) endpoint;
    return sockets.closed[rail] && (0 == sockets.renewed[rail] || 0 == fake[rail].n_queue);
}

bool fsbml_socket_is_lost(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    return fsbml_socket_is_closed(btl, endpoint) && !sockets.said_goodbye;
}

bool fsbml_socket_renew(const mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint)
{
    const int rail = fake_number(btl);
    (void) endpoint;
    sockets.renewed[rail] += sockets.closed[rail] ? 1 : 0;
    return sockets.closed[rail];
}

#endif /* FSBML_TESTS_FAKE_SOCKETS_H */
