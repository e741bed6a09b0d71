/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A job whose rails are measured when it starts, on fake rails in virtual time: this process is the leader or
 * the mirror.
 */
#ifndef FSBML_TESTS_FAKE_START_H
#define FSBML_TESTS_FAKE_START_H

#include <sys/time.h>

#include "fake_net.h"

/* The mirror asks the run-time again for a table, with pauses. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (!time_is_virtual) {
        return (int) syscall(SYS_nanosleep, wanted, left);
    }
    virtual_ns += (uint64_t) wanted->tv_nsec;
    return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
    if (!time_is_virtual) {
        return (int) syscall(SYS_gettimeofday, tv, tz);
    }
    ++other_clocks;
    memset(tv, 0, sizeof(*tv));
    return 0;
}

/* This process is rank 0 or 2 of three, which count as of one node; the peer is rank 1, and rank 0 else runs
 * no FSBML. */
static inline mca_bml_fsbml_endpoint_t *job_up(uint32_t me, double fast, double slow)
{
    static uint32_t epoch = 1;
    first_with_fsbml = 0 == me ? 0 : 1;
    ompi_process_info.my_name.jobid = 1;
    ompi_process_info.my_name.vpid = me;
    ompi_process_info.num_procs = 0 == me ? 2 : 3;
    ompi_process_info.num_local_peers = 2;
    ompi_process_info.nodename = "here";
    mca_bml_fsbml_params.calib = (fsbml_calib_config_t){
        .packets = 16, .size_step = 2048, .small_size = 1, .samples = 9, .budget_ns = 300000000};
    mca_bml_fsbml_params.probe_timeout_ns = 500000000;
    mca_bml_fsbml_params.measure = mca_bml_fsbml_params.together = true;
    mca_bml_fsbml_params.cache = FSBML_CACHE_OFF;
    mca_bml_fsbml_params.ledger = FSBML_LEDGER_OFF;
    memset(&peer_hello, 0, sizeof(peer_hello));
    mca_bml_fsbml_endpoint_t *ep = net_up(fast, slow);
    fsbml_life = ++epoch;
    fsbml_calibrated = false;
    peer_hello.n_rails = 2;
    for (uint32_t i = 0; i < 2; ++i) {
        peer_hello.rail[i].exclusivity = 10;
        memcpy(peer_hello.rail[i].key, fsbml_rails.rail[i].key, sizeof(peer_hello.rail[i].key));
    }
    other_clocks = 0;
    return ep;
}

static inline void job_down(void)
{
    CHECK(0 == other_clocks); /* whatever they show: they can be set */
    net_down();
    first_with_fsbml = 0;
}

static inline const fsbml_fit_t *fit(uint32_t rail)
{
    static const fsbml_fit_t none;
    const fsbml_table_t *table = fsbml_table();
    for (uint32_t i = 0; NULL != table && i < table->n_rails; ++i) {
        if (0 == strcmp(table->rail[i].key, fsbml_rails.rail[rail].key)) {
            return &table->rail[i].fit;
        }
    }
    return &none;
}

static inline void ready(void)
{
    uint32_t word[N_WORDS] = {FSBML_PACKET_MAGIC, FSBML_PACKET_READY, 1, 1};
    fake_deliver(&fake[0], FSBML_TAG_PROBE, word, sizeof(word));
}

/* The mirror gets it a little later. */
static inline bool sends_table(void)
{
    for (int i = 0; i < 10000 && !net_table; ++i) {
        opal_progress();
    }
    return net_table;
}

static inline bool has_gap(uint32_t rail, double ns_per_byte)
{
    const fsbml_fit_t *f = fit(rail);
    const bool good = f->valid && f->params.G_ns_per_byte > 0.95 * ns_per_byte
                      && f->params.G_ns_per_byte < 1.05 * ns_per_byte;
    if (!good) {
        fprintf(stderr, "rail %u: G %.2f ns/B instead of %.2f, %s\n", rail, f->params.G_ns_per_byte,
                ns_per_byte, f->reason);
    }
    return good;
}

#endif /* FSBML_TESTS_FAKE_START_H */
