/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages, and the frames that carry them. A message is freed when its peer has acknowledged it, the PML was
 * told of its completion, and no BTL has a frame of it: in any order. */

#include <errno.h>

#include "failover/failover.h"

enum {
    ROW = 48, /* so far may threads overtake each other between a number and the BTL: the peer takes 64 */
    ROOM_NS = 50000, /* a BTL without room is asked again then */
};

/* With the lock, if the peer is still there. */
static void settle(fsbml_message_t *m)
{
    if (m->undelivered || m->open || 0 != m->frames) {
        return;
    }
    if (NULL != m->to_this) {
        *m->to_this = m->after;
        if (NULL != m->after) {
            m->after->to_this = m->to_this;
        }
    }
    fsbml_message_free(m);
}

/* ------------------------------------------------------------------ completion */

/* Tells the PML, once. With the lock, which it gives back meanwhile, as the PML may send from within: the
 * caller counts a frame, so that the message stays. */
static void told(fsbml_message_t *m)
{
    if (!m->open) {
        return;
    }
    fsbml_framed_t *p = m->to;
    mca_bml_fsbml_endpoint_t *ep = p->ep;
    mca_btl_base_descriptor_t *des = NULL != m->kept ? m->kept : &m->super;
    m->open = false;
    if (NULL != des->des_cbfunc) {
        opal_mutex_unlock(&p->lock);
        des->des_cbfunc(&ep->group->pseudo, (struct mca_btl_base_endpoint_t *) ep, des, OPAL_SUCCESS);
        opal_mutex_lock(&p->lock);
    }
}

static void framed_done(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                        mca_btl_base_descriptor_t *des, int status)
{
    fsbml_message_t *m = des->des_cbdata;
    fsbml_framed_t *p = m->to;
    (void) endpoint;
    if (NULL == p) {
        m->frames--;
        settle(m);
        return;
    }
    opal_mutex_lock(&p->lock);
    if (OPAL_SUCCESS == status) {
        told(m);
    } else {
        const mca_bml_fsbml_path_t *path = fsbml_path_over(p->ep, btl);
        if (NULL != path) {
            fsbml_framed_failed(p, path->rail);
        }
    }
    m->frames--;
    settle(m);
    opal_mutex_unlock(&p->lock);
}

void fsbml_message_delivered(fsbml_message_t *m)
{
    m->undelivered = false;
    m->frames++;
    told(m); /* where a BTL still has it, or has failed with it, the PML was not */
    m->frames--;
    settle(m);
}

/* ---------------------------------------------------------------------- frames */

static mca_btl_base_descriptor_t *frame_of(mca_bml_fsbml_path_t *path, fsbml_message_t *m,
                                           const fsbml_delivery_seal_t *seal)
{
    return fsbml_send_make(path, seal->header, seal->bytes, m->bytes, m->segment.seg_len,
                           MCA_BTL_DES_FLAGS_BTL_OWNERSHIP | MCA_BTL_DES_SEND_ALWAYS_CALLBACK
                               | (m->super.des_flags & MCA_BTL_DES_FLAGS_PRIORITY));
}

/* Threads send in another order than they number. With the lock. */
static uint32_t without_row(const fsbml_framed_t *p, uint32_t rails)
{
    for (uint32_t left = rails; 0 != left; left &= left - 1) {
        const uint32_t rail = (uint32_t) __builtin_ctz(left);
        rails &= 0 != p->way[rail].in_hand && p->way[rail].in_row >= ROW ? ~fsbml_bit(rail) : UINT32_MAX;
    }
    return rails;
}

static void take_in_hand(fsbml_framed_t *p, fsbml_message_t *m, uint32_t rail)
{
    m->frames++;
    p->way[rail].in_row = 0 == p->way[rail].in_hand++ ? 1 : p->way[rail].in_row + 1;
}

static void wait_at(fsbml_framed_t *p, fsbml_message_t *m, bool at_head)
{
    m->next = at_head ? p->first : NULL;
    if (NULL == p->first || at_head) {
        p->last = NULL == p->first ? m : p->last;
        p->first = m;
    } else {
        p->last->next = m;
        p->last = m;
    }
    fsbml_framed_due(p, fsbml_now_ns() + ROOM_NS);
}

