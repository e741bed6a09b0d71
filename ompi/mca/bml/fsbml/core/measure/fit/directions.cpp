// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/fit/fit.hpp"

#include "model/model.hpp"

#include <algorithm>

namespace fsbml
{

namespace
{

constexpr double kNoise = 0.1; // of duplex beyond a bound: too little for a remark

// Time of a cell that was measured, else what the fit says.
double time_of(const fsbml_fit_t &fit, const Samples &samples, const Prtt &prtt)
{
    const Samples::Cell *cell = samples.find(prtt);
    return nullptr != cell
               ? value_of(*cell).ns
               : predict_prtt(fit, prtt.kind, prtt.packets, static_cast<double>(prtt.delay_ns), prtt.bytes);
}

} // namespace

void fit_back(fsbml_fit_t &fit, const Samples &samples, std::uint32_t small)
{
    fit.back = fsbml_loggp_t{};
    const std::vector<GapPoint> points = gap_points(samples, FSBML_PROBE_BACK);
    const GapLine line = gap_line(points, small, {}, true);
    if (!line.pieces.below.valid) {
        return;
    }
    const double G = line.pieces.below.slope;
    if (!(G > 0.0) || G > kMaxG) {
        remark(fit, "the way back is not known: G %.3g ns/B", G);
        return;
    }
    fit.back.G_ns_per_byte = std::max(G, kMinG);
    fit.back.g_ns = line.g_ns;
}

void fit_back_overhead(fsbml_fit_t &fit, const Samples &samples, std::uint32_t small, double one_way_ns,
                       double timer_ns)
{
    if (!(fit.back.G_ns_per_byte > 0.0)) {
        return;
    }
    double gap = fit.back.g_ns + fit.back.G_ns_per_byte * (small - 1.0);
    for (const GapPoint &p : gap_points(samples, FSBML_PROBE_BACK)) {
        gap = p.bytes == small ? std::min(gap, p.gap_ns) : gap;
    }
    Value send;
    if (send_overhead(samples, FSBML_PROBE_BACK, small, gap, timer_ns, send)) {
        fit.back.o_s_ns = std::clamp(send.ns, 0.0, one_way_ns);
        if (send.ns < 0.0 || send.ns > one_way_ns) {
            remark(fit, "o of the way back set to %.2f us, measured %.2f", fit.back.o_s_ns / 1e3,
                   send.ns / 1e3);
        }
    } else {
        fit.back.o_s_ns = fit.params.o_s_ns;
    }
}

void fit_duplex(fsbml_fit_t &fit, const Samples &samples, std::uint32_t small)
{
    std::vector<double> ratios;
    const double asked = time_of(fit, samples, Prtt{1, 0, small}) / 2.0; // what BACK and BOTH have beside
    for (const Samples::Cell &c : samples.cells()) {
        const Prtt &p = c.prtt;
        if (FSBML_PROBE_BOTH != p.kind || p.packets < 2) {
            continue;
        }
        const double answer = time_of(fit, samples, Prtt{1, 0, p.bytes}) / 2.0;
        const double there = time_of(fit, samples, Prtt{p.packets, p.delay_ns, p.bytes}) - answer;
        const double back =
            fit.back.G_ns_per_byte > 0.0
                ? time_of(fit, samples, Prtt{p.packets, p.delay_ns, p.bytes, FSBML_PROBE_BACK}) - asked
                : 0.0;
        const double alone = std::max(there, back);
        if (alone > 0.0) {
            ratios.push_back((value_of(c).ns - asked) / alone);
        }
    }
    if (ratios.empty()) {
        fit.duplex = 0.0;
        return;
    }
    const double ratio = median(std::move(ratios));
    fit.duplex = std::clamp(ratio, kFullDuplex, kWorstDuplex);
    if (ratio < kFullDuplex - kNoise || ratio > kWorstDuplex) {
        remark(fit, "both ways at once set to %.0f, measured %.2f", fit.duplex, ratio);
    }
}

} // namespace fsbml
