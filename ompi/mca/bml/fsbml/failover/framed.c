/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The pseudo BTL's functions where messages are framed, and frames that come in. For a peer whose messages
 * are not framed each is the one that the pseudo BTL has otherwise. */

#include "failover/failover.h"

/* All groups' pseudo BTLs have the same. */
static mca_btl_base_module_t plain;

static fsbml_framed_t *framed(struct mca_btl_base_endpoint_t *endpoint)
{
    return fsbml_framed_of((mca_bml_fsbml_endpoint_t *) endpoint);
}

static mca_btl_base_descriptor_t *framed_alloc(mca_btl_base_module_t *btl,
                                               struct mca_btl_base_endpoint_t *endpoint, uint8_t order,
                                               size_t size, uint32_t flags)
{
    fsbml_framed_t *p = framed(endpoint);
    if (NULL == p) {
        return plain.btl_alloc(btl, endpoint, order, size, flags);
    }
    fsbml_message_t *m = fsbml_message_make(p, size, flags);
    return NULL != m ? &m->super : NULL;
}

/* The rail that bulk takes, or -1: it is to wait. */
static int rail_for_bulk(fsbml_framed_t *p, struct opal_convertor_t *convertor, size_t reserve, size_t *size,
                         uint32_t flags)
{
    const bool may_cut = 0 == (flags & MCA_BTL_DES_FLAGS_PRIORITY);
    const uint32_t rails = fsbml_failover_rails(p->ep);
    if (0 == rails) {
        return FSBML_NO_RAIL;
    }
    const mca_bml_fsbml_path_t *path =
        fsbml_choose_path(p->ep, rails, fsbml_now_ns(), reserve + *size, may_cut ? convertor->local_size : 0);
    return fsbml_flow_rail(p->ep, path->rail, rails, size, may_cut, convertor,
                           convertor->local_size - convertor->bConverted);
}

static mca_btl_base_descriptor_t *framed_prepare_src(mca_btl_base_module_t *btl,
                                                     struct mca_btl_base_endpoint_t *endpoint,
                                                     struct opal_convertor_t *convertor, uint8_t order,
                                                     size_t reserve, size_t *size, uint32_t flags)
{
    fsbml_framed_t *p = framed(endpoint);
    if (NULL == p) {
        return plain.btl_prepare_src(btl, endpoint, convertor, order, reserve, size, flags);
    }
    const size_t most = p->ep->group->max_send_size;
    int rail = FSBML_NO_RAIL;
    *size = reserve + *size > most ? most - reserve : *size;
    if (*size > FSBML_FLOW_BULK && NULL != convertor) {
        rail = rail_for_bulk(p, convertor, reserve, size, flags);
        if (rail < 0) {
            return NULL;
        }
    } else {
        fsbml_flow_begins(*size);
    }
    fsbml_message_t *m = fsbml_message_make(p, reserve + *size, flags);
    if (NULL == m) {
        return NULL;
    }
    m->rail = (uint8_t) rail;
    if (NULL != convertor) {
        struct iovec iov = {.iov_base = m->bytes + reserve, .iov_len = *size};
        uint32_t n = 1;
        (void) opal_convertor_pack(convertor, &iov, &n, size);
        m->segment.seg_len = reserve + *size;
    }
    return &m->super;
}

static int framed_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *des)
{
    if (!fsbml_des_is_framed(des)) {
        return plain.btl_free(btl, des);
    }
    fsbml_message_free((fsbml_message_t *) des);
    return OMPI_SUCCESS;
}

uint32_t fsbml_failover_rails(mca_bml_fsbml_endpoint_t *ep)
{
    fsbml_framed_t *p = fsbml_framed_of(ep);
    uint32_t rails = 0;
    if (NULL != p) {
        opal_mutex_lock(&p->lock);
        rails = fsbml_framed_rails(p);
        opal_mutex_unlock(&p->lock);
    }
    return rails;
}

