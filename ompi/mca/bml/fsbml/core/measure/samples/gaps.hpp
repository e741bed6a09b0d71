// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The gap of messages by their size: from the samples of one direction to points, from these to g and G.
#ifndef FSBML_GAPS_HPP
#define FSBML_GAPS_HPP

#include "measure/samples/samples.hpp"
#include "measure/samples/segments.hpp"

#include <cstdint>
#include <vector>

namespace fsbml
{

// Sizes below this are left out of the line for G when there are enough larger ones: shaped links let the
// first few KiB of a burst pass at line speed, and TCP treats what fits in two segments differently. So there
// is no break below it either. What is known of smaller ones beyond a burst is on the line.
constexpr std::uint32_t kBulkBytes = 4096;

// Real rails are no lines: frames, segments and pages make steps of that share of a time. No point is held to
// be better known than that, be its samples ever so much alike.
constexpr double kUnlike = 0.01;

// What a PRTT's samples come to: the mean of those up to the lower quartile, of up to four the smallest. It
// is as deaf to delayed samples as that quartile (undisturbed()), and a third less uncertain
// (tests/sim/synthetic_test.cpp). And how far off it may be: the ranks around the quartile that one standard
// error covers, read from the samples themselves. Of one sample nothing is known: 0.
struct Value {
    double ns = 0.0;
    double sigma = 0.0;
    std::size_t samples = 0;
};
Value value_of(const Samples::Cell &cell);

// How much larger than sigma an error is to be taken for when so few samples tell it (interval_test.cpp).
constexpr double few_tell(std::size_t samples) noexcept
{
    return 1.0 + 2.0 / static_cast<double>(samples > 0 ? samples : 1);
}

struct GapPoint {
    double bytes;
    double gap_ns; // (PRTT(n,d,s) - PRTT(m,d,s)) / (n-m)
    double sigma;
    std::size_t samples;  // of the rarer of the two
    bool outruns = false; // told by more messages than a bucket holds (bucket.hpp)
};

// Equation 3.2.2.2 of a cell against the single packet of the same size, else against the least n that was
// measured with the same delay; false if there is neither.
bool gap_of(const Samples &samples, const Samples::Cell &many, GapPoint &out);

// Equation 3.2.3.2, one point a size, in order of size. Where a size was measured with several n, the one
// with most samples speaks.
std::vector<GapPoint> gap_points(const Samples &samples, fsbml_probe_kind_t kind);

// Known sizes at which a rail changes its way of working, 0: none.
using LimitSizes = std::vector<std::uint32_t>;

struct GapLine {
    std::vector<GapPoint> points;   // that the line goes through
    std::vector<Measured> measured; // the same, x = bytes - 1, sigma no less than kUnlike makes it
    Pieces pieces;
    bool anchored = false; // small messages take what the line says: they give g
    double g_ns = 0.0;
    double least_ns = 0.0; // g by small messages, 0: not measured
    double G_error = 0.0;  // of the slope below, by the samples' scatter

    std::size_t fewest() const noexcept; // samples of a point
    double at(double bytes) const noexcept;
};

// With less than two sizes pieces.below is not valid, and only the points are there. `all` are in order of
// size, and `small` is that of the PRTTs that give the least gap. With `single` there is one piece in any
// case.
GapLine gap_line(const std::vector<GapPoint> &all, double small, const LimitSizes &limits, bool single);

} // namespace fsbml

#endif
