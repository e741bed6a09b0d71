/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel knows of one TCP connection of this process. */

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "rails/rails.h"

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

static bool ask_whether_on(const char *interface, const struct sockaddr *address)
{
    struct ifaddrs *all = NULL;
    const bool is = 0 == getifaddrs(&all) && is_on(all, interface, address);
    if (NULL != all) {
        freeifaddrs(all);
    }
    return is;
}

/* A process has a connection to each peer, and one address for all on a rail: that of the last one is not
 * asked for again. */
bool fsbml_kernel_is_on(int fd, uint32_t rail)
{
    static struct {
        char interface[FSBML_NAME_MAX];
        struct sockaddr_storage address;
    } last[FSBML_MAX_RAILS];
    static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
    struct sockaddr_storage own;
    socklen_t len = sizeof(own);
    char interface[FSBML_NAME_MAX];
    const struct sockaddr *address = (const struct sockaddr *) &own;
    if (0 != getsockname(fd, (struct sockaddr *) &own, &len)) {
        return false;
    }
    fsbml_kernel_interface(rail, interface);
    opal_mutex_lock(&lock);
    const bool known = 0 == strcmp(interface, last[rail].interface)
                       && is_address((const struct sockaddr *) &last[rail].address, address);
    const bool is = known || ask_whether_on(interface, address);
    if (is && !known) {
        memcpy(last[rail].interface, interface, sizeof(interface));
        last[rail].address = own;
    }
    opal_mutex_unlock(&lock);
    return is;
}

uint64_t fsbml_kernel_socket(int fd)
{
    struct stat s;
    return 0 == fstat(fd, &s) && S_ISSOCK(s.st_mode) ? (uint64_t) s.st_ino : 0;
}

int64_t fsbml_kernel_queued(int fd)
{
    int queued = 0;
    return 0 == ioctl(fd, SIOCOUTQ, &queued) ? queued : -1;
}

bool fsbml_kernel_flow(int fd, fsbml_kernel_flow_t *flow)
{
    enum { FRAME = 66 }; /* Ethernet, IPv4, and TCP with time stamps */
    const int64_t queued = fsbml_kernel_queued(fd);
    struct tcp_info info;
    socklen_t len = sizeof(info);
    memset(&info, 0, sizeof(info)); /* older kernels fill in less */
    if (queued < 0 || 0 != getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len)) {
        return false;
    }
    const bool knows = UINT32_MAX != info.tcpi_min_rtt;
    *flow = (fsbml_kernel_flow_t){
        .queued = (uint64_t) queued,
        .in_flight =
            (uint64_t) queued > info.tcpi_notsent_bytes ? (uint64_t) queued - info.tcpi_notsent_bytes : 0,
        .acknowledged = info.tcpi_bytes_acked,
        .busy_ns = (uint64_t) info.tcpi_busy_time * 1000u,
        .limited_ns = (uint64_t) info.tcpi_rwnd_limited * 1000u,
        .received = info.tcpi_bytes_received,
        .usual_ns = (uint64_t) info.tcpi_rtt * 1000u,
        .round_trip_ns = knows ? (uint64_t) info.tcpi_min_rtt * 1000u : 0,
        .segments = info.tcpi_data_segs_out,
        .retransmitted = info.tcpi_total_retrans,
        .is_silent = 0 != info.tcpi_retransmits,
        .payload = (double) info.tcpi_snd_mss / (info.tcpi_snd_mss + (double) FRAME)};
    return true;
}