mca_btl_base_descriptor_t *fsbml_failover_make(mca_bml_fsbml_endpoint_t *ep, uint32_t rail,
                                               const void *header, size_t n_header, const void *bytes,
                                               size_t n_bytes, uint32_t flags)
{
    fsbml_message_t *m = fsbml_message_make(fsbml_framed_of(ep), n_header + n_bytes, flags);
    if (NULL == m) {
        return NULL;
    }
    m->rail = (uint8_t) rail;
    memcpy(m->bytes, header, n_header);
    memcpy(m->bytes + n_header, bytes, n_bytes);
    return &m->super;
}

/* The sender of an active message keeps its descriptor, and sends it again with other bytes. */
static fsbml_message_t *stand_in(fsbml_message_t *of)
{
    fsbml_message_t *m = fsbml_message_make(of->to, of->segment.seg_len, of->super.des_flags);
    if (NULL != m) {
        memcpy(m->bytes, of->bytes, of->segment.seg_len);
        m->kept = &of->super;
    }
    return m;
}

static int framed_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                       mca_btl_base_descriptor_t *des, mca_btl_base_tag_t tag)
{
    if (!fsbml_des_is_framed(des)) {
        return plain.btl_send(btl, endpoint, des, tag);
    }
    mca_bml_fsbml_endpoint_t *ep = (mca_bml_fsbml_endpoint_t *) endpoint;
    fsbml_message_t *m = (fsbml_message_t *) des;
    if (!fsbml_onesided_is_tag(tag)) { /* whose context is its own */
        des->des_context = ep->bml_btl;
    }
    const int rc = fsbml_btl_cut(ep, &ep->group->pseudo, des, tag);
    if (FSBML_NOT_CUT != rc) {
        return rc;
    }
    if (0 == (des->des_flags & MCA_BTL_DES_FLAGS_BTL_OWNERSHIP)) {
        m = stand_in(m);
        if (NULL == m) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
    }
    m->record.tag = tag;
    m->open = true;
    fsbml_message_send(m);
    return OMPI_SUCCESS;
}

/* What an immediate send has taken is complete for the PML, so it must go at once, or be refused. */
static int framed_sendi(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        struct opal_convertor_t *convertor, void *header, size_t header_size,
                        size_t payload_size, uint8_t order, uint32_t flags, mca_btl_base_tag_t tag,
                        mca_btl_base_descriptor_t **descriptor)
{
    fsbml_framed_t *p = framed(endpoint);
    if (NULL == p) {
        return plain.btl_sendi(btl, endpoint, convertor, header, header_size, payload_size, order, flags, tag,
                               descriptor);
    }
    fsbml_message_t *m = fsbml_message_make(p, header_size + payload_size, flags);
    int rc = OMPI_ERR_OUT_OF_RESOURCE;
    if (NULL != m) {
        size_t start = 0;
        memcpy(m->bytes, header, header_size);
        if (payload_size > 0) {
            struct iovec iov = {.iov_base = m->bytes + header_size, .iov_len = payload_size};
            uint32_t n = 1;
            (void) opal_convertor_pack(convertor, &iov, &n, &payload_size);
        }
        m->record.tag = tag;
        if (fsbml_message_send_now(m)) {
            m = NULL;
            rc = OMPI_SUCCESS;
        } else if (payload_size > 0) {
            (void) opal_convertor_set_position(convertor, &start); /* the PML packs it again */
        }
    }
    if (NULL != descriptor) {
        *descriptor = (mca_btl_base_descriptor_t *) m;
    } else if (NULL != m) {
        fsbml_message_free(m);
    }
    return rc;
}

void fsbml_framed_construct(mca_bml_fsbml_group_t *group)
{
    mca_btl_base_module_t *pseudo = &group->pseudo;
    fsbml_btl_observe(group); /* which are not replaced any more when a tool begins */
    plain = *pseudo;
    pseudo->btl_alloc = framed_alloc;
    pseudo->btl_prepare_src = framed_prepare_src;
    pseudo->btl_free = framed_free;
    pseudo->btl_send = framed_send;
    pseudo->btl_sendi = framed_sendi;
}

