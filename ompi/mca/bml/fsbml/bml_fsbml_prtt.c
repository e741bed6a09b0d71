/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Probes (thesis 3.2.1), as the process runs and times them that leads. The other end is bml_fsbml_mirror.c.
 *
 *           leader                         mirror
 *   THERE   n PRTT                         a message of their size, once the last has come
 *   BACK    REQUEST                        n FLOW
 *   TAKE    REQUEST; looks away a while    n FLOW
 *   BOTH    REQUEST, n brief PRTT          n FLOW; a small message, once the last has come
 *
 * What comes late, or twice, belongs to no exchange that goes on, and changes nothing. */

#include "bml_fsbml_hooks.h"
#include "opal/runtime/opal_progress.h"

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
    fsbml_mirror_reset();
    fsbml_stream_reset();
}

bool fsbml_prtt_fits(const mca_btl_base_module_t *btl, uint32_t packets, uint32_t bytes)
{
    return packets >= 1 && packets <= FSBML_PRTT_MOST && bytes >= FSBML_PACKET_HEADER
           && bytes <= fsbml_prtt_bytes(btl);
}

uint32_t fsbml_prtt_bytes(const mca_btl_base_module_t *btl)
{
    const size_t most =
        btl->btl_max_send_size > btl->btl_eager_limit ? btl->btl_max_send_size : btl->btl_eager_limit;
    return most < UINT32_MAX ? (uint32_t) most : UINT32_MAX;
}

uint64_t fsbml_prtt_limit(void)
{
    return mca_bml_fsbml_params.probe_timeout_ns + mca_bml_fsbml_params.calib.budget_ns;
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
