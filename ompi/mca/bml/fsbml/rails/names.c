/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of rails: one for users on this node ("eth1"), one that is the same on every node
 * ("tcp:10.71.1.0/24"), and whatever else a user may know a rail by. What the kernel tells comes by a
 * socket: that is of this network namespace, while sysfs may show another's interfaces. */

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#    include <linux/ethtool.h>
#    include <linux/sockios.h>
#endif

#include "rails/rails.h"

#include "opal/mca/base/mca_base_var.h"

static const char *component_name(const mca_btl_base_module_t *btl)
{
    return btl->btl_component->btl_version.mca_component_name;
}

/* BTLs keep their interface to themselves, but tcp registers a variable "btl_tcp_bandwidth_<interface>" whose
 * storage is the module's own btl_bandwidth. */
static bool variable_name(const mca_btl_base_module_t *btl, char *name, size_t len)
{
    static const char marker[] = "bandwidth_";
    int count = mca_base_var_get_count();
    for (int i = 0; i < count; ++i) {
        const mca_base_var_t *var;
        if (OPAL_SUCCESS != mca_base_var_get(i, &var)
            || (const void *) var->mbv_storage != &btl->btl_bandwidth || NULL == var->mbv_variable_name) {
            continue;
        }
        const char *at = strstr(var->mbv_variable_name, marker);
        if (NULL != at && '\0' != at[sizeof(marker) - 1]) {
            snprintf(name, len, "%s", at + sizeof(marker) - 1);
            return true;
        }
    }
    return false;
}

/* Address of an interface, and its network, "10.71.1.0/24": the same on every node that the rail joins. */
static void find_address(fsbml_rail_about_t *about)
{
    struct ifaddrs *all;
    bool found = false;
    if (0 != getifaddrs(&all)) {
        return;
    }
    for (int pass = 0; pass < 2 && !found; ++pass) { /* IPv4 first */
        int family = (0 == pass) ? AF_INET : AF_INET6;
        for (const struct ifaddrs *a = all; NULL != a && !found; a = a->ifa_next) {
            if (0 != strcmp(a->ifa_name, about->interface) || NULL == a->ifa_addr || NULL == a->ifa_netmask
                || family != a->ifa_addr->sa_family) {
                continue;
            }
            unsigned char bytes[16];
            char text[INET6_ADDRSTRLEN];
            size_t n = (AF_INET == family) ? 4 : 16;
            const void *addr, *mask;
            if (AF_INET == family) {
                addr = &((const struct sockaddr_in *) a->ifa_addr)->sin_addr;
                mask = &((const struct sockaddr_in *) a->ifa_netmask)->sin_addr;
            } else {
                addr = &((const struct sockaddr_in6 *) a->ifa_addr)->sin6_addr;
                mask = &((const struct sockaddr_in6 *) a->ifa_netmask)->sin6_addr;
            }
            int prefix = 0;
            for (size_t b = 0; b < n; ++b) {
                bytes[b] = ((const unsigned char *) addr)[b] & ((const unsigned char *) mask)[b];
                prefix += __builtin_popcount(((const unsigned char *) mask)[b]);
            }
            if (NULL != inet_ntop(family, addr, about->address, sizeof(about->address))
                && NULL != inet_ntop(family, bytes, text, sizeof(text))) {
                snprintf(about->network, sizeof(about->network), "%s/%d", text, prefix);
                found = true;
            }
        }
    }
    freeifaddrs(all);
}

/* ---------------------------------------------------------------- the link */

/* A device of its own, or below it, as a VLAN and a bond have. */
static bool has_device(const char *interface, int below)
{
    char path[512];
    snprintf(path, sizeof(path), "/sys/class/net/%s/device", interface);
    bool has = 0 == access(path, F_OK);
    snprintf(path, sizeof(path), "/sys/class/net/%s", interface);
    DIR *all = !has && below > 0 ? opendir(path) : NULL;
    for (const struct dirent *e = NULL; !has && NULL != all && NULL != (e = readdir(all));) {
        has = 0 == strncmp(e->d_name, "lower_", 6) && has_device(e->d_name + 6, below - 1);
    }
    if (NULL != all) {
        closedir(all);
    }
    return has;
}

