/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* The pseudo BTL: what the PML sees in place of the rails. It picks a rail when a descriptor is made (a descriptor works
 * only with the BTL that made it) and charges it when the descriptor is sent. */

#include "bml_fsbml_hooks.h"

/* The rails to choose from. */
static inline uint32_t candidates(mca_bml_fsbml_endpoint_t *ep)
{
    uint32_t rails = atomic_load_explicit(&ep->live, memory_order_relaxed);
    if (OPAL_UNLIKELY(0 == rails)) {
        /* Nothing is proved yet. What is sent now is held, so its rail need only be possible. */
        rails = atomic_load_explicit(&ep->possible, memory_order_relaxed);
    }
    return rails;
}

static inline bool is_choice(uint32_t rails)
{
    return 0 != (rails & (rails - 1));
}

static inline mca_bml_fsbml_path_t *choose_at(mca_bml_fsbml_endpoint_t *ep, uint32_t rails, uint64_t now, size_t bytes)
{
    if (!is_choice(rails)) {
        /* no rail at all: the message is held until one comes back, or fails with all others */
        return 0 != rails ? fsbml_path(ep, (uint32_t) __builtin_ctz(rails)) : &ep->path[0];
    }
    return fsbml_path(ep, (uint32_t) fsbml_sched_choose(mca_bml_fsbml.sched, now, bytes, rails));
}

/* Cost of a choice on a peer's single path is one comparison: the clock is read only where there is a choice. */
static inline mca_bml_fsbml_path_t *choose(mca_bml_fsbml_endpoint_t *ep, size_t bytes)
{
    const uint32_t rails = candidates(ep);
    return choose_at(ep, rails, is_choice(rails) ? fsbml_now_ns() : 0, bytes);
}

static mca_btl_base_descriptor_t *pseudo_alloc(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                                               uint8_t order, size_t size, uint32_t flags)
{
    (void) btl;
    mca_bml_fsbml_path_t *path = choose((mca_bml_fsbml_endpoint_t *) endpoint, size);
    mca_btl_base_module_t *real = path->super.btl;
    mca_btl_base_descriptor_t *des = real->btl_alloc(real, path->super.btl_endpoint, order, size,
                                                     flags | fsbml_des_tag(path->rail));
    if (OPAL_LIKELY(NULL != des)) {
        fsbml_hooks_bind(des, path);
    }
    return des;
}

static mca_btl_base_descriptor_t *pseudo_prepare_src(mca_btl_base_module_t *btl,
                                                     struct mca_btl_base_endpoint_t *endpoint,
                                                     struct opal_convertor_t *convertor, uint8_t order, size_t reserve,
                                                     size_t *size, uint32_t flags)
{
    (void) btl;
    mca_bml_fsbml_path_t *path = choose((mca_bml_fsbml_endpoint_t *) endpoint, reserve + *size);
    mca_btl_base_module_t *real = path->super.btl;
    mca_btl_base_descriptor_t *des = real->btl_prepare_src(real, path->super.btl_endpoint, convertor, order, reserve,
                                                           size, flags | fsbml_des_tag(path->rail));
    if (OPAL_LIKELY(NULL != des)) {
        fsbml_hooks_bind(des, path);
    }
    return des;
}

static int pseudo_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *des)
{
    (void) btl;
    int rail = fsbml_des_rail(des);
    if (OPAL_UNLIKELY(rail < 0 || rail >= (int) mca_bml_fsbml.n_rails)) {
        return OMPI_ERR_BAD_PARAM; /* not one of ours: better lost than given to the wrong BTL */
    }
    mca_btl_base_module_t *real = mca_bml_fsbml.rail[rail].btl;
    return real->btl_free(real, des);
}

int fsbml_btl_send_on(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path, mca_btl_base_descriptor_t *des,
                      mca_btl_base_tag_t tag)
{
    mca_btl_base_module_t *real = path->super.btl;
    mca_btl_base_completion_fn_t fn = des->des_cbfunc;
    size_t bytes = fsbml_des_bytes(des);

    /* From here on the PML's view of the descriptor: its completion may run before btl_send returns, and then the
     * descriptor is gone. */
    fsbml_hooks_unbind(ep, des);
    des->des_cbfunc = fsbml_completion_wrap(tag, fn);
    int rc = real->btl_send(real, path->super.btl_endpoint, des, tag);
    if (OPAL_LIKELY(rc >= 0 || OMPI_ERR_RESOURCE_BUSY == rc)) {
        fsbml_sched_charge(mca_bml_fsbml.sched, path->rail, fsbml_now_ns(), bytes);
    } else {
        des->des_cbfunc = fn;
    }
    return rc;
}

