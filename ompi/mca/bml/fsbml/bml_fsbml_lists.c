/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* From the real BTLs' entries for a peer to the lists that the PML works with, and to FSBML's endpoint behind
 * them. */

#include "bml_fsbml.h"
#include "send/send.h"

#include "opal/mca/base/mca_base_var.h"

/* ob1 takes RDMA entries that are not in the eager list only if told to; with the pseudo BTL in the eager
 * list those are the real BTLs'. Told to use all, it would meet them, so then it gets none. */
static bool pml_uses_all_rdma(void)
{
    static const bool *value;
    const bool *storage = NULL;
    int index = mca_base_var_find("ompi", "pml", "ob1", "use_all_rdma");
    if (index >= 0 && OPAL_SUCCESS == mca_base_var_get_value(index, &storage, NULL, NULL)) {
        value = storage;
    }
    return NULL != value && *value;
}

static int by_bandwidth(const void *a, const void *b)
{
    uint32_t x = ((const mca_bml_base_btl_t *) a)->btl->btl_bandwidth;
    uint32_t y = ((const mca_bml_base_btl_t *) b)->btl->btl_bandwidth;
    return x > y ? -1 : x < y;
}

/* Weights by advertised bandwidth, as r2 has them. */
static void weigh(mca_bml_base_btl_array_t *array)
{
    double total = 0;
    size_t n = mca_bml_base_btl_array_get_size(array);
    for (size_t i = 0; i < n; ++i) {
        total += mca_bml_base_btl_array_get_index(array, i)->btl->btl_bandwidth;
    }
    for (size_t i = 0; i < n; ++i) {
        mca_bml_base_btl_t *e = mca_bml_base_btl_array_get_index(array, i);
        e->btl_weight = (e->btl->btl_bandwidth > 0 && total > 0) ? (float) (e->btl->btl_bandwidth / total)
                                                                 : (float) (1.0 / (double) n);
    }
}

static bool may_rdma(ompi_proc_t *proc, const mca_bml_base_btl_t *e, bool in_use)
{
    const uint32_t full = MCA_BTL_FLAGS_RDMA | MCA_BTL_FLAGS_ATOMIC_FOPS;
    if (!(in_use && (e->btl_flags & MCA_BTL_FLAGS_RDMA)) && full != (e->btl_flags & full)) {
        return false;
    }
    return proc->super.proc_arch == ompi_proc_local_proc->super.proc_arch
           || 0 != (e->btl->btl_flags & MCA_BTL_FLAGS_HETEROGENEOUS_RDMA);
}

