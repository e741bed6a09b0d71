// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "interval.hpp"

#include "gaps.hpp"
#include "overheads.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <vector>

namespace fsbml
{

namespace
{

constexpr double fsbml_loggp_t::*kParameters[] = {&fsbml_loggp_t::L_ns,
                                                  &fsbml_loggp_t::o_s_ns,
                                                  &fsbml_loggp_t::o_r_ns,
                                                  &fsbml_loggp_t::g_ns,
                                                  &fsbml_loggp_t::G_ns_per_byte,
                                                  &fsbml_loggp_t::burst_ns,
                                                  &fsbml_loggp_t::O_s_ns_per_byte,
                                                  &fsbml_loggp_t::O_r_ns_per_byte,
                                                  &fsbml_loggp_t::break_bytes,
                                                  &fsbml_loggp_t::g_above_ns,
                                                  &fsbml_loggp_t::G_above_ns_per_byte};

constexpr double kNineOfTen = 1.645; // standard errors to either side

Samples draw(const Samples &samples, std::mt19937_64 &random)
{
    Samples drawn;
    for (const Samples::Cell &c : samples.cells()) {
        for (std::size_t i = 0; i < c.times_ns.size(); ++i) {
            drawn.add(c.prtt, c.times_ns[random() % c.times_ns.size()]);
        }
    }
    return drawn;
}

} // namespace

void find_interval(fsbml_fit_t &fit, const Samples &samples, const Samples &rough, std::uint32_t small,
                   std::uint64_t seed, const Known &known)
{
    fit.low = fit.high = fsbml_loggp_t{};
    if (!fit.valid) {
        return;
    }
    std::mt19937_64 random(seed);
    std::vector<fsbml_loggp_t> fits;
    for (unsigned i = 0; i < kResamples; ++i) {
        const fsbml_fit_t other = fit_rail(draw(samples, random), draw(rough, random), small, known);
        if (other.valid && (other.params.break_bytes > 0.0) == (fit.params.break_bytes > 0.0)) {
            fits.push_back(other.params);
        }
    }
    if (2 * fits.size() < kResamples) {
        return;
    }
    const std::size_t tail = fits.size() / 20;
    for (double fsbml_loggp_t::*p : kParameters) {
        std::vector<double> values;
        for (const fsbml_loggp_t &f : fits) {
            values.push_back(f.*p);
        }
        fit.low.*p = order_statistic(values, tail);
        fit.high.*p = order_statistic(values, values.size() - 1 - tail);
    }
}

bool Doubt::line_within(double tolerance) const noexcept
{
    return known && G_ns_per_byte <= tolerance * params.G_ns_per_byte && g_ns <= tolerance * small_gap_ns
           && G_above_ns_per_byte <= tolerance * params.G_above_ns_per_byte;
}

bool Doubt::way_within(double tolerance) const noexcept
{
    return known && L_ns <= tolerance * one_way_ns && o_s_ns <= tolerance * one_way_ns;
}

Doubt doubt_of(const Samples &samples, std::uint32_t small, const Known &known)
{
    Doubt d;
    const std::vector<GapPoint> all = gap_points(samples, FSBML_PROBE_THERE);
    const GapLine line =
        gap_line(all, small, LimitSizes(std::begin(known.limit), std::end(known.limit)), false);
    const Samples::Cell *one = samples.find(Prtt{1, 0, small});
    if (!line.pieces.below.valid || nullptr == one || all.front().bytes != small) {
        return d;
    }
    Value send;
    Value take;
    const Value single = value_of(*one);
    const bool sent =
        send_overhead(samples, FSBML_PROBE_THERE, small, all.front().gap_ns, known.timer_ns, send);
    const bool taken = take_overhead(samples, small, take);
    // Of o_r nothing is known but that it is as o_s: then L has the error twice.
    const double overheads = taken ? std::hypot(send.sigma, take.sigma) : 2.0 * send.sigma;
    std::size_t fewest = std::min({line.fewest(), all.front().samples, single.samples});
    fewest = sent ? std::min(fewest, send.samples) : fewest;
    fewest = taken ? std::min(fewest, take.samples) : fewest;
    d.known = sent && fewest >= 2;
    d.params.G_ns_per_byte = line.pieces.below.slope;
    d.params.G_above_ns_per_byte = line.pieces.two ? line.pieces.above.slope : 0.0;
    d.params.g_ns = line.g_ns;
    d.params.o_s_ns = send.ns;
    d.small_gap_ns = std::max(0.0, all.front().gap_ns);
    d.one_way_ns = single.ns / 2.0;
    const double reach = kNineOfTen * few_tell(fewest);
    d.L_ns = reach * std::hypot(single.sigma / 2.0, overheads);
    d.o_s_ns = reach * send.sigma;
    d.g_ns = reach * line.g_error;
    d.G_ns_per_byte = reach * line.G_error;
    d.G_above_ns_per_byte = reach * line.above_error;
    return d;
}

bool tight(const Samples &samples, std::uint32_t small, double tolerance, const Known &known)
{
    const Doubt d = doubt_of(samples, small, known);
    return d.line_within(tolerance) && d.way_within(tolerance);
}

} // namespace fsbml
