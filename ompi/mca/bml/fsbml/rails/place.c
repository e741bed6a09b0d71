/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a rail's device is: its name, PCI address and NUMA node, and whether this process runs elsewhere. By
 * hwloc, and by the kernel's own files for what hwloc does not know. The former's list of interfaces, and the
 * latter's, may be of another network namespace: an interface counts as ours if its hardware address does, or
 * if the driver says which PCI device it is. */

#include <dirent.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define FSBML_WANT_HWLOC
#include "rails/rails.h"

static bool is_pci_name(const char *text)
{
    unsigned domain, bus, device, function;
    return 4 == sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function);
}

/* "3c:fd:fe:00:00:01", as hwloc and sysfs have it; false if the interface has none. */
static bool hardware_address(const char *interface, char text[18])
{
    struct ifreq request = {.ifr_name = ""};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
    const bool known = fd >= 0 && 0 == ioctl(fd, SIOCGIFHWADDR, &request);
    if (fd >= 0) {
        close(fd);
    }
    const unsigned char *a = (const unsigned char *) request.ifr_hwaddr.sa_data;
    snprintf(text, 18, "%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3], a[4], a[5]);
    return known;
}

/* Whether an interface of this name and hardware address is that of this network namespace. */
static bool is_ours(const fsbml_rail_about_t *about, const char *address)
{
    char mine[18];
    return NULL == address || '\0' == about->interface[0] || !hardware_address(about->interface, mine)
           || 0 == strncasecmp(mine, address, strlen(mine));
}

/* ------------------------------------------------------------------ hwloc */

#ifndef FSBML_NO_HWLOC

uint64_t fsbml_machine_nodes(void *topology, const void *cpuset)
{
    uint64_t nodes = 0, all = 0;
    hwloc_obj_t node = NULL;
    while (NULL != cpuset
           && NULL != (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node))) {
        if (node->os_index >= 64 || NULL == node->cpuset) {
            return 0;
        }
        all |= UINT64_C(1) << node->os_index;
        nodes |= hwloc_bitmap_intersects(node->cpuset, cpuset) ? UINT64_C(1) << node->os_index : 0;
    }
    /* nodes without processors are of none */
    return nodes == all && __builtin_popcountll(all) > 1 ? 0 : nodes;
}

static bool has_devices(hwloc_topology_t topology)
{
    return NULL != topology && hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PCI_DEVICE) > 0;
}

static hwloc_topology_t load_own(void)
{
    hwloc_topology_t topology;
    if (0 != hwloc_topology_init(&topology)) {
        return NULL;
    }
    if (0 != fsbml_hwloc_want_devices(topology) || 0 != hwloc_topology_load(topology)) {
        hwloc_topology_destroy(topology);
        return NULL;
    }
    return topology;
}

void fsbml_machine_look(fsbml_machine_t *machine, bool load)
{
    memset(machine, 0, sizeof(*machine));
    if (!fsbml_hwloc_is_there()) {
        return;
    }
    machine->topology = fsbml_hwloc_of_openmpi();
    if (load && !has_devices(machine->topology)) {
        hwloc_topology_t own = load_own();
        machine->own = NULL != own;
        machine->topology = NULL != own ? own : machine->topology;
    }
    hwloc_bitmap_t bound = NULL != machine->topology ? hwloc_bitmap_alloc() : NULL;
    if (NULL != bound && 0 == hwloc_get_cpubind(machine->topology, bound, HWLOC_CPUBIND_PROCESS)) {
        machine->nodes = fsbml_machine_nodes(machine->topology, bound);
    }
    hwloc_bitmap_free(bound);
}

void fsbml_machine_done(fsbml_machine_t *machine)
{
    if (machine->own) {
        hwloc_topology_destroy(machine->topology);
    }
    memset(machine, 0, sizeof(*machine));
}

/* The PCI device of a rail: by its address, else by a device of that name. */
static hwloc_obj_t find_device(hwloc_topology_t topology, const char *name, const fsbml_rail_about_t *about)
{
    if ('\0' != about->pci[0]) {
        return hwloc_get_pcidev_by_busidstring(topology, about->pci);
    }
    for (hwloc_obj_t os = NULL; NULL != (os = hwloc_get_next_osdev(topology, os));) {
        if (NULL != os->name && 0 == strcmp(os->name, name)
            && is_ours(about, hwloc_obj_get_info_by_name(os, "Address"))) {
            while (NULL != os && HWLOC_OBJ_PCI_DEVICE != os->type) {
                os = os->parent;
            }
            return os;
        }
    }
    return NULL;
}

/* Its NUMA nodes, 0 where that says nothing. */
static uint64_t ask_hwloc(const fsbml_machine_t *machine, const char *name, fsbml_rail_about_t *about)
{
    hwloc_obj_t pci = NULL != machine->topology ? find_device(machine->topology, name, about) : NULL,
                os = NULL;
    if (NULL == pci) {
        return 0;
    }
    const struct hwloc_pcidev_attr_s *at = &pci->attr->pcidev;
    snprintf(about->pci, sizeof(about->pci), "%04x:%02x:%02x.%01x", at->domain, at->bus, at->dev, at->func);
    while (NULL != (os = hwloc_get_next_osdev(machine->topology, os))) {
        hwloc_obj_t of = os->parent;
        while (NULL != of && of != pci) {
            of = of->parent;
        }
        if (NULL != of && NULL != os->name && fsbml_hwloc_is_verbs(os)) {
            snprintf(about->device, sizeof(about->device), "%s", os->name);
            break;
        }
    }
    hwloc_obj_t around = hwloc_get_non_io_ancestor_obj(machine->topology, pci);
    const uint64_t nodes = NULL != around ? fsbml_machine_nodes(machine->topology, around->cpuset) : 0;
    if (0 != nodes) {
        about->numa = __builtin_ctzll(nodes);
    }
    return nodes;
}

