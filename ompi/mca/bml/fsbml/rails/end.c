/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* This end's view of a path, from the system: the interface, which device answers to the
 * other's address, and how the connections between the two addresses are. Read only once something is wrong.
 * Linux has it in files; elsewhere, and for networks that are no interfaces, there is nothing to see, and a
 * fault is told without its cause. */

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>

#include "rails/rails.h"

/* Frames that had come in on each rail's interface when the job began. */
static uint64_t frames_before[FSBML_MAX_RAILS];
static uint32_t mtu_of[FSBML_MAX_RAILS];

static bool is_interface(uint32_t rail)
{
    return 0 == strncmp(fsbml_rails.rail[rail].key, "tcp:", 4);
}

static bool device_of(const char *text, uint8_t device[6])
{
    unsigned b[6];
    if (6 != sscanf(text, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5])) {
        return false;
    }
    for (int i = 0; i < 6; ++i) {
        device[i] = (uint8_t) b[i];
    }
    return true;
}

void fsbml_end_begin(void)
{
    for (uint32_t r = 0; r < fsbml_rails.n_rails; ++r) {
        char interface[FSBML_NAME_MAX];
        fsbml_kernel_interface(r, interface);
        fsbml_kernel_link_t link = {.received = UINT64_MAX};
        const bool has = is_interface(r) && fsbml_kernel_link(interface, &link);
        frames_before[r] = link.received;
        mtu_of[r] = link.mtu;
        if (has) {
            fsbml_echo_begin(r, interface);
        }
    }
}

size_t fsbml_end_frame(uint32_t rail)
{
    const mca_btl_base_module_t *btl = fsbml_rails.rail[rail].btl;
    const size_t most =
        btl->btl_eager_limit < btl->btl_max_send_size ? btl->btl_eager_limit : btl->btl_max_send_size;
    return mtu_of[rail] < most ? mtu_of[rail] : most;
}

static void look_at_address(const char *interface, fsbml_end_t *end)
{
    struct ifaddrs *all;
    if (0 != getifaddrs(&all)) {
        return;
    }
    for (const struct ifaddrs *a = all; NULL != a && '\0' == end->address[0]; a = a->ifa_next) {
        if (0 == strcmp(a->ifa_name, interface) && NULL != a->ifa_addr && AF_INET == a->ifa_addr->sa_family) {
            (void) inet_ntop(AF_INET, &((const struct sockaddr_in *) a->ifa_addr)->sin_addr, end->address,
                             sizeof(end->address));
        }
    }
    freeifaddrs(all);
}

static void look_at_neighbour(const char *interface, const char *other, fsbml_end_t *end)
{
    FILE *f = fopen("/proc/net/arp", "r");
    char line[256], address[64], device[64], on[64];
    unsigned flags;
    while (NULL != f && NULL != fgets(line, sizeof(line), f)) {
        if (4 == sscanf(line, "%63s %*x %x %63s %*s %63s", address, &flags, device, on)
            && 0 == strcmp(address, other) && 0 == strcmp(on, interface)) {
            end->seen |= 0 != (flags & 2) && device_of(device, end->neighbour) ? FSBML_END_RESOLVED
                                                                               : FSBML_END_UNRESOLVED;
        }
    }
    if (NULL != f) {
        fclose(f);
    }
}

typedef struct ends_t {
    struct in_addr mine, its;
    fsbml_end_t *end;
} ends_t;

static bool look_at_connection(const fsbml_kernel_connection_t *c, void *what)
{
    enum { SYN_RECV = 3 };
    const ends_t *between = what;
    fsbml_end_t *end = between->end;
    if (c->local != between->mine.s_addr || c->remote != between->its.s_addr) {
        return false;
    }
    if (FSBML_KERNEL_ESTABLISHED == c->state) {
        end->seen |= FSBML_END_CONNECTED | (c->unsent > 0 && c->again > 0 ? FSBML_END_STUCK : 0);
    } else if (SYN_RECV == c->state) { /* since a good part of the time-out: it would take a moment else */
        end->seen |= FSBML_END_HALF_OPEN;
    }
    return false;
}

static void look_at_connections(const char *other, fsbml_end_t *end)
{
    ends_t between = {.end = end};
    if (1 == inet_pton(AF_INET, end->address, &between.mine)
        && 1 == inet_pton(AF_INET, other, &between.its)) {
        fsbml_kernel_connections(look_at_connection, &between);
    }
}

void fsbml_end_look(uint32_t rail, const char *other, fsbml_end_t *end)
{
    char interface[FSBML_NAME_MAX];
    fsbml_kernel_link_t link;
    memset(end, 0, sizeof(*end));
    snprintf(end->node, sizeof(end->node), "%s", fsbml_node_name());
    end->seen = FSBML_END_HAS;
    if (!is_interface(rail)) {
        return;
    }
    fsbml_kernel_interface(rail, interface);
    const char *network = fsbml_rails.rail[rail].key + 4; /* "10.0.0.0/24#2" is the second interface there */
    snprintf(end->network, sizeof(end->network), "%.*s", (int) strcspn(network, "#"), network);
    look_at_address(interface, end);
    (void) fsbml_kernel_link(interface, &link);
    memcpy(end->device, link.device, sizeof(end->device));
    end->mtu = link.mtu;
    end->speed_mbit = fsbml_interface_speed(interface);
    end->seen |= fsbml_speed_is_made_up(interface, end->speed_mbit) ? 0 : FSBML_END_HARDWARE;
    end->seen |= !link.carrier ? FSBML_END_NO_CARRIER : 0;
    end->seen |= UINT64_MAX != link.received && frames_before[rail] == link.received ? FSBML_END_QUIET : 0;
    end->seen |= link.carrier && fsbml_echo(rail, interface) ? FSBML_END_ECHO : 0;
    if (NULL != other && '\0' != other[0] && 0 != strcmp(other, end->address)) {
        look_at_neighbour(interface, other, end);
        look_at_connections(other, end);
    }
}
