/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A message that the chosen rail refuses is offered to the others, the next best first. Off the hot path: a
 * BTL refuses when it is out of descriptors or its queue is full. An immediate send does the same in
 * send/btl.c. */

#include "send/send.h"

static mca_bml_fsbml_path_t *next_best(mca_bml_fsbml_endpoint_t *ep, uint32_t rails, size_t bytes)
{
    return fsbml_path(ep, fsbml_choose(ep, fsbml_now_ns(), bytes, rails));
}

mca_btl_base_descriptor_t *fsbml_refused_alloc(mca_bml_fsbml_endpoint_t *ep, uint32_t tried, uint8_t order,
                                               size_t size, uint32_t flags)
{
    mca_btl_base_descriptor_t *des = NULL;
    uint32_t rails = fsbml_candidates(ep) & ~fsbml_bit(tried);
    for (; 0 != rails && NULL == des; rails &= ~fsbml_bit(tried)) {
        mca_bml_fsbml_path_t *path = next_best(ep, rails, size);
        mca_btl_base_module_t *real = path->super.btl;
        tried = path->rail;
        des =
            real->btl_alloc(real, path->super.btl_endpoint, order, size, flags | fsbml_des_tag(path->module));
        if (NULL != des) {
            fsbml_hooks_bind(des, path);
        }
    }
    return NULL != des ? des : fsbml_held_make(size, flags, false);
}

/* The same with data, as much as fits. */
static mca_btl_base_descriptor_t *own_with(mca_bml_fsbml_endpoint_t *ep, struct opal_convertor_t *convertor,
                                           size_t packed, size_t reserve, size_t *size, uint32_t flags)
{
    const size_t most = ep->group->max_send_size;
    *size = reserve + *size > most ? most - reserve : *size;
    mca_btl_base_descriptor_t *des = fsbml_held_make(reserve + *size, flags, true);
    if (NULL != des && NULL != convertor) {
        struct iovec iov = {.iov_base = (char *) des->des_segments[0].seg_addr.pval + reserve,
                            .iov_len = *size};
        uint32_t n = 1;
        (void) opal_convertor_set_position(convertor, &packed);
        (void) opal_convertor_pack(convertor, &iov, &n, size);
        des->des_segments[0].seg_len = reserve + *size;
    }
    return des;
}

mca_btl_base_descriptor_t *fsbml_refused_prepare(mca_bml_fsbml_endpoint_t *ep, uint32_t tried,
                                                 struct opal_convertor_t *convertor, size_t packed,
                                                 uint8_t order, size_t reserve, size_t *size, uint32_t flags)
{
    const size_t wanted = *size;
    mca_btl_base_descriptor_t *des = NULL;
    uint32_t rails = fsbml_candidates(ep) & ~fsbml_bit(tried);
    for (; 0 != rails && NULL == des; rails &= ~fsbml_bit(tried)) {
        mca_bml_fsbml_path_t *path = next_best(ep, rails, reserve + wanted);
        mca_btl_base_module_t *real = path->super.btl;
        tried = path->rail;
        *size = wanted;
        size_t at = packed;
        if (NULL != convertor) { /* the rail that refused may have packed some of it */
            (void) opal_convertor_set_position(convertor, &at);
        }
        des = real->btl_prepare_src(real, path->super.btl_endpoint, convertor, order, reserve, size,
                                    flags | fsbml_des_tag(path->module));
        if (NULL != des) {
            fsbml_hooks_bind(des, path);
        }
    }
    if (NULL == des) {
        *size = wanted;
        des = own_with(ep, convertor, packed, reserve, size, flags);
    }
    return des;
}

/* Gives the others what one rail refused. The PML's descriptor is left as it is until one of them has taken
 * its copy. */
int fsbml_refused_send(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *refused,
                       mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    mca_btl_base_module_t *old = refused->super.btl;
    uint32_t tried = refused->rail;
    uint32_t rails = atomic_load(&ep->live) & ~fsbml_bit(tried);
    if (0 == (des->des_flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP)) {
        rails = 0; /* the PML would free, after the send, a descriptor that had been replaced */
    }
    for (; 0 != rails; rails &= ~fsbml_bit(tried)) {
        mca_bml_fsbml_path_t *path = next_best(ep, rails, fsbml_des_bytes(des));
        mca_btl_base_descriptor_t *copy = fsbml_held_copy(des, path);
        tried = path->rail;
        if (NULL == copy) {
            continue;
        }
        int again = fsbml_held_send_on(ep, path, copy, tag);
        if (again >= 0) {
            old->btl_free(old, des);
            return again;
        }
        path->super.btl->btl_free(path->super.btl, copy);
    }
    return des->des_flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP
               ? fsbml_held_add(ep, des, refused->rail, tag, false)
               : OMPI_ERR_OUT_OF_RESOURCE; /* the one refusal after which ob1 tries again */
}
