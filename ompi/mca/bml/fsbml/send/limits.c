/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of a group's pseudo BTL, from those of its rails' BTLs: flags,
 * limits, latency, and how long messages are cut once the rails' parameters are known. */

#include "send/send.h"

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What the limits for memory of GPUs mean on one BTL, where 0 is "as for other memory". */
static void resolve_gpu_limits(mca_btl_base_module_t *btl)
{
#if FSBML_GPU_SENDS
    btl->FSBML_GPU_MAX_SEND_SIZE =
        0 != btl->FSBML_GPU_MAX_SEND_SIZE ? btl->FSBML_GPU_MAX_SEND_SIZE : btl->btl_max_send_size;
#endif
#if OPAL_CUDA_GDR_SUPPORT
    /* The largest number is how a BTL says that no data is to be eager; ob1 looks for it on the real BTLs
     * only. */
    btl->FSBML_GPU_EAGER_LIMIT = SIZE_MAX == btl->FSBML_GPU_EAGER_LIMIT ? FSBML_PML_HEADER
                                 : 0 != btl->FSBML_GPU_EAGER_LIMIT      ? btl->FSBML_GPU_EAGER_LIMIT
                                                                        : btl->btl_eager_limit;
    btl->FSBML_GPU_RDMA_LIMIT = 0 != btl->FSBML_GPU_RDMA_LIMIT ? btl->FSBML_GPU_RDMA_LIMIT : SIZE_MAX;
#endif
    (void) btl;
}

/* A group's are the least of its rails'. */
static void lessen_gpu_limits(mca_btl_base_module_t *p, mca_btl_base_module_t real)
{
    resolve_gpu_limits(&real);
#if FSBML_GPU_SENDS
    p->FSBML_GPU_MAX_SEND_SIZE = lesser(p->FSBML_GPU_MAX_SEND_SIZE, real.FSBML_GPU_MAX_SEND_SIZE);
#endif
#if OPAL_CUDA_GDR_SUPPORT
    p->FSBML_GPU_EAGER_LIMIT = lesser(p->FSBML_GPU_EAGER_LIMIT, real.FSBML_GPU_EAGER_LIMIT);
    p->FSBML_GPU_RDMA_LIMIT = lesser(p->FSBML_GPU_RDMA_LIMIT, real.FSBML_GPU_RDMA_LIMIT);
#endif
    (void) p;
}

/* What does not differ from the limits for other memory goes with them, also when the quantum changes
 * those. */
static void drop_gpu_limits(mca_btl_base_module_t *p)
{
#if FSBML_GPU_SENDS
    p->FSBML_GPU_MAX_SEND_SIZE =
        p->FSBML_GPU_MAX_SEND_SIZE != p->btl_max_send_size ? p->FSBML_GPU_MAX_SEND_SIZE : 0;
#endif
#if OPAL_CUDA_GDR_SUPPORT
    p->FSBML_GPU_EAGER_LIMIT = p->FSBML_GPU_EAGER_LIMIT != p->btl_eager_limit ? p->FSBML_GPU_EAGER_LIMIT : 0;
#endif
    (void) p;
}

/* Whole messages are with a rail once they are sent: nothing of them can wait or be dealt out any more, and
 * those of many senders to one overflow a switch's queue, for which TCP waits 0.2 s. So no larger ones are
 * whole then than without FSBML. Nor smaller ones: Open MPI restarts a persistent buffered message that is
 * not eager with what it had the last time. */
static bool many_send(void)
{
    enum { FEW = 4 };
    return mca_bml_fsbml_params.feedback && (fsbml_job_size() > FEW || fsbml_job_local_size() > 1);
}

/* How much goes ahead of the peer's answer: all of a message up to the eager limit, the first part of a
 * longer one. A message of just the BTLs' eager limit, mostly a power of two, is eager too: its handshake
 * would cost the time in which the next message could already be given to another rail. With `little` it is
 * not: what follows it in the PML's order would wait for all of it. */
static void begin_with(mca_bml_fsbml_group_t *group, bool little)
{
    mca_btl_base_module_t *p = &group->pseudo;
    const size_t most = little ? FSBML_FLOW_URGENT + FSBML_PML_HEADER : group->ahead;
    p->btl_eager_limit = little || many_send()
                             ? group->eager_limit
                             : lesser(group->eager_limit + FSBML_PML_HEADER, group->max_send_size);
    p->btl_rndv_eager_limit = lesser(lesser(most, group->quantum), group->rndv_eager_limit);
}

