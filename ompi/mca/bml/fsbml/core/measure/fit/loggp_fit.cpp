// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/fit/fit.hpp"

#include "measure/samples/samples.hpp"
#include "model/model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fsbml
{

namespace
{

constexpr std::size_t kFewSamples = 3; // below this little protects from a disturbed probe
constexpr double kAsOverhead = 1.1;    // gap of small messages against o_s
constexpr double kLinesDiffer = 0.10;  // Theil-Sen against least squares

double residual(const GapLine &line)
{
    std::vector<double> relative;
    for (const GapPoint &p : line.points) {
        const double fitted = line.at(p.bytes);
        if (fitted > 0.0) {
            relative.push_back(std::fabs(p.gap_ns - fitted) / fitted);
        }
    }
    return relative.empty() ? 0.0 : median(std::move(relative));
}

// What the samples are to be evaluated for beside the line itself: nothing but remarks.
void remark_on(fsbml_fit_t &fit, const GapLine &line)
{
    const double G = line.pieces.below.slope;
    std::vector<Point> points;
    for (const GapPoint &p : line.points) {
        points.push_back(Point{p.bytes - 1.0, p.gap_ns});
    }
    const Line squares = least_squares(points);
    if (!line.pieces.two && std::fabs(squares.slope - G) > kLinesDiffer * G) {
        remark(fit, "not one line: G is %.4g ns/B by Theil-Sen, %.4g by least squares", G, squares.slope);
    }
    if (line.fewest() < kFewSamples) {
        remark(fit, "only %zu sample%s of some sizes", line.fewest(), 1 == line.fewest() ? "" : "s");
    }
    if (line.points.back().bytes < kBulkBytes) {
        remark(fit, "largest size measured is %.0f B", line.points.back().bytes);
    }
    if (line.pieces.below.intercept < -kWorthARemark * line.points.front().gap_ns) {
        remark(fit, "g is that of small messages, the line gives %.1f us", line.pieces.below.intercept / 1e3);
    }
}

// A slope that the model can hold: kMinG at least.
double bounded_G(fsbml_fit_t &fit, double slope)
{
    if (slope < kMinG) {
        remark(fit, "G raised from %.2g to %.2g ns/B", slope, kMinG);
    }
    return std::clamp(slope, kMinG, kMaxG);
}

// g and G, of one piece or two. Returns false, with the reason set, when they cannot be had.
bool fit_gaps(fsbml_fit_t &fit, const Samples &samples, const Samples &rough, std::uint32_t small,
              const Known &known, const std::vector<GapPoint> &beyond, GapLine &line)
{
    std::vector<GapPoint> all = gap_points(samples, FSBML_PROBE_THERE);
    if (all.empty() || all.back().bytes <= small) {
        const std::vector<GapPoint> more = gap_points(rough, FSBML_PROBE_THERE);
        all.insert(all.end(), more.begin(), more.end());
    }
    all.insert(all.end(), beyond.begin(), beyond.end());
    std::sort(all.begin(), all.end(), [](const GapPoint &a, const GapPoint &b) { return a.bytes < b.bytes; });
    line = gap_line(all, small, LimitSizes(std::begin(known.limit), std::end(known.limit)), false);
    const Pieces &pieces = line.pieces;
    if (!pieces.below.valid) {
        remark(fit, "%zu size%s measured within the budget, a line needs two", line.points.size(),
               1 == line.points.size() ? "" : "s");
        return false;
    }
    if (!(pieces.below.slope > 0.0) || pieces.below.slope > kMaxG) {
        remark(fit, "no usable G: the line over %zu sizes has the slope %.3g ns/B", line.points.size(),
               pieces.below.slope);
        return false;
    }
    fit.params.G_ns_per_byte = bounded_G(fit, pieces.below.slope);
    fit.params.g_ns = line.g_ns;
    if (pieces.two) {
        fit.params.break_bytes = std::ceil(pieces.break_x) + 1.0;
        fit.params.G_above_ns_per_byte = bounded_G(fit, pieces.above.slope);
        fit.params.g_above_ns = pieces.above.at(fit.params.break_bytes - 1.0);
        const double least =
            kLeastAbove * (fit.params.g_ns + fit.params.G_ns_per_byte * (fit.params.break_bytes - 1.0));
        if (fit.params.g_above_ns < least) { // no protocol makes that much of a difference
            remark(fit, "gap at %.0f B set to %.2f us, the line gives %.2f", fit.params.break_bytes,
                   least / 1e3, fit.params.g_above_ns / 1e3);
            fit.params.g_above_ns = least;
        }
    }
    remark_on(fit, line);
    fit.residual = residual(line);
    return true;
}

// Where small messages take no longer than the sender's overhead, that is what they show (equation 3.2.2.2),
// and g is what the line says: with it as well, large ones would be charged the overhead on top of their
// bytes.
void fit_hidden_gap(fsbml_fit_t &fit, GapLine &line)
{
    const double g = line.pieces.below.intercept;
    if (!line.anchored && g >= 0.0 && g < line.g_ns && line.least_ns <= kAsOverhead * fit.params.o_s_ns) {
        line.g_ns = fit.params.g_ns = g;
    }
}

// L is what is left of half of PRTT(1,0,small) (equation 3.2.3.1), where the bucket lets such a message pass
// at once without its G (s-1). Less than nothing is nothing.
void fit_latency(fsbml_fit_t &fit, const GapLine &line, double small, double one_way)
{
    fsbml_loggp_t &p = fit.params;
    const double bytes = bytes_time(p, line, small);
    const double L = one_way - p.o_s_ns - p.o_r_ns - (p.burst_ns >= bytes ? 0.0 : bytes);
    p.L_ns = std::max(0.0, L);
    if (L < -kWorthARemark * one_way) {
        remark(fit, "L set to 0, measured %.2f us", L / 1e3);
    }
}

// Half of PRTT(1,0,small), less the clock. No larger message is answered sooner: where one was, the small
// ones were all disturbed.
double one_way_ns(const Samples &samples, const Samples::Cell &one, double timer_ns)
{
    double least = value_of(one).ns;
    for (const Samples::Cell &c : samples.cells()) {
        if (FSBML_PROBE_THERE == c.prtt.kind && 1 == c.prtt.packets && c.prtt.bytes > one.prtt.bytes) {
            least = std::min(least, value_of(c).ns);
        }
    }
    return std::max(0.0, least - timer_ns) / 2.0;
}

// With what is known of small messages beyond the bucket, which is found with the bucket: so what that is
// comes back as well.
fsbml_fit_t fit_with(const std::vector<GapPoint> &beyond, const Samples &samples, const Samples &rough,
                     std::uint32_t small, const Known &known, std::vector<GapPoint> &found)
{
    fsbml_fit_t fit{};
    for (const Samples *set : {&samples, &rough}) {
        for (const Samples::Cell &c : set->cells()) {
            fit.probes += static_cast<std::uint32_t>(c.times_ns.size());
        }
    }
    const Samples::Cell *one = samples.find(Prtt{1, 0, small});
    if (nullptr == one) {
        remark(fit, "nothing measured within the budget");
        return fit;
    }
    GapLine line;
    if (!fit_gaps(fit, samples, rough, small, known, beyond, line)) {
        fit.params = fsbml_loggp_t{};
        return fit;
    }
    const double one_way = one_way_ns(samples, *one, known.timer_ns);
    fit_back(fit, samples, small);
    fit_overheads(fit, samples, small, line, one_way, known.timer_ns);
    fit_back_overhead(fit, samples, small, one_way, known.timer_ns);
    fit_hidden_gap(fit, line);
    fit_burst(fit, samples, line, one_way);
    fit_latency(fit, line, small, one_way);
    found = gaps_beyond_burst(fit, samples, line, small, one_way);
    fit_duplex(fit, samples, small);
    fit.valid = valid(fit.params);
    if (!fit.valid) {
        fit.params = fit.back = fsbml_loggp_t{};
        fit.duplex = 0.0;
        remark(fit, "parameters out of range");
    }
    return fit;
}

} // namespace

fsbml_fit_t fit_rail(const Samples &samples, const Samples &rough, std::uint32_t small, const Known &known)
{
    std::vector<GapPoint> beyond;
    const fsbml_fit_t fit = fit_with({}, samples, rough, small, known, beyond);
    if (!fit.valid || beyond.empty()) {
        return fit;
    }
    const std::vector<GapPoint> with = std::move(beyond);
    const fsbml_fit_t better = fit_with(with, samples, rough, small, known, beyond);
    return better.valid ? better : fit;
}

} // namespace fsbml
