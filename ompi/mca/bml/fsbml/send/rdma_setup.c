/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether and how the PML puts and gets over a group's rails, and its entries for that: one for all rails,
 * and one for each alone, for what must come behind something else, as ob1's FIN behind the bytes of a put.
 */

#include "send/send.h"

/* -------------------------------------------------------- one rail alone */

static uint32_t rail_of(const mca_btl_base_module_t *btl)
{
    const mca_bml_fsbml_rail_t *rail =
        (const mca_bml_fsbml_rail_t *) ((const char *) btl - offsetof(mca_bml_fsbml_rail_t, bound));
    return (uint32_t) (rail - fsbml_rails.rail);
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
    return fsbml_held_free(fsbml_rails.rail[module >= 0 ? (uint32_t) module : rail_of(btl)].btl, des);
}

/* Never refused for want of room: ob1 of 4.1 would send it again by any rail. */
static int bound_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    const uint32_t rail = rail_of(btl);
    /* Its completion lets the PML go on with what waits: for any rail, so by the entry of all. */
    des->des_context = ep->bml_btl;
    const int rc = !fsbml_des_is_own(des) ? fsbml_held_send_on(ep, fsbml_path(ep, rail), des, tag)
                                          : OMPI_ERR_NOT_AVAILABLE;
    return rc < 0 && (des->des_flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP)
               ? fsbml_held_add(ep, des, rail, tag, true)
               : rc;
}

static void bound_construct(mca_bml_fsbml_rail_t *rail)
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

/* ------------------------------------------------------------- all rails */

/* Whether the PML may put or get over a rail. Where no memory is registered (tcp), a put is a send of ob1's
 * in disguise, with a request and an acknowledgement for each piece (docs/results/single-messages.md compares
 * both). But its bytes are read to where they belong, without a copy: where the processor is the limit that
 * is what counts, so it is kept ready. */
static bool is_wanted(const mca_btl_base_module_t *real, bool registers)
{
    const bool offers = 0 != (fsbml_btl_flags(real) & MCA_BTL_FLAGS_RDMA);
    switch (mca_bml_fsbml_params.rdma) {
    case FSBML_RDMA_AUTO:
        if (mca_bml_fsbml_params.failover && NULL == real->btl_register_mem) {
            return false; /* fragments are sent again, puts are not */
        }
        return offers && (NULL != real->btl_register_mem) == registers;
    case FSBML_RDMA_ON:
        return offers;
    case FSBML_RDMA_OFF:
        break;
    }
    return false;
}

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t greater(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Whether any of a group's rails has memory registered for it. */
static bool any_registers(const mca_bml_fsbml_group_t *group)
{
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        const mca_btl_base_module_t *real = fsbml_rails.rail[i].btl;
        if (0 != (group->rails & fsbml_bit(i)) && 0 != (fsbml_btl_flags(real) & MCA_BTL_FLAGS_RDMA)
            && NULL != real->btl_register_mem) {
            return true;
        }
    }
    return false;
}

