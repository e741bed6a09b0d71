/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* No goodbye to a peer that has gone.
 *
 * tcp of 5.0 says goodbye on every connection that it closes, and tries that again and again while the kernel
 * has no room for it. Where a rail fell silent with its buffer full, that lasts until TCP gives up: a quarter
 * of an hour in MPI_Finalize. So the full connections of closed paths are shut down before: sending fails at
 * once, and tcp closes them as it does any that failed.
 *
 * Which sockets are its own tcp keeps to itself. But it publishes where each process listens, and no other
 * code accepts or connects there: a connection is tcp's if one of its ends is such an address and port, and
 * the other one such an address. In doubt it is left alone. Other ways are worse: a time-out of the kernel
 * (TCP_USER_TIMEOUT) counts from the next of its own attempts on, which may be minutes away; a larger buffer
 * (SO_SNDBUF) is limited by the system. */

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#include "compat/compat.h"

#include "opal/mca/base/base.h"

/* What tcp publishes of each of its interfaces (struct mca_btl_tcp_modex_addr_t); its header is not
 * installed. */
typedef struct published_t {
    uint8_t address[16]; /* IPv4: the first 4 */
    uint32_t interface, mask, bandwidth;
    uint16_t port; /* in the network's order, as it is bound */
    uint8_t is_ipv6, padding;
} published_t;
_Static_assert(32 == sizeof(published_t), "as tcp has it");

typedef struct listed_t {
    published_t *at; /* NULL: it is not known */
    size_t n;
} listed_t;

/* One end of a connection; IPv4 is mapped into IPv6. */
typedef struct end_t {
    uint8_t address[16];
    uint16_t port;
} end_t;

typedef struct connection_t {
    end_t own, peer;
} connection_t;

static void set_end(end_t *end, bool is_ipv6, const void *address, uint16_t port)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    memcpy(end->address, mapped, sizeof(mapped));
    memcpy(is_ipv6 ? end->address : end->address + sizeof(mapped), address, is_ipv6 ? 16 : 4);
    end->port = port;
}

static bool set_end_of(end_t *end, const struct sockaddr_storage *s)
{
    if (AF_INET6 == s->ss_family) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *) s;
        set_end(end, true, &six->sin6_addr, six->sin6_port);
    } else if (AF_INET == s->ss_family) {
        const struct sockaddr_in *four = (const struct sockaddr_in *) s;
        set_end(end, false, &four->sin_addr, four->sin_port);
    }
    return AF_INET6 == s->ss_family || AF_INET == s->ss_family;
}

static bool same_address(const end_t *a, const end_t *b)
{
    return 0 == memcmp(a->address, b->address, sizeof(a->address));
}

/* A TCP connection that takes nothing now; false: any other descriptor. */
static bool is_full(int fd, connection_t *c)
{
    struct sockaddr_storage own, peer;
    socklen_t own_len = sizeof(own), peer_len = sizeof(peer);
    int protocol = 0;
    socklen_t protocol_len = sizeof(protocol);
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    return 0 == getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &protocol_len) && IPPROTO_TCP == protocol
           && 0 == getsockname(fd, (struct sockaddr *) &own, &own_len)
           && 0 == getpeername(fd, (struct sockaddr *) &peer, &peer_len) && set_end_of(&c->own, &own)
           && set_end_of(&c->peer, &peer) && 0 == poll(&room, 1, 0);
}

/* ------------------------------------------------------------- whose it is */

static listed_t list_of(const ompi_process_name_t *name, const mca_btl_base_component_t *tcp)
{
    char *key = mca_base_component_to_string(&tcp->btl_version);
    void *data = NULL;
    size_t len = 0;
    const bool told = NULL != key && OMPI_SUCCESS == fsbml_kvs_get(name, key, FSBML_KVS_HERE, &data, &len);
    free(key);
    if (!told || 0 == len || 0 != len % sizeof(published_t)) {
        free(data);
        return (listed_t){.at = NULL};
    }
    return (listed_t){.at = data, .n = len / sizeof(published_t)};
}

static bool is_listed(const listed_t *list, const end_t *end, bool any_port)
{
    for (size_t i = 0; i < list->n; ++i) {
        end_t e;
        set_end(&e, 0 != list->at[i].is_ipv6, list->at[i].address, list->at[i].port);
        if (same_address(&e, end) && (any_port || e.port == end->port)) {
            return true;
        }
    }
    return false;
}

static bool is_tcp(const mca_btl_base_module_t *btl)
{
    return 0 == strcmp("tcp", btl->btl_component->btl_version.mca_component_name);
}

