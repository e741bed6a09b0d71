/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Registration handles of the pseudo BTL: memory is registered with every rail, and what the PML sends to the
 * peer holds all of their handles. */
#ifndef MCA_BML_FSBML_HANDLES_H
#define MCA_BML_FSBML_HANDLES_H

#include "bml_fsbml.h"

static inline bool fsbml_handle_needed(uint32_t rail)
{
    return NULL != mca_bml_fsbml.rail[rail].btl->btl_register_mem;
}

/** Bytes of all of a handle for the peer but for what fsbml_handle_share gives for each rail. */
size_t fsbml_handle_head(void);
/** Bytes that a rail has in it, 0: it registers nothing. */
size_t fsbml_handle_share(uint32_t rail);
/** A rail's handle in this process' own, NULL if there is none. */
mca_btl_base_registration_handle_t *fsbml_handle_local(const mca_btl_base_registration_handle_t *handle,
                                                       uint32_t rail);
/** A rail's handle in what a peer sent, NULL if there is none: whatever the peer sent. */
const void *fsbml_handle_remote(const mca_bml_fsbml_endpoint_t *ep, const void *remote, uint32_t rail);

/** The pseudo BTL's btl_register_mem and btl_deregister_mem. */
mca_btl_base_registration_handle_t *fsbml_handle_register(mca_btl_base_module_t *btl,
                                                          struct mca_btl_base_endpoint_t *endpoint,
                                                          void *base, size_t size, uint32_t flags);
int fsbml_handle_deregister(mca_btl_base_module_t *btl, mca_btl_base_registration_handle_t *handle);

#endif