void fsbml_limits_construct(mca_bml_fsbml_group_t *group)
{
    mca_btl_base_module_t *p = &group->pseudo;
    /* A promise must hold on every rail, a demand counts if one rail makes it. */
    const uint32_t promises =
        MCA_BTL_FLAGS_SEND_INPLACE | MCA_BTL_FLAGS_SIGNALED | FSBML_BTL_FLAGS_COPY_ASYNC;
    const uint32_t demands = MCA_BTL_FLAGS_NEED_ACK | MCA_BTL_FLAGS_NEED_CSUM | FSBML_BTL_FLAGS_ANY;
    bool first = true;

    for (uint32_t i = 0; i < fsbml_rails.n_rails; ++i) {
        const mca_btl_base_module_t *real = fsbml_rails.rail[i].btl;
        if (0 == (group->rails & fsbml_bit(i))) {
            continue;
        }
        if (first) {
            *p = *real;
            p->btl_flags = (real->btl_flags & (promises | demands)) | MCA_BTL_FLAGS_SEND;
            resolve_gpu_limits(p);
            first = false;
        } else {
            p->btl_eager_limit = lesser(p->btl_eager_limit, real->btl_eager_limit);
            p->btl_rndv_eager_limit = lesser(p->btl_rndv_eager_limit, real->btl_rndv_eager_limit);
            p->btl_max_send_size = lesser(p->btl_max_send_size, real->btl_max_send_size);
            lessen_gpu_limits(p, *real);
            p->btl_latency = p->btl_latency < real->btl_latency ? p->btl_latency : real->btl_latency;
            p->btl_bandwidth += real->btl_bandwidth;
            p->btl_flags &= ~(promises & ~real->btl_flags);
            p->btl_flags |= real->btl_flags & demands;
        }
    }
    drop_gpu_limits(p);
    p->btl_max_send_size -= mca_bml_fsbml_params.failover ? FSBML_DELIVERY_HEADER : 0;
    p->btl_eager_limit = lesser(p->btl_eager_limit, p->btl_max_send_size);
    p->btl_rndv_eager_limit = lesser(p->btl_rndv_eager_limit, p->btl_max_send_size);
    group->max_send_size = group->quantum = group->ahead = p->btl_max_send_size;
    group->eager_limit = p->btl_eager_limit;
    group->rndv_eager_limit = p->btl_rndv_eager_limit;
    begin_with(group, false);
    /* One-sided communication takes the BTL of least latency: that must be this one, not one of its rails. */
    p->btl_latency -= p->btl_latency > 0 ? 1 : 0;
}

/* The parameters of those of a group's rails that this process uses. *one: what one carries is all that the
 * processor feeds. */
static size_t parameters(const mca_bml_fsbml_group_t *group, fsbml_loggp_t *params, bool *one)
{
    size_t n = 0;
    bool in_turn = true;
    for (uint32_t left = group->rails & ~group->gone; 0 != left; left &= left - 1) {
        const mca_bml_fsbml_rail_t *rail = &fsbml_rails.rail[__builtin_ctz(left)];
        if (rail->in_table && rail->measured) {
            params[n++] = rail->params;
            in_turn = in_turn && rail->in_turn;
        }
    }
    *one = 1 == n && in_turn;
    return n;
}

/* What the fastest rail carries until the answer is here: what is more would only be in the way of the answer
 * to a message that crosses this one. The PML's own work, and waking up, take as long again. */
static size_t before_answer(const fsbml_loggp_t *params, size_t n)
{
    double most = 1.0;
    for (size_t i = 0; i < n; ++i) {
        const double answer_ns = 4.0 * (params[i].L_ns + params[i].o_s_ns + params[i].o_r_ns);
        const double units = answer_ns / params[i].G_ns_per_byte / FSBML_FLOW_URGENT;
        most = units > most ? units : most;
    }
    return (size_t) most * FSBML_FLOW_URGENT + FSBML_PML_HEADER;
}

/* Long messages begin with little, so that nothing waits for long behind what they begin with. */
static bool is_urgent;

void fsbml_limits_urgent(bool begins)
{
    is_urgent = begins;
    for (uint32_t g = 0; g < fsbml_rails.n_groups; ++g) {
        begin_with(fsbml_rails.group[g], begins);
    }
}

/* Open MPI's datatype engine writes elsewhere when fragments end within an element (4.1.4, 5.0.7): so all but
 * the last are of whole ones, which have up to 32 bytes. */
enum { WHOLE = 64 };

static void cut(mca_bml_fsbml_group_t *group, size_t quantum)
{
    quantum -= quantum % WHOLE;
    fsbml_rdma_apply_quantum(group, quantum);
    quantum = lesser(quantum + FSBML_PML_HEADER, group->max_send_size);
    group->pseudo.btl_max_send_size = quantum;
    group->quantum = quantum;
    begin_with(group, is_urgent);
    fsbml_flow_quantum(group, quantum);
    for (uint32_t left = group->rails; 0 != left; left &= left - 1) {
        (void) fsbml_account_set_fragment(fsbml_observe_account(), (size_t) __builtin_ctz(left), quantum);
    }
    FSBML_VERBOSE(FSBML_V_RAILS, "fragments of long messages: at most %zu bytes", quantum);
}

void fsbml_limits_apply_quantum(void)
{
    for (uint32_t g = 0; g < fsbml_rails.n_groups; ++g) {
        mca_bml_fsbml_group_t *group = fsbml_rails.group[g];
        fsbml_loggp_t params[FSBML_MAX_RAILS];
        bool one;
        const size_t n = parameters(group, params, &one);
        if (0 != mca_bml_fsbml_params.quantum) {
            cut(group, mca_bml_fsbml_params.quantum);
        } else if (one) {
            fsbml_rdma_wake(
                group); /* and nothing is cut: a second rail gains less than a second copy costs */
        } else if (n > 0) {
            group->ahead = mca_bml_fsbml_params.feedback ? before_answer(params, n) : group->max_send_size;
            cut(group,
                fsbml_quantum(params, n, FSBML_QUANTUM_LOSS, FSBML_QUANTUM_LEAST, group->max_send_size));
        }
    }
}