bool fsbml_speed_is_made_up(const char *interface, uint32_t mbps)
{
    return (10 == mbps || 10000 == mbps) && !has_device(interface, 3);
}

#if defined(SIOCETHTOOL)
static bool ask_driver(int fd, const char *interface, void *question)
{
    struct ifreq request = {.ifr_data = question};
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
    return 0 == ioctl(fd, SIOCETHTOOL, &request);
}

/* In 1e6 bits a second; 0: the driver does not know, as while there is no carrier. */
static uint32_t find_speed(int fd, const char *interface)
{
    uint32_t speed = 0;
    bool known = false;
#    ifdef ETHTOOL_GLINKSETTINGS
    union {
        struct ethtool_link_settings settings;
        char room[sizeof(struct ethtool_link_settings) + 3 * 127 * sizeof(uint32_t)];
    } link = {.settings = {.cmd = ETHTOOL_GLINKSETTINGS}};
    /* the first answer says, below zero, how many words of modes the kernel wants room for */
    if (ask_driver(fd, interface, &link) && link.settings.link_mode_masks_nwords < 0) {
        const int words = -link.settings.link_mode_masks_nwords;
        memset(&link, 0, sizeof(link));
        link.settings.cmd = ETHTOOL_GLINKSETTINGS;
        link.settings.link_mode_masks_nwords = (int8_t) words;
        known = ask_driver(fd, interface, &link);
        speed = link.settings.speed;
    }
#    endif
    struct ethtool_cmd old = {.cmd = ETHTOOL_GSET};
    if (!known && ask_driver(fd, interface, &old)) {
        speed = ethtool_cmd_speed(&old);
        known = UINT16_MAX != speed;
    }
    return known && speed <= INT32_MAX ? speed : 0; /* not known is -1, in old drivers of 16 bits */
}

/* Where the device is, if that is a PCI bus. */
static void find_bus(int fd, fsbml_rail_about_t *about)
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    unsigned domain, bus, device, function;
    if (ask_driver(fd, about->interface, &info)
        && 4 == sscanf(info.bus_info, "%x:%x:%x.%x", &domain, &bus, &device, &function)) {
        snprintf(about->pci, sizeof(about->pci), "%04x:%02x:%02x.%01x", domain, bus & 0xff, device & 0x1f,
                 function & 7);
    }
}
#endif

uint32_t fsbml_interface_speed(const char *interface)
{
    uint32_t speed = 0;
#if defined(SIOCETHTOOL)
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        speed = find_speed(fd, interface);
        close(fd);
    }
#else
    (void) interface;
#endif
    return speed;
}

static void find_link(fsbml_rail_about_t *about)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return;
    }
    struct ifreq request = {.ifr_mtu = 0};
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", about->interface);
    if (0 == ioctl(fd, SIOCGIFMTU, &request)) {
        about->mtu = (uint32_t) request.ifr_mtu;
    }
#if defined(SIOCETHTOOL)
    const uint32_t speed = find_speed(fd, about->interface);
    about->speed_mbps = fsbml_speed_is_made_up(about->interface, speed) ? 0 : speed;
    find_bus(fd, about);
#endif
    close(fd);
}

void fsbml_about_interface(const char *interface, fsbml_rail_about_t *about)
{
    memset(about, 0, sizeof(*about));
    about->numa = -1;
    const size_t len = strcspn(interface, ":"); /* btl_tcp_links > 1: "eth0:1" */
    if (0 == len || len >= sizeof(about->interface)) {
        return;
    }
    memcpy(about->interface, interface, len);
    if (0 == if_nametoindex(about->interface)) {
        about->interface[0] = '\0';
        return;
    }
    snprintf(about->device, sizeof(about->device), "%s", about->interface);
    find_address(about);
    find_link(about);
}

/* ------------------------------------------------------------------- names */

