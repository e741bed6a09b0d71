/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptor of a connection of tcp's.
 *
 * What the kernel knows of a connection (what is delivered, its round trip) needs its descriptor, which tcp
 * keeps to itself, in 4.1, 5.0 and 6.0 alike: in a struct whose header is not installed. To search
 * /proc/self/fd instead costs some system calls for each open file, and cannot tell the connections of two
 * modules on one interface. So here is the beginning of that struct (opal/mca/btl/tcp/btl_tcp_endpoint.h),
 * the same in all three.
 *
 * It is not taken on trust. The object must say that it is of tcp's class, be large enough, and point to its
 * own module; and what it has for a descriptor must be a TCP connection to the address that it has for its
 * peer. Where this is not so, as in an Open MPI that has moved a member, there is no descriptor, and FSBML
 * goes by its model.
 *
 * One accessor in btl/tcp, found as a symbol or kept in the module, would make this file unnecessary:
 * int mca_btl_tcp_endpoint_descriptor(const mca_btl_base_endpoint_t *), -1 while it is not connected. */

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "compat/compat.h"

#include "opal/class/opal_list.h"

typedef struct tcp_endpoint_t {
    opal_list_item_t super;
    const mca_btl_base_module_t *module;
    const void *proc;
    const void *address; /* of the peer's end: begins with a struct in_addr or in6_addr */
    int descriptor, next_descriptor;
    char *cache, *cache_at;
    size_t cache_length;
    const void *sending, *receiving;
    int state;
} tcp_endpoint_t;

enum { CLOSED = 2, FAILED = 3, CONNECTED = 4 };

static bool is_endpoint(const mca_btl_base_module_t *btl, const tcp_endpoint_t *e)
{
    static _Atomic(const opal_class_t *) known; /* spares comparing texts each time */
    const opal_class_t *class = ((const opal_object_t *) e)->obj_class;
    if (NULL == class) {
        return false;
    }
    if (class != atomic_load_explicit(&known, memory_order_relaxed)) {
        if (0 != strcmp("mca_btl_tcp_endpoint_t", class->cls_name) || class->cls_sizeof < sizeof(*e)) {
            return false;
        }
        atomic_store_explicit(&known, class, memory_order_relaxed);
    }
    return e->module == btl;
}

bool fsbml_socket_is_possible(const mca_btl_base_module_t *btl)
{
    return 0 == strcmp("tcp", btl->btl_component->btl_version.mca_component_name);
}

int fsbml_socket_of(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    const tcp_endpoint_t *e = (const tcp_endpoint_t *) endpoint;
    if (!is_endpoint(btl, e) || CONNECTED != __atomic_load_n(&e->state, __ATOMIC_RELAXED)) {
        return -1;
    }
    const int fd = __atomic_load_n(&e->descriptor, __ATOMIC_RELAXED);
    return fd >= 0 ? fd : -1;
}

bool fsbml_socket_is_proved(const struct mca_btl_base_endpoint_t *endpoint, int fd)
{
    const void *address = ((const tcp_endpoint_t *) endpoint)->address;
    struct sockaddr_storage peer;
    socklen_t peer_len = sizeof(peer);
    int protocol = 0;
    socklen_t protocol_len = sizeof(protocol);
    if (0 != getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &protocol_len) || IPPROTO_TCP != protocol
        || 0 != getpeername(fd, (struct sockaddr *) &peer, &peer_len) || NULL == address) {
        return false;
    }
    return AF_INET == peer.ss_family
               ? 0 == memcmp(&((const struct sockaddr_in *) &peer)->sin_addr, address, sizeof(struct in_addr))
           : AF_INET6 == peer.ss_family ? 0
                                              == memcmp(&((const struct sockaddr_in6 *) &peer)->sin6_addr,
                                                        address, sizeof(struct in6_addr))
                                        : false;
}

int fsbml_socket_find(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    const int fd = fsbml_socket_is_possible(btl) ? fsbml_socket_of(btl, endpoint) : -1;
    return fd >= 0 && fsbml_socket_is_proved(endpoint, fd) ? fd : -1;
}

/* The descriptor need not be proved: what is asked of another file fails, or changes nothing but a guess. */
bool fsbml_socket_is_resent(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    const tcp_endpoint_t *e = (const tcp_endpoint_t *) endpoint;
    struct tcp_info info;
    socklen_t len = sizeof(info);
    memset(&info, 0, sizeof(info));
    return fsbml_socket_is_possible(btl) && is_endpoint(btl, e)
           && 0
                  == getsockopt(__atomic_load_n(&e->descriptor, __ATOMIC_RELAXED), IPPROTO_TCP, TCP_INFO,
                                &info, &len)
           && 0 != info.tcpi_retransmits;
}

