// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/samples/samples.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fsbml
{

namespace
{

constexpr std::size_t kTellNoise =
    3; // samples from which on their scatter is one: below, a break must be a known one
constexpr double kAgree = 2.0; // standard errors between the line's intercept and the small messages' gap
constexpr double kRises = 1.1; // gap against that of small messages from which on the size shows

// The points that the line goes through: those that have about as many samples as the best, of these the bulk
// sizes and what no bucket hides; other small ones too when that makes fewer than three, and any where it
// makes fewer than the two that a line needs.
std::vector<GapPoint> line_points(const std::vector<GapPoint> &all, double small)
{
    std::size_t most = 0;
    for (const GapPoint &p : all) {
        most = p.bytes > small ? std::max(most, p.samples) : most;
    }
    for (const double least : {static_cast<double>(kBulkBytes), small + 1.0, 0.0}) {
        std::vector<GapPoint> chosen;
        std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [&](const GapPoint &p) {
            return (p.bytes >= least || (p.outruns && p.bytes > small)) && 2 * p.samples >= most;
        });
        if (chosen.size() >= 3 || (chosen.size() == 2 && 0.0 == least)) {
            return chosen;
        }
    }
    return all;
}

// Sizes that take no longer than the small messages say nothing of g and G: there it is o that shows
// (equation 3.2.2.2: max(o, g + G (s-1))). They would bend the line, or look like a piece of their own.
void drop_flat(std::vector<GapPoint> &points, const GapPoint *small)
{
    if (nullptr == small) {
        return;
    }
    std::vector<GapPoint> rising;
    std::copy_if(points.begin(), points.end(), std::back_inserter(rising),
                 [&](const GapPoint &p) { return p.gap_ns > kRises * small->gap_ns; });
    if (rising.size() >= kLeastPoints) {
        points = std::move(rising);
    }
}

// A point's own sigma is made of a few samples: the middle one of it and its neighbours' is surer. One of far
// smaller messages has no neighbours.
double smooth_sigma(const std::vector<GapPoint> &points, std::size_t i)
{
    const double own = points[i].sigma;
    if (points.size() < 3 || points[i].outruns) {
        return own;
    }
    const double before = 0 == i ? points[2].sigma : points[i - 1].sigma;
    const double after = points.size() - 1 == i ? points[i - 2].sigma : points[i + 1].sigma;
    return std::max(std::min(own, before), std::min(std::max(own, before), after));
}

// With `unlike`, no less than what rails differ from lines by, and so much more than the scatter of a few
// samples says as that may be a chance; without, what it says. A thousandth of a ns at least, as errors are
// divided by.
std::vector<Measured> measured(const std::vector<GapPoint> &points, double unlike)
{
    std::vector<Measured> out;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double doubt = unlike > 0.0 ? few_tell(points[i].samples) : 1.0;
        const double sigma = std::max(doubt * smooth_sigma(points, i), unlike * std::fabs(points[i].gap_ns));
        out.push_back(Measured{points[i].bytes - 1.0, points[i].gap_ns, std::max(sigma, 1e-3)});
    }
    return out;
}

// Of the slope below, by the scatter alone.
double slope_error(const GapLine &line, const GapPoint *small)
{
    std::vector<Measured> below = measured(line.points, 0.0);
    below.resize(line.pieces.split);
    if (line.anchored) {
        below.push_back(Measured{small->bytes - 1.0, small->gap_ns, std::max(small->sigma, 1e-3)});
    }
    return error_of(below).slope;
}

} // namespace

Value value_of(const Samples::Cell &cell)
{
    std::vector<double> times = cell.times_ns;
    Value v;
    v.samples = times.size();
    if (times.empty()) {
        v.ns = median({});
        return v;
    }
    std::sort(times.begin(), times.end());
    const std::size_t rank = (times.size() - 1) / 4;
    for (std::size_t i = 0; i <= rank; ++i) {
        v.ns += times[i] / static_cast<double>(rank + 1);
    }
    if (times.size() >= 2) {
        const double ranks = std::sqrt(static_cast<double>(times.size()) * 0.25 * 0.75);
        const auto reach = static_cast<std::size_t>(std::ceil(ranks));
        const std::size_t low = rank > reach ? rank - reach : 0;
        const std::size_t high = std::min(rank + reach, times.size() - 1);
        v.sigma = (times[high] - times[low]) * ranks / static_cast<double>(high - low);
    }
    return v;
}

bool gap_of(const Samples &samples, const Samples::Cell &many, GapPoint &out)
{
    const Samples::Cell *few = samples.find(Prtt{1, 0, many.prtt.bytes, many.prtt.kind});
    for (const Samples::Cell &c : samples.cells()) {
        if (nullptr == few || 1 != few->prtt.packets) {
            const bool alike = c.prtt.kind == many.prtt.kind && c.prtt.bytes == many.prtt.bytes
                               && c.prtt.delay_ns == many.prtt.delay_ns;
            few = alike && (nullptr == few || c.prtt.packets < few->prtt.packets) ? &c : few;
        }
    }
    if (nullptr == few || few->prtt.packets >= many.prtt.packets) {
        return false;
    }
    const Value of_many = value_of(many);
    const Value of_few = value_of(*few);
    const double between = static_cast<double>(many.prtt.packets) - few->prtt.packets;
    out.bytes = many.prtt.bytes;
    out.gap_ns = (of_many.ns - of_few.ns) / between;
    out.sigma = std::hypot(of_many.sigma, of_few.sigma) / between;
    out.samples = std::min(of_many.samples, of_few.samples);
    return true;
}

