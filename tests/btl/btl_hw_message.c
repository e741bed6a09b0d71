/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors and sends: frames in a ring of the peer's shared memory. */
#include "btl_hw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/datatype/opal_convertor.h"

mca_btl_base_descriptor_t *hw_alloc(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                                    uint8_t order, size_t size, uint32_t flags)
{
    module_t *m = (module_t *) btl;
    if (size > btl->btl_max_send_size) {
        return NULL;
    }
    pthread_mutex_lock(&m->lock);
    const bool has = !refuses(m) && (param.descriptors <= 0 || m->descriptors < (unsigned) param.descriptors);
    m->descriptors += has;
    pthread_mutex_unlock(&m->lock);
    descriptor_t *des = has ? calloc(1, sizeof(*des) + size) : NULL;
    if (NULL == des) {
        return NULL;
    }
    OBJ_CONSTRUCT(&des->super, mca_btl_base_descriptor_t);
    des->segment.seg_addr.pval = des->data;
    des->segment.seg_len = size;
    des->endpoint = endpoint;
    des->super.des_segments = &des->segment;
    des->super.des_segment_count = 1;
    des->super.des_flags = flags;
    des->super.order = order;
    return &des->super;
}

int hw_free(mca_btl_base_module_t *btl, mca_btl_base_descriptor_t *super)
{
    module_t *m = (module_t *) btl;
    descriptor_t *des = (descriptor_t *) super;
    if (des->endpoint->module != m) {
        wrong("a descriptor of another module is given back");
    }
    des->endpoint = NULL;
    OBJ_DESTRUCT(super);
    free(des);
    pthread_mutex_lock(&m->lock);
    m->descriptors--;
    pthread_mutex_unlock(&m->lock);
    return OPAL_SUCCESS;
}

mca_btl_base_descriptor_t *hw_prepare_src(mca_btl_base_module_t *btl,
                                          struct mca_btl_base_endpoint_t *endpoint,
                                          struct opal_convertor_t *convertor, uint8_t order, size_t reserve,
                                          size_t *size, uint32_t flags)
{
    if (reserve + *size > btl->btl_max_send_size) {
        *size = btl->btl_max_send_size - reserve;
    }
    mca_btl_base_descriptor_t *des = hw_alloc(btl, endpoint, order, reserve + *size, flags);
    if (NULL == des) {
        return NULL;
    }
    struct iovec iov = {.iov_base = (char *) des->des_segments[0].seg_addr.pval + reserve, .iov_len = *size};
    uint32_t n = 1;
    if (opal_convertor_pack(convertor, &iov, &n, size) < 0) {
        hw_free(btl, des);
        return NULL;
    }
    des->des_segments[0].seg_len = reserve + *size;
    return des;
}

/* Room for a frame, NULL: the ring is full. The caller has the module's lock, and is the ring's one writer.
 */
static frame_t *place(ring_t *r, size_t bytes, uint64_t *next)
{
    const uint64_t need = (sizeof(frame_t) + bytes + 15) & ~UINT64_C(15),
                   at = atomic_load(&r->written) % RING;
    const uint64_t skip = at + need > RING ? RING - at : 0;
    if (atomic_load(&r->written) + skip + need - atomic_load(&r->read) > RING) {
        return NULL;
    }
    if (skip >= sizeof(frame_t)) {
        ((frame_t *) (r->bytes + at))->bytes = SKIP;
    }
    *next = atomic_load(&r->written) + skip + need;
    return (frame_t *) (r->bytes + (at + skip) % RING);
}

/* A module keeps its order: what a peer gets by it is behind earlier puts, whenever either looks. Another
 * module's messages overtake them. The caller has the module's lock. */
static void land_before(const module_t *m, const struct mca_btl_base_endpoint_t *endpoint)
{
    for (event_t *e = m->first; NULL != e; e = e->next) {
        if (PUT == e->kind && endpoint == e->endpoint) {
            hw_land(e);
        }
    }
}

/* "1:within:200": module 1 dies before, within or after its message number 200. */
static const char *death(const module_t *m)
{
    unsigned index, after;
    static _Thread_local char when[16];
    if (NULL == param.dies || 3 != sscanf(param.dies, "%u:%15[^:]:%u", &index, when, &after)
        || index != m->index || m->sent < after) {
        return NULL;
    }
    return when;
}

