/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* The pseudo BTL on one rail alone: for what must come behind something else, as ob1's FIN behind the bytes
 * of a put. */

#include "bml_fsbml_hooks.h"

static uint32_t rail_of(const mca_btl_base_module_t *btl)
{
    const mca_bml_fsbml_rail_t *rail =
        (const mca_bml_fsbml_rail_t *) ((const char *) btl - offsetof(mca_bml_fsbml_rail_t, bound));
    return (uint32_t) (rail - mca_bml_fsbml.rail);
}

static mca_btl_base_descriptor_t *bound_alloc(mca_btl_base_module_t *btl,
                                              struct mca_btl_base_endpoint_t *endpoint, uint8_t order,
                                              size_t size, uint32_t flags)
{
    mca_bml_fsbml_path_t *path = fsbml_path((mca_bml_fsbml_endpoint_t *) endpoint, rail_of(btl));
    mca_btl_base_module_t *real = path->super.btl;
    mca_btl_base_descriptor_t *des =
        real->btl_alloc(real, path->super.btl_endpoint, order, size, flags | fsbml_des_tag(path->module));
    return NULL != des ? des : fsbml_held_make(size, flags, false);
}

static int bound_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *des)
{
    const int module = fsbml_des_is_own(des) ? -1 : fsbml_des_rail(des);
    return fsbml_held_free(mca_bml_fsbml.rail[module >= 0 ? (uint32_t) module : rail_of(btl)].btl, des);
}

/* Never refused for want of room: ob1 of 4.1 would send it again by any rail. */
static int bound_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    const uint32_t rail = rail_of(btl);
    /* Its completion lets the PML go on with what waits: for any rail, so by the entry of all. */
    des->des_context = ep->bml_btl;
    const int rc = !fsbml_des_is_own(des) ? fsbml_btl_send_on(ep, fsbml_path(ep, rail), des, tag)
                                          : OMPI_ERR_NOT_AVAILABLE;
    return rc < 0 && (des->des_flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP)
               ? fsbml_held_add(ep, des, rail, tag, true)
               : rc;
}

void fsbml_bound_construct(mca_bml_fsbml_rail_t *rail)
{
    mca_btl_base_module_t *b = &rail->bound;
    *b = rail->group->pseudo;
    b->btl_alloc = bound_alloc;
    b->btl_free = bound_free;
    b->btl_send = bound_send;
    b->btl_sendi = NULL;
    b->btl_prepare_src = NULL; /* messages are not cut for one rail */
    b->btl_put = NULL;
    b->btl_get = NULL;
    b->btl_register_mem = NULL;
    b->btl_deregister_mem = NULL;
}