/* The plain lists of a peer whose BTL has no rival: what r2 would make. */
static int build_plain(mca_bml_base_endpoint_t *ep, const mca_bml_base_btl_t *send, size_t n)
{
    if (OMPI_SUCCESS != mca_bml_base_btl_array_reserve(&ep->btl_send, n)
        || OMPI_SUCCESS != mca_bml_base_btl_array_reserve(&ep->btl_eager, n)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    uint32_t latency = UINT32_MAX;
    for (size_t i = 0; i < n; ++i) {
        *mca_bml_base_btl_array_insert(&ep->btl_send) = send[i];
        latency = send[i].btl->btl_latency < latency ? send[i].btl->btl_latency : latency;
    }
    weigh(&ep->btl_send);
    for (size_t i = 0; i < n; ++i) {
        const mca_bml_base_btl_t *e = mca_bml_base_btl_array_get_index(&ep->btl_send, i);
        if (e->btl->btl_latency == latency) {
            *mca_bml_base_btl_array_insert(&ep->btl_eager) = *e;
        }
        if (ep->btl_max_send_size > e->btl->btl_max_send_size) {
            ep->btl_max_send_size = e->btl->btl_max_send_size;
        }
    }
    return OMPI_SUCCESS;
}

static int build_pseudo(ompi_proc_t *proc, mca_bml_base_endpoint_t *bml_ep, mca_bml_fsbml_group_t *group,
                        const mca_bml_base_btl_t *send, size_t n)
{
    size_t capacity = (size_t) __builtin_popcount(group->rails);
    mca_bml_fsbml_endpoint_t *ep =
        fsbml_hooks_place(bml_ep, sizeof(*ep) + capacity * sizeof(mca_bml_fsbml_path_t));
    if (NULL == ep) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    ep->group = group;
    ep->proc = proc;
    ep->capacity = (uint32_t) capacity;
    OBJ_CONSTRUCT(&ep->lock, opal_mutex_t);
    OBJ_CONSTRUCT(&ep->held, opal_list_t);

    mca_bml_base_btl_array_t *array[2] = {&bml_ep->btl_eager, &bml_ep->btl_send};
    for (int i = 0; i < 2; ++i) {
        mca_bml_base_btl_t *e = mca_bml_base_btl_array_get_index(array[i], 0);
        e->btl = &group->pseudo;
        e->btl_endpoint = (struct mca_btl_base_endpoint_t *) ep;
        e->btl_flags |= group->pseudo.btl_flags;
        e->btl_weight = 1.0f;
    }
    ep->bml_btl = mca_bml_base_btl_array_get_index(&bml_ep->btl_eager, 0);
    bml_ep->btl_max_send_size = group->pseudo.btl_max_send_size;
    uint32_t taken[FSBML_MAX_RAILS];
    fsbml_pairing_rails(proc, send, n, taken);
    for (size_t i = 0; i < n; ++i) {
        int rc = fsbml_endpoint_add_path(ep, &send[i], taken[fsbml_rail_of(send[i].btl)]);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    return OMPI_SUCCESS;
}

/* The real BTLs' entries for put and get. Beside the pseudo BTL's (`group` offers one; NULL: there is none),
 * those of rails are only for one-sided communication on hardware, unless it rests. */
static void list_real_rdma(ompi_proc_t *proc, mca_bml_base_endpoint_t *bml_ep,
                           const mca_bml_fsbml_group_t *group, const mca_bml_base_btl_t *entry, size_t n,
                           uint32_t exclusivity)
{
    const bool alone = NULL != group && !group->rdma_rests;
    mca_bml_base_btl_t rdma[n > 0 ? n : 1];
    size_t n_rdma = 0;
    for (size_t i = 0; i < n; ++i) {
        const bool in_use =
            (entry[i].btl_flags & MCA_BTL_FLAGS_SEND) && exclusivity == entry[i].btl->btl_exclusivity;
        if (may_rdma(proc, &entry[i], in_use && !(alone && fsbml_rail_of(entry[i].btl) >= 0))) {
            rdma[n_rdma++] = entry[i];
        }
    }
    qsort(rdma, n_rdma, sizeof(rdma[0]), by_bandwidth);
    /* ob1 looks at as many entries as it would use, from a changing place on, and counts them in another
     * pass. */
    if (NULL != group && n_rdma > 3) {
        n_rdma = 3;
    }
    for (size_t i = 0; i < n_rdma; ++i) {
        const mca_btl_base_module_t *btl = rdma[i].btl;
        *mca_bml_base_btl_array_insert(&bml_ep->btl_rdma) = rdma[i];
        if (bml_ep->btl_pipeline_send_length < btl->btl_rdma_pipeline_send_length) {
            bml_ep->btl_pipeline_send_length = btl->btl_rdma_pipeline_send_length;
        }
        if (bml_ep->btl_send_limit < btl->btl_min_rdma_pipeline_size) {
            bml_ep->btl_send_limit = btl->btl_min_rdma_pipeline_size;
        }
    }
    weigh(&bml_ep->btl_rdma);
}

int fsbml_lists_build(ompi_proc_t *proc, mca_bml_base_endpoint_t *bml_ep, const mca_bml_base_btl_t *entry,
                      size_t n)
{
    mca_bml_base_btl_t send[n > 0 ? n : 1];
    size_t n_send = 0;
    int rc;

    /* entry[] is by falling exclusivity: a BTL joins only those of its own level */
    for (size_t i = 0; i < n; ++i) {
        if ((entry[i].btl_flags & MCA_BTL_FLAGS_SEND)
            && (0 == n_send || send[0].btl->btl_exclusivity <= entry[i].btl->btl_exclusivity)) {
            send[n_send++] = entry[i];
            bml_ep->btl_flags_or |= entry[i].btl_flags;
        }
    }
    /* Beside rails, a BTL for which there was no room among them carries nothing. */
    size_t n_rails = 0;
    for (size_t i = 0; i < n_send; ++i) {
        if (fsbml_rail_of(send[i].btl) >= 0) {
            send[n_rails++] = send[i];
        }
    }
    n_send = n_rails > 0 ? n_rails : n_send;
    int rail = n_send > 0 ? fsbml_rail_of(send[0].btl) : -1;
    qsort(send, n_send, sizeof(send[0]), by_bandwidth);
    rc = rail >= 0 ? build_pseudo(proc, bml_ep, fsbml_rails.rail[rail].group, send, n_send)
                   : build_plain(bml_ep, send, n_send);
    if (OMPI_SUCCESS != rc
        || OMPI_SUCCESS != (rc = mca_bml_base_btl_array_reserve(&bml_ep->btl_rdma, n + 1))) {
        return rc;
    }
    mca_bml_fsbml_group_t *group = rail >= 0 ? fsbml_rails.rail[rail].group : NULL;
    const bool for_pml = NULL != group && 0 != group->rdma_rails;
    if (rail < 0 || !pml_uses_all_rdma()) {
        list_real_rdma(proc, bml_ep, for_pml ? group : NULL, entry, n,
                       n_send > 0 ? send[0].btl->btl_exclusivity : 0);
    }
    if (for_pml) {
        fsbml_rdma_list(proc, bml_ep, fsbml_endpoint_of(bml_ep));
    }
    return OMPI_SUCCESS;
}