int hw_send(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
            mca_btl_base_descriptor_t *super, mca_btl_base_tag_t tag)
{
    module_t *m = (module_t *) btl;
    descriptor_t *des = (descriptor_t *) super;
    size_t bytes = 0;
    uint64_t next;
    if (des->endpoint != endpoint) {
        wrong("a descriptor is sent to another peer, or by another module, than it was made for");
    }
    for (size_t i = 0; i < super->des_segment_count; ++i) {
        bytes += super->des_segments[i].seg_len;
    }
    event_t *e = calloc(1, sizeof(*e));
    pthread_mutex_lock(&m->lock);
    const char *dies = death(m);
    const bool lost = NULL != dies && (m->dead || 0 != strcmp(dies, "after"));
    if (m->dead || (NULL != dies && 0 == strcmp(dies, "before"))) {
        hw_fail(m, false);
        pthread_mutex_unlock(&m->lock);
        free(e);
        return OPAL_ERR_UNREACH;
    }
    frame_t *f = lost ? NULL : place(&endpoint->peer->ring[m->index][my_rank], bytes, &next);
    if (NULL == e || refuses(m) || (NULL == f && !lost)) {
        pthread_mutex_unlock(&m->lock);
        free(e);
        return OPAL_ERR_OUT_OF_RESOURCE;
    }
    *e = (event_t){.kind = SEND, .done_ns = occupy(m, bytes), .des = des, .endpoint = endpoint};
    e->status = NULL != dies ? OPAL_ERR_UNREACH : OPAL_SUCCESS;
    e->lands_ns = e->done_ns;
    if (NULL != dies) {
        hw_fail(m, !lost);
    }
    m->sent++;
    if (NULL != f) {
        land_before(m, endpoint);
        size_t at = 0;
        for (size_t i = 0; i < super->des_segment_count; ++i) {
            memcpy(f->data + at, super->des_segments[i].seg_addr.pval, super->des_segments[i].seg_len);
            at += super->des_segments[i].seg_len;
        }
        f->bytes = (uint32_t) bytes;
        f->tag = tag;
        f->due_ns = e->done_ns + m->latency_ns;
        atomic_store(&endpoint->peer->ring[m->index][my_rank].written, next);
    }
    super->des_flags |= MCA_BTL_DES_SEND_ALWAYS_CALLBACK;
    append(m, e);
    pthread_mutex_unlock(&m->lock);
    return OPAL_SUCCESS;
}

static void deliver(module_t *m, uint32_t rank, frame_t *f)
{
    mca_btl_base_segment_t segment = {.seg_addr.pval = f->data, .seg_len = f->bytes};
    mca_btl_active_message_callback_t *cb = &mca_btl_base_active_message_trigger[f->tag];
#if OMPI_MAJOR_VERSION >= 5
    const mca_btl_base_receive_descriptor_t des = {.endpoint = m->to[rank],
                                                   .des_segments = &segment,
                                                   .des_segment_count = 1,
                                                   .tag = (mca_btl_base_tag_t) f->tag,
                                                   .cbdata = cb->cbdata};
    cb->cbfunc(&m->super, &des);
#else
    mca_btl_base_descriptor_t des = {.des_segments = &segment, .des_segment_count = 1};
    (void) rank;
    cb->cbfunc(&m->super, (mca_btl_base_tag_t) f->tag, &des, cb->cbdata);
#endif
}

int hw_receive(module_t *m, uint64_t now)
{
    int n = 0;
    for (uint32_t rank = 0; rank < RANKS; ++rank) {
        ring_t *r = &own->ring[m->index][rank];
        uint64_t read = atomic_load(&r->read);
        while (read < atomic_load(&r->written)) {
            const uint64_t at = read % RING;
            frame_t *f = (frame_t *) (r->bytes + at);
            if (RING - at < sizeof(frame_t) || SKIP == f->bytes) {
                read += RING - at;
                atomic_store(&r->read, read);
                continue;
            }
            if (f->due_ns > now) {
                break;
            }
            (void) atomic_load(&registered);
            deliver(m, rank, f);
            read += (sizeof(frame_t) + f->bytes + 15) & ~UINT64_C(15);
            atomic_store(&r->read, read);
            ++n;
        }
    }
    return n;
}