/* Intervals double up to two minutes: a connection that was cut for a while stands still for as long again.
 * Linux has the option since 6.15, and takes no less than a second; before, fresh connections are all there
 * is. */
void fsbml_socket_hasten(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    enum { RTO_MAX_MS = 44 /* TCP_RTO_MAX_MS, which older headers lack */ };
    const tcp_endpoint_t *e = (const tcp_endpoint_t *) endpoint;
    const int ms = 1000;
    if (fsbml_socket_is_possible(btl) && is_endpoint(btl, e)) {
        (void) setsockopt(__atomic_load_n(&e->descriptor, __ATOMIC_RELAXED), IPPROTO_TCP, RTO_MAX_MS, &ms,
                          sizeof(ms));
    }
}

/* Linux acknowledges a message of several segments in either of two ways. While a connection's buffer has
 * more room than was advertised: at once, where segments come in. Else when the receiver reads them, which
 * then takes 3 to 6 us longer (tcp_cleanup_rbuf), but once for many that come behind each other. A fresh
 * connection is of the first kind, and bulk makes it one of the second. To take some of the window back, by
 * way of the clamp, makes it one of the first again for messages that fit into that: of longer ones each
 * packet would be acknowledged, for a sixth of the time of 256 KiB. The kernel sets the clamp anew when it
 * makes the buffer larger, or segments are of another size. Returns the clamp, 0: it is the kernel's. */
int fsbml_socket_calm(int fd, int before, bool calm)
{
    enum { PART = 8, MOST = 32768 };
    int clamp = 0;
    socklen_t len = sizeof(clamp);
    if (0 != getsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &clamp, &len)) {
        return 0;
    }
    if (calm && clamp != before) {
        clamp -= clamp / PART < MOST ? clamp / PART : MOST;
        (void) setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &clamp, sizeof(clamp));
    } else if (!calm && clamp == before) {
        clamp += clamp / (PART - 1) < MOST ? clamp / (PART - 1) : MOST;
        (void) setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &clamp, sizeof(clamp));
    }
    return calm ? clamp : 0;
}

/* A queue of this node that is full refuses a segment (tc's tbf, as limits for containers and clouds have it,
 * when many connections send at once). If the connection has nothing else on its way, no acknowledgement
 * makes the kernel try again: it does so after 0.2 s, as if the receiver had no room. To ask once more for
 * what tcp has asked for anyway has it try now. */
void fsbml_socket_push(int fd)
{
    const int on = 1;
    (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

bool fsbml_socket_ends(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint,
                       fsbml_socket_ends_t *ends)
{
    const int fd = fsbml_socket_find(btl, endpoint);
    socklen_t own = sizeof(ends->own), peer = sizeof(ends->peer);
    memset(ends, 0, sizeof(*ends));
    if (fd < 0 || 0 != getsockname(fd, (struct sockaddr *) &ends->own, &own)
        || 0 != getpeername(fd, (struct sockaddr *) &ends->peer, &peer)) {
        return false;
    }
    ends->len = peer;
    return own == peer;
}

/* tcp reads the end of a file then, completes all that it has with an error, and closes. */
void fsbml_socket_end(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    const int fd = fsbml_socket_find(btl, endpoint);
    if (fd >= 0) {
        (void) shutdown(fd, SHUT_RD); /* to write would end the process */
    }
}

bool fsbml_socket_is_closed(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    const tcp_endpoint_t *e = (const tcp_endpoint_t *) endpoint;
    return is_endpoint(btl, e) && __atomic_load_n(&e->descriptor, __ATOMIC_RELAXED) < 0
           && (CLOSED == e->state || FAILED == e->state);
}

/* tcp of 4.1 calls a connection closed whatever has happened to it. */
bool fsbml_socket_is_lost(const mca_btl_base_module_t *btl, const struct mca_btl_base_endpoint_t *endpoint)
{
    return fsbml_socket_is_closed(btl, endpoint)
           && (!FSBML_TCP_SAYS_GOODBYE || FAILED == ((const tcp_endpoint_t *) endpoint)->state);
}

/* 4.1 keeps the fragment that it was sending, and all keep the one that they were receiving: both would go on
 * in the midst of the next connection. 5.0 and later stay failed. */
bool fsbml_socket_renew(const mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint)
{
    tcp_endpoint_t *e = (tcp_endpoint_t *) endpoint;
    if (!fsbml_socket_is_closed(btl, endpoint)) {
        return false;
    }
    e->sending = e->receiving = NULL;
    e->state = CLOSED;
    return true;
}
