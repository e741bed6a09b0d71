/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The pseudo BTL: what the PML sees in place of the rails. It picks a rail when a descriptor is made (a
 * descriptor works only with the BTL that made it) and charges it when the descriptor is sent. What a rail
 * refuses goes to the next best; the PML, which would queue it, meets a refusal only if no rail takes it. */

#include "send/send.h"

static inline bool is_choice(uint32_t rails)
{
    return 0 != (rails & (rails - 1));
}

/* Cost of a choice on a peer's single path is one comparison: the clock is read only where there is a
 * choice. */
static inline mca_bml_fsbml_path_t *choose(mca_bml_fsbml_endpoint_t *ep, size_t bytes, size_t whole)
{
    const uint32_t rails = fsbml_candidates(ep);
    return fsbml_choose_path(ep, rails, is_choice(rails) ? fsbml_now_ns() : 0, bytes, whole);
}

static mca_btl_base_descriptor_t *pseudo_alloc(mca_btl_base_module_t *btl,
                                               struct mca_btl_base_endpoint_t *endpoint, uint8_t order,
                                               size_t size, uint32_t flags)
{
    (void) btl;
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    mca_bml_fsbml_path_t *path = choose(ep, size, 0);
    mca_btl_base_module_t *real = path->super.btl;
    mca_btl_base_descriptor_t *des =
        real->btl_alloc(real, path->super.btl_endpoint, order, size, flags | fsbml_des_tag(path->module));
    if (OPAL_LIKELY(NULL != des)) {
        fsbml_hooks_bind(des, path);
        return des;
    }
    return fsbml_refused_alloc(ep, path->rail, order, size, flags);
}

static mca_btl_base_descriptor_t *pseudo_prepare_src(mca_btl_base_module_t *btl,
                                                     struct mca_btl_base_endpoint_t *endpoint,
                                                     struct opal_convertor_t *convertor, uint8_t order,
                                                     size_t reserve, size_t *size, uint32_t flags)
{
    (void) btl;
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    const size_t wanted = *size, packed = NULL != convertor ? convertor->bConverted : 0;
    /* A fragment may be any part of its message, what has priority is all of one, or its first part. */
    const bool is_part = NULL != convertor && 0 == (flags & MCA_BTL_DES_FLAGS_PRIORITY);
    mca_bml_fsbml_path_t *path = choose(ep, reserve + wanted, is_part ? convertor->local_size : 0);
    if (wanted > FSBML_FLOW_BULK && NULL != convertor) { /* the PML's, which keeps what it is refused */
        const int rail = fsbml_flow_rail(ep, path->rail, fsbml_candidates(ep), size, is_part, convertor,
                                         convertor->local_size - packed);
        if (rail < 0) {
            return NULL;
        }
        path = fsbml_path(ep, (uint32_t) rail);
    } else {
        fsbml_flow_begins(wanted);
    }
    mca_btl_base_module_t *real = path->super.btl;
    mca_btl_base_descriptor_t *des = real->btl_prepare_src(
        real, path->super.btl_endpoint, convertor, order, reserve, size, flags | fsbml_des_tag(path->module));
    if (OPAL_LIKELY(NULL != des)) {
        fsbml_hooks_bind(des, path);
        return des;
    }
    *size = wanted; /* a BTL that refuses may have shortened it already */
    return fsbml_refused_prepare(ep, path->rail, convertor, packed, order, reserve, size, flags);
}

static int pseudo_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *des)
{
    (void) btl;
    int rail = fsbml_des_rail(des);
    if (OPAL_UNLIKELY(fsbml_des_is_own(des))) {
        return fsbml_held_free(NULL, des);
    }
    if (OPAL_UNLIKELY(rail < 0 || rail >= (int) fsbml_rails.n_rails)) {
        return OMPI_ERR_BAD_PARAM; /* not one of ours: better lost than given to the wrong BTL */
    }
    mca_btl_base_module_t *real = fsbml_rails.rail[rail].btl;
    return real->btl_free(real, des);
}

static struct {
    size_t from;
    fsbml_cut_fn_t fn;
} cut = {.from = SIZE_MAX};

void fsbml_btl_cut_by(size_t from, fsbml_cut_fn_t fn)
{
    cut.fn = fn;
    cut.from = from;
}

int fsbml_btl_cut(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_module_t *owner, mca_btl_base_descriptor_t *des,
                  mca_btl_base_tag_t tag)
{
    return fsbml_des_bytes(des) >= cut.from ? cut.fn(ep, owner, des, tag) : FSBML_NOT_CUT;
}

