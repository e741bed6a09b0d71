/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole PRTT benchmark (thesis 3.2.1, 3.4.2), where there is time for it: `./fsbml calibrate`. Which
 * probes, and what they mean, the core says (core/measure/prtt/prtt.hpp). */

#include <stdio.h>

#include "measure/measure.h"

/* Returns the rails (bits) that have failed, now or before. */
static uint32_t measure(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t n,
                        uint64_t seed, uint32_t failed)
{
    static const char *const kind[] = {"", " back", " taken", " both ways"};
    const uint64_t timeout = fsbml_prtt_limit();
    fsbml_calib_config_t config = mca_bml_fsbml_params.calib;
    fsbml_calib_rail_t known[FSBML_MAX_RAILS];
    fsbml_probe_t probe;

    config.seed = seed;
    config.timer_ns = fsbml_prtt_timer_ns();
    if (config.small_size < FSBML_PACKET_HEADER) {
        config.small_size = FSBML_PACKET_HEADER; /* no smaller message exists */
    }
    for (size_t i = 0; i < n; ++i) {
        const mca_btl_base_module_t *btl = fsbml_rails.rail[rail[i]].btl;
        const uint32_t most = fsbml_prtt_bytes(btl);
        const size_t eager = btl->btl_eager_limit;
        known[i] = (fsbml_calib_rail_t){.max_bytes = most, .limit = {eager < most ? (uint32_t) eager : 0}};
    }
    fsbml_calib_t *calib = fsbml_calib_create(&config, n, known);
    if (NULL == calib) {
        snprintf(table->reason, sizeof(table->reason), "out of memory");
        return failed;
    }
    for (size_t i = 0; i < n; ++i) {
        if (failed & fsbml_bit(rail[i])) {
            (void) fsbml_calib_fail(calib, i, table->rail[i].fit.reason);
        }
    }
    uint64_t start = fsbml_now_ns();
    while (1 == fsbml_calib_next(calib, fsbml_now_ns() - start, &probe)) {
        uint32_t r = rail[probe.rail];
        uint64_t prtt = fsbml_prtt_run(fsbml_path(ep, r), &probe, timeout);
        FSBML_VERBOSE(FSBML_V_PROBE, "PRTT(%u,%.1f us,%u B)%s on %s: %.1f us%s", probe.packets,
                      (double) probe.delay_ns / 1e3, probe.bytes, kind[probe.kind], fsbml_rails.rail[r].name,
                      (double) prtt / 1e3, probe.warm_up ? " (warm-up)" : "");
        if (0 != prtt) {
            (void) fsbml_calib_report(calib, &probe, prtt);
            continue;
        }
        char what[FSBML_NAME_MAX];
        snprintf(what, sizeof(what), "a probe of %u x %u bytes", probe.packets, probe.bytes);
        failed = fsbml_silence(ep, table, rail, n, probe.rail, failed, what);
        for (size_t i = 0; i < n; ++i) {
            if (failed & fsbml_bit(rail[i])) {
                (void) fsbml_calib_fail(calib, i, table->rail[i].fit.reason);
            }
        }
    }
    table->duration_ns += fsbml_now_ns() - start;
    for (size_t i = 0; i < n; ++i) {
        (void) fsbml_calib_fit(calib, i, &table->rail[i].fit);
        if (FSBML_V_RAILS <= fsbml_verbosity) {
            (void) fsbml_calib_interval(calib, i, &table->rail[i].fit);
        }
    }
    fsbml_measurement_keep(calib, table, n);
    fsbml_calib_destroy(calib);
    return failed;
}

/* What a stream shows is rough, but cannot be spoilt without a trace. */
static bool holds(const fsbml_table_t *table, const fsbml_fit_t *swept, const uint32_t *rail, size_t n,
                  uint32_t failed)
{
    for (size_t i = 0; i < n; ++i) {
        if (0 == (failed & fsbml_bit(rail[i])) && !fsbml_fit_is_like(&table->rail[i].fit, &swept[i])) {
            FSBML_VERBOSE(FSBML_V_RAILS,
                          "the measurement of %s does not hold: G %.4g ns/B, a stream has %.4g",
                          fsbml_rails.rail[rail[i]].name, table->rail[i].fit.params.G_ns_per_byte,
                          swept[i].params.G_ns_per_byte);
            return false;
        }
    }
    return true;
}

uint32_t fsbml_benchmark(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t n,
                         uint32_t failed)
{
    fsbml_fit_t swept[FSBML_MAX_RAILS];
    bool good = false;
    for (size_t i = 0; i < n; ++i) {
        swept[i] = table->rail[i].fit;
    }
    for (uint64_t attempt = 0; attempt < 3 && !good; ++attempt) {
        failed = measure(ep, table, rail, n, mca_bml_fsbml_params.calib.seed + attempt, failed);
        good = holds(table, swept, rail, n, failed);
    }
    for (size_t i = 0; i < n && !good; ++i) {
        if (0 == (failed & fsbml_bit(rail[i])) && !fsbml_fit_is_like(&table->rail[i].fit, &swept[i])) {
            table->rail[i].fit = swept[i];
            snprintf(table->rail[i].fit.reason, FSBML_REASON_MAX,
                     "the benchmark was disturbed three times; these are rough");
        }
    }
    return failed;
}
