/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Pending messages: sent by the PML before a path to its peer is live, and given to the first rail that is. A
 * message that is bound to a rail without room waits for that rail. */

#include "send/send.h"

OBJ_CLASS_INSTANCE(mca_bml_fsbml_held_t, opal_list_item_t, NULL, NULL);

typedef struct own_des_t {
    mca_btl_base_descriptor_t super;
    mca_btl_base_segment_t segment;
    bool fragment;
    char bytes[];
} own_des_t;

/* Of the PML's fragments, that is: a long message has thousands. */
enum { MOST_FRAGMENTS = 8 };
static atomic_uint n_fragments;

mca_btl_base_descriptor_t *fsbml_held_make(size_t bytes, uint32_t flags, bool fragment)
{
    if (0 == (flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP)) {
        return NULL; /* its maker sends it again, and means the BTL's */
    }
    if (fragment && atomic_fetch_add(&n_fragments, 1) >= MOST_FRAGMENTS) {
        atomic_fetch_sub(&n_fragments, 1);
        return NULL;
    }
    own_des_t *own = calloc(1, sizeof(*own) + bytes);
    if (NULL == own) {
        atomic_fetch_sub(&n_fragments, fragment);
        return NULL;
    }
    OBJ_CONSTRUCT(&own->super, mca_btl_base_descriptor_t);
    own->segment.seg_addr.pval = own->bytes;
    own->segment.seg_len = bytes;
    own->fragment = fragment;
    own->super.des_segments = &own->segment;
    own->super.des_segment_count = 1;
    own->super.des_flags = (flags & ~FSBML_DES_MASK) | FSBML_DES_OWN;
    own->super.order = MCA_BTL_NO_ORDER;
    return &own->super;
}

int fsbml_held_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *des)
{
    if (fsbml_des_is_own(des)) {
        atomic_fetch_sub(&n_fragments, ((own_des_t *) des)->fragment);
        OBJ_DESTRUCT(des);
        free(des);
        return OMPI_SUCCESS;
    }
    return btl->btl_free(btl, des);
}

static void copy_message(mca_btl_base_descriptor_t *copy, const mca_btl_base_descriptor_t *des)
{
    size_t at = 0;
    for (size_t i = 0; i < des->des_segment_count; ++i) {
        memcpy((char *) copy->des_segments[0].seg_addr.pval + at, des->des_segments[i].seg_addr.pval,
               des->des_segments[i].seg_len);
        at += des->des_segments[i].seg_len;
    }
    copy->des_cbfunc = des->des_cbfunc;
    copy->des_cbdata = des->des_cbdata;
    copy->des_context = des->des_context;
}

mca_btl_base_descriptor_t *fsbml_held_copy(const mca_btl_base_descriptor_t *des, mca_bml_fsbml_path_t *to)
{
    mca_btl_base_module_t *btl = to->super.btl;
    mca_btl_base_descriptor_t *copy =
        btl->btl_alloc(btl, to->super.btl_endpoint, MCA_BTL_NO_ORDER, fsbml_des_bytes(des),
                       (des->des_flags & ~FSBML_DES_MASK) | fsbml_des_tag(to->module));
    if (NULL != copy) {
        copy_message(copy, des);
        fsbml_hooks_bind(copy, to);
    }
    return copy;
}

/* A pending message takes no BTL's descriptor: where there are few, all of them would wait here for an
 * answer, and the question would have none. NULL: no memory, or its maker means to keep it. */
static mca_btl_base_descriptor_t *own_copy(const mca_btl_base_descriptor_t *des)
{
    mca_btl_base_descriptor_t *own = fsbml_held_make(fsbml_des_bytes(des), des->des_flags, false);
    if (NULL != own) {
        copy_message(own, des);
    }
    return own;
}

int fsbml_held_add(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_descriptor_t *des, uint32_t rail,
                   mca_btl_base_tag_t tag, bool bound)
{
    mca_bml_fsbml_held_t *held = OBJ_NEW(mca_bml_fsbml_held_t);
    if (NULL == held) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    mca_btl_base_descriptor_t *own = fsbml_des_is_own(des) ? des : own_copy(des);
    if (NULL != own && own != des) {
        mca_btl_base_module_t *btl = fsbml_path(ep, rail)->super.btl;
        (void) btl->btl_free(btl, des);
    }
    held->des = NULL != own ? own : des;
    held->rail = rail;
    held->tag = tag;
    held->bound = bound;
    opal_mutex_lock(&ep->lock);
    if (NULL != own) {
        opal_list_append(&ep->held, &held->super);
    } else { /* it needs no descriptor, and gives one back: those behind it may wait for that */
        opal_list_prepend(&ep->held, &held->super);
    }
    atomic_fetch_add(&ep->n_held, 1);
    opal_mutex_unlock(&ep->lock);
    /* Sent from the progress function, or by the answer: the PML expects no completion before this call
     * returns. */
    fsbml_watch(ep);
    return OMPI_SUCCESS;
}

static void fail(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_held_t *held)
{
    mca_btl_base_descriptor_t *des = held->des;
    mca_btl_base_module_t *btl = fsbml_path(ep, held->rail)->super.btl;
    uint32_t flags = des->des_flags;
    des->des_context = ep->bml_btl;
    if (NULL != des->des_cbfunc) {
        des->des_cbfunc(NULL, (struct mca_btl_base_endpoint_t *) ep, des, OMPI_ERR_UNREACH);
    }
    if (flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP) {
        (void) fsbml_held_free(btl, des);
    }
}

/* An active message's sender keeps its descriptor and sends it again for the next piece: it waits, and a copy
 * goes. */
