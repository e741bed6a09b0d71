/* Copyright (c) 2026      The FSBML developers. All rights reserved. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Interference of rails: runs the streams that the core asks for. A rail that is left out stays
 * connected; without parameters it is chosen only where no other rail has any. */

#include "measure/measure.h"

#include "opal/util/show_help.h"

enum {
    SHORT_NS = 2000000, /* where rails carry bulk by then, ... */
    STREAM_NS = 4000000,
    LONGEST = 6,   /* times as long */
    MESSAGES = 32, /* about, that a rail carries in that time */
    BULK = 65536,  /* bytes of the largest */
    TRIPS = 12,    /* there and back, on the longest way: so long TCP needs to get to its rate */
};

/* The same for all rails: none is alone while the others' streams last. */
static uint64_t wanted_ns(const fsbml_fit_t *fit, uint32_t rails, size_t n)
{
    const uint64_t most = fsbml_prtt_limit() / 8;
    uint64_t wanted = SHORT_NS;
    for (size_t i = 0; i < n; ++i) {
        const fsbml_loggp_t *p = &fit[i].params;
        const uint64_t trips = (uint64_t) (2 * TRIPS * (p->o_s_ns + p->L_ns + p->o_r_ns));
        const double bulk = (double) MESSAGES * BULK * p->G_ns_per_byte;
        const uint64_t carried = bulk < STREAM_NS ? (uint64_t) bulk : STREAM_NS;
        const uint64_t own = trips > carried ? trips : carried;
        wanted = 0 != (rails & fsbml_bit((uint32_t) i)) && own > wanted ? own : wanted;
    }
    return wanted < most ? wanted : most;
}

/* From the beginning in messages as bulk has: small ones cost the processor so much that two fast rails would
 * seem to carry no more than one. */
static fsbml_streaming_limits_t limits_of(const mca_bml_fsbml_path_t *path, const fsbml_fit_t *fit,
                                          uint64_t wanted)
{
    fsbml_streaming_limits_t limits = fsbml_stream_limits(path, wanted, LONGEST * wanted);
    const double bytes = (double) wanted / MESSAGES / fit->params.G_ns_per_byte;
    if (bytes > limits.least_bytes) {
        limits.least_bytes = bytes < limits.most_bytes ? (uint32_t) bytes : limits.most_bytes;
    }
    return limits;
}

static bool run(fsbml_together_t *together, mca_bml_fsbml_endpoint_t *ep, const uint32_t *rail, size_t n,
                const fsbml_fit_t *fit, uint64_t wanted)
{
    const mca_bml_fsbml_path_t *path[FSBML_MAX_RAILS];
    fsbml_streaming_limits_t limits[FSBML_MAX_RAILS];
    fsbml_rate_t took[FSBML_MAX_RAILS], rate[FSBML_MAX_RAILS] = {{0}};
    const uint32_t rails = fsbml_together_next(together);
    size_t of[FSBML_MAX_RAILS], k = 0;
    double sending = 0;
    for (size_t i = 0; i < n; ++i) {
        if (rails & fsbml_bit((uint32_t) i)) {
            path[k] = fsbml_path(ep, rail[i]);
            limits[k] = limits_of(path[k], &fit[i], wanted);
            of[k++] = i;
        }
    }
    if (0 == k) {
        return false;
    }
    const uint64_t start = fsbml_now_ns();
    const bool good = fsbml_stream_run(k, path, limits, fsbml_prtt_limit(), took, &sending);
    for (size_t i = 0; i < k && good; ++i) {
        rate[of[i]] = took[i];
        FSBML_VERBOSE(FSBML_V_PROBE,
                      "a stream on %s beside %zu others: %.4g ns/B, sending %.0f %% of the time",
                      fsbml_rails.rail[rail[of[i]]].name, k - 1, took[i].G_ns_per_byte, sending * 100);
    }
    (void) fsbml_together_report(together, rate, sending, fsbml_now_ns() - start);
    return true;
}

void fsbml_together(mca_bml_fsbml_endpoint_t *ep, fsbml_table_t *table, const uint32_t *rail, size_t n,
                    uint32_t failed)
{
    fsbml_fit_t fit[FSBML_MAX_RAILS];
    uint32_t rails = 0;
    fsbml_fits_take(table, n, fit);
    for (size_t i = 0; i < n; ++i) {
        rails |= failed & fsbml_bit(rail[i]) ? 0 : fsbml_bit((uint32_t) i);
    }
    fsbml_together_t *together = fsbml_together_create(n, fit, rails);
    if (NULL == together) {
        return; /* the rails then count as independent */
    }
    const uint64_t budget = mca_bml_fsbml_params.calib.budget_ns;
    const uint64_t spent = table->duration_ns < budget * 2 / 3 ? table->duration_ns : budget * 2 / 3;
    const uint64_t end = fsbml_now_ns() + budget - spent;
    const uint64_t wanted = wanted_ns(fit, rails, n);
    while (fsbml_now_ns() < end && run(together, ep, rail, n, fit, wanted)) {
    }
    const uint32_t left_out = fsbml_together_conclude(together, fit);
    fsbml_together_destroy(together);
    fsbml_fits_put(table, n, fit);
    for (size_t i = 0; i < n; ++i) {
        const mca_bml_fsbml_rail_t *r = &fsbml_rails.rail[rail[i]];
        char detail[FSBML_NAME_DETAIL];
        FSBML_VERBOSE(FSBML_V_RAILS, "%s beside the others takes %.2f times as long", r->name,
                      fit[i].together);
        if (left_out & fsbml_bit((uint32_t) i)) {
            opal_show_help(FSBML_HELP, "rail harms the others", true, r->name, fsbml_name_detail(r, detail),
                           fsbml_node_name(), fit[i].reason);
        }
    }
}
