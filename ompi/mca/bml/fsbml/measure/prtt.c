/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes (thesis 3.2.1), as the process runs and times them that leads, and as the other one answers them.
 *
 *           leader                         mirror
 *   THERE   n PRTT                         a message of their size, once the last has come
 *   BACK    REQUEST                        n FLOW
 *   TAKE    REQUEST; looks away a while    n FLOW
 *   BOTH    REQUEST, n brief PRTT          n FLOW; a small message, once the last has come
 *
 * What comes late, or twice, belongs to no exchange that goes on, and changes nothing. */

#include <inttypes.h>

#include "measure/measure.h"

#include "opal/runtime/opal_progress.h"

/* ------------------------------------------------------------- the other end */

/* A single message is answered from within its handler, which costs least time. What takes long is only noted
 * there, and done by fsbml_mirror_serve(). What is asked for is bounded: no leader waits longer than
 * that. */

/* Messages that are owed. */
typedef struct debt_t {
    const mca_bml_fsbml_path_t *path;
    fsbml_packet_t packet;
    size_t bytes;
    uint32_t messages; /* 0: nothing is owed */
} debt_t;

/* One a rail of the leader, found by a probe's number as there. */
typedef struct asked_t {
    uint32_t seq;     /* the newest, 0: none yet */
    uint32_t counted; /* its PRTT messages so far */
    bool requested;
    debt_t flow;   /* what was requested */
    debt_t answer; /* to the last PRTT, if the rail had no room for it */
} asked_t;
static asked_t asked[FSBML_MAX_RAILS];
static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static _Atomic bool noted; /* something may be owed */

static void mirror_reset(void)
{
    opal_mutex_lock(&lock);
    memset(asked, 0, sizeof(asked));
    opal_mutex_unlock(&lock);
}

static bool reasonable(const mca_btl_base_module_t *btl, const fsbml_packet_t *packet)
{
    return 0 != packet->seq && fsbml_prtt_fits(btl, packet->count, packet->bytes)
           && (uint64_t) packet->delay_ns * (packet->count - 1) <= fsbml_prtt_limit();
}

/* The caller has the lock. Returns NULL for a packet of an exchange that is over. */
static asked_t *asked_of(uint32_t seq)
{
    asked_t *x = &asked[seq % FSBML_MAX_RAILS];
    if (0 != x->seq && (int32_t) (seq - x->seq) < 0) {
        return NULL;
    }
    if (seq != x->seq) {
        *x = (asked_t){.seq = seq}; /* the leader of the last one does not wait any more */
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
    asked_t *x = asked_of(packet->seq);
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
    const bool newest = debt->packet.seq == asked[debt->packet.seq % FSBML_MAX_RAILS].seq;
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
                          debt->messages - i, debt->messages, fsbml_rails.rail[debt->path->rail].name);
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
        if (take(&asked[i].answer, &debt)) {
            pay(&debt, over);
        }
        if (take(&asked[i].flow, &debt)) {
            pay(&debt, over);
        }
    }
}

/* One a rail, as rails can be measured at once. A probe's number is that of its rail modulo
 * FSBML_MAX_RAILS. */
typedef struct exchange_t {
    _Atomic uint32_t seq;               /* 0: nothing is awaited */
    _Atomic uint32_t answers, messages; /* PRTT_BACK and FLOW that are still to come */
    _Atomic uint64_t through_ns;        /* when the last of them came */
} exchange_t;
static exchange_t exchange[FSBML_MAX_RAILS];

void fsbml_prtt_reset(void)
{
    memset(exchange, 0, sizeof(exchange));
    mirror_reset();
    fsbml_stream_reset();
}

void fsbml_prtt_came(const fsbml_packet_t *packet)
{
    const uint64_t now = fsbml_now_ns();
    exchange_t *x = &exchange[packet->seq % FSBML_MAX_RAILS];
    _Atomic uint32_t *missing = FSBML_PACKET_FLOW == packet->type ? &x->messages : &x->answers;
    if (0 == packet->seq || packet->seq != atomic_load(&x->seq) || 0 == atomic_load(missing)) {
        return;
    }
    atomic_fetch_sub(missing, 1);
    if (0 == atomic_load(&x->answers) && 0 == atomic_load(&x->messages)) {
        atomic_store(&x->through_ns, now);
        atomic_store(&x->seq, 0);
    }
}

