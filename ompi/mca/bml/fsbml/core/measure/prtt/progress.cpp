// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/prtt/prtt.hpp"

#include "measure/samples/samples.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

constexpr double kTightG = 0.02;
constexpr double kTightGap = 0.03;
constexpr double kTightGapFrom = 8192.0; // bytes
constexpr double kTightWay = 0.05;
constexpr double kTightWayNs = 2e3;
constexpr double kBends = 0.04;     // worst relative residual of one line, below which nothing breaks
constexpr double kFarBetter = 0.25; // of the one line's squares that two lines leave
constexpr double kWide = 1.2;       // factor between two sizes, within which a break is known well enough
constexpr double kAboveNoise = 3.0; // times what the samples of the size scatter
constexpr double kRises = 1.1;      // gap against that of small messages from which on the size shows
constexpr std::size_t kSides = 2;   // sizes of a line
constexpr double kGrid = 256.0;     // bytes

// The bulk sizes that show more than the processors' time, which is flat.
std::vector<GapPoint> line_gaps(const Samples &samples, std::uint32_t small)
{
    std::vector<GapPoint> points = gap_points(samples, FSBML_PROBE_THERE);
    double flat = 0.0;
    for (const GapPoint &p : points) {
        flat = p.bytes == small ? kRises * p.gap_ns : flat;
    }
    points.erase(std::remove_if(points.begin(), points.end(),
                                [&](const GapPoint &p) {
                                    return p.bytes < kBulkBytes || !(p.gap_ns > std::max(flat, 0.0));
                                }),
                 points.end());
    return points;
}

struct Errors {
    double squares = 0.0; // of the relative residuals
    double worst = 0.0;   // of them
    double noise = 0.0;   // what the samples scatter there
};

// A line through some gaps, each counted by how far off it is for its size.
Errors line_errors(const std::vector<GapPoint> &gaps, std::size_t from, std::size_t to)
{
    double w = 0.0;
    double mean_x = 0.0;
    double mean_y = 0.0;
    for (std::size_t i = from; i < to; ++i) {
        const double weight = 1.0 / (gaps[i].gap_ns * gaps[i].gap_ns);
        w += weight;
        mean_x += weight * gaps[i].bytes;
        mean_y += weight * gaps[i].gap_ns;
    }
    mean_x /= w;
    mean_y /= w;
    double sxx = 0.0;
    double sxy = 0.0;
    for (std::size_t i = from; i < to; ++i) {
        const double weight = 1.0 / (gaps[i].gap_ns * gaps[i].gap_ns);
        sxx += weight * (gaps[i].bytes - mean_x) * (gaps[i].bytes - mean_x);
        sxy += weight * (gaps[i].bytes - mean_x) * (gaps[i].gap_ns - mean_y);
    }
    const double slope = sxx > 0.0 ? sxy / sxx : 0.0;
    Errors e;
    for (std::size_t i = from; i < to; ++i) {
        const double off =
            std::fabs(mean_y + slope * (gaps[i].bytes - mean_x) - gaps[i].gap_ns) / gaps[i].gap_ns;
        e.squares += off * off;
        if (off > e.worst) {
            e.worst = off;
            e.noise = gaps[i].sigma / gaps[i].gap_ns;
        }
    }
    return e;
}

// Between the two neighbours that are farthest apart; 0 if that is no new size.
std::uint32_t middle(const std::vector<GapPoint> &gaps, std::size_t from, std::size_t to)
{
    std::size_t widest = from + 1;
    for (std::size_t i = from + 1; i < to; ++i) {
        widest = gaps[i].bytes / gaps[i - 1].bytes > gaps[widest].bytes / gaps[widest - 1].bytes ? i : widest;
    }
    const double bytes = std::sqrt(gaps[widest].bytes * gaps[widest - 1].bytes);
    const double rounded = std::round(bytes / kGrid) * kGrid;
    return rounded > gaps[widest - 1].bytes && rounded < gaps[widest].bytes
               ? static_cast<std::uint32_t>(rounded)
               : 0;
}

} // namespace

std::uint32_t fewest_samples(const Plan &plan, const Samples &samples)
{
    std::size_t fewest = ~std::uint32_t{0};
    for (const PlannedCell &c : plan.cells) {
        const Samples::Cell *cell = samples.find(c.prtt);
        fewest = std::min(fewest, nullptr != cell ? cell->times_ns.size() : 0);
    }
    return static_cast<std::uint32_t>(fewest);
}

Loose find_loose(const fsbml_fit_t &f, std::uint32_t fewest) noexcept
{
    if (!f.valid || !(f.high.G_ns_per_byte > 0.0) || 0 == fewest) {
        return {true, true};
    }
    const auto within = [&](double fsbml_loggp_t::*p, double room) {
        return (f.high.*p - f.low.*p) / 2.0 <= room;
    };
    const double unsure = 1.0 + 1.0 / fewest;
    const fsbml_loggp_t &p = f.params;
    const double gap = kTightGap * std::max(p.o_s_ns, p.g_ns + p.G_ns_per_byte * kTightGapFrom);
    const double way = std::max(kTightWay * (p.L_ns + p.o_s_ns + p.o_r_ns), kTightWayNs);
    Loose loose;
    loose.line = !within(&fsbml_loggp_t::G_ns_per_byte, kTightG / unsure * p.G_ns_per_byte)
                 || !within(&fsbml_loggp_t::g_ns, gap / unsure);
    if (p.break_bytes > 0.0 && f.high.G_above_ns_per_byte > 0.0) {
        loose.line = loose.line
                     || !within(&fsbml_loggp_t::G_above_ns_per_byte, kTightG / unsure * p.G_above_ns_per_byte)
                     || !within(&fsbml_loggp_t::g_above_ns, kTightGap / unsure * p.g_above_ns);
    }
    loose.way = !within(&fsbml_loggp_t::L_ns, way) || !within(&fsbml_loggp_t::o_s_ns, way)
                || !within(&fsbml_loggp_t::o_r_ns, way);
    return loose;
}

std::uint32_t missing_size(const Samples &samples, std::uint32_t small)
{
    const std::vector<GapPoint> all = line_gaps(samples, small);
    if (all.size() < 2 * kSides) {
        return 0;
    }
    const Errors one = line_errors(all, 0, all.size());
    if (one.worst < kBends || one.worst < kAboveNoise * one.noise) {
        return 0;
    }
    std::size_t split = 0;
    double least = one.squares * kFarBetter;
    for (std::size_t i = kSides; i + kSides <= all.size(); ++i) {
        const double two = line_errors(all, 0, i).squares + line_errors(all, i, all.size()).squares;
        if (two < least) {
            least = two;
            split = i;
        }
    }
    if (0 == split) {
        return 0;
    }
    // A piece has to have three sizes, or it is not taken for one.
    if (split < kLeastPoints) {
        return middle(all, 0, split);
    }
    if (all.size() - split < kLeastPoints) {
        return middle(all, split, all.size());
    }
    return all[split].bytes < kWide * all[split - 1].bytes ? 0 : middle(all, split - 1, split + 1);
}

} // namespace fsbml
