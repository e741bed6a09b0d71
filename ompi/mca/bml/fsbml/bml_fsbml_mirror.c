/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Probes, as the process answers them that does not lead (bml_fsbml_prtt.c has the list of what each side
 * sends).
 *
 * A single message is answered from within its handler, which costs least time. What takes long is only noted
 * there, and done by fsbml_mirror_serve(). What is asked for is bounded: no leader waits longer than
 * that. */

#include <inttypes.h>

#include "bml_fsbml_hooks.h"
#include "opal/runtime/opal_progress.h"

/* Messages that are owed. */
typedef struct debt_t {
    const mca_bml_fsbml_path_t *path;
    fsbml_packet_t packet;
    size_t bytes;
    uint32_t messages; /* 0: nothing is owed */
} debt_t;

/* One a rail of the leader, found by a probe's number as there. */
typedef struct exchange_t {
    uint32_t seq;     /* the newest, 0: none yet */
    uint32_t counted; /* its PRTT messages so far */
    bool requested;
    debt_t flow;   /* what was requested */
    debt_t answer; /* to the last PRTT, if the rail had no room for it */
} exchange_t;
static exchange_t exchange[FSBML_MAX_RAILS];
static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static _Atomic bool noted; /* something may be owed */

void fsbml_mirror_reset(void)
{
    opal_mutex_lock(&lock);
    memset(exchange, 0, sizeof(exchange));
    opal_mutex_unlock(&lock);
}

static bool reasonable(const mca_btl_base_module_t *btl, const fsbml_packet_t *packet)
{
    return 0 != packet->seq && fsbml_prtt_fits(btl, packet->count, packet->bytes)
           && (uint64_t) packet->delay_ns * (packet->count - 1) <= fsbml_prtt_limit();
}

/* The caller has the lock. Returns NULL for a packet of an exchange that is over. */
static exchange_t *exchange_of(uint32_t seq)
{
    exchange_t *x = &exchange[seq % FSBML_MAX_RAILS];
    if (0 != x->seq && (int32_t) (seq - x->seq) < 0) {
        return NULL;
    }
    if (seq != x->seq) {
        *x = (exchange_t){.seq = seq}; /* the leader of the last one does not wait any more */
    }
    return x;
}

void fsbml_mirror_packet(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_module_t *btl,
                         const fsbml_packet_t *packet)
{
    const mca_bml_fsbml_path_t *path = fsbml_path_over(ep, btl);
    debt_t debt = {.path = path, .packet = *packet};
    debt.packet.from = *OMPI_PROC_MY_NAME;
    debt.packet.flags = 0;
    if (NULL == path || !reasonable(btl, packet)) {
        FSBML_VERBOSE(FSBML_V_RAILS,
                      "a probe of %" PRIu32 " x %" PRIu32 " bytes, %" PRIu32 " ns between, is not answered",
                      packet->count, packet->bytes, packet->delay_ns);
        return;
    }
    opal_mutex_lock(&lock);
    exchange_t *x = exchange_of(packet->seq);
    if (NULL != x && FSBML_PACKET_REQUEST == packet->type && !x->requested) {
        debt.packet.type = FSBML_PACKET_FLOW;
        debt.bytes = packet->bytes;
        debt.messages = packet->count;
        x->requested = true;
        x->flow = debt;
        atomic_store(&noted, true);
    }
    const bool last = NULL != x && FSBML_PACKET_PRTT == packet->type && ++x->counted == packet->count;
    opal_mutex_unlock(&lock);
    if (!last) {
        return;
    }
    debt.packet.type = FSBML_PACKET_PRTT_BACK;
    debt.bytes = packet->flags & FSBML_PACKET_BRIEF ? 0 : packet->bytes;
    debt.messages = 1;
    if (OMPI_ERR_OUT_OF_RESOURCE == fsbml_packet_send(&path->super, &debt.packet, NULL, 0, debt.bytes)) {
        opal_mutex_lock(&lock);
        if (packet->seq == x->seq) {
            x->answer = debt;
            atomic_store(&noted, true);
        }
        opal_mutex_unlock(&lock);
    }
}

/* Takes a debt from where it was noted; false: there is none. */
static bool take(debt_t *from, debt_t *debt)
{
    opal_mutex_lock(&lock);
    *debt = *from;
    from->messages = 0;
    opal_mutex_unlock(&lock);
    return debt->messages > 0;
}

static bool is_wanted(const debt_t *debt)
{
    opal_mutex_lock(&lock);
    const bool newest = debt->packet.seq == exchange[debt->packet.seq % FSBML_MAX_RAILS].seq;
    opal_mutex_unlock(&lock);
    return newest;
}

/* Pays one debt; no leader waits for what is not through within the limit, or belongs to an exchange before
 * the newest. */
static void pay(const debt_t *debt, const _Atomic bool *over)
{
    const uint64_t until = fsbml_now_ns() + fsbml_prtt_limit();
    for (uint32_t i = 0; i < debt->messages; ++i) {
        int rc;
        if (i > 0 && debt->packet.delay_ns > 0) {
            for (const uint64_t next = fsbml_now_ns() + debt->packet.delay_ns; fsbml_now_ns() < next;) {
                /* the processor is busy, as the leader's would be */
            }
        }
        while (OMPI_ERR_OUT_OF_RESOURCE
               == (rc = fsbml_packet_send(&debt->path->super, &debt->packet, NULL, 0, debt->bytes))) {
            if (fsbml_now_ns() > until || atomic_load(over) || !is_wanted(debt)) {
                break;
            }
            opal_progress();
        }
        if (OMPI_SUCCESS != rc) {
            FSBML_VERBOSE(FSBML_V_RAILS, "%" PRIu32 " of %" PRIu32 " messages of a probe are not sent on %s",
                          debt->messages - i, debt->messages, mca_bml_fsbml.rail[debt->path->rail].name);
            return;
        }
    }
}

void fsbml_mirror_serve(const _Atomic bool *over)
{
    if (!atomic_load(&noted)) {
        return; /* this is between any two looks at the rails: it must cost nothing */
    }
    atomic_store(&noted, false);
    for (size_t i = 0; i < FSBML_MAX_RAILS && !atomic_load(over); ++i) {
        debt_t debt;
        if (take(&exchange[i].answer, &debt)) {
            pay(&debt, over);
        }
        if (take(&exchange[i].flow, &debt)) {
            pay(&debt, over);
        }
    }
}