std::vector<GapPoint> gap_points(const Samples &samples, fsbml_probe_kind_t kind)
{
    struct Best {
        GapPoint point;
        std::size_t samples;
        std::uint32_t packets;
    };
    std::vector<Best> best;
    for (const Samples::Cell &c : samples.cells()) {
        Best b{{}, c.times_ns.size(), c.prtt.packets};
        if (c.prtt.kind != kind || 0 != c.prtt.delay_ns || !gap_of(samples, c, b.point)) {
            continue;
        }
        const auto same = std::find_if(best.begin(), best.end(),
                                       [&](const Best &o) { return o.point.bytes == b.point.bytes; });
        if (best.end() == same) {
            best.push_back(b);
        } else if (b.samples > same->samples || (b.samples == same->samples && b.packets > same->packets)) {
            *same = b;
        }
    }
    std::sort(best.begin(), best.end(),
              [](const Best &a, const Best &b) { return a.point.bytes < b.point.bytes; });
    std::vector<GapPoint> points;
    for (const Best &b : best) {
        points.push_back(b.point);
    }
    return points;
}

std::size_t GapLine::fewest() const noexcept
{
    std::size_t fewest = ~std::size_t{0};
    for (const GapPoint &p : points) {
        fewest = std::min(fewest, p.samples);
    }
    return fewest;
}

double GapLine::at(double bytes) const noexcept
{
    const bool above = pieces.two && bytes - 1.0 >= pieces.break_x;
    return above ? pieces.above.at(bytes - 1.0) : g_ns + pieces.below.slope * (bytes - 1.0);
}

GapLine gap_line(const std::vector<GapPoint> &all, double small, const LimitSizes &limits, bool single)
{
    GapLine line;
    const GapPoint *least = nullptr;
    for (const GapPoint &p : all) {
        least = p.bytes == small ? &p : least;
    }
    line.points = line_points(all, small);
    drop_flat(line.points, least);
    line.measured = measured(line.points, kUnlike);
    std::vector<double> known; // the first size beyond a limit is that of the second piece, and x is one less
    for (const std::uint32_t limit : limits) {
        if (limit > 0) {
            known.push_back(limit);
        }
    }
    if (single) {
        line.pieces.below = theil_sen(line.measured);
        line.pieces.split = line.measured.size();
    } else {
        line.pieces = fit_pieces(line.measured, known, line.fewest() < kTellNoise);
    }
    if (!line.pieces.below.valid) {
        return line;
    }

    // g is the intercept, but never less than what small messages were seen to take. By equation 3.2.2.2 that
    // is max(o, g + G (s-1)): should o be the larger, a sender cannot show a smaller gap anyway, so nothing
    // is lost by charging it (LogGP leaves g < o open; the thesis, 3.2.3, assumes o < g). Where the line is
    // that gap within its error, the small messages tell g far better, and with it G.
    double most = line.points.front().gap_ns; // a small message that takes longer was disturbed
    for (const GapPoint &p : all) {
        most = p.bytes > small ? std::min(most, p.gap_ns) : most;
    }
    line.g_ns = line.pieces.below.intercept;
    if (nullptr != least) {
        const std::vector<Measured> first(
            line.measured.begin(), line.measured.begin() + static_cast<std::ptrdiff_t>(line.pieces.split));
        const double error = std::hypot(error_of(first).intercept, least->sigma);
        const bool outruns = line.points.front().outruns;
        if (!outruns && line.points.front().bytes > small
            && std::fabs(line.pieces.below.at(small - 1.0) - least->gap_ns) <= kAgree * error) {
            std::vector<Measured> with(first);
            const double sigma = std::max({least->sigma, kUnlike * std::fabs(least->gap_ns), 1e-3});
            with.insert(with.begin(), Measured{small - 1.0, least->gap_ns, sigma});
            line.pieces.below = theil_sen(with);
            line.g_ns = line.pieces.below.intercept;
            line.anchored = true;
        }
        // Points beside it that no bucket hides tell what a small message takes there; it tells what it takes
        // within the bucket.
        if (!outruns) {
            const double gap = std::min(least->gap_ns, std::max(most, 0.0));
            line.least_ns = std::max(0.0, gap - std::max(0.0, line.pieces.below.slope) * (small - 1.0));
        }
    }
    line.g_ns = std::max({0.0, line.g_ns, line.anchored ? 0.0 : line.least_ns});
    line.G_error = slope_error(line, least);
    return line;
}

} // namespace fsbml
