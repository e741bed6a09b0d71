/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* One probe of the PRTT benchmark (thesis 3.2.1): run and timed by the one process, answered by the other. */

#include "bml_fsbml_hooks.h"
#include "opal/runtime/opal_progress.h"

static struct {
    _Atomic uint32_t expected;     /* leader: the answer it waits for, 0: none */
    _Atomic uint64_t answered_ns;  /* leader: when it came */
    uint32_t seq, counted;         /* mirror: the probe that comes in, and its messages so far */
} run;

void fsbml_prtt_reset(void)
{
    memset(&run, 0, sizeof(run));
}

void fsbml_prtt_mirror(mca_bml_fsbml_endpoint_t *ep, mca_btl_base_module_t *btl, const fsbml_packet_t *packet)
{
    if (packet->seq != run.seq) {
        run.seq = packet->seq;
        run.counted = 0;
    }
    if (++run.counted != packet->count) {
        return;
    }
    for (uint32_t i = 0; i < ep->n_paths; ++i) {
        if (ep->path[i].super.btl == btl) {
            fsbml_packet_t back = *packet;
            back.type = FSBML_PACKET_PRTT_BACK;
            back.from = *OMPI_PROC_MY_NAME;
            (void) fsbml_packet_send(&ep->path[i].super, &back, NULL, 0, packet->bytes);
        }
    }
}

void fsbml_prtt_answer(const fsbml_packet_t *packet)
{
    if (packet->seq == atomic_load(&run.expected)) {
        atomic_store(&run.answered_ns, fsbml_now_ns());
        atomic_store(&run.expected, 0);
    }
}

uint64_t fsbml_prtt_run(const mca_bml_fsbml_path_t *path, const fsbml_probe_t *probe, uint64_t limit_ns)
{
    static uint32_t seq;
    seq = (0 == seq + 1) ? 1 : seq + 1;
    const fsbml_packet_t packet = {.type = FSBML_PACKET_PRTT,
                                   .from = *OMPI_PROC_MY_NAME,
                                   .seq = seq,
                                   .count = probe->packets,
                                   .bytes = probe->bytes};
    atomic_store(&run.expected, seq);
    uint64_t start = fsbml_now_ns();
    for (uint32_t i = 0; i < probe->packets; ++i) {
        if (i > 0 && probe->delay_ns > 0) {
            for (uint64_t until = fsbml_now_ns() + probe->delay_ns; fsbml_now_ns() < until;) {
                /* the processor is busy meanwhile: that is what the delay stands for */
            }
        }
        while (OMPI_ERR_OUT_OF_RESOURCE == fsbml_packet_send(&path->super, &packet, NULL, 0, probe->bytes)) {
            if (fsbml_now_ns() - start > limit_ns) {
                atomic_store(&run.expected, 0);
                return 0;
            }
            opal_progress();
        }
    }
    while (0 != atomic_load(&run.expected)) {
        if (fsbml_now_ns() - start > limit_ns) {
            atomic_store(&run.expected, 0);
            return 0;
        }
        opal_progress();
    }
    return atomic_load(&run.answered_ns) - start;
}

uint64_t fsbml_prtt_least(int runs, const mca_bml_fsbml_path_t *path, uint32_t packets, uint32_t bytes,
                          uint64_t limit_ns)
{
    const fsbml_probe_t probe = {.packets = packets, .bytes = bytes};
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < runs; ++i) {
        const uint64_t prtt = fsbml_prtt_run(path, &probe, limit_ns);
        if (0 == prtt) {
            return 0; /* the others would take as long to fail */
        }
        best = prtt < best ? prtt : best;
    }
    return best;
}

void fsbml_prtt_rest(uint64_t ns)
{
    for (const uint64_t until = fsbml_now_ns() + ns; fsbml_now_ns() < until;) {
        opal_progress();
    }
}
