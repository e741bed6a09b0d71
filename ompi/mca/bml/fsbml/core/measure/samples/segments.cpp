// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/samples/samples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fsbml
{

namespace
{

constexpr double kMostOfOne = 9.0; // squared error of a point in sigmas that counts: wild ones count alike
constexpr double kNormal = 1.4826; // standard deviation by median absolute deviation

// Of the points [first, last), whose errors are `scale` times their sigma.
struct Verdict {
    double cost = 0.0;
    std::size_t near = 0; // points that the line explains
};

Verdict judge(const Line &line, const std::vector<Measured> &points, std::size_t first, std::size_t last,
              double scale)
{
    Verdict v;
    for (std::size_t i = first; i < last; ++i) {
        const double r = (points[i].y - line.at(points[i].x)) / (scale * points[i].sigma);
        v.cost += std::min(r * r, kMostOfOne);
        v.near += r * r < kMostOfOne ? 1 : 0;
    }
    return v;
}

// How much larger than their sigma says the points' errors are: by the middle one of the distances from the
// line between a point's neighbours, which a break spoils twice at most. No less than 1; few points may all
// lie well by chance, so some more of them.
double excess(const std::vector<Measured> &points)
{
    std::vector<double> off;
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
        const Measured &a = points[i - 1];
        const Measured &b = points[i];
        const Measured &c = points[i + 1];
        if (c.x > a.x) {
            const double part = (b.x - a.x) / (c.x - a.x);
            const double between = a.y + part * (c.y - a.y);
            const double sigma = std::hypot(b.sigma, (1.0 - part) * a.sigma, part * c.sigma);
            off.push_back(std::fabs(b.y - between) / sigma);
        }
    }
    if (off.empty()) {
        return 1.0;
    }
    const double few = 1.0 + 2.0 / static_cast<double>(off.size());
    return std::max(1.0, few * kNormal * median(std::move(off)));
}

struct Candidate {
    std::size_t split = 0;
    double limit = -1.0; // x that is known, or below 0
};

// Where a second piece may begin: at the limits that leave points enough on both sides, and before every
// inner point.
std::vector<Candidate> candidates(const std::vector<Measured> &points, const std::vector<double> &limits,
                                  bool known_only)
{
    std::vector<Candidate> all;
    const auto add = [&](std::size_t split, double limit) {
        if (split >= kLeastPoints && points.size() - split >= kLeastPoints) {
            all.push_back(Candidate{split, limit});
        }
    };
    for (const double limit : limits) {
        const auto above =
            std::find_if(points.begin(), points.end(), [&](const Measured &p) { return p.x >= limit; });
        add(static_cast<std::size_t>(above - points.begin()), limit);
    }
    for (std::size_t split = 1; split < points.size() && !known_only; ++split) {
        add(split, -1.0);
    }
    return all;
}

// A line that goes on where the other ends is most likely to do so where they meet.
double break_between(const Line &below, const Line &above, double last_below, double first_above)
{
    const double steeper = above.slope - below.slope;
    const double meet = 0.0 != steeper ? (below.intercept - above.intercept) / steeper : first_above;
    return meet > last_below && meet < first_above ? meet : first_above;
}

// Whether two pieces tell some point noticeably better than the one line does.
bool visible(const Pieces &two, const Line &one, const std::vector<Measured> &points)
{
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double fitted = (i < two.split ? two.below : two.above).at(points[i].x);
        if (std::fabs(one.at(points[i].x) - fitted) > kVisible * std::fabs(fitted)) {
            return true;
        }
    }
    return false;
}

} // namespace

double weighted_median(std::vector<Point> values)
{
    double total = 0.0;
    for (const Point &v : values) {
        total += v.y;
    }
    if (!(total > 0.0)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    std::sort(values.begin(), values.end(), [](const Point &a, const Point &b) { return a.x < b.x; });
    double sum = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        sum += values[i].y;
        if (2.0 * sum == total && i + 1 < values.size()) { // as the plain median of an even number
            return values[i].x + (values[i + 1].x - values[i].x) / 2.0;
        }
        if (2.0 * sum >= total) {
            return values[i].x;
        }
    }
    return values.back().x;
}

