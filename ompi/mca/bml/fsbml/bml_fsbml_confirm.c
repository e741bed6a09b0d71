/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Parameters against probes that they were not made from: an earlier job's, before they are used, and this job's. Each rail
 * gets three chances, as a disturbed probe says nothing, and to measure anew costs far more. */

#include "bml_fsbml.h"

enum { CHANCES = 3, TOGETHER_NS = 5000000 };
static const double TOLERANCE = 0.25;

/* Whether a fit foretells PRTT(1,0,s) and PRTT(n,0,s), each of which finds a shaper's bucket full. Zero in *prtt: it does not
 * answer. */
static bool foretold(const mca_bml_fsbml_path_t *path, const fsbml_fit_t *fit, uint32_t packets, uint64_t *prtt)
{
    const uint32_t bytes = fsbml_fit_probe_bytes(fit, packets, TOGETHER_NS);
    const uint64_t rest = fsbml_fit_refill_ns(fit), timeout = fsbml_prtt_limit();
    fsbml_prtt_rest(rest);
    const uint64_t one = *prtt = fsbml_prtt_least(1, path, 1, bytes, timeout);
    if (0 != one) {
        fsbml_prtt_rest(rest);
        *prtt = fsbml_prtt_least(1, path, packets, bytes, timeout);
    }
    const bool good = 0 != *prtt && fsbml_fit_predicts(fit, packets, bytes, one, *prtt, TOLERANCE);
    FSBML_VERBOSE(FSBML_V_PROBE, "PRTT(1 and %u,0,%u B) on %s: %.1f and %.1f us, %.1f and %.1f foretold%s", packets, bytes,
                  mca_bml_fsbml.rail[path->rail].name, (double) one / 1e3, (double) *prtt / 1e3,
                  fsbml_fit_prtt(fit, FSBML_PROBE_THERE, 1, 0, bytes) / 1e3,
                  fsbml_fit_prtt(fit, FSBML_PROBE_THERE, packets, 0, bytes) / 1e3, good ? "" : ": does not hold");
    return good;
}

/* Whether a rail is as an earlier job has measured it: its latency, and its gap. Zero in *prtt: it does not answer. */
static bool is_as_before(const mca_bml_fsbml_path_t *path, const fsbml_fit_t *fit, uint64_t *prtt)
{
    const uint32_t wanted = mca_bml_fsbml_params.calib.small_size;
    const uint32_t small = wanted > FSBML_PACKET_HEADER ? wanted : FSBML_PACKET_HEADER;
    *prtt = fsbml_prtt_least(2, path, 1, small, fsbml_prtt_limit());
    return 0 != *prtt && fsbml_fit_answers(fit, small, *prtt) && foretold(path, fit, 4, prtt);
}

bool fsbml_confirm_recalled(mca_bml_fsbml_endpoint_t *ep, const fsbml_table_t *table, const uint32_t *rail, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const fsbml_fit_t alone = fsbml_fit_alone(&table->rail[i].fit);
        bool good = false;
        uint64_t prtt = 1;
        for (int chance = 0; chance < CHANCES && !good && 0 != prtt; ++chance) {
            good = is_as_before(fsbml_path(ep, rail[i]), &alone, &prtt);
        }
        if (!good) {
            FSBML_VERBOSE(FSBML_V_RAILS, "%s is not what an earlier job has measured", mca_bml_fsbml.rail[rail[i]].name);
            return false;
        }
    }
    return true;
}

bool fsbml_confirm_measured(mca_bml_fsbml_endpoint_t *ep, const fsbml_table_t *table, const uint32_t *rail, size_t n,
                            uint32_t failed)
{
    for (size_t i = 0; i < n; ++i) {
        bool good = 0 != (failed & fsbml_bit(rail[i]));
        uint64_t prtt = 1;
        for (int chance = 0; chance < CHANCES && !good && 0 != prtt; ++chance) {
            good = foretold(fsbml_path(ep, rail[i]), &table->rail[i].fit, 3, &prtt);
        }
        if (!good) {
            FSBML_VERBOSE(FSBML_V_RAILS, "the measurement of %s does not hold", mca_bml_fsbml.rail[rail[i]].name);
            return false;
        }
    }
    return true;
}