static exchange_t *begin(uint32_t rail, uint32_t answers, uint32_t messages, uint32_t *seq)
{
    static uint32_t turn; /* never begun anew: what is late from an earlier life of MPI has another number */
    exchange_t *x = &exchange[rail % FSBML_MAX_RAILS];
    do {
        *seq = ++turn * FSBML_MAX_RAILS + rail % FSBML_MAX_RAILS;
    } while (0 == *seq);
    atomic_store(&x->answers, answers);
    atomic_store(&x->messages, messages);
    atomic_store(&x->seq, *seq);
    return x;
}

/* The processor is busy for a while: that is what the delay stands for. */
static void compute(uint64_t ns)
{
    for (const uint64_t until = fsbml_now_ns() + ns; fsbml_now_ns() < until;) {
    }
}

/* Sends, also if the rail has no room at once. False: not until `until`, or it refuses for good. */
static bool give(const mca_bml_fsbml_path_t *path, const fsbml_packet_t *packet, size_t bytes, uint64_t until)
{
    int rc;
    while (OMPI_ERR_OUT_OF_RESOURCE == (rc = fsbml_packet_send(&path->super, packet, NULL, 0, bytes))) {
        if (fsbml_now_ns() > until) {
            return false;
        }
        opal_progress();
    }
    return OMPI_SUCCESS == rc;
}

static bool wait_for(exchange_t *x, uint64_t until)
{
    while (0 != atomic_load(&x->seq)) {
        if (fsbml_now_ns() > until) {
            return false;
        }
        fsbml_stream_yield();
        opal_progress();
    }
    return true;
}

uint64_t fsbml_prtt_run(const mca_bml_fsbml_path_t *path, const fsbml_probe_t *probe, uint64_t limit_ns)
{
    const bool asks = FSBML_PROBE_THERE != probe->kind;
    const bool there = FSBML_PROBE_THERE == probe->kind || FSBML_PROBE_BOTH == probe->kind;
    fsbml_packet_t packet = {.type = FSBML_PACKET_PRTT,
                             .flags = FSBML_PROBE_BOTH == probe->kind ? FSBML_PACKET_BRIEF : 0,
                             .from = *OMPI_PROC_MY_NAME,
                             .count = probe->packets,
                             .bytes = probe->bytes};
    if (!fsbml_prtt_fits(path->super.btl, probe->packets, probe->bytes)) {
        return 0; /* the mirror would say so, too, but only by its silence */
    }
    exchange_t *x = begin(path->rail, there ? 1 : 0, asks ? probe->packets : 0, &packet.seq);
    uint64_t start = fsbml_now_ns();
    const uint64_t until = start + limit_ns;
    bool good = true;
    if (asks) {
        fsbml_packet_t request = packet;
        request.type = FSBML_PACKET_REQUEST;
        if (FSBML_PROBE_BACK == probe->kind) {
            request.delay_ns = probe->delay_ns < UINT32_MAX ? (uint32_t) probe->delay_ns : UINT32_MAX;
        }
        good = give(path, &request, 0, until);
    }
    if (FSBML_PROBE_TAKE == probe->kind) {
        compute(probe->delay_ns);
        start = fsbml_now_ns();
    }
    for (uint32_t i = 0; i < probe->packets && there && good; ++i) {
        if (i > 0 && probe->delay_ns > 0 && !asks) {
            compute(probe->delay_ns);
        }
        good = give(path, &packet, probe->bytes, until);
    }
    good = good && wait_for(x, until);
    atomic_store(&x->seq, 0);
    if (!good) {
        return 0;
    }
    const uint64_t through = atomic_load(&x->through_ns);
    return through > start ? through - start : 1; /* 0 means that there was no answer */
}

void fsbml_prtt_rest(uint64_t ns)
{
    for (const uint64_t until = fsbml_now_ns() + ns; fsbml_now_ns() < until;) {
        opal_progress();
    }
}

uint64_t fsbml_prtt_timer_ns(void)
{
    enum { RUNS = 65, LOOKS = 16 };
    uint64_t took[RUNS];
    for (size_t run = 0; run < RUNS; ++run) {
        const uint64_t start = fsbml_now_ns();
        for (int i = 1; i < LOOKS; ++i) {
            (void) fsbml_now_ns();
        }
        const uint64_t mean = (fsbml_now_ns() - start) / LOOKS;
        size_t at = run;
        for (; at > 0 && took[at - 1] > mean; --at) { /* sorted, for the median */
            took[at] = took[at - 1];
        }
        took[at] = mean;
    }
    return took[RUNS / 2];
}
