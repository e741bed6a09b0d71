/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The hooks for an Open MPI with the base patches: see peers/hooks.h and ../base-patches/README.md. */

#include "peers/hooks.h"

const char fsbml_hooks_name[] = "patched";

/* An element of the eager array: the entry that the PML knows, and the endpoint in the same memory
 * (thesis 5.7.2.1). */
typedef struct fsbml_element_t {
    mca_bml_base_btl_t super;
    _Alignas(16) mca_bml_fsbml_endpoint_t ep;
} fsbml_element_t;

/* A search for a real BTL (as by one-sided communication) gives the real entry (thesis 5.6.5), never the
 * pseudo BTL's endpoint under a real BTL's name. */
static mca_bml_base_btl_t *find(mca_bml_base_btl_array_t *array, struct mca_btl_base_module_t *btl)
{
    mca_bml_base_btl_t *pseudo = mca_bml_base_btl_array_get_index(array, 0);
    int rail = fsbml_rail_of(btl);
    if (NULL == pseudo || rail < 0) {
        return NULL != pseudo && pseudo->btl == btl ? pseudo : NULL;
    }
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) pseudo->btl_endpoint;
    if (0 == (atomic_load_explicit(&ep->possible, memory_order_relaxed) & fsbml_bit((uint32_t) rail))) {
        return NULL;
    }
    return &fsbml_path(ep, (uint32_t) rail)->super;
}

mca_bml_fsbml_endpoint_t *fsbml_hooks_place(mca_bml_base_endpoint_t *ep, size_t bytes)
{
    size_t size = offsetof(fsbml_element_t, ep) + bytes;
    size = (size + 15) & ~(size_t) 15;
    if (OMPI_SUCCESS != mca_bml_base_btl_array_set_element_size(&ep->btl_eager, size)
        || OMPI_SUCCESS != mca_bml_base_btl_array_reserve(&ep->btl_eager, 1)
        || OMPI_SUCCESS != mca_bml_base_btl_array_reserve(&ep->btl_send, 1)) {
        return NULL;
    }
    mca_bml_base_btl_array_set_find(&ep->btl_eager, find);
    mca_bml_base_btl_array_set_find(&ep->btl_send, find);
    mca_bml_base_btl_t *eager = mca_bml_base_btl_array_insert(&ep->btl_eager);
    mca_bml_base_btl_t *send = mca_bml_base_btl_array_insert(&ep->btl_send);
    eager->btl_flags = send->btl_flags = MCA_BML_BTL_FLAGS_KEEP_CONTEXT;
    return &((fsbml_element_t *) eager)->ep;
}

void fsbml_hooks_unplace(mca_bml_fsbml_endpoint_t *ep)
{
    (void) ep; /* the array's destructor frees it */
}
