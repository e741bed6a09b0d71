// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The samples of one rail, and what they come to: one value of each PRTT, gaps by size, one line or two
// through them.
#ifndef FSBML_SAMPLES_HPP
#define FSBML_SAMPLES_HPP

#include "api/fsbml_core.h"
#include "model/model.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fsbml
{

struct Prtt { // n, d, s, which way
    std::uint32_t packets;
    std::uint64_t delay_ns;
    std::uint32_t bytes;
    fsbml_probe_kind_t kind = FSBML_PROBE_THERE;

    bool operator==(const Prtt &o) const noexcept
    {
        return packets == o.packets && delay_ns == o.delay_ns && bytes == o.bytes && kind == o.kind;
    }
};

// What a PRTT is expected to take again: the lower quartile of its samples, of up to four the smallest.
// Transmissions are only ever delayed (thesis 3.3.2), and with a handful of samples on a machine that does
// other things too more than half of them can be: then the median, which the thesis takes, is one of the
// disturbed. (What is fitted is value_of().)
inline double undisturbed(const std::vector<double> &times_ns)
{
    return times_ns.empty() ? median({}) : order_statistic(times_ns, (times_ns.size() - 1) / 4);
}

// The samples of one rail: times by PRTT(n,d,s).
class Samples
{
public:
    struct Cell {
        Prtt prtt;
        std::vector<double> times_ns;
    };

    void add(const Prtt &prtt, double time_ns)
    {
        for (Cell &c : cells_) {
            if (c.prtt == prtt) {
                c.times_ns.push_back(time_ns);
                return;
            }
        }
        cells_.push_back(Cell{prtt, {time_ns}});
    }

    // nullptr if there is no sample of it.
    const Cell *find(const Prtt &prtt) const noexcept
    {
        for (const Cell &c : cells_) {
            if (c.prtt == prtt) {
                return &c;
            }
        }
        return nullptr;
    }

    const std::vector<Cell> &cells() const noexcept { return cells_; }

private:
    std::vector<Cell> cells_; // a few dozen: searched in line
};

// ---- Points with an error on one straight line or on two.
//
// The lines are Theil-Sen's, every pair of points weighted by how well it tells the slope. Whether there are
// two is decided by BIC, with the points' own errors as the scale: the scatter of a PRTT's samples says how
// far off a point may be, while a scale from the residuals would be nothing to go by (a robust line through
// three points goes exactly through two of them, so that of two short pieces most residuals are 0).

struct Measured {
    double x;
    double y;
    double sigma; // standard error of y, above 0
};

constexpr std::size_t kLeastPoints = 3; // of a piece: two give a line whatever they are
// In BIC, beside what the parameters cost. 10 is "very strong" evidence (Kass and Raftery, 1995) where errors
// are known; of three samples they are not, and with 12 one line shows two pieces in less than 1 % of cases.
constexpr double kClearGain = 12.0;
constexpr double kVisible = 0.03; // two pieces tell some point that much more rightly than one does

// Weighted median: the least value up to which half of the weight lies. NaN of nothing.
double weighted_median(std::vector<Point> values); // x: value, y: weight

// Theil-Sen with weights |xj - xi| / sqrt(sigma_i^2 + sigma_j^2), the intercept with 1 / sigma. Where the
// errors grow with y, as those of transmissions do, no point has more than its share of the weight.
Line theil_sen(const std::vector<Measured> &points);

// Standard errors of slope and intercept of a weighted line through such points.
struct LineError {
    double slope = 0.0;
    double intercept = 0.0;
};
LineError error_of(const std::vector<Measured> &points);

struct Pieces {
    Line below; // or the only one
    Line above;
    bool two = false;
    std::size_t split = 0; // number of points below
    double break_x = 0.0;  // where the second one begins
    double gain = 0.0;     // by which two were better than one, or would have been
};

// Fits points that are sorted by x. `limits` are the x at which a second piece is known to begin if there is
// one. With `known_only`, a break is looked for nowhere else. Two pieces are taken if
//   both rise, and each is within 3 sigma of kLeastPoints of its points;
//   some point is told kVisible more rightly;
//   cost(1) - cost(2) > p log(points) + kClearGain, the cost being the sum of min((residual / sigma)^2, 9),
//   and p = 2 for a limit, else 3. Another break than a limit must be that much better again.
// Sigma is taken to be larger than the points say where they scatter more about their neighbours.
Pieces fit_pieces(const std::vector<Measured> &points, const std::vector<double> &limits,
                  bool known_only = false);

// ---- The gap of messages by their size: from the samples of one direction to points, from these to g and
// G.

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
    bool outruns = false; // told by more messages than a bucket holds (gaps_beyond_burst)
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
