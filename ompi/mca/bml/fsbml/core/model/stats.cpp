// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "model/model.hpp"

#include <algorithm>
#include <limits>

namespace fsbml
{

namespace
{

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

} // namespace

double order_statistic(std::vector<double> values, std::size_t k)
{
    if (k >= values.size()) {
        return kNaN;
    }
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(k);
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
}

double median(std::vector<double> values)
{
    if (values.empty()) {
        return kNaN;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 != 0) {
        return *middle;
    }
    // The other middle value is the largest of the lower half.
    const double below = *std::max_element(values.begin(), middle);
    return below + (*middle - below) / 2.0;
}

Line least_squares(const std::vector<Point> &points)
{
    Line line;
    if (points.empty()) {
        return line;
    }
    const auto n = static_cast<double>(points.size());
    double mean_x = 0.0;
    double mean_y = 0.0;
    for (const Point &p : points) {
        mean_x += p.x / n;
        mean_y += p.y / n;
    }
    double sxx = 0.0;
    double sxy = 0.0;
    for (const Point &p : points) {
        sxx += (p.x - mean_x) * (p.x - mean_x);
        sxy += (p.x - mean_x) * (p.y - mean_y);
    }
    if (sxx > 0.0) {
        line.slope = sxy / sxx;
        line.intercept = mean_y - line.slope * mean_x;
        line.valid = true;
    }
    return line;
}

Line theil_sen(const std::vector<Point> &points)
{
    Line line;
    std::vector<double> slopes;
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = i + 1; j < points.size(); ++j) {
            if (points[i].x != points[j].x) {
                slopes.push_back((points[j].y - points[i].y) / (points[j].x - points[i].x));
            }
        }
    }
    if (slopes.empty()) {
        return line;
    }
    line.slope = median(std::move(slopes));
    std::vector<double> intercepts;
    intercepts.reserve(points.size());
    for (const Point &p : points) {
        intercepts.push_back(p.y - line.slope * p.x);
    }
    line.intercept = median(std::move(intercepts));
    line.valid = true;
    return line;
}

} // namespace fsbml
