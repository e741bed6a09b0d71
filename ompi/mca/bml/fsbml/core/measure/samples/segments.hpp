// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Points with an error on one straight line or on two.
//
// The lines are Theil-Sen's, every pair of points weighted by how well it tells the slope. Whether there are
// two is decided by BIC, with the points' own errors as the scale: the scatter of a PRTT's samples says how
// far off a point may be, while a scale from the residuals would be nothing to go by (a robust line through
// three points goes exactly through two of them, so that of two short pieces most residuals are 0).
#ifndef FSBML_SEGMENTS_HPP
#define FSBML_SEGMENTS_HPP

#include "model/stats.hpp"

#include <cstddef>
#include <vector>

namespace fsbml
{

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

} // namespace fsbml

#endif