static int pseudo_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                       mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    (void) btl;
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    mca_bml_fsbml_path_t *path = fsbml_hooks_path(ep, des);
    if (OPAL_UNLIKELY(0 == (atomic_load_explicit(&ep->live, memory_order_acquire) & fsbml_bit(path->rail)))) {
        return fsbml_held_add(ep, des, path->rail, tag);
    }
    return fsbml_btl_send_on(ep, path, des, tag);
}

static void nothing_to_complete(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                                mca_btl_base_descriptor_t *des, int status)
{
    (void) btl;
    (void) endpoint;
    (void) des;
    (void) status;
}

/* An immediate send for a rail that has none: header and payload are copied, so the PML needs no request. */
static int send_copied(const mca_bml_fsbml_path_t *path, struct opal_convertor_t *convertor, const void *header,
                       size_t header_size, size_t payload_size, mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    mca_btl_base_module_t *real = path->super.btl;
    unsigned char *at = des->des_segments[0].seg_addr.pval;
    if (header_size > 0) {
        memcpy(at, header, header_size);
    }
    if (payload_size > 0) {
        struct iovec iov = {.iov_base = at + header_size, .iov_len = payload_size};
        uint32_t n = 1;
        size_t packed = payload_size;
        (void) opal_convertor_pack(convertor, &iov, &n, &packed);
    }
    des->des_segments[0].seg_len = header_size + payload_size;
    des->des_cbfunc = nothing_to_complete;
    des->des_cbdata = NULL;
    const uint32_t flags = des->des_flags;
    des->des_flags |= MCA_BTL_DES_FLAGS_BTL_OWNERSHIP;
    int rc = real->btl_send(real, path->super.btl_endpoint, des, tag);
    if (OPAL_UNLIKELY(rc < 0 && OMPI_ERR_RESOURCE_BUSY != rc)) {
        des->des_flags = flags;
    }
    return rc;
}

static int pseudo_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        struct opal_convertor_t *convertor, void *header, size_t header_size, size_t payload_size,
                        uint8_t order, uint32_t flags, mca_btl_base_tag_t tag, mca_btl_base_descriptor_t **descriptor)
{
    (void) btl;
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    const size_t bytes = header_size + payload_size;
    const uint64_t now = fsbml_now_ns();
    mca_bml_fsbml_path_t *path = choose_at(ep, candidates(ep), now, bytes);
    const bool live = 0 != (atomic_load_explicit(&ep->live, memory_order_acquire) & fsbml_bit(path->rail));
    mca_btl_base_module_t *real = path->super.btl;
    mca_btl_base_descriptor_t *des = NULL;
    int rc = OMPI_ERR_OUT_OF_RESOURCE;

    flags |= fsbml_des_tag(path->rail);
    if (NULL != real->btl_sendi && live) {
        rc = real->btl_sendi(real, path->super.btl_endpoint, convertor, header, header_size, payload_size, order, flags,
                             tag, NULL != descriptor ? &des : NULL);
    } else if (live || NULL != descriptor) {
        des = real->btl_alloc(real, path->super.btl_endpoint, order, bytes, flags);
        if (NULL != des && live) {
            rc = send_copied(path, convertor, header, header_size, payload_size, des, tag);
        }
    }
    if (OPAL_LIKELY(rc >= 0 || OMPI_ERR_RESOURCE_BUSY == rc)) {
        fsbml_sched_charge(mca_bml_fsbml.sched, path->rail, now, bytes);
        des = NULL; /* the BTL's by now */
        rc = OMPI_SUCCESS;
    }
    /* Not sent: the caller gets a descriptor of that rail, as from any BTL that could not send at once. */
    if (NULL != descriptor) {
        *descriptor = des;
        if (NULL != des) {
            fsbml_hooks_bind(des, path);
        }
    } else if (OPAL_UNLIKELY(NULL != des)) {
        real->btl_free(real, des);
    }
    return rc;
}

