// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "model/model.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

constexpr double kAlike = 0.1;

} // namespace

bool scale_gaps(fsbml_fit_t &fit, double factor) noexcept
{
    fsbml_fit_t scaled = fit;
    for (fsbml_loggp_t *p : {&scaled.params, &scaled.low, &scaled.high}) {
        p->G_ns_per_byte *= factor;
        p->G_above_ns_per_byte *= factor;
        p->g_above_ns *= factor;
    }
    if (!valid(scaled.params)) {
        return false;
    }
    fit = scaled;
    return true;
}

fsbml_fit_t fit_alone(const fsbml_fit_t &fit) noexcept
{
    fsbml_fit_t alone = fit;
    if (fit.valid && fit.together > kShares) {
        (void) scale_gaps(alone, 1.0 / fit.together);
    }
    return alone;
}

// Its own pace, and what cannot be told apart as there.
fsbml_loggp_t other_direction(const fsbml_fit_t &fit) noexcept
{
    fsbml_loggp_t p = fit.params;
    if (fit.back.G_ns_per_byte > 0.0) {
        p.o_s_ns = fit.back.o_s_ns;
        p.g_ns = fit.back.g_ns;
        p.burst_ns *= fit.back.G_ns_per_byte / p.G_ns_per_byte; // as many bytes
        p.G_ns_per_byte = fit.back.G_ns_per_byte;
        p.break_bytes = p.g_above_ns = p.G_above_ns_per_byte = 0.0;
    }
    return p;
}

bool directions_differ(double there, double back) noexcept
{
    return back > 0.0 && std::fabs(back - there) > kAlike * std::max(back, there);
}

fsbml_loggp_t reverse(const fsbml_fit_t &fit) noexcept
{
    const double alone = fit_alone(fit).params.G_ns_per_byte;
    const double back = fit.back.G_ns_per_byte;
    if (!fit.valid || !directions_differ(alone, back)) {
        return fit.params;
    }
    fsbml_loggp_t p = other_direction(fit);
    p.G_ns_per_byte *= fit.params.G_ns_per_byte / alone;
    return valid(p) ? p : fit.params;
}

double predict_arrival(const fsbml_loggp_t &p, double n, double d_ns, double s) noexcept
{
    const double least_gap = gap_ns(p, 1.0);
    const double gap = gap_ns(p, s);
    const double o_s = p.o_s_ns + p.O_s_ns_per_byte * (s - 1.0);
    const double o_r = p.o_r_ns + p.O_r_ns_per_byte * (s - 1.0);
    const double through = std::max(0.0, gap - least_gap) + (n - 1.0) * std::max(o_s + d_ns, gap);
    const double unhindered = (n - 1.0) * (o_s + d_ns);
    return o_s + std::max(unhindered, through - p.burst_ns) + p.L_ns + o_r;
}

double predict_prtt(const fsbml_fit_t &fit, fsbml_probe_kind_t kind, double n, double d_ns, double s) noexcept
{
    const fsbml_loggp_t &there = fit.params;
    fsbml_loggp_t back = other_direction(fit);
    switch (kind) {
    case FSBML_PROBE_BACK:
        return predict_arrival(there, 1.0, 0.0, 1.0) + predict_arrival(back, n, d_ns, s);
    case FSBML_PROBE_TAKE:
        return n * (there.o_r_ns + there.O_r_ns_per_byte * (s - 1.0));
    case FSBML_PROBE_BOTH:
        return predict_arrival(there, 1.0, 0.0, 1.0)
               + (fit.duplex > 0.0 ? fit.duplex : 1.0)
                     * std::max(predict_arrival(there, n, d_ns, s), predict_arrival(back, n, d_ns, s));
    default:
        back.o_s_ns = there.o_s_ns;
        return predict_arrival(there, n, d_ns, s) + predict_arrival(back, 1.0, 0.0, s);
    }
}

} // namespace fsbml
