/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication where no rail has hardware for it. Open MPI 5.0's osc/rdma then sends active
 * messages by a BTL: it looks for one that stands both in the list of all BTLs and in the peer's lists, the
 * one of least latency first. Here it finds the pseudo BTL, so that each of its messages takes the rail that
 * delivers it first. What the peer answers is scheduled as well: its requests are shown to Open MPI as coming
 * by the pseudo BTL. (4.1 has no such messages; its osc/pt2pt works on the PML.) */

#include "send/send.h"

#ifdef MCA_BTL_BASE_TAG_RDMA

#    include "opal/runtime/opal_progress.h"

enum { FIRST_TAG = MCA_BTL_BASE_TAG_RDMA, N_TAGS = MCA_BTL_BASE_TAG_RDMA_RESP - MCA_BTL_BASE_TAG_RDMA + 1 };

bool fsbml_onesided_is_tag(mca_btl_base_tag_t tag)
{
    return tag >= FIRST_TAG && tag < FIRST_TAG + N_TAGS;
}

/* ---------------------------------------------- real endpoint -> endpoint */

/* Open addressing; read without a lock. A grown table replaces the old one, which readers may still hold: it
 * is kept until the end (all old ones together are no larger than the new one). */
typedef struct peers_t {
    struct peers_t *older;
    size_t size, used; /* size is a power of two */
    struct {
        _Atomic(const struct mca_btl_base_endpoint_t *) real;
        _Atomic(mca_bml_fsbml_endpoint_t *) ep;
    } slot[];
} peers_t;

static _Atomic(peers_t *) peers;
static opal_mutex_t peers_lock = OPAL_MUTEX_STATIC_INIT;