/* The BTL has the frame, will never have it, or has no room: then the message waits. With the lock. */
static void put_down(fsbml_framed_t *p, fsbml_message_t *m, uint32_t rail, const fsbml_delivery_seal_t *seal,
                     int rc)
{
    if (0 == --p->way[rail].in_hand && p->way[rail].in_row >= ROW) { /* something may wait for that */
        fsbml_framed_due(p, fsbml_now_ns());
    }
    if (rc >= 0) {
        return;
    }
    if (!fsbml_refused_is_whole(rc)) { /* it keeps it, or has completed it */
        fsbml_framed_failed(p, rail);
        return;
    }
    m->frames--;
    if (0 == fsbml_delivery_refused(p->delivery, fsbml_now_ns(), seal)) {
        wait_at(p, m, true);
    } else { /* it will be offered again, or was sent again already, and has arrived */
        settle(m);
    }
    fsbml_framed_due(p, fsbml_now_ns() + ROOM_NS);
}

/* Where and when a message goes. */
typedef struct place_t {
    fsbml_delivery_seal_t seal;
    uint32_t rail;
    uint64_t now;
} place_t;

/* Gives a message that is in hand to its rail's BTL. False: it has no room. With the lock, which it gives
 * back meanwhile. */
static bool put(fsbml_framed_t *p, fsbml_message_t *m, const place_t *at)
{
    const uint32_t rail = at->rail;
    const fsbml_delivery_seal_t *seal = &at->seal;
    mca_bml_fsbml_path_t *path = fsbml_path(p->ep, rail);
    mca_btl_base_module_t *real = path->super.btl;
    const size_t bytes = m->segment.seg_len; /* the message may be gone when the BTL has it */
    const mca_btl_base_tag_t tag = m->record.tag;
    int rc = OMPI_ERR_OUT_OF_RESOURCE;
    if (OPAL_UNLIKELY(fsbml_renew_is_closed(p, rail))) {
        fsbml_framed_failed(p, rail);
        put_down(p, m, rail, seal, rc);
        return false;
    }
    opal_mutex_unlock(&p->lock);
    mca_btl_base_descriptor_t *des = frame_of(path, m, seal);
    if (NULL != des) {
        des->des_cbfunc = framed_done;
        des->des_cbdata = m;
        des->des_context = NULL;
        rc = real->btl_send(real, path->super.btl_endpoint, des, FSBML_TAG_FRAME);
        rc = OMPI_ERR_RESOURCE_BUSY == rc ? OMPI_SUCCESS : rc;
    }
    if (OPAL_LIKELY(rc >= 0)) {
        fsbml_note_urgent(tag, bytes, at->now);
        fsbml_charge(p->ep, path, at->now, seal->bytes + bytes, NULL != fsbml_observer);
    } else if (NULL != des && fsbml_refused_is_whole(rc)) {
        real->btl_free(real, des);
    }
    opal_mutex_lock(&p->lock);
    put_down(p, m, rail, seal, rc);
    return rc >= 0 || !fsbml_refused_is_whole(rc);
}

static uint32_t best_of(fsbml_framed_t *p, uint32_t rails, const fsbml_message_t *m, uint64_t now)
{
    if (FSBML_NO_RAIL != m->rail && 0 != (rails & fsbml_bit(m->rail))) {
        return m->rail;
    }
    return 0 == (rails & (rails - 1)) ? (uint32_t) __builtin_ctz(rails)
                                      : fsbml_choose(p->ep, now, m->segment.seg_len, rails);
}

/* A message for which nothing waits gets its number; 0: it is to be put. With the lock. */
static int seal_up(fsbml_framed_t *p, fsbml_message_t *m, place_t *at)
{
    const uint32_t rails = without_row(p, fsbml_framed_rails(p));
    if (0 == rails) {
        return -ENETDOWN;
    }
    at->now = fsbml_now_ns();
    at->rail = best_of(p, rails, m, at->now);
    m->record.bytes = (uint32_t) m->segment.seg_len;
    const int rc = fsbml_delivery_send(
        p->delivery, p->way[at->rail].number, at->now,
        fsbml_sched_predict(fsbml_rails.sched, at->rail, at->now, m->segment.seg_len), &m->record, &at->seal);
    if (0 == rc) {
        take_in_hand(p, m, at->rail);
        fsbml_framed_due(p, fsbml_delivery_due(p->delivery));
    }
    return rc;
}

/* It is failover's from now on. With the lock. */
static void take_over(fsbml_framed_t *p, fsbml_message_t *m)
{
    m->undelivered = true;
    m->to_this = &p->all;
    m->after = p->all;
    if (NULL != p->all) {
        p->all->to_this = &m->after;
    }
    p->all = m;
}

bool fsbml_message_send_now(fsbml_message_t *m)
{
    fsbml_framed_t *p = m->to;
    place_t at;
    opal_mutex_lock(&p->lock);
    const bool goes = NULL == p->first && 0 == seal_up(p, m, &at);
    if (goes) {
        take_over(p, m);
        (void) put(p, m, &at);
    }
    opal_mutex_unlock(&p->lock);
    return goes;
}

