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

/* Size of messages of which so many take about 5 ms, and of which a shaper's burst hides no more than half. */
static uint32_t bytes_for(const fsbml_fit_t *fit, uint32_t packets)
{
    const uint64_t burst = (uint64_t) (2 * fit->params.burst_ns * packets);
    return fsbml_fit_probe_bytes(fit, packets, burst > TOGETHER_NS ? burst : TOGETHER_NS);
}

/* Whether a rail is as an earlier job has measured it: its latency, and its gap. Zero in *prtt: it does not answer. */
static bool is_as_before(const mca_bml_fsbml_path_t *path, const fsbml_fit_t *fit, uint64_t *prtt)
{
    enum { PACKETS = 4 };
    const uint32_t wanted = mca_bml_fsbml_params.calib.small_size;
    const uint32_t small = wanted > FSBML_PACKET_HEADER ? wanted : FSBML_PACKET_HEADER;
    const uint32_t bytes = fsbml_fit_probe_bytes(fit, PACKETS, TOGETHER_NS);
    const uint64_t rest = (uint64_t) fit->params.burst_ns; /* each probe finds a shaper's bucket full */
    const uint64_t timeout = fsbml_prtt_limit();
    *prtt = fsbml_prtt_least(2, path, 1, small, timeout);
    if (0 == *prtt || !fsbml_fit_answers(fit, small, *prtt)) {
        return false;
    }
    fsbml_prtt_rest(rest);
    const uint64_t one = *prtt = fsbml_prtt_least(1, path, 1, bytes, timeout);
    fsbml_prtt_rest(rest);
    if (0 != one) {
        *prtt = fsbml_prtt_least(1, path, PACKETS, bytes, timeout);
    }
    return 0 != *prtt && fsbml_fit_predicts(fit, PACKETS, bytes, one, *prtt, TOLERANCE);
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

/* Whether a fit foretells (PRTT(3,0,s) - PRTT(1,0,s)) / 2, and does not promise far less than PRTT(1,0,s): so does a line of
 * a wrong slope that crosses the right one at s. */
static bool holds(const mca_bml_fsbml_path_t *path, const fsbml_fit_t *fit, uint64_t *prtt)
{
    enum { PACKETS = 3 };
    const uint32_t bytes = bytes_for(fit, PACKETS);
    const uint64_t rest = (uint64_t) fit->params.burst_ns; /* each probe finds a shaper's bucket full */
    const uint64_t timeout = fsbml_prtt_limit();
    fsbml_prtt_rest(rest);
    const uint64_t one = *prtt = fsbml_prtt_least(1, path, 1, bytes, timeout);
    if (0 != one) {
        fsbml_prtt_rest(rest);
        *prtt = fsbml_prtt_least(1, path, PACKETS, bytes, timeout);
    }
    const double promised = fsbml_fit_prtt(fit, FSBML_PROBE_THERE, 1, 0, bytes);
    return 0 != *prtt && (double) one <= 1.5 * promised + 20e3
           && fsbml_fit_predicts(fit, PACKETS, bytes, one, *prtt, TOLERANCE);
}

bool fsbml_confirm_measured(mca_bml_fsbml_endpoint_t *ep, const fsbml_table_t *table, const uint32_t *rail, size_t n,
                            uint32_t failed)
{
    for (size_t i = 0; i < n; ++i) {
        bool good = 0 != (failed & fsbml_bit(rail[i]));
        uint64_t prtt = 1;
        for (int chance = 0; chance < CHANCES && !good && 0 != prtt; ++chance) {
            good = holds(fsbml_path(ep, rail[i]), &table->rail[i].fit, &prtt);
        }
        if (!good) {
            FSBML_VERBOSE(FSBML_V_RAILS, "the measurement of %s does not hold", mca_bml_fsbml.rail[rail[i]].name);
            return false;
        }
    }
    return true;
}