void fsbml_rdma_construct(mca_bml_fsbml_group_t *group)
{
    const bool any = any_registers(group);
    mca_btl_base_module_t *p = &group->pseudo;
    uint32_t common = MCA_BTL_FLAGS_RDMA | FSBML_BTL_FLAGS_REMOTE_COMPLETION
                      | FSBML_BTL_FLAGS_ACCELERATOR_RDMA | MCA_BTL_FLAGS_HETEROGENEOUS_RDMA;
    size_t handles = fsbml_handle_head();
    bool registers = false, first = true;

    p->btl_put = NULL;
    p->btl_get = NULL;
    p->btl_register_mem = NULL;
    p->btl_deregister_mem = NULL;
    p->btl_registration_handle_size = 0;
    group->rdma_rails = 0;
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        const mca_btl_base_module_t *real = fsbml_rails.rail[i].btl;
        if (0 == (group->rails & fsbml_bit(i)) || !is_wanted(real, any)
            || handles + fsbml_handle_share(i) > MCA_BTL_REG_HANDLE_MAX_SIZE) {
            continue;
        }
        handles += fsbml_handle_share(i);
        registers = registers || fsbml_handle_needed(i);
        /* The PML asks once for all rails: the group can what each of them can. */
        common &= fsbml_btl_flags(real);
        group->rdma_rails |= fsbml_bit(i);
        p->btl_put_limit = first ? real->btl_put_limit : lesser(p->btl_put_limit, real->btl_put_limit);
        p->btl_get_limit = first ? real->btl_get_limit : lesser(p->btl_get_limit, real->btl_get_limit);
        p->btl_rdma_pipeline_send_length =
            greater(first ? 0 : p->btl_rdma_pipeline_send_length, real->btl_rdma_pipeline_send_length);
        p->btl_min_rdma_pipeline_size =
            greater(first ? 0 : p->btl_min_rdma_pipeline_size, real->btl_min_rdma_pipeline_size);
        /* Where no memory is registered, nothing is gained by cutting: the largest, as shared memory of 4.1
         * says 4 KiB. */
        p->btl_rdma_pipeline_frag_size =
            first ? real->btl_rdma_pipeline_frag_size
            : any ? lesser(p->btl_rdma_pipeline_frag_size, real->btl_rdma_pipeline_frag_size)
                  : greater(p->btl_rdma_pipeline_frag_size, real->btl_rdma_pipeline_frag_size);
        p->btl_put_alignment = greater(first ? 0 : p->btl_put_alignment, real->btl_put_alignment);
        p->btl_get_alignment = greater(first ? 0 : p->btl_get_alignment, real->btl_get_alignment);
        first = false;
    }
    /* What is complete must be there: its rail may be lost before what follows it. */
    if (mca_bml_fsbml_params.failover && 0 == (common & FSBML_BTL_FLAGS_REMOTE_COMPLETION)) {
        common &= ~(uint32_t) MCA_BTL_FLAGS_PUT;
    }
    if (0 == (common & MCA_BTL_FLAGS_RDMA)) {
        group->rdma_rails = 0; /* one can only put, another only get */
    }
    if (0 == group->rdma_rails) {
        return;
    }
    group->rdma_rests = FSBML_RDMA_AUTO == mca_bml_fsbml_params.rdma && !any;
    p->btl_flags |= common;
    if (common & MCA_BTL_FLAGS_PUT) {
        p->btl_put = fsbml_rdma_put;
    }
    if (common & MCA_BTL_FLAGS_GET) {
        p->btl_get = fsbml_rdma_get;
    }
    if (registers) {
        p->btl_register_mem = fsbml_handle_register;
        p->btl_deregister_mem = fsbml_handle_deregister;
        p->btl_registration_handle_size = handles;
    }
    group->rdma_frag_size = p->btl_rdma_pipeline_frag_size;
    group->get_limit = p->btl_get_limit;
    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        if (group->rdma_rails & fsbml_bit(i)) {
            bound_construct(&fsbml_rails.rail[i]);
        }
    }
}

void fsbml_rdma_apply_quantum(mca_bml_fsbml_group_t *group, size_t quantum)
{
    mca_btl_base_module_t *p = &group->pseudo;
    if (0 != group->rdma_rails) {
        p->btl_rdma_pipeline_frag_size =
            0 == group->rdma_frag_size ? quantum : lesser(group->rdma_frag_size, quantum);
        p->btl_get_limit = lesser(group->get_limit, quantum);
    }
}

bool fsbml_rdma_in_use(void)
{
    bool used = false;
    for (uint32_t g = 0; g < fsbml_rails.n_groups; ++g) {
        used = used || 0 != fsbml_rails.group[g]->rdma_rails;
    }
    return used;
}

void fsbml_rdma_bind(const mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path)
{
    if (NULL != ep->rdma) {
        path->bound = *ep->rdma;
        path->bound.btl = &fsbml_rails.rail[path->rail].bound;
    }
}

static void offer(mca_bml_base_endpoint_t *bml_ep, mca_bml_fsbml_endpoint_t *ep)
{
    const mca_btl_base_module_t *p = &ep->group->pseudo;
    ep->rdma = mca_bml_base_btl_array_insert(&bml_ep->btl_rdma);
    *ep->rdma = (mca_bml_base_btl_t){
        .btl_flags = p->btl_flags,
        .btl = &ep->group->pseudo,
        .btl_endpoint = (struct mca_btl_base_endpoint_t *) ep,
        .btl_weight = 1.0f, /* the rails' shares are the scheduler's business */
    };
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        fsbml_rdma_bind(ep, &ep->path[i]);
    }
    bml_ep->btl_pipeline_send_length = p->btl_rdma_pipeline_send_length;
    bml_ep->btl_send_limit = p->btl_min_rdma_pipeline_size;
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
    if (ep->group
            ->rdma_rests) { /* not in the list: ob1 would use it, whatever its weight, with leave_pinned -1 */
        bml_ep->btl_send_limit = SIZE_MAX;
    } else {
        offer(bml_ep, ep);
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
        if (NULL != ep && ep->group == group && NULL == ep->rdma) {
            fsbml_rdma_list(procs[p], bml_ep, ep);
        }
        OBJ_RELEASE(procs[p]);
    }
    free(procs);
    FSBML_VERBOSE(FSBML_V_RAILS, "long messages are put: the processor is the limit");
}
