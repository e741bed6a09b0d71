/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The door: what Open MPI sees of FSBML. Each function is a call into a room, all of which lie below:
 *
 * report/   what a user asks for: table, report, trace, record, MPI_T variables
 * measure/  which processes measure rails, what they find, and how all get it
 * pieces/   a message that arrives sooner so is cut, and put together by the receiver
 * failover/ messages are kept until they are acknowledged, and sent again when a rail fails
 * send/     the pseudo BTL: a message gets its rail
 * flow/     what the kernel says of the rails during the job; how much may wait on them
 * peers/    which peers can be reached by which rails, and whether those paths are live
 * rails/    from BTL modules to rails; what the system knows of them
 * params/   MCA parameters
 * compat/   Open MPI's versions and habits
 * core/     C++ without Open MPI, in rooms of its own: all decisions, and all arithmetic on L, o, g and G
 */
#ifndef MCA_BML_FSBML_H
#define MCA_BML_FSBML_H

#include "compat/compat.h"

OMPI_DECLSPEC extern mca_bml_base_component_t mca_bml_fsbml_component;
/** The module, all that Open MPI knows of one. */
extern mca_bml_base_module_t mca_bml_fsbml;

/* bml_fsbml.c: the BML module */
/** A new life of MPI begins in this process. */
void fsbml_module_construct(void);
/** Rails from the BTLs that were selected, and all rooms above them; from then on peers may ask. An error: to
 * be torn down. */
int fsbml_set_up(void);
void fsbml_tear_down(void);

/* bml_fsbml_procs.c: its interface for processes */
int fsbml_add_proc(struct ompi_proc_t *proc);
int fsbml_add_procs(size_t n, struct ompi_proc_t **procs, struct opal_bitmap_t *reachable);
int fsbml_del_procs(size_t n, struct ompi_proc_t **procs);

/* bml_fsbml_lists.c: what the PML gets for a process */
/** Turns the entries that r2's rule gives for a peer into its send, eager and rdma lists. */
int fsbml_lists_build(ompi_proc_t *proc, mca_bml_base_endpoint_t *ep, const mca_bml_base_btl_t *entry,
                      size_t n);

#endif /* MCA_BML_FSBML_H */