static void pseudo_dump(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, int verbose)
{
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    (void) btl;
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        mca_btl_base_module_t *real = ep->path[i].super.btl;
        opal_output(0, "fsbml: path over %s: %s, backlog %llu ns", mca_bml_fsbml.rail[ep->path[i].rail].name,
                    (ep->live & fsbml_bit(ep->path[i].rail))       ? "live"
                    : (ep->possible & fsbml_bit(ep->path[i].rail)) ? "not proved yet"
                                                                   : "dead",
                    (unsigned long long) fsbml_sched_backlog(mca_bml_fsbml.sched, ep->path[i].rail, fsbml_now_ns()));
        if (NULL != real->btl_dump) {
            real->btl_dump(real, ep->path[i].super.btl_endpoint, verbose);
        }
    }
}

static int pseudo_nothing(mca_btl_base_module_t *btl)
{
    (void) btl;
    return OMPI_SUCCESS;
}

/* What people see in Open MPI's own tables, e.g. the one of connection methods. */
static mca_btl_base_component_t pseudo_component = {
    .btl_version = {
        MCA_BTL_DEFAULT_VERSION("fsbml"),
    },
};

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

void fsbml_btl_construct(mca_bml_fsbml_group_t *group)
{
    mca_btl_base_module_t *p = &group->pseudo;
    /* A promise must hold on every rail, a demand counts if one rail makes it. */
    const uint32_t promises = MCA_BTL_FLAGS_SEND_INPLACE | MCA_BTL_FLAGS_SIGNALED | FSBML_BTL_FLAGS_COPY_ASYNC;
    const uint32_t demands = MCA_BTL_FLAGS_NEED_ACK | MCA_BTL_FLAGS_NEED_CSUM | FSBML_BTL_FLAGS_ANY;
    bool first = true;

    for (uint32_t i = 0; i < mca_bml_fsbml.n_rails; ++i) {
        const mca_btl_base_module_t *real = mca_bml_fsbml.rail[i].btl;
        if (0 == (group->rails & fsbml_bit(i))) {
            continue;
        }
        if (first) {
            *p = *real;
            p->btl_flags = (real->btl_flags & (promises | demands)) | MCA_BTL_FLAGS_SEND;
            first = false;
        } else {
            p->btl_eager_limit = lesser(p->btl_eager_limit, real->btl_eager_limit);
            p->btl_rndv_eager_limit = lesser(p->btl_rndv_eager_limit, real->btl_rndv_eager_limit);
            p->btl_max_send_size = lesser(p->btl_max_send_size, real->btl_max_send_size);
            p->btl_latency = p->btl_latency < real->btl_latency ? p->btl_latency : real->btl_latency;
            p->btl_bandwidth += real->btl_bandwidth;
            p->btl_flags &= ~(promises & ~real->btl_flags);
            p->btl_flags |= real->btl_flags & demands;
        }
    }
    /* A message of just the eager limit, mostly a power of two, is eager too: its handshake would cost the time in which
     * the next message could already be given to another rail. */
    p->btl_eager_limit = lesser(p->btl_eager_limit + FSBML_PML_HEADER, p->btl_max_send_size);
    group->max_send_size = p->btl_max_send_size;
    group->rndv_eager_limit = p->btl_rndv_eager_limit;

    p->btl_component = &pseudo_component;
    p->btl_atomic_flags = 0;
    p->btl_add_procs = NULL;
    p->btl_del_procs = NULL;
    p->btl_register = NULL;
    p->btl_register_error = NULL;
    p->btl_finalize = pseudo_nothing;
    p->btl_alloc = pseudo_alloc;
    p->btl_free = pseudo_free;
    p->btl_prepare_src = pseudo_prepare_src;
    p->btl_send = pseudo_send;
    p->btl_sendi = pseudo_sendi;
    p->btl_dump = pseudo_dump;
    p->btl_atomic_op = NULL;
    p->btl_atomic_fop = NULL;
    p->btl_atomic_cswap = NULL;
    p->btl_mpool = NULL;
    p->btl_flush = NULL;
    /* One-sided communication takes the BTL of least latency: that must be this one, not one of its rails. */
    p->btl_latency -= p->btl_latency > 0 ? 1 : 0;
    fsbml_rdma_construct(group);
}
