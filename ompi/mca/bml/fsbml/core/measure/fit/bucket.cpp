// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/fit/fit.hpp"

#include "model/model.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

constexpr double kShows = 1.25; // time beyond the round trip against that of the processor alone

// Between small messages that the bucket hides.
double pace_within(const fsbml_fit_t &fit, const Samples &samples, std::uint32_t small)
{
    double pace = fit.params.o_s_ns;
    for (const GapPoint &p : gap_points(samples, FSBML_PROBE_THERE)) {
        pace = p.bytes == small ? std::max(pace, p.gap_ns) : pace;
    }
    return pace;
}

} // namespace

double bytes_time(const fsbml_loggp_t &p, const GapLine &line, double bytes) noexcept
{
    return std::max(0.0, line.at(bytes) - line.at(1.0))
           + (p.O_s_ns_per_byte + p.O_r_ns_per_byte) * (bytes - 1.0);
}

void fit_burst(fsbml_fit_t &fit, const Samples &samples, const GapLine &line, double one_way_ns)
{
    // What the answer takes, by what the message takes; so do the buckets, which hold as many bytes.
    const double G = fit.params.G_ns_per_byte;
    const double answer = directions_differ(G, fit.back.G_ns_per_byte) ? fit.back.G_ns_per_byte / G : 1.0;
    double least = kMaxTimeNs;
    std::size_t sizes = 0;
    for (const Samples::Cell &c : samples.cells()) {
        if (1 == c.prtt.packets && c.prtt.bytes >= kBulkBytes && FSBML_PROBE_THERE == c.prtt.kind) {
            const double there = bytes_time(fit.params, line, c.prtt.bytes);
            const double full = 2.0 * one_way_ns + there * (1.0 + answer);
            least = std::min(least, (full - value_of(c).ns) / (1.0 + answer));
            ++sizes;
        }
    }
    fit.params.burst_ns = sizes >= 2 && least > one_way_ns ? least : 0.0;
}

std::vector<GapPoint> gaps_beyond_burst(const fsbml_fit_t &fit, const Samples &samples, const GapLine &line,
                                        std::uint32_t small, double one_way_ns)
{
    std::vector<GapPoint> points;
    const double hidden = fit.params.burst_ns;
    if (!(hidden > 0.0)) {
        return points;
    }
    const double pace = pace_within(fit, samples, small);
    for (const Samples::Cell &c : samples.cells()) {
        const Prtt &prtt = c.prtt;
        if (FSBML_PROBE_THERE != prtt.kind || 0 != prtt.delay_ns || prtt.packets < 2 || prtt.bytes <= small
            || prtt.bytes >= kBulkBytes || nullptr != samples.find(Prtt{1, 0, prtt.bytes})) {
            continue;
        }
        const Value v = value_of(c);
        const double beyond = v.ns - 2.0 * one_way_ns;
        if (beyond > kShows * (prtt.packets - 1.0) * pace) {
            points.push_back(GapPoint{static_cast<double>(prtt.bytes),
                                      (beyond + hidden + line.at(1.0)) / prtt.packets, v.sigma / prtt.packets,
                                      v.samples, true});
        }
    }
    return points;
}

} // namespace fsbml
