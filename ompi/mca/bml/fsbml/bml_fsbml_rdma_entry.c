/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Entries for put and get in the PML's lists: a peer has one for all rails, which ob1 uses at once or only
 * after it has been woken, and one for each path alone. bml_fsbml_rdma.c has the operations behind them. */

#include "bml_fsbml_hooks.h"

void fsbml_rdma_bind(const mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    if (NULL != ep->rdma) {
        path->bound = *ep->rdma;
        path->bound.btl = &mca_bml_fsbml.rail[path->rail].bound;
    }
}

void fsbml_rdma_list(ompi_proc_t *proc, mca_bml_base_endpoint_t *bml_ep, mca_bml_fsbml_endpoint_t *ep)
{
    const mca_btl_base_module_t *p = &ep->group->pseudo;
    const fsbml_speech_t speech = fsbml_hello_rdma(&proc->super.proc_name);
    if (FSBML_SPEECH_NONE == speech
        || (proc->super.proc_arch != ompi_proc_local_proc->super.proc_arch
            && 0 == (p->btl_flags & MCA_BTL_FLAGS_HETEROGENEOUS_RDMA))) {
        return;
    }
    ep->speaks_real = FSBML_SPEECH_REAL == speech;
    ep->rdma = mca_bml_base_btl_array_insert(&bml_ep->btl_rdma);
    *ep->rdma = (mca_bml_base_btl_t){
        .btl_flags = p->btl_flags,
        .btl = &ep->group->pseudo,
        .btl_endpoint = (struct mca_btl_base_endpoint_t *) ep,
    };
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        fsbml_rdma_bind(ep, &ep->path[i]);
    }
    bml_ep->btl_pipeline_send_length = p->btl_rdma_pipeline_send_length;
}

void fsbml_rdma_offer(mca_bml_base_endpoint_t *bml_ep, mca_bml_fsbml_endpoint_t *ep)
{
    /* ob1 takes no entries of less than half of all weights, nor messages below the limit. Where it is
     * offered, the weight is that of the one entry there is: the rails' shares are the scheduler's business.
     */
    if (NULL != ep->rdma) {
        const bool rests = ep->group->rdma_rests;
        ep->rdma->btl_weight = rests ? 0.25f : 1.0f;
        bml_ep->btl_send_limit = rests ? SIZE_MAX : ep->group->pseudo.btl_min_rdma_pipeline_size;
    }
}

void fsbml_rdma_wake(mca_bml_fsbml_group_t *group)
{
    size_t n = 0;
    if (!group->rdma_rests) {
        return;
    }
    group->rdma_rests = false;
    ompi_proc_t **procs = ompi_proc_all(&n);
    for (size_t p = 0; NULL != procs && p < n; ++p) {
        mca_bml_base_endpoint_t *bml_ep = procs[p]->proc_endpoints[OMPI_PROC_ENDPOINT_TAG_BML];
        mca_bml_fsbml_endpoint_t *ep = fsbml_endpoint_of(bml_ep);
        if (NULL != ep && ep->group == group) {
            fsbml_rdma_offer(bml_ep, ep);
        }
        OBJ_RELEASE(procs[p]);
    }
    free(procs);
    FSBML_VERBOSE(FSBML_V_RAILS, "long messages are put: the processor is the limit");
}