/* The rails at an end's address. With btl_tcp_links there are several; *tcp is their component. */
static uint32_t rails_at(const end_t *end, const mca_btl_base_component_t **tcp)
{
    uint32_t rails = 0;
    fsbml_tcp_rail_t rail;
    for (uint32_t r = 0; fsbml_tcp->rail(r, &rail); ++r) {
        const bool is_ipv6 = NULL != strchr(rail.address, ':');
        struct in6_addr address;
        end_t e;
        if (is_tcp(rail.btl) && 1 == inet_pton(is_ipv6 ? AF_INET6 : AF_INET, rail.address, &address)) {
            set_end(&e, is_ipv6, &address, 0);
            if (same_address(&e, end)) {
                rails |= fsbml_bit(r);
                *tcp = rail.btl->btl_component;
            }
        }
    }
    return rails;
}

/* A peer's tcp rails, and those of them that are closed. */
static uint32_t rails_to(ompi_proc_t *proc, uint32_t *closed)
{
    uint32_t tcp = 0, rails = 0, possible = 0;
    fsbml_tcp_rail_t rail;
    for (uint32_t r = 0; fsbml_tcp->rail(r, &rail); ++r) {
        tcp |= is_tcp(rail.btl) ? fsbml_bit(r) : 0;
    }
    rails = fsbml_tcp->paths(proc, &rails, &possible) ? rails & tcp : 0;
    *closed = rails & ~possible;
    return rails;
}

/* Whether all that lead to a peer by these rails is closed. */
static bool is_closed(ompi_proc_t *proc, uint32_t rails)
{
    uint32_t closed;
    const uint32_t to = rails_to(proc, &closed) & rails;
    return 0 != to && 0 == (to & ~closed);
}

/* A connection from a node may be of any of its ranks: whether that may be one that the rails still lead to.
 */
static bool is_doubtful(const connection_t *c, uint32_t rails, const mca_btl_base_component_t *tcp)
{
    size_t n = 0;
    ompi_proc_t **all = ompi_proc_all(&n);
    bool doubtful = NULL == all;
    for (size_t p = 0; NULL != all && p < n; ++p) {
        if (NULL != all[p]->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML] && !is_closed(all[p], rails)) {
            listed_t list = list_of(&all[p]->super.proc_name, tcp);
            doubtful = doubtful || NULL == list.at || is_listed(&list, &c->peer, true);
            free(list.at);
        }
        OBJ_RELEASE(all[p]);
    }
    free(all);
    return doubtful;
}

static bool is_lost(const connection_t *c, size_t n, ompi_proc_t **procs)
{
    const mca_btl_base_component_t *tcp = NULL;
    const uint32_t rails = rails_at(&c->own, &tcp);
    if (0 == rails) {
        return false;
    }
    listed_t own = list_of(OMPI_PROC_MY_NAME, tcp);
    const bool accepted = is_listed(&own, &c->own, false);
    bool lost = false;
    for (size_t p = 0; p < n && !lost; ++p) {
        if (is_closed(procs[p], rails)) {
            listed_t list = list_of(&procs[p]->super.proc_name, tcp);
            lost = is_listed(&list, &c->peer, accepted);
            free(list.at);
        }
    }
    free(own.at);
    return lost && !(accepted && is_doubtful(c, rails, tcp));
}

/* ---------------------------------------------------------------------------- */

void fsbml_descriptors(void (*fn)(int fd, void *what), void *what)
{
    DIR *dir = opendir("/proc/self/fd");
    for (const struct dirent *e = NULL != dir ? readdir(dir) : NULL; NULL != e; e = readdir(dir)) {
        char *end;
        const long fd = strtol(e->d_name, &end, 10);
        if (end != e->d_name && '\0' == *end) {
            fn((int) fd, what);
        }
    }
    if (NULL != dir) {
        (void) closedir(dir);
    }
}

typedef struct going_t {
    size_t n;
    ompi_proc_t **procs;
} going_t;

static void shut_down_if_lost(int fd, void *what)
{
    const going_t *going = what;
    connection_t c;
    if (is_full(fd, &c) && is_lost(&c, going->n, going->procs)) {
        FSBML_VERBOSE(FSBML_V_PEER, "a connection that takes no goodbye any more is shut down");
        (void) shutdown(fd, SHUT_RDWR);
    }
}

void fsbml_goodbye_skip(size_t n, ompi_proc_t **procs)
{
    going_t going = {n, procs};
    uint32_t any = 0;
    for (size_t p = 0; p < n; ++p) {
        uint32_t closed;
        (void) rails_to(procs[p], &closed);
        any |= closed;
    }
    if (0 != any) { /* nearly always no path is closed */
        fsbml_descriptors(shut_down_if_lost, &going);
    }
}
