// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "loggp_fit.hpp"

#include "loggp.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace fsbml
{

namespace
{

constexpr std::size_t kFewSamples = 3; // below this little protects from a disturbed probe
constexpr double kWorthARemark = 0.05; // intercept against the smallest size's gap
constexpr double kLinesDiffer = 0.10;  // Theil-Sen against least squares

// Adds a sentence to the reason; what does not fit is cut.
__attribute__((format(printf, 2, 3))) void remark(fsbml_fit_t &fit, const char *format, ...)
{
    char text[FSBML_REASON_MAX];
    std::va_list args;
    va_start(args, format);
    (void) std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const std::size_t used = std::strlen(fit.reason);
    (void) std::snprintf(fit.reason + used, sizeof fit.reason - used, "%s%s", used > 0 ? "; " : "", text);
}

struct GapPoint {
    double bytes;
    double gap_ns;       // (PRTT(n,d,s) - PRTT(1,0,s)) / (n-1)
    std::size_t samples; // of the rarer of the two
};

// The gap of a cell with n > 1 against the single packet of the same size; false if that has not been
// measured.
bool gap_of(const Samples &samples, const Samples::Cell &many, GapPoint &out)
{
    const Samples::Cell *one = samples.find(Prtt{1, 0, many.prtt.bytes});
    if (nullptr == one || many.prtt.packets < 2) {
        return false;
    }
    out.bytes = many.prtt.bytes;
    out.gap_ns = (undisturbed(many.times_ns) - undisturbed(one->times_ns)) / (many.prtt.packets - 1.0);
    out.samples = std::min(many.times_ns.size(), one->times_ns.size());
    return true;
}

// Equation 3.2.3.2, one point a size. Where a size was measured with several n, the one with most samples
// speaks.
std::vector<GapPoint> gap_points(const Samples &samples)
{
    std::vector<const Samples::Cell *> best;
    for (const Samples::Cell &c : samples.cells()) {
        if (c.prtt.packets < 2 || 0 != c.prtt.delay_ns) {
            continue;
        }
        const auto same = std::find_if(best.begin(), best.end(),
                                       [&](const Samples::Cell *b) { return b->prtt.bytes == c.prtt.bytes; });
        if (best.end() == same) {
            best.push_back(&c);
        } else if (c.times_ns.size() > (*same)->times_ns.size()
                   || (c.times_ns.size() == (*same)->times_ns.size()
                       && c.prtt.packets > (*same)->prtt.packets)) {
            *same = &c;
        }
    }
    std::vector<GapPoint> points;
    GapPoint p{};
    for (const Samples::Cell *c : best) {
        if (gap_of(samples, *c, p)) {
            points.push_back(p);
        }
    }
    std::sort(points.begin(), points.end(),
              [](const GapPoint &a, const GapPoint &b) { return a.bytes < b.bytes; });
    return points;
}

// The points that the line goes through: those that have about as many samples as the best, of these the bulk
// sizes; smaller ones too when fewer than three bulk sizes are there.
std::vector<GapPoint> line_points(const std::vector<GapPoint> &all, double small)
{
    std::size_t most = 0;
    for (const GapPoint &p : all) {
        most = p.bytes > small ? std::max(most, p.samples) : most;
    }
    for (const double least : {static_cast<double>(kBulkBytes), small + 1.0, 0.0}) {
        std::vector<GapPoint> chosen;
        std::copy_if(all.begin(), all.end(), std::back_inserter(chosen),
                     [&](const GapPoint &p) { return p.bytes >= least && 2 * p.samples >= most; });
        if (chosen.size() >= 3 || 0.0 == least) {
            return chosen;
        }
    }
    return {};
}

double residual(const Line &line, const std::vector<Point> &points)
{
    std::vector<double> relative;
    for (const Point &p : points) {
        const double fitted = line.at(p.x);
        if (fitted > 0.0) {
            relative.push_back(std::fabs(p.y - fitted) / fitted);
        }
    }
    return relative.empty() ? 0.0 : median(std::move(relative));
}

// g and G. Returns false, with the reason set, when they cannot be had.
bool fit_gaps(fsbml_fit_t &fit, const Samples &samples, const Samples &rough, double small)
{
    std::vector<GapPoint> all = gap_points(samples);
    if (all.empty() || all.back().bytes <= small) {
        const std::vector<GapPoint> more = gap_points(rough);
        all.insert(all.end(), more.begin(), more.end());
    }
    const std::vector<GapPoint> chosen = line_points(all, small);
    std::vector<Point> points;
    std::size_t fewest = ~std::size_t{0};
    for (const GapPoint &p : chosen) {
        points.push_back(Point{p.bytes - 1.0, p.gap_ns});
        fewest = std::min(fewest, p.samples);
    }
    const Line line = theil_sen(points);
    if (!line.valid) {
        remark(fit, "%zu size%s measured within the budget, a line needs two", points.size(),
               1 == points.size() ? "" : "s");
        return false;
    }
    if (!(line.slope > 0.0) || line.slope > kMaxG) {
        remark(fit, "no usable G: the line over %zu sizes has the slope %.3g ns/B", points.size(),
               line.slope);
        return false;
    }
    fit.params.G_ns_per_byte = line.slope;
    if (line.slope < kMinG) {
        fit.params.G_ns_per_byte = kMinG;
        remark(fit, "G raised from %.2g to %.2g ns/B", line.slope, kMinG);
    }
    const Line squares = least_squares(points);
    if (std::fabs(squares.slope - line.slope) > kLinesDiffer * line.slope) {
        remark(fit, "not one line: G is %.4g ns/B by Theil-Sen, %.4g by least squares", line.slope,
               squares.slope);
    }
    if (fewest < kFewSamples) {
        remark(fit, "only %zu sample%s of some sizes", fewest, 1 == fewest ? "" : "s");
    }
    if (chosen.back().bytes < kBulkBytes) {
        remark(fit, "largest size measured is %.0f B", chosen.back().bytes);
    }
    fit.residual = residual(line, points);

    // g is the intercept, but never less than what small messages were seen to take. By equation 3.2.2.2 that
    // is max(o, g + G (s-1)): should o be the larger, a sender cannot show a smaller gap anyway, so nothing
    // is lost by charging it (LogGP leaves g < o open; the thesis, 3.2.3, assumes o < g).
    double least = 0.0;
    for (const GapPoint &p : all) {
        if (p.bytes == small) {
            least = std::max(0.0, p.gap_ns - fit.params.G_ns_per_byte * (small - 1.0));
        }
    }
    fit.params.g_ns = std::max(line.intercept, least);
    if (line.intercept < -kWorthARemark * chosen.front().gap_ns) {
        remark(fit, "g is that of small messages, the line gives %.1f us", line.intercept / 1e3);
    }
    return true;
}

// o, by equation 3.2.3.3. What PRTT(1,0,small) holds bounds it: 2 (o_s + L + o_r) (equation 3.2.2.1) leaves
// no room for more than half of it, and where o_s takes more than a quarter, o_r is only what is left, so
// that L is not negative.
void fit_overhead(fsbml_fit_t &fit, const Samples &samples, const Samples::Cell &one)
{
    const Samples::Cell *delayed = nullptr;
    for (const Samples::Cell &c : samples.cells()) {
        if (0 != c.prtt.delay_ns && c.prtt.bytes == one.prtt.bytes
            && (nullptr == delayed || c.times_ns.size() > delayed->times_ns.size())) {
            delayed = &c;
        }
    }
    GapPoint p{};
    if (nullptr == delayed || !gap_of(samples, *delayed, p)) {
        remark(fit, "o not measured within the budget, taken as 0");
        return;
    }
    const double o = p.gap_ns - static_cast<double>(delayed->prtt.delay_ns);
    const double one_way = undisturbed(one.times_ns) / 2.0;
    fit.params.o_s_ns = std::clamp(o, 0.0, one_way);
    fit.params.o_r_ns = std::min(fit.params.o_s_ns, one_way - fit.params.o_s_ns);
    if (o < 0.0 || o > one_way) {
        remark(fit, "o set to %.2f us, measured %.2f", fit.params.o_s_ns / 1e3, o / 1e3);
    }
}

// How much earlier than G says a single message arrives after a pause: 2 (o_s + L + o_r + G (s-1)) -
// PRTT(1,0,s) over two ways. The least of all sizes, so that what grows with the size (a link that takes
// bytes in faster than it can go on doing) is not taken for a bucket; and none where it is less than a
// message's overheads, which is noise.
void fit_burst(fsbml_fit_t &fit, const Samples &samples, const Samples::Cell &one)
{
    const double base = undisturbed(one.times_ns) / 2.0;
    double least = kMaxTimeNs;
    std::size_t sizes = 0;
    for (const Samples::Cell &c : samples.cells()) {
        if (1 == c.prtt.packets && c.prtt.bytes >= kBulkBytes) {
            const double line = base + fit.params.G_ns_per_byte * (c.prtt.bytes - 1.0);
            least = std::min(least, line - undisturbed(c.times_ns) / 2.0);
            ++sizes;
        }
    }
    fit.params.burst_ns = sizes >= 2 && least > base ? least : 0.0;
}

} // namespace

fsbml_fit_t fit_rail(const Samples &samples, const Samples &rough, std::uint32_t small)
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
    if (!fit_gaps(fit, samples, rough, small)) {
        fit.params = fsbml_loggp_t{};
        return fit;
    }
    fit_overhead(fit, samples, *one);
    // Equation 3.2.3.1 at the small size. A shaper's burst hides its G (s-1): then nothing is left for L.
    const double rest = fit.params.o_s_ns + fit.params.o_r_ns + fit.params.G_ns_per_byte * (small - 1.0);
    fit.params.L_ns = std::max(0.0, undisturbed(one->times_ns) / 2.0 - rest);
    fit_burst(fit, samples, *one);
    fit.valid = valid(fit.params);
    if (!fit.valid) {
        fit.params = fsbml_loggp_t{};
        remark(fit, "parameters out of range");
    }
    return fit;
}

} // namespace fsbml