Line theil_sen(const std::vector<Measured> &points)
{
    Line line;
    std::vector<Point> slopes;
    slopes.reserve(points.size() * points.size() / 2);
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = i + 1; j < points.size(); ++j) {
            const double dx = points[j].x - points[i].x;
            if (0.0 != dx) {
                const double error = std::hypot(points[i].sigma, points[j].sigma);
                slopes.push_back(Point{(points[j].y - points[i].y) / dx, std::fabs(dx) / error});
            }
        }
    }
    if (slopes.empty()) {
        return line;
    }
    line.slope = weighted_median(std::move(slopes));
    std::vector<Point> intercepts;
    intercepts.reserve(points.size());
    for (const Measured &p : points) {
        intercepts.push_back(Point{p.y - line.slope * p.x, 1.0 / p.sigma});
    }
    line.intercept = weighted_median(std::move(intercepts));
    line.valid = true;
    return line;
}

LineError error_of(const std::vector<Measured> &points)
{
    double w = 0.0;
    double mean = 0.0;
    for (const Measured &p : points) {
        w += 1.0 / (p.sigma * p.sigma);
        mean += p.x / (p.sigma * p.sigma);
    }
    LineError error;
    if (!(w > 0.0)) {
        return error;
    }
    mean /= w;
    double sxx = 0.0;
    for (const Measured &p : points) {
        sxx += (p.x - mean) * (p.x - mean) / (p.sigma * p.sigma);
    }
    if (sxx > 0.0) {
        error.slope = std::sqrt(1.0 / sxx);
        error.intercept = std::sqrt(1.0 / w + mean * mean / sxx);
    }
    return error;
}

Pieces fit_pieces(const std::vector<Measured> &points, const std::vector<double> &limits, bool known_only)
{
    Pieces best;
    best.below = theil_sen(points);
    best.split = points.size();
    if (!best.below.valid) {
        return best;
    }
    const Line one = best.below;
    const double scale = excess(points);
    const double of_one = judge(one, points, 0, points.size(), scale).cost;
    const double per_parameter = std::log(static_cast<double>(points.size()));
    double most = -std::numeric_limits<double>::infinity();
    bool most_known = false;
    for (const Candidate &c : candidates(points, limits, known_only)) {
        const auto middle = points.begin() + static_cast<std::ptrdiff_t>(c.split);
        Pieces p;
        p.two = true;
        p.split = c.split;
        p.below = theil_sen(std::vector<Measured>(points.begin(), middle));
        p.above = theil_sen(std::vector<Measured>(middle, points.end()));
        if (!p.below.valid || !p.above.valid || !(p.below.slope > 0.0) || !(p.above.slope > 0.0)) {
            continue;
        }
        const Verdict below = judge(p.below, points, 0, c.split, scale);
        const Verdict above = judge(p.above, points, c.split, points.size(), scale);
        if (below.near < kLeastPoints || above.near < kLeastPoints) {
            continue; // wild points side by side, not a piece
        }
        const bool known = c.limit >= 0.0;
        p.break_x =
            known ? c.limit : break_between(p.below, p.above, points[c.split - 1].x, points[c.split].x);
        p.gain = of_one - below.cost - above.cost - (known ? 2.0 : 3.0) * per_parameter;
        // The limits come first, and what comes after them must be clearly better.
        if (p.gain > most + (most_known && !known ? kClearGain : 0.0) && visible(p, one, points)) {
            most = p.gain;
            most_known = known;
            if (p.gain > kClearGain) {
                best = p;
            }
        }
        best.gain = std::max(best.gain, p.gain);
    }
    return best;
}

} // namespace fsbml