static inline __attribute__((always_inline)) int send_by_path(struct mca_btl_base_endpoint_t *endpoint,
                                                              mca_btl_base_descriptor_t *des,
                                                              mca_btl_base_tag_t tag, bool observed)
{
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    if (OPAL_UNLIKELY(fsbml_des_is_own(des))) {
        return fsbml_held_add(ep, des, ep->path[0].rail, tag, false);
    }
    mca_bml_fsbml_path_t *path = fsbml_hooks_path(ep, des);
    if (OPAL_UNLIKELY(0 == (atomic_load_explicit(&ep->live, memory_order_acquire) & fsbml_bit(path->rail)))) {
        return fsbml_held_add(ep, des, path->rail, tag, false);
    }
    if (OPAL_UNLIKELY(fsbml_des_bytes(des) >= cut.from)) {
        const int rc = cut.fn(ep, path->super.btl, des, tag);
        if (FSBML_NOT_CUT != rc) {
            return rc;
        }
    }
    const int rc = fsbml_send_on(ep, path, des, tag, observed);
    return OPAL_LIKELY(rc >= 0) ? rc : fsbml_refused_send(ep, path, des, tag);
}

static int pseudo_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                       mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    (void) btl;
    return send_by_path(endpoint, des, tag, false);
}

static int observed_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                         mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    (void) btl;
    return send_by_path(endpoint, des, tag, true);
}

/* The PML believes it sent: there is nothing to complete, but an error must not stay unknown. */
static void copy_done(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                      mca_btl_base_descriptor_t *des, int status)
{
    (void) endpoint;
    if (OPAL_UNLIKELY(OPAL_SUCCESS != status) && !fsbml_closing_has_begun()) { /* then peers close theirs */
        fsbml_lost(des->des_cbdata, btl, status);
    }
}

/* An immediate send for a rail that has none: header and payload are copied, so the PML needs no request.
 * What the BTL may have in its queue, in spite of an error, counts as sent, and is told as lost. */
static int send_copied(mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path,
                       struct opal_convertor_t *convertor, const void *header, size_t header_size,
                       size_t payload_size, mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
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
    des->des_cbfunc = copy_done;
    des->des_cbdata = ep;
    const uint32_t flags = des->des_flags;
    des->des_flags |= MCA_BTL_DES_FLAGS_BTL_OWNERSHIP;
    int rc = real->btl_send(real, path->super.btl_endpoint, des, tag);
    if (OPAL_LIKELY(rc >= 0 || OMPI_ERR_RESOURCE_BUSY == rc)) {
        return OMPI_SUCCESS;
    }
    if (OPAL_UNLIKELY(!fsbml_refused_is_whole(rc))) {
        fsbml_lost(ep, real, rc);
        return OMPI_SUCCESS;
    }
    des->des_flags = flags;
    return rc;
}

/* An immediate send by one rail. OMPI_SUCCESS: sent. Else *des is a descriptor of that rail, or NULL; a BTL's
 * own sendi makes one only if `wanted`. RESOURCE_BUSY from a sendi is a refusal, not from a send (btl.h). */
static inline int sendi_on(mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path, bool live,
                           struct opal_convertor_t *convertor, void *header, size_t header_size,
                           size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                           bool wanted, mca_btl_base_descriptor_t **des)
{
    mca_btl_base_module_t *real = path->super.btl;
    int rc = OMPI_ERR_OUT_OF_RESOURCE;
    *des = NULL;
    flags |= fsbml_des_tag(path->module);
    if (NULL != real->btl_sendi && live) {
        return real->btl_sendi(real, path->super.btl_endpoint, convertor, header, header_size, payload_size,
                               order, flags, tag, wanted ? des : NULL);
    }
    if (live || wanted) {
        *des = real->btl_alloc(real, path->super.btl_endpoint, order, header_size + payload_size, flags);
        if (NULL != *des && live) {
            rc = send_copied(ep, path, convertor, header, header_size, payload_size, *des, tag);
        }
    }
    return rc;
}

static inline bool is_live(mca_bml_fsbml_endpoint_t *ep, const mca_bml_fsbml_path_t *path)
{
    return 0 != (atomic_load_explicit(&ep->live, memory_order_acquire) & fsbml_bit(path->rail));
}

/* The chosen rail did not send it: the others are asked, the next best first. If none sends it, the PML gets
 * the first descriptor that there was, as from any BTL that could not send at once. */