void fsbml_message_send(fsbml_message_t *m)
{
    fsbml_framed_t *p = m->to;
    if (fsbml_message_send_now(m)) {
        return;
    }
    opal_mutex_lock(&p->lock);
    take_over(p, m);
    wait_at(p, m, false);
    if (p->stranded) {
        fsbml_framed_due(p, fsbml_now_ns());
    }
    opal_mutex_unlock(&p->lock);
}

void fsbml_message_send_waiting(fsbml_framed_t *p)
{
    place_t at;
    bool goes = true;
    while (goes && NULL != p->first) {
        fsbml_message_t *m = p->first;
        p->first = m->next;
        p->last = NULL == p->first ? NULL : p->last;
        if (0 != seal_up(p, m, &at)) {
            wait_at(p, m, true);
            return;
        }
        goes = put(p, m, &at);
    }
}

void fsbml_message_send_again(fsbml_framed_t *p)
{
    fsbml_delivery_message_t *record;
    place_t at;
    bool goes = true;
    while (goes && NULL != (record = fsbml_delivery_waiting(p->delivery))) {
        const uint32_t rails = without_row(p, fsbml_framed_rails(p));
        fsbml_message_t *m = fsbml_message_of(record);
        if (0 == rails) {
            return;
        }
        at.now = fsbml_now_ns();
        at.rail = best_of(p, rails, m, at.now);
        if (0
            != fsbml_delivery_resend(
                p->delivery, p->way[at.rail].number, at.now,
                fsbml_sched_predict(fsbml_rails.sched, at.rail, at.now, m->segment.seg_len), &at.seal)) {
            fsbml_framed_due(p, at.now + ROOM_NS);
            return;
        }
        take_in_hand(p, m, at.rail);
        goes = put(p, m, &at);
    }
}

/* --------------------------------------------------------------- control frames */

static void control_done(mca_btl_base_module_t *btl, struct mca_btl_base_endpoint_t *endpoint,
                         mca_btl_base_descriptor_t *des, int status)
{
    (void) btl; /* what is not answered is asked again */
    (void) endpoint;
    (void) des;
    (void) status;
}

/* Its connection stands, or is to be made. */
static bool may_control(fsbml_framed_t *p, uint32_t rail)
{
    if (fsbml_renew_is_closed(p, rail)) {
        fsbml_framed_failed(p, rail);
    }
    const bool may = FSBML_CONNECTION_STANDS == p->way[rail].connection;
    p->way[rail].connects = p->way[rail].connects && !may;
    return may;
}

bool fsbml_message_control(fsbml_framed_t *p, uint32_t rail, const void *frame, size_t bytes)
{
    mca_bml_fsbml_path_t *path = fsbml_path(p->ep, rail);
    mca_btl_base_module_t *real = path->super.btl;
    if (!may_control(p, rail)) {
        return false;
    }
    /* Not written at once to a connection that may be broken: tcp would take that for sent. */
    const uint32_t priority = 0 != (p->ep->closed & fsbml_bit(rail)) ? 0 : MCA_BTL_DES_FLAGS_PRIORITY;
    opal_mutex_unlock(&p->lock);
    mca_btl_base_descriptor_t *des =
        real->btl_alloc(real, path->super.btl_endpoint, MCA_BTL_NO_ORDER, bytes,
                        priority | MCA_BTL_DES_FLAGS_BTL_OWNERSHIP | MCA_BTL_DES_SEND_ALWAYS_CALLBACK);
    int rc = OMPI_ERR_OUT_OF_RESOURCE;
    if (NULL != des) {
        memcpy(des->des_segments[0].seg_addr.pval, frame, bytes);
        des->des_segments[0].seg_len = bytes;
        des->des_cbfunc = control_done;
        des->des_context = NULL;
        rc = real->btl_send(real, path->super.btl_endpoint, des, FSBML_TAG_FRAME);
    }
    const bool is_refused = rc < 0 && OMPI_ERR_RESOURCE_BUSY != rc && fsbml_refused_is_whole(rc);
    if (NULL != des && is_refused) {
        real->btl_free(real, des);
    }
    opal_mutex_lock(&p->lock);
    return !is_refused;
}

void fsbml_message_forget(fsbml_framed_t *p)
{
    fsbml_message_t *next;
    for (fsbml_message_t *m = p->all; NULL != m; m = next) {
        next = m->after;
        m->undelivered = m->open = false;
        m->to = NULL;
        m->to_this = NULL;
        settle(m);
    }
    p->all = p->first = p->last = NULL;
}
