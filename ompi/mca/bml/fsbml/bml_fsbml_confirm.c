/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Parameters against probes that they were not made from: an earlier job's, before they are used, and this
 * job's. What disturbs a probe only makes it longer, often for some milliseconds, so each rail gets several
 * chances, farther and farther apart, and the least time of each probe counts: to measure anew costs more. */

#include "bml_fsbml.h"

enum { CHANCES = 8, PAUSE_NS = 2000000, TOGETHER_NS = 5000000 };
static const double TOLERANCE = 0.25;

/* The least times so far, UINT64_MAX: none yet. */
typedef struct seen_t {
    uint64_t small, one, many; /* PRTT(1,0,small), PRTT(1,0,s), PRTT(n,0,s) */
} seen_t;

/* One more run of a probe, on a rail that has rested. False: it was not answered. */
static bool run(const mca_bml_fsbml_path_t *path, uint32_t packets, uint32_t bytes, uint64_t rest,
                uint64_t *least)
{
    fsbml_prtt_rest(rest);
    const uint64_t prtt = fsbml_prtt_least(1, path, packets, bytes, fsbml_prtt_limit());
    *least = 0 != prtt && prtt < *least ? prtt : *least;
    return 0 != prtt;
}

/* Whether a rail's latency is as an earlier job has measured it. */
static bool answers(const mca_bml_fsbml_path_t *path, const fsbml_fit_t *fit, seen_t *seen, bool *alive)
{
    const uint32_t wanted = mca_bml_fsbml_params.calib.small_size;
    const uint32_t small = wanted > FSBML_PACKET_HEADER ? wanted : FSBML_PACKET_HEADER;
    *alive = run(path, 1, small, 0, &seen->small) && run(path, 1, small, 0, &seen->small);
    return *alive && fsbml_fit_answers(fit, small, seen->small);
}

/* Whether a fit foretells PRTT(1,0,s) and PRTT(n,0,s), each of which finds a shaper's bucket full. */
static bool foretold(const mca_bml_fsbml_path_t *path, const fsbml_fit_t *fit, uint32_t packets, seen_t *seen,
                     bool *alive)
{
    const uint32_t bytes = fsbml_fit_probe_bytes(fit, packets, TOGETHER_NS);
    const uint64_t rest = fsbml_fit_refill_ns(fit);
    *alive = run(path, 1, bytes, rest, &seen->one) && run(path, packets, bytes, rest, &seen->many);
    const bool good = *alive && fsbml_fit_predicts(fit, packets, bytes, seen->one, seen->many, TOLERANCE);
    FSBML_VERBOSE(FSBML_V_PROBE,
                  "PRTT(1 and %u,0,%u B) on %s: at least %.1f and %.1f us, %.1f and %.1f foretold%s", packets,
                  bytes, mca_bml_fsbml.rail[path->rail].name, (double) seen->one / 1e3,
                  (double) seen->many / 1e3, fsbml_fit_prtt(fit, FSBML_PROBE_THERE, 1, 0, bytes) / 1e3,
                  fsbml_fit_prtt(fit, FSBML_PROBE_THERE, packets, 0, bytes) / 1e3,
                  good     ? ""
                  : *alive ? ": does not hold"
                           : ": not answered");
    return good;
}

/* An earlier job's fit: the latency as well. */
static bool holds(const mca_bml_fsbml_path_t *path, const fsbml_fit_t *fit, bool earlier, uint32_t packets)
{
    seen_t seen = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    bool good = false, alive = fit->valid;
    for (int chance = 0; chance < CHANCES && !good && alive; ++chance) {
        fsbml_prtt_rest((uint64_t) chance * PAUSE_NS);
        good = (!earlier || answers(path, fit, &seen, &alive)) && foretold(path, fit, packets, &seen, &alive);
    }
    return good;
}

bool fsbml_confirm_recalled(mca_bml_fsbml_endpoint_t *ep, const fsbml_table_t *table, const uint32_t *rail,
                            size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        const fsbml_fit_t alone = fsbml_fit_alone(&table->rail[i].fit);
        if (!holds(fsbml_path(ep, rail[i]), &alone, true, 4)) {
            FSBML_VERBOSE(FSBML_V_RAILS, "%s is not what an earlier job has measured",
                          mca_bml_fsbml.rail[rail[i]].name);
            return false;
        }
    }
    return true;
}

bool fsbml_confirm_measured(mca_bml_fsbml_endpoint_t *ep, const fsbml_table_t *table, const uint32_t *rail,
                            size_t n, uint32_t failed)
{
    for (size_t i = 0; i < n; ++i) {
        if (0 == (failed & fsbml_bit(rail[i]))
            && !holds(fsbml_path(ep, rail[i]), &table->rail[i].fit, false, 3)) {
            FSBML_VERBOSE(FSBML_V_RAILS, "the measurement of %s does not hold",
                          mca_bml_fsbml.rail[rail[i]].name);
            return false;
        }
    }
    return true;
}
