/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The hooks: the one place where an unpatched and a patched Open MPI differ for FSBML.
 *
 * Three questions, two answers each. configure probes the headers and chooses (FSBML_HOOKS_PATCHED).
 *
 * - Where does an endpoint live? Stock: in memory of its own. Patched: behind its entry in the BTL array.
 * - What finds an entry by a real BTL's pointer? Stock: nothing. Patched: the array's find hook.
 * - Which path does a descriptor belong to? Stock: the tag in des_flags gives the slot. Patched: des_context,
 *   kept until the send.
 *
 * A descriptor works only with the BTL that made it, so both ways also tag des_flags with the rail: btl_free
 * gets nothing but the descriptor, also after des_context has been given back to the PML.
 */
#ifndef MCA_BML_FSBML_HOOKS_H
#define MCA_BML_FSBML_HOOKS_H

#include "peers/peers.h"

/* What configure probes; also for tests, which have the headers but not the component's flags. */
#if !defined(FSBML_HOOKS_PATCHED) && defined(MCA_BML_BASE_BTL_ARRAY_ELEMENT_SIZE) \
    && defined(MCA_BML_BASE_BTL_ARRAY_FIND_HOOK) && defined(MCA_BML_BTL_FLAGS_KEEP_CONTEXT)
#    define FSBML_HOOKS_PATCHED 1
#endif

/** The top byte of des_flags: rail + 1. No BTL and no PML of 4.1, 5.0 and 6.0 uses a bit above 0x40 (checked
 * at set-up). */
#define FSBML_DES_SHIFT 24
#define FSBML_DES_MASK UINT32_C(0xff000000)

_Static_assert(0
                   == ((MCA_BTL_DES_FLAGS_PRIORITY | MCA_BTL_DES_FLAGS_BTL_OWNERSHIP
                        | MCA_BTL_DES_SEND_ALWAYS_CALLBACK | MCA_BTL_DES_FLAGS_SIGNAL)
                       & FSBML_DES_MASK),
               "Open MPI uses descriptor flags that FSBML takes for the rail");
_Static_assert(FSBML_MAX_RAILS < 254, "a rail's number must fit into the top byte of des_flags");

static inline uint32_t fsbml_des_tag(uint32_t rail)
{
    return (rail + 1) << FSBML_DES_SHIFT;
}

/** Rail of a descriptor, or -1 if it carries no tag. */
static inline int fsbml_des_rail(const mca_btl_base_descriptor_t *des)
{
    return (int) (des->des_flags >> FSBML_DES_SHIFT) - 1;
}

/** In place of a rail: a descriptor of FSBML's own (send/held.c), or a message (failover/message.c). */
#define FSBML_DES_OWN UINT32_C(0xff000000)
#define FSBML_DES_FRAMED UINT32_C(0xfe000000)

static inline bool fsbml_des_is_own(const mca_btl_base_descriptor_t *des)
{
    return FSBML_DES_OWN == (des->des_flags & FSBML_DES_MASK);
}

static inline bool fsbml_des_is_framed(const mca_btl_base_descriptor_t *des)
{
    return FSBML_DES_FRAMED == (des->des_flags & FSBML_DES_MASK);
}

/** Name of the way in, for messages. */
extern const char fsbml_hooks_name[];

/**
 * Makes the send and eager arrays of a peer, one entry each, and room for its endpoint of `bytes` bytes
 * (zeroed). NULL if memory is short.
 */
mca_bml_fsbml_endpoint_t *fsbml_hooks_place(mca_bml_base_endpoint_t *ep, size_t bytes);
/** Gives back what place took besides the arrays (which their owner destructs). */
void fsbml_hooks_unplace(mca_bml_fsbml_endpoint_t *ep);

#ifdef FSBML_HOOKS_PATCHED

/** Remembers the path of a fresh descriptor, until it is sent. */
static inline void fsbml_hooks_bind(mca_btl_base_descriptor_t *des, mca_bml_fsbml_path_t *path)
{
    des->des_context = path;
}

/* A component that uses the pseudo BTL without the PML (osc/rdma) has a context of its own. */
static inline bool fsbml_hooks_is_bound(const mca_bml_fsbml_endpoint_t *ep,
                                        const mca_btl_base_descriptor_t *des)
{
    const uintptr_t at = (uintptr_t) des->des_context;
    return at >= (uintptr_t) ep->path && at < (uintptr_t) (ep->path + ep->capacity);
}

/** The path of a descriptor that has not been sent yet. */
static inline mca_bml_fsbml_path_t *fsbml_hooks_path(mca_bml_fsbml_endpoint_t *ep,
                                                     const mca_btl_base_descriptor_t *des)
{
    return OPAL_LIKELY(fsbml_hooks_is_bound(ep, des))
               ? (mca_bml_fsbml_path_t *) des->des_context
               : fsbml_path_of_module(ep, (uint32_t) fsbml_des_rail(des));
}

/** Gives the context back to the caller's own use, when the descriptor is sent. */
static inline void fsbml_hooks_unbind(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_descriptor_t *des)
{
    if (OPAL_LIKELY(fsbml_hooks_is_bound(ep, des))) {
        des->des_context = ep->bml_btl;
    }
}

#else

static inline void fsbml_hooks_bind(mca_btl_base_descriptor_t *des, mca_bml_fsbml_path_t *path)
{
    (void) des;
    (void) path;
}

static inline mca_bml_fsbml_path_t *fsbml_hooks_path(mca_bml_fsbml_endpoint_t *ep,
                                                     const mca_btl_base_descriptor_t *des)
{
    return fsbml_path_of_module(ep, (uint32_t) fsbml_des_rail(des));
}

static inline void fsbml_hooks_unbind(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_descriptor_t *des)
{
    (void) ep; /* the caller's context is in its place all the time */
    (void) des;
}

#endif /* FSBML_HOOKS_PATCHED */

#endif /* MCA_BML_FSBML_HOOKS_H */