static size_t first_slot(const struct mca_btl_base_endpoint_t *real, size_t size)
{
    return (size_t) (((uintptr_t) real >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (size - 1);
}

mca_bml_fsbml_endpoint_t *fsbml_onesided_endpoint(const struct mca_btl_base_endpoint_t *real)
{
    peers_t *t = atomic_load_explicit(&peers, memory_order_acquire);
    if (NULL == t || NULL == real) {
        return NULL;
    }
    for (size_t i = first_slot(real, t->size);; i = (i + 1) & (t->size - 1)) {
        const struct mca_btl_base_endpoint_t *seen =
            atomic_load_explicit(&t->slot[i].real, memory_order_acquire);
        if (seen == real || NULL == seen) {
            return NULL != seen ? atomic_load_explicit(&t->slot[i].ep, memory_order_acquire) : NULL;
        }
    }
}

static void put_peer(peers_t *t, const struct mca_btl_base_endpoint_t *real, mca_bml_fsbml_endpoint_t *ep)
{
    size_t i = first_slot(real, t->size);
    const struct mca_btl_base_endpoint_t *seen;
    while (NULL != (seen = atomic_load(&t->slot[i].real)) && seen != real) {
        i = (i + 1) & (t->size - 1);
    }
    t->used += NULL == seen;
    atomic_store(&t->slot[i].ep, ep);
    atomic_store_explicit(&t->slot[i].real, real, memory_order_release);
}

static peers_t *grow(peers_t *old)
{
    const size_t size = NULL != old ? 2 * old->size : 64;
    peers_t *t = calloc(1, sizeof(*t) + size * sizeof(t->slot[0]));
    if (NULL == t) {
        return NULL;
    }
    t->size = size;
    t->older = old;
    for (size_t i = 0; NULL != old && i < old->size; ++i) {
        mca_bml_fsbml_endpoint_t *ep = atomic_load(&old->slot[i].ep);
        if (NULL != ep) {
            put_peer(t, atomic_load(&old->slot[i].real), ep);
        }
    }
    return t;
}

int fsbml_onesided_path_known(const struct mca_btl_base_endpoint_t *real, mca_bml_fsbml_endpoint_t *ep)
{
    int rc = OMPI_SUCCESS;
    opal_mutex_lock(&peers_lock);
    peers_t *t = atomic_load(&peers);
    if (NULL == t || 2 * t->used >= t->size) {
        t = grow(t);
    }
    if (NULL == t) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    } else {
        put_peer(t, real, ep);
        atomic_store_explicit(&peers, t, memory_order_release);
    }
    opal_mutex_unlock(&peers_lock);
    return rc;
}

void fsbml_onesided_path_gone(const struct mca_btl_base_endpoint_t *real)
{
    opal_mutex_lock(&peers_lock);
    peers_t *t = atomic_load(&peers);
    for (size_t i = NULL != t ? first_slot(real, t->size) : 0; NULL != t; i = (i + 1) & (t->size - 1)) {
        const struct mca_btl_base_endpoint_t *seen = atomic_load(&t->slot[i].real);
        if (seen == real || NULL == seen) {
            if (NULL != seen) {
                atomic_store(&t->slot[i].ep, NULL); /* the key stays: others may have probed past it */
            }
            break;
        }
    }
    opal_mutex_unlock(&peers_lock);
}

/* --------------------------------------------------------------- requests */

static mca_btl_active_message_callback_t original[N_TAGS];

static void received(mca_btl_base_module_t *btl, const mca_btl_base_receive_descriptor_t *des)
{
    const mca_btl_active_message_callback_t *to = &original[des->tag - FIRST_TAG];
    mca_bml_fsbml_endpoint_t *ep = fsbml_rail_of(btl) >= 0 ? fsbml_onesided_endpoint(des->endpoint) : NULL;
    mca_btl_base_receive_descriptor_t copy = *des;
    copy.cbdata = to->cbdata;
    if (NULL != ep) {
        copy.endpoint = (struct mca_btl_base_endpoint_t *) ep;
        btl = &ep->group->pseudo;
    }
    to->cbfunc(btl, &copy);
}

/* Open MPI registers for its active messages when the first window is made, and tells no other component.
 * Both sides of a request then still have collective communication to do, so this looks in time. */
static int intercept(void)
{
    for (int i = 0; i < N_TAGS; ++i) {
        mca_btl_active_message_callback_t *trigger = &mca_btl_base_active_message_trigger[FIRST_TAG + i];
        if (NULL != trigger->cbfunc && received != trigger->cbfunc) {
            original[i] = *trigger;
            opal_atomic_wmb();
            trigger->cbfunc = received;
        }
    }
    return 0;
}

/* ---------------------------------------------------------- begin and end */

static mca_btl_base_selected_module_t *offered[FSBML_MAX_RAILS];

void fsbml_onesided_init(void)
{
    for (uint32_t g = 0; g < fsbml_rails.n_groups; ++g) {
        mca_btl_base_module_t *pseudo = &fsbml_rails.group[g]->pseudo;
        offered[g] = OBJ_NEW(mca_btl_base_selected_module_t);
        if (NULL != offered[g]) {
            offered[g]->btl_component = pseudo->btl_component;
            offered[g]->btl_module = pseudo;
            opal_list_append(&mca_btl_base_modules_initialized, &offered[g]->super);
        }
    }
    if (fsbml_rails.n_groups > 0) {
        opal_progress_register_lp(intercept);
    }
}

void fsbml_onesided_fini(void)
{
    for (uint32_t g = 0; g < FSBML_MAX_RAILS; ++g) {
        if (NULL != offered[g]) {
            opal_list_remove_item(&mca_btl_base_modules_initialized, &offered[g]->super);
            OBJ_RELEASE(offered[g]);
            offered[g] = NULL;
        }
    }
    opal_progress_unregister(intercept);
    for (int i = 0; i < N_TAGS; ++i) {
        mca_btl_active_message_callback_t *trigger = &mca_btl_base_active_message_trigger[FIRST_TAG + i];
        if (received == trigger->cbfunc) {
            *trigger = original[i];
        }
    }
    for (peers_t *t = atomic_exchange(&peers, NULL); NULL != t;) {
        peers_t *older = t->older;
        free(t);
        t = older;
    }
}

#else /* no active messages for RDMA in this Open MPI */

bool fsbml_onesided_is_tag(mca_btl_base_tag_t tag)
{
    (void) tag;
    return false;
}

int fsbml_onesided_path_known(const struct mca_btl_base_endpoint_t *real, mca_bml_fsbml_endpoint_t *ep)
{
    (void) real;
    (void) ep;
    return OMPI_SUCCESS;
}

void fsbml_onesided_path_gone(const struct mca_btl_base_endpoint_t *real)
{
    (void) real;
}

mca_bml_fsbml_endpoint_t *fsbml_onesided_endpoint(const struct mca_btl_base_endpoint_t *real)
{
    (void) real;
    return NULL;
}

void fsbml_onesided_init(void) {}

void fsbml_onesided_fini(void) {}

#endif /* MCA_BTL_BASE_TAG_RDMA */
