/*
 * Copyright (c) 2026      The FSBML developers. All rights reserved.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Rails that were not measured: the parameters assumed for them. The BTLs' bandwidths and latencies, where
 * they are not all the same: then the user has set them, as r2 would have it; else the speeds of the
 * devices, where all are known; else the rails are alike. */

#include "bml_fsbml.h"
#include "bml_fsbml_measure.h"

/* Of no rail much: what counts is how they compare. */
static const double USUAL_MBPS = 10000, USUAL_L_NS = 10000, USUAL_O_NS = 1000;

static double told_mbps(uint32_t rail)
{
    return mca_bml_fsbml.rail[rail].btl->btl_bandwidth;
}

static double told_us(uint32_t rail)
{
    return mca_bml_fsbml.rail[rail].btl->btl_latency;
}

static double device_mbps(uint32_t rail)
{
    return mca_bml_fsbml.rail[rail].about.speed_mbps;
}

/* Whether all rails have such a figure; and whether they differ. */
static bool all_have(double (*figure)(uint32_t rail), bool *differ)
{
    bool all = true;
    *differ = false;
    for (uint32_t i = 0; i < mca_bml_fsbml.n_rails; ++i) {
        all = all && figure(i) > 0;
        *differ = *differ || figure(i) != figure(0);
    }
    return all;
}

fsbml_loggp_t fsbml_prior(uint32_t rail)
{
    bool speeds_differ, told_differ, latencies_differ;
    const bool devices = all_have(device_mbps, &speeds_differ), told = all_have(told_mbps, &told_differ),
               latencies = all_have(told_us, &latencies_differ);
    const double mbps = told && told_differ ? told_mbps(rail) : devices ? device_mbps(rail) : USUAL_MBPS;
    return (fsbml_loggp_t){.L_ns = latencies && latencies_differ ? told_us(rail) * 1e3 : USUAL_L_NS,
                           .o_s_ns = USUAL_O_NS,
                           .o_r_ns = USUAL_O_NS,
                           .g_ns = USUAL_O_NS,
                           .G_ns_per_byte = 8e3 / mbps};
}
