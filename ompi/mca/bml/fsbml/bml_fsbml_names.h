/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* What a person knows a rail by, where its device is, and the display at start. For bml_fsbml.h, which has
 * the types. */
#ifndef MCA_BML_FSBML_NAMES_H
#define MCA_BML_FSBML_NAMES_H

#include "bml_fsbml.h"

/* bml_fsbml_names.c: names, addresses, links */
/** Room for the texts below. */
enum { FSBML_NAME_FULL = FSBML_NAME_MAX + 64, FSBML_NAME_DETAIL = 256 };
/** Names a BTL module, the ordinal-th of its component: name for people on this node, key for all nodes, and
 * what the kernel tells of its interface. */
void fsbml_name_btl(const mca_btl_base_module_t *btl, unsigned ordinal, char name[FSBML_NAME_MAX],
                    char key[FSBML_NAME_MAX], fsbml_rail_about_t *about);
/** Fills in all that an interface's name leads to, but for where its device is. "" everywhere if there is no
 * such interface. */
void fsbml_about_interface(const char *interface, fsbml_rail_about_t *about);
/** The drivers of links without a device (veth, tap) say 10 or 10,000 Mbit/s, whatever there is behind
 * them. */
/** What an interface's driver says, in Mbit/s; 0: nothing. */
uint32_t fsbml_interface_speed(const char *interface);
bool fsbml_speed_is_made_up(const char *interface, uint32_t mbps);
/** Whether a user's word means this rail: name, key, interface, address, network, device, PCI address, or BTL
 * component. */
bool fsbml_name_means(const char *word, const char *name, const char *key, const char *component,
                      const fsbml_rail_about_t *about);
/** Whether a word is an address in this rail's network. */
bool fsbml_name_is_near(const char *word, const fsbml_rail_about_t *about);
/** "eth1 (10.71.1.2)", or the name alone; returns buf. */
const char *fsbml_name_full(const char *name, const fsbml_rail_about_t *about, char buf[FSBML_NAME_FULL]);
/** What stands in brackets behind a rail's name, "10.71.1.2, tcp:10.71.1.0/24"; returns buf. */
const char *fsbml_name_detail(const mca_bml_fsbml_rail_t *rail, char buf[FSBML_NAME_DETAIL]);
/** What is known of its link and device, ", 10000 Mbit/s, MTU 1500, device mlx5_0, PCI 0000:3b:00.0, NUMA
 * node 1"; returns buf. */
const char *fsbml_name_facts(const fsbml_rail_about_t *about, char buf[FSBML_NAME_DETAIL]);

/* bml_fsbml_place.c: device, PCI address and NUMA node */
/** The machine, as hwloc knows it. */
typedef struct fsbml_machine_t {
    void *topology; /**< hwloc_topology_t; NULL: there is none */
    bool own;       /**< loaded here */
    uint64_t nodes; /**< NUMA nodes (bit = number, the first 64) that this process is bound to, 0: unknown */
} fsbml_machine_t;
/** Takes the topology that Open MPI has. `load`: if that has no devices, or there is none, loads one, which
 * takes time. */
void fsbml_machine_look(fsbml_machine_t *machine, bool load);
void fsbml_machine_done(fsbml_machine_t *machine);
/** NUMA nodes of a set of processors (hwloc_const_cpuset_t); 0: all of them, or unknown. */
uint64_t fsbml_machine_nodes(void *topology, const void *cpuset);
/** Fills in device, PCI address, NUMA node, and whether that is far, by the interface in *about or else the
 * device's name. */
void fsbml_machine_place(const fsbml_machine_t *machine, const char *name, fsbml_rail_about_t *about);
/** Says so if a rail is far. */
void fsbml_machine_tell(const fsbml_machine_t *machine, const char *name, const fsbml_rail_about_t *about);
/** The same for all rails with a full topology, which starting processes do without: for code that is about
 * to show them. */
void fsbml_rails_place(void);

/* bml_fsbml_display.c: the rail table, once a job */
/** A BTL that could be a rail and is none, and why. */
void fsbml_display_left_out(const char *name, const fsbml_rail_about_t *about, const char *why);
/** The job's hosts follow, each once: what ranks say in their order, NULL: it has no hello. */
void fsbml_display_hosts(void);
void fsbml_display_host(const fsbml_hello_t *hello);
/** Prints what the parameters ask for. `pair`: the ranks that measured first, this process being the first of
 * them; NULL: none did. */
void fsbml_display(const fsbml_pair_t *pair);
void fsbml_display_reset(void);

#endif /* MCA_BML_FSBML_NAMES_H */