/* ------------------------------------------------------------------- coming in */

/* Peers by their handles. None has a handle that another one had: what comes late finds none. */
enum { MOST_HANDLES = 65536, IN_ROW = 256 };
typedef _Atomic(fsbml_framed_t *) row_t[IN_ROW];
static _Atomic(row_t *) from[MOST_HANDLES / IN_ROW];
static _Atomic uint32_t n_handles;

int fsbml_framed_handle(void)
{
    const uint32_t handle = atomic_fetch_add(&n_handles, 1);
    if (handle >= MOST_HANDLES) {
        atomic_store(&n_handles, MOST_HANDLES);
        return -1;
    }
    row_t *none = NULL, *row = atomic_load(&from[handle / IN_ROW]);
    if (NULL == row && NULL != (row = calloc(1, sizeof(*row)))
        && !atomic_compare_exchange_strong(&from[handle / IN_ROW], &none, row)) {
        free(row); /* another thread was first */
        row = none;
    }
    return NULL != row ? (int) handle : -1;
}

void fsbml_framed_from(uint16_t handle, fsbml_framed_t *p)
{
    atomic_store_explicit(&(*from[handle / IN_ROW])[handle % IN_ROW], p, memory_order_release);
}

static fsbml_framed_t *peer_of(int handle)
{
    row_t *row = handle >= 0 ? atomic_load_explicit(&from[handle / IN_ROW], memory_order_acquire) : NULL;
    return NULL != row ? atomic_load_explicit(&(*row)[handle % IN_ROW], memory_order_acquire) : NULL;
}

void fsbml_framed_reset(void)
{
    for (size_t i = 0; i < MOST_HANDLES / IN_ROW; ++i) {
        free(atomic_exchange(&from[i], NULL));
    }
    atomic_store(&n_handles, 0);
}

static void recv_frame(FSBML_RECV_PARAMS(btl, des))
{
    const mca_btl_base_segment_t *segment = des->des_segments;
    const int handle =
        1 == des->des_segment_count ? fsbml_delivery_handle_of(segment->seg_addr.pval, segment->seg_len) : -1;
    fsbml_framed_t *p = peer_of(handle);
    const mca_bml_fsbml_path_t *path = NULL != p ? fsbml_path_over(p->ep, btl) : NULL;
    if (NULL == path || 0 == (p->numbered & fsbml_bit(path->rail))) {
        FSBML_VERBOSE(FSBML_V_PEER, "a frame of a peer that is not known here is dropped");
        return;
    }
    fsbml_delivery_arrival_t arrival;
    opal_mutex_lock(&p->lock);
    if (fsbml_renew_awaits(p, path->rail)) {
        fsbml_renew_came(p, path->rail);
    }
    const uint64_t now = fsbml_now_ns();
    const int rc = fsbml_delivery_arrived(p->delivery, p->way[path->rail].number, now, segment->seg_addr.pval,
                                          segment->seg_len, &arrival);
    /* Memory is given back when no message waits for its receiver. */
    const bool acts = arrival.work || (arrival.released && (1 != rc || NULL != p->first));
    fsbml_framed_due(p, arrival.released ? now : fsbml_delivery_due(p->delivery));
    opal_mutex_unlock(&p->lock);
    if (1 == rc && FSBML_TAG_FRAME != arrival.tag) {
        fsbml_recv_deliver(btl, des, arrival.tag, (char *) segment->seg_addr.pval + arrival.header,
                           segment->seg_len - arrival.header);
    }
    if (acts) {
        fsbml_framed_act(p);
    }
}

int fsbml_framed_receive(void)
{
    return fsbml_rails_receive(FSBML_TAG_FRAME, recv_frame, NULL);
}