#else

uint64_t fsbml_machine_nodes(void *topology, const void *cpuset)
{
    (void) topology;
    (void) cpuset;
    return 0;
}

void fsbml_machine_look(fsbml_machine_t *machine, bool load)
{
    (void) load;
    memset(machine, 0, sizeof(*machine));
}

void fsbml_machine_done(fsbml_machine_t *machine)
{
    (void) machine;
}

static uint64_t ask_hwloc(const fsbml_machine_t *machine, const char *name, fsbml_rail_about_t *about)
{
    (void) machine;
    (void) name;
    (void) about;
    return 0;
}

#endif

/* ------------------------------------------------------- the kernel's files */

static bool read_line(const char *path, char *text, size_t len)
{
    FILE *f = fopen(path, "re");
    const bool there = NULL != f && NULL != fgets(text, (int) len, f);
    if (NULL != f) {
        fclose(f);
    }
    if (there) {
        text[strcspn(text, "\n")] = '\0';
    }
    return there;
}

/* The last part of what a link leads to, if that is a PCI address. */
static void read_link(const char *path, fsbml_rail_about_t *about)
{
    char to[PATH_MAX];
    const ssize_t len = readlink(path, to, sizeof(to) - 1);
    to[len > 0 ? len : 0] = '\0';
    const char *last = strrchr(to, '/');
    if (NULL != last && is_pci_name(last + 1)) {
        snprintf(about->pci, sizeof(about->pci), "%.20s", last + 1);
    }
}

/* What hwloc, or the driver, has not told. */
static void ask_kernel(const char *name, fsbml_rail_about_t *about)
{
    char path[128], text[64];
    if ('\0' == about->pci[0] && '\0' != about->interface[0]) {
        snprintf(path, sizeof(path), "/sys/class/net/%s/address", about->interface);
        if (read_line(path, text, sizeof(text)) && is_ours(about, text)) {
            snprintf(path, sizeof(path), "/sys/class/net/%s/device", about->interface);
            read_link(path, about);
        }
    } else if ('\0' == about->pci[0] && NULL == strchr(name, '/')) {
        snprintf(path, sizeof(path), "/sys/class/infiniband/%.40s/device", name);
        read_link(path, about);
    }
    if ('\0' == about->pci[0]) {
        return;
    }
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", about->pci);
    if (about->numa < 0 && read_line(path, text, sizeof(text))) {
        about->numa = atoi(text);
    }
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/infiniband", about->pci);
    DIR *verbs = 0 == strcmp(about->device, about->interface) ? opendir(path) : NULL;
    for (const struct dirent *e = NULL; NULL != verbs && NULL != (e = readdir(verbs));) {
        if ('.' != e->d_name[0]) {
            snprintf(about->device, sizeof(about->device), "%.31s", e->d_name);
        }
    }
    if (NULL != verbs) {
        closedir(verbs);
    }
}

/* ------------------------------------------------------------------- both */

void fsbml_machine_place(const fsbml_machine_t *machine, const char *name, fsbml_rail_about_t *about)
{
    char device[FSBML_NAME_MAX];
    /* "eth0:1" of btl_tcp_links, "mlx5_0:1" of a port */
    snprintf(device, sizeof(device), "%.*s", (int) strcspn(name, ":"), name);
    uint64_t nodes = ask_hwloc(machine, device, about);
    ask_kernel(device, about);
    if ('\0' == about->device[0] && '\0' != about->pci[0]) {
        snprintf(about->device, sizeof(about->device), "%.31s", device);
    }
    if (0 == nodes && about->numa >= 0 && about->numa < 64) {
        nodes = UINT64_C(1) << about->numa;
    }
    about->far_numa = 0 != machine->nodes && 0 != nodes && 0 == (machine->nodes & nodes);
}

void fsbml_machine_tell(const fsbml_machine_t *machine, const char *name, const fsbml_rail_about_t *about)
{
    char here[64] = "";
    size_t used = 0;
    for (unsigned i = 0; i < 64 && used < sizeof(here); ++i) {
        if (0 != (machine->nodes >> i & 1)) {
            used += (size_t) snprintf(here + used, sizeof(here) - used, "%s%u", used > 0 ? "," : "", i);
        }
    }
    if (about->far_numa) {
        FSBML_VERBOSE(FSBML_V_RAILS,
                      "rail %s is at NUMA node %d, this process runs on node %s: that is in its o and L",
                      name, (int) about->numa, here);
    }
}

void fsbml_rails_place(void)
{
    fsbml_rails_t *m = &fsbml_rails;
    fsbml_machine_t machine;
    fsbml_machine_look(&machine, true);
    for (uint32_t i = 0; i < m->n_rails; ++i) {
        fsbml_machine_place(&machine, m->rail[i].name, &m->rail[i].about);
    }
    fsbml_machine_done(&machine);
}
