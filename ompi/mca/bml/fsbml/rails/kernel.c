/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel knows of a rail that is a network interface: how much it sent, for all programs, and how
 * long this process' TCP connections on it had data that the peer had not acknowledged yet. Nothing here is
 * asked on the way of a message, only for reports and by tools. */

#include <ifaddrs.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rails/rails.h"

void fsbml_kernel_interface(uint32_t rail, char name[FSBML_NAME_MAX])
{
    const char *text = fsbml_rails.rail[rail].name;
    snprintf(name, FSBML_NAME_MAX, "%.*s", (int) strcspn(text, ":"), text);
}

bool fsbml_kernel_counters(const char *interface, fsbml_kernel_counters_t *c)
{
    char line[512];
    bool found = false;
    const size_t len = strlen(interface);
    FILE *f = fopen("/proc/self/net/dev", "r");
    while (NULL != f && !found && NULL != fgets(line, sizeof(line), f)) {
        const char *at = line + strspn(line, " ");
        found = 0 == strncmp(at, interface, len) && ':' == at[len]
                && 3
                       == sscanf(at + len + 1, "%*s %" SCNu64 " %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64,
                                 &c->in, &c->bytes_out, &c->out);
    }
    if (NULL != f) {
        (void) fclose(f);
    }
    return found;
}

void fsbml_kernel_connections(bool (*fn)(const fsbml_kernel_connection_t *c, void *what), void *what)
{
    char line[256];
    fsbml_kernel_connection_t c;
    bool over = false;
    FILE *f = fopen("/proc/net/tcp", "r");
    while (NULL != f && !over && NULL != fgets(line, sizeof(line), f)) {
        over = 5
                   == sscanf(line, " %*d: %8" SCNx32 ":%*x %8" SCNx32 ":%*x %x %x:%*x %*x:%*x %x", &c.local,
                             &c.remote, &c.state, &c.unsent, &c.again)
               && fn(&c, what);
    }
    if (NULL != f) {
        (void) fclose(f);
    }
}

bool fsbml_kernel_sent(uint32_t rail, uint64_t *bytes)
{
    char name[FSBML_NAME_MAX];
    fsbml_kernel_counters_t c = {.bytes_out = 0};
    fsbml_kernel_interface(rail, name);
    const bool found = fsbml_kernel_counters(name, &c);
    *bytes = c.bytes_out;
    return found;
}

bool fsbml_kernel_link(const char *interface, fsbml_kernel_link_t *link)
{
    struct ifreq request = {.ifr_mtu = 0};
    fsbml_kernel_counters_t c;
    *link = (fsbml_kernel_link_t){.carrier = true, .received = UINT64_MAX};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
    const bool is_there = 0 == ioctl(fd, SIOCGIFFLAGS, &request);
    if (is_there) {
        link->carrier = 0 == (request.ifr_flags & IFF_UP) || 0 != (request.ifr_flags & IFF_RUNNING);
    }
    if (0 == ioctl(fd, SIOCGIFMTU, &request)) {
        link->mtu = (uint32_t) request.ifr_mtu;
    }
#ifdef SIOCGIFHWADDR
    if (0 == ioctl(fd, SIOCGIFHWADDR, &request)) {
        memcpy(link->device, request.ifr_hwaddr.sa_data, sizeof(link->device));
    }
#endif
    close(fd);
    link->received = fsbml_kernel_counters(interface, &c) ? c.in : UINT64_MAX;
    return is_there;
}

/* Are the two the same address, whatever the port? IPv4 may be mapped into IPv6. */
static bool is_address(const struct sockaddr *a, const struct sockaddr *b)
{
    const uint8_t *at[2] = {NULL, NULL};
    size_t len[2] = {0, 0};
    const struct sockaddr *each[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        if (AF_INET == each[i]->sa_family) {
            at[i] = (const uint8_t *) &((const struct sockaddr_in *) each[i])->sin_addr;
            len[i] = 4;
        } else if (AF_INET6 == each[i]->sa_family) {
            const struct in6_addr *six = &((const struct sockaddr_in6 *) each[i])->sin6_addr;
            const bool mapped = IN6_IS_ADDR_V4MAPPED(six);
            at[i] = (const uint8_t *) six + (mapped ? 12 : 0);
            len[i] = mapped ? 4 : 16;
        }
    }
    return 0 != len[0] && len[0] == len[1] && 0 == memcmp(at[0], at[1], len[0]);
}

static bool is_on(const struct ifaddrs *all, const char *interface, const struct sockaddr *address)
{
    for (const struct ifaddrs *a = all; NULL != a; a = a->ifa_next) {
        if (NULL != a->ifa_addr && 0 == strcmp(a->ifa_name, interface) && is_address(a->ifa_addr, address)) {
            return true;
        }
    }
    return false;
}

/* Is a descriptor a TCP connection, and of which own address? */
static bool is_connection(int fd, struct sockaddr_storage *own)
{
    struct sockaddr_storage peer;
    socklen_t own_len = sizeof(*own), peer_len = sizeof(peer);
    int protocol = 0;
    socklen_t protocol_len = sizeof(protocol);
    return 0 == getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &protocol_len) && IPPROTO_TCP == protocol
           && 0 == getsockname(fd, (struct sockaddr *) own, &own_len)
           && 0 == getpeername(fd, (struct sockaddr *) &peer, &peer_len);
}

