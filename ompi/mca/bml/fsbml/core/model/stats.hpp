// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The statistics that measuring needs (thesis 3.3): free functions on plain values.
#ifndef FSBML_STATS_HPP
#define FSBML_STATS_HPP

#include <cstddef>
#include <vector>

namespace fsbml
{

struct Point {
    double x;
    double y;
};

struct Line { // y = slope x + intercept
    double slope = 0.0;
    double intercept = 0.0;
    bool valid = false; // false: fewer than two different x

    double at(double x) const noexcept { return slope * x + intercept; }
};

// The k-th smallest (0-based), NaN if there is none.
double order_statistic(std::vector<double> values, std::size_t k);

// The middle value, the mean of the two middle ones if their number is even, NaN of nothing.
double median(std::vector<double> values);

// Least squares in y (thesis 3.3.4).
Line least_squares(const std::vector<Point> &points);

// Theil-Sen: the median of the slopes of all pairs with different x; intercept = median of y - slope x.
// Stands up to 29 % of wild points, where one is enough to ruin least squares.
Line theil_sen(const std::vector<Point> &points);

} // namespace fsbml

#endif