void fsbml_name_btl(const mca_btl_base_module_t *btl, unsigned ordinal, char name[FSBML_NAME_MAX],
                    char key[FSBML_NAME_MAX], fsbml_rail_about_t *about)
{
    const char *component = component_name(btl);
    fsbml_about_interface("", about);
    name[0] = key[0] = '\0';
    if (variable_name(btl, name, FSBML_NAME_MAX)) {
        const char *link = strchr(name, ':'); /* several modules on one interface */
        fsbml_about_interface(name, about);
        if ('\0' != about->network[0]) {
            snprintf(key, FSBML_NAME_MAX, "%.12s:%.44s%.4s", component, about->network,
                     NULL != link ? link : "");
        }
    } else if (0 == ordinal) {
        snprintf(name, FSBML_NAME_MAX, "%s", component);
    } else {
        snprintf(name, FSBML_NAME_MAX, "%.50s#%u", component, ordinal);
    }
    if ('\0' == key[0]) {
        snprintf(key, FSBML_NAME_MAX, "%.50s#%u", component, ordinal);
    }
}

/* "3b:00.0" is of domain 0. */
static bool is_pci(const char *word, const char *pci)
{
    return 0 == strcasecmp(word, pci) || (0 == strncmp(pci, "0000:", 5) && 0 == strcasecmp(word, pci + 5));
}

bool fsbml_name_means(const char *word, const char *name, const char *key, const char *component,
                      const fsbml_rail_about_t *about)
{
    const char *const texts[] = {name,           key,          component, about->interface, about->address,
                                 about->network, about->device};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
        if ('\0' != texts[i][0] && 0 == strcmp(word, texts[i])) {
            return true;
        }
    }
    return '\0' != about->pci[0] && is_pci(word, about->pci);
}

bool fsbml_name_is_near(const char *word, const fsbml_rail_about_t *about)
{
    unsigned char address[16], network[16];
    char text[sizeof(about->network)];
    snprintf(text, sizeof(text), "%s", about->network);
    char *slash = strchr(text, '/');
    const int family = NULL != strchr(text, ':') ? AF_INET6 : AF_INET;
    if (NULL == slash) {
        return false;
    }
    *slash = '\0';
    const int prefix = atoi(slash + 1);
    bool same = 1 == inet_pton(family, word, address) && 1 == inet_pton(family, text, network);
    for (int bit = 0; bit < prefix && same; ++bit) {
        same = 0 == ((address[bit / 8] ^ network[bit / 8]) >> (7 - bit % 8) & 1);
    }
    return same;
}

const char *fsbml_name_full(const char *name, const fsbml_rail_about_t *about, char buf[FSBML_NAME_FULL])
{
    const bool known = '\0' != about->address[0];
    snprintf(buf, FSBML_NAME_FULL, "%s%s%s%s", name, known ? " (" : "", about->address, known ? ")" : "");
    return buf;
}

const char *fsbml_name_detail(const mca_bml_fsbml_rail_t *rail, char buf[FSBML_NAME_DETAIL])
{
    snprintf(buf, FSBML_NAME_DETAIL, "%s%s%s", rail->about.address,
             '\0' != rail->about.address[0] ? ", " : "", rail->key);
    return buf;
}

__attribute__((format(printf, 2, 3))) static void append(char buf[FSBML_NAME_DETAIL], const char *format, ...)
{
    const size_t used = strlen(buf);
    va_list args;
    va_start(args, format);
    vsnprintf(buf + used, FSBML_NAME_DETAIL - used, format, args);
    va_end(args);
}

const char *fsbml_name_facts(const fsbml_rail_about_t *about, char buf[FSBML_NAME_DETAIL])
{
    buf[0] = '\0';
    if (about->speed_mbps > 0) {
        append(buf, ", %u Mbit/s", about->speed_mbps);
    }
    if (about->mtu > 0) {
        append(buf, ", MTU %u", about->mtu);
    }
    if ('\0' != about->device[0] && 0 != strcmp(about->device, about->interface)) {
        append(buf, ", device %s", about->device);
    }
    if ('\0' != about->pci[0]) {
        append(buf, ", PCI %s", about->pci);
    }
    if (about->numa >= 0) {
        append(buf, ", NUMA node %d", (int) about->numa);
    }
    return buf;
}