static void stand_in_done(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                          mca_btl_base_descriptor_t *copy, int status)
{
    mca_btl_base_descriptor_t *original = copy->des_cbdata;
    original->des_cbfunc(btl, endpoint, original, status);
}

static bool stays_with_its_sender(const mca_bml_fsbml_held_t *held)
{
    return fsbml_onesided_is_tag(held->tag) && 0 == (held->des->des_flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP);
}

/* What a rail is given of a held message that is not its BTL's, NULL: it has no descriptor. */
static mca_btl_base_descriptor_t *copy_for(const mca_bml_fsbml_held_t *held, mca_bml_fsbml_path_t *to)
{
    mca_btl_base_descriptor_t *copy = fsbml_held_copy(held->des, to);
    if (NULL != copy && stays_with_its_sender(held)) {
        copy->des_flags |= MCA_BTL_DES_FLAGS_BTL_OWNERSHIP;
        copy->des_cbfunc = stand_in_done;
        copy->des_cbdata = held->des;
    }
    return copy;
}

/* True: sent. */
static bool try_rail(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_held_t *held, uint32_t rail, bool is_its_own)
{
    mca_bml_fsbml_path_t *path = fsbml_path(ep, rail);
    mca_btl_base_module_t *btl = path->super.btl, *old = fsbml_path(ep, held->rail)->super.btl;
    mca_btl_base_descriptor_t *des = is_its_own ? held->des : copy_for(held, path);
    if (NULL == des) {
        return false;
    }
    const bool stays = is_its_own || stays_with_its_sender(held);
    const uint32_t flags = des->des_flags;
    /* The PML was told that the completion will come: it must, also where the BTL could do without. */
    des->des_flags |= MCA_BTL_DES_SEND_ALWAYS_CALLBACK;
    const bool sent = fsbml_held_send_on(ep, path, des, held->tag) >= 0;
    if (sent && !stays) {
        (void) fsbml_held_free(old, held->des);
    } else if (!sent && is_its_own) {
        des->des_flags = flags;
    } else if (!sent) {
        (void) btl->btl_free(btl, des);
    }
    return sent;
}

int fsbml_held_send_on(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path,
                       mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    return fsbml_send_on(ep, path, des, tag, NULL != fsbml_observer);
}

/* Returns false if it must be tried again later: no rail takes it now. */
static bool send_held(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_held_t *held, uint32_t live)
{
    live &= held->bound ? fsbml_bit(held->rail) : UINT32_MAX;
    while (0 != live) {
        const bool is_its_own = 0 != (live & fsbml_bit(held->rail)) && !fsbml_des_is_own(held->des);
        const uint32_t rail =
            is_its_own ? held->rail : fsbml_choose(ep, fsbml_now_ns(), fsbml_des_bytes(held->des), live);
        if (try_rail(ep, held, rail, is_its_own)) {
            return true;
        }
        live &= ~fsbml_bit(rail);
    }
    return false;
}

static mca_bml_fsbml_held_t *take_held(mca_bml_fsbml_endpoint_t *ep)
{
    opal_mutex_lock(&ep->lock);
    mca_bml_fsbml_held_t *held = (mca_bml_fsbml_held_t *) opal_list_remove_first(&ep->held);
    opal_mutex_unlock(&ep->lock);
    return held;
}

/* False: no rail has room for it. */
static bool settle(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_held_t *held, uint32_t live)
{
    if (held->bound && 0 == (live & fsbml_bit(held->rail))) {
        /* what it must follow may never have arrived */
        fsbml_lost(ep, fsbml_path(ep, held->rail)->super.btl, OMPI_ERR_UNREACH);
        fail(ep, held);
        return true;
    }
    return send_held(ep, held, live);
}

void fsbml_held_release(mca_bml_fsbml_endpoint_t *ep)
{
    opal_list_t waiting;
    bool full = false;
    OBJ_CONSTRUCT(&waiting, opal_list_t);
    /* As many as there are now: what the PML sends from a completion is not held any more. */
    for (uint32_t n = atomic_load(&ep->n_held); n > 0 && !full; --n) {
        uint32_t live = atomic_load(&ep->live);
        mca_bml_fsbml_held_t *held = 0 != live ? take_held(ep) : NULL;
        if (NULL == held) {
            break;
        }
        if (settle(ep, held, live)) {
            atomic_fetch_sub(&ep->n_held, 1);
            OBJ_RELEASE(held);
        } else {
            full = !held->bound; /* all rails are; a bound one knows of one only */
            opal_list_append(&waiting, &held->super);
        }
    }
    if (!opal_list_is_empty(&waiting)) {
        opal_mutex_lock(&ep->lock);
        opal_list_join(&ep->held, opal_list_get_first(&ep->held), &waiting);
        opal_mutex_unlock(&ep->lock);
        fsbml_watch(ep);
    }
    OBJ_DESTRUCT(&waiting);
}

void fsbml_held_fail(mca_bml_fsbml_endpoint_t *ep)
{
    mca_bml_fsbml_held_t *held;
    while (NULL != (held = take_held(ep))) {
        atomic_fetch_sub(&ep->n_held, 1);
        fail(ep, held);
        OBJ_RELEASE(held);
    }
}

void fsbml_held_drop(mca_bml_fsbml_endpoint_t *ep)
{
    opal_list_item_t *item;
    opal_mutex_lock(&ep->lock);
    while (NULL != (item = opal_list_remove_first(&ep->held))) {
        mca_bml_fsbml_held_t *held = (mca_bml_fsbml_held_t *) item;
        mca_btl_base_module_t *btl = fsbml_path(ep, held->rail)->super.btl;
        (void) fsbml_held_free(btl, held->des);
        OBJ_RELEASE(held);
    }
    atomic_store(&ep->n_held, 0);
    opal_mutex_unlock(&ep->lock);
}