int fsbml_kernel_rail_of(int fd)
{
    struct sockaddr_storage own;
    socklen_t len = sizeof(own);
    struct ifaddrs *all = NULL;
    int rail = -1;
    if (0 != getsockname(fd, (struct sockaddr *) &own, &len) || 0 != getifaddrs(&all)) {
        return -1;
    }
    for (uint32_t r = 0; r < fsbml_rails.n_rails && rail < 0; ++r) {
        char interface[FSBML_NAME_MAX];
        fsbml_kernel_interface(r, interface);
        rail = is_on(all, interface, (const struct sockaddr *) &own) ? (int) r : -1;
    }
    freeifaddrs(all);
    return rail;
}

/* ------------------------------------------------------------- connections' flow */

static uint64_t cookie_of(int fd)
{
    uint64_t cookie = 0;
#ifdef SO_COOKIE
    socklen_t len = sizeof(cookie);
    if (0 != getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len)) {
        cookie = 0;
    }
#else
    (void) fd;
#endif
    return cookie;
}

typedef struct sockets_t {
    const struct ifaddrs *all;
    fsbml_kernel_socket_t *socket;
    size_t n, most;
} sockets_t;

static void add_socket(int fd, void *what)
{
    sockets_t *to = what;
    struct sockaddr_storage own;
    if (!is_connection(fd, &own)) {
        return;
    }
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        char interface[FSBML_NAME_MAX];
        fsbml_kernel_interface(r, interface);
        if (is_on(to->all, interface, (const struct sockaddr *) &own)) {
            if (to->n < to->most) {
                to->socket[to->n] = (fsbml_kernel_socket_t){fd, r, cookie_of(fd)};
            }
            ++to->n;
            return;
        }
    }
}

size_t fsbml_kernel_sockets(fsbml_kernel_socket_t *socket, size_t most)
{
    struct ifaddrs *all = NULL;
    sockets_t to = {.socket = socket, .most = most};
    if (0 == getifaddrs(&all)) {
        to.all = all;
        fsbml_descriptors(add_socket, &to);
        freeifaddrs(all);
    }
    return to.n;
}

int64_t fsbml_kernel_queued(const fsbml_kernel_socket_t *socket)
{
    int queued = 0;
    return cookie_of(socket->fd) == socket->cookie && 0 == ioctl(socket->fd, SIOCOUTQ, &queued) ? queued : -1;
}

bool fsbml_kernel_flow(const fsbml_kernel_socket_t *socket, fsbml_kernel_flow_t *flow)
{
    enum { FRAME = 66 }; /* Ethernet, IPv4, and TCP with time stamps */
    const int64_t queued = fsbml_kernel_queued(socket);
    struct tcp_info info;
    socklen_t len = sizeof(info);
    memset(&info, 0, sizeof(info));
    if (queued < 0 || 0 != getsockopt(socket->fd, IPPROTO_TCP, TCP_INFO, &info, &len)) {
        return false;
    }
    const bool knows = UINT32_MAX != info.tcpi_min_rtt;
    flow->queued = (uint64_t) queued;
    flow->acknowledged = info.tcpi_bytes_acked;
    flow->busy_ns = (uint64_t) info.tcpi_busy_time * 1000u;
    flow->limited_ns = (uint64_t) info.tcpi_rwnd_limited * 1000u;
    flow->round_trip_ns = knows ? (uint64_t) info.tcpi_min_rtt * 1000u : 0;
    flow->payload = (double) info.tcpi_snd_mss / (info.tcpi_snd_mss + (double) FRAME);
    return true;
}

typedef struct connections_t {
    const struct ifaddrs *all;
    const char *interface;
    fsbml_kernel_tcp_t *sum;
} connections_t;

static void add_connection(int fd, void *what)
{
    const connections_t *to = what;
    fsbml_kernel_tcp_t *sum = to->sum;
    struct sockaddr_storage own;
    struct tcp_info info;
    socklen_t len = sizeof(info);
    memset(&info, 0, sizeof(info));
    if (!is_connection(fd, &own) || !is_on(to->all, to->interface, (const struct sockaddr *) &own)
        || 0 != getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len)) {
        return;
    }
    ++sum->connections;
    sum->busy_ns +=
        (uint64_t) info.tcpi_busy_time * 1000u; /* 0 from kernels before 4.10, which do not have it */
    sum->acknowledged += info.tcpi_bytes_acked;
    sum->retransmitted += info.tcpi_total_retrans;
}

bool fsbml_kernel_tcp(uint32_t rail, fsbml_kernel_tcp_t *sum)
{
    char interface[FSBML_NAME_MAX];
    struct ifaddrs *all = NULL;
    *sum = (fsbml_kernel_tcp_t){.connections = 0};
    fsbml_kernel_interface(rail, interface);
    if (0 == getifaddrs(&all)) {
        connections_t to = {all, interface, sum};
        fsbml_descriptors(add_connection, &to);
        freeifaddrs(all);
    }
    return sum->connections > 0;
}
