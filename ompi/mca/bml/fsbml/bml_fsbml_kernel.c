/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* What the kernel knows of a rail that is a network interface: how much it sent, for all programs, and how
 * long this process' TCP connections on it had data that the peer had not acknowledged yet. Nothing here is
 * asked on the way of a message, only for reports and by tools. */

#include <dirent.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "bml_fsbml.h"

static void interface_of(uint32_t rail, char *name, size_t len)
{
    /* with btl_tcp_links > 1 there are several modules on one interface, "eth1:2" */
    const char *text = mca_bml_fsbml.rail[rail].name;
    snprintf(name, len, "%.*s", (int) strcspn(text, ":"), text);
}

bool fsbml_kernel_sent(uint32_t rail, uint64_t *bytes)
{
    char name[FSBML_NAME_MAX], line[512];
    bool found = false;
    interface_of(rail, name, sizeof(name));
    const size_t len = strlen(name);
    FILE *f =
        fopen("/proc/self/net/dev", "r"); /* of this process' network namespace, unlike what /sys may show */
    while (NULL != f && !found && NULL != fgets(line, sizeof(line), f)) {
        const char *at = line + strspn(line, " ");
        found = 0 == strncmp(at, name, len) && ':' == at[len]
                && 1 == sscanf(at + len + 1, "%*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64, bytes);
    }
    if (NULL != f) {
        (void) fclose(f);
    }
    return found;
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

static void add_connection(const struct ifaddrs *all, const char *interface, int fd, fsbml_kernel_tcp_t *sum)
{
    struct sockaddr_storage own, peer;
    socklen_t own_len = sizeof(own), peer_len = sizeof(peer);
    struct tcp_info info;
    socklen_t len = sizeof(info);
    int protocol = 0;
    socklen_t protocol_len = sizeof(protocol);
    memset(&info, 0, sizeof(info));
    if (0 != getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &protocol_len) || IPPROTO_TCP != protocol
        || 0 != getsockname(fd, (struct sockaddr *) &own, &own_len)
        || 0 != getpeername(fd, (struct sockaddr *) &peer, &peer_len)
        || !is_on(all, interface, (const struct sockaddr *) &own)
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
    DIR *dir = opendir("/proc/self/fd");
    *sum = (fsbml_kernel_tcp_t){.connections = 0};
    interface_of(rail, interface, sizeof(interface));
    if (NULL != dir && 0 == getifaddrs(&all)) {
        for (const struct dirent *e = readdir(dir); NULL != e; e = readdir(dir)) {
            char *end;
            const long fd = strtol(e->d_name, &end, 10);
            if (end != e->d_name && '\0' == *end) {
                add_connection(all, interface, (int) fd, sum);
            }
        }
        freeifaddrs(all);
    }
    if (NULL != dir) {
        (void) closedir(dir);
    }
    return sum->connections > 0;
}