static __attribute__((noinline)) int sendi_elsewhere(mca_bml_fsbml_endpoint_t *ep, mca_bml_fsbml_path_t *path,
                                                     struct opal_convertor_t *convertor, void *header,
                                                     size_t header_size, size_t payload_size, uint8_t order,
                                                     uint32_t flags, mca_btl_base_tag_t tag,
                                                     mca_btl_base_descriptor_t **descriptor,
                                                     mca_btl_base_descriptor_t *des, int rc)
{
    const size_t bytes = header_size + payload_size;
    mca_bml_fsbml_path_t *owner = path; /* of `kept` */
    mca_btl_base_descriptor_t *kept = NULL;
    for (uint32_t rails = fsbml_candidates(ep);;) {
        size_t start = 0;
        if (payload_size > 0) {
            (void) opal_convertor_set_position(convertor,
                                               &start); /* what refused may have packed some of it */
        }
        if (NULL == kept && NULL != descriptor) {
            kept = des;
            owner = path;
        } else if (NULL != des) {
            path->super.btl->btl_free(path->super.btl, des);
        }
        rails &= ~fsbml_bit(path->rail);
        if (0 == rails || (!is_live(ep, path) && NULL != kept)) {
            break;
        }
        const uint64_t now = fsbml_now_ns();
        path = fsbml_choose_path(ep, rails, now, bytes, 0);
        rc = sendi_on(ep, path, is_live(ep, path), convertor, header, header_size, payload_size, order, flags,
                      tag, NULL != descriptor && NULL == kept, &des);
        if (OMPI_SUCCESS == rc) {
            fsbml_charge(ep, path, now, bytes, NULL != fsbml_observer);
            if (NULL != kept) {
                owner->super.btl->btl_free(owner->super.btl, kept);
                kept = NULL;
            }
            break;
        }
    }
    if (NULL != descriptor) {
        *descriptor = kept;
        if (NULL != kept) {
            fsbml_hooks_bind(kept, owner);
        } else if (OMPI_SUCCESS != rc) {
            *descriptor = fsbml_held_make(bytes, flags, false);
        }
    }
    return rc;
}

static inline int sendi_by_best(struct mca_btl_base_endpoint_t *endpoint, struct opal_convertor_t *convertor,
                                void *header, size_t header_size, size_t payload_size, uint8_t order,
                                uint32_t flags, mca_btl_base_tag_t tag,
                                mca_btl_base_descriptor_t **descriptor, bool observed)
{
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    const size_t bytes = header_size + payload_size;
    const uint64_t now = fsbml_now_ns();
    mca_bml_fsbml_path_t *path = fsbml_choose_path(ep, fsbml_candidates(ep), now, bytes, 0);
    mca_btl_base_descriptor_t *des;
    int rc = sendi_on(ep, path, is_live(ep, path), convertor, header, header_size, payload_size, order, flags,
                      tag, NULL != descriptor, &des);
    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        return sendi_elsewhere(ep, path, convertor, header, header_size, payload_size, order, flags, tag,
                               descriptor, des, rc);
    }
    fsbml_note_urgent(tag, bytes, now);
    fsbml_charge(ep, path, now, bytes, observed);
    if (NULL != descriptor) {
        *descriptor = NULL; /* the BTL's by now */
    }
    return rc;
}

static int pseudo_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        struct opal_convertor_t *convertor, void *header, size_t header_size,
                        size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                        mca_btl_base_descriptor_t **descriptor)
{
    (void) btl;
    return sendi_by_best(endpoint, convertor, header, header_size, payload_size, order, flags, tag,
                         descriptor, false);
}

static int observed_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                          struct opal_convertor_t *convertor, void *header, size_t header_size,
                          size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                          mca_btl_base_descriptor_t **descriptor)
{
    (void) btl;
    return sendi_by_best(endpoint, convertor, header, header_size, payload_size, order, flags, tag,
                         descriptor, true);
}

void fsbml_btl_observe(mca_bml_fsbml_group_t *group)
{
    /* where messages are framed, the functions are failover's, which look by themselves */
    if (pseudo_send != __atomic_load_n(&group->pseudo.btl_send, __ATOMIC_RELAXED)) {
        return;
    }
    /* others may send at this moment: each of the two does as well */
    __atomic_store_n(&group->pseudo.btl_send, observed_send, __ATOMIC_RELEASE);
    __atomic_store_n(&group->pseudo.btl_sendi, observed_sendi, __ATOMIC_RELEASE);
}

static void pseudo_dump(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint, int verbose)
{
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    (void) btl;
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        mca_btl_base_module_t *real = ep->path[i].super.btl;
        opal_output(
            0, "fsbml: path over %s: %s, backlog %llu ns", fsbml_rails.rail[ep->path[i].rail].name,
            (ep->live & fsbml_bit(ep->path[i].rail))       ? "live"
            : (ep->possible & fsbml_bit(ep->path[i].rail)) ? "not proved yet"
                                                           : "dead",
            (unsigned long long) fsbml_sched_backlog(fsbml_rails.sched, ep->path[i].rail, fsbml_now_ns()));
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

/* What users see in Open MPI's own tables, e.g. the one of connection methods. */
static mca_btl_base_component_t pseudo_component = {
    .btl_version =
        {
            MCA_BTL_DEFAULT_VERSION("fsbml"),
        },
};

void fsbml_btl_construct(mca_bml_fsbml_group_t *group)
{
    mca_btl_base_module_t *p = &group->pseudo;

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
}
