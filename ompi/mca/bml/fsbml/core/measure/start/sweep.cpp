// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/start/start.hpp"

#include "model/model.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace fsbml
{

namespace
{

constexpr double kAsOverhead = 2.5;    // gap of small messages against o_s: so much of it is the processors'
constexpr double kWholeFrame = 1500.0; // a small message takes no longer than a whole frame, ...
constexpr double kSmallNs = 20e3;      // ... and what the processor has to do
constexpr double kConfirms = 0.15;     // of G, ...
constexpr double kAnswers = 1.5;       // ... a factor of the latency, ...
constexpr double kAnswersNs = 20e3;    // ... and so much more: what it differs by from job to job
constexpr double kAlike = 0.25;        // of the gap of a large message
constexpr double kLarge = 65536.0;
constexpr double kLevelG = 0.05;  // what a stream cannot tell apart, ...
constexpr double kLevelWay = 0.1; // ... and small messages cannot
constexpr double kLevelNs = 1000.0;
constexpr double kSlow = 3.0; // gaps of the two directions: a disturbance makes no such difference

double ns(std::uint64_t time) noexcept
{
    return static_cast<double>(time);
}

bool level(double one, double two, double share, double least) noexcept
{
    return std::fabs(one - two) <= std::max(share * std::max(one, two), least);
}

// Gives the members of those fits that are `alike` the first one their mean; then those of the others.
template <class Alike>
void level_members(std::vector<fsbml_fit_t *> fits, const std::vector<double fsbml_loggp_t::*> &members,
                   Alike alike)
{
    while (!fits.empty()) {
        const auto end = std::stable_partition(
            fits.begin() + 1, fits.end(), [&](const fsbml_fit_t *fit) { return alike(*fits.front(), *fit); });
        for (double fsbml_loggp_t::*m : members) {
            double sum = 0.0;
            std::for_each(fits.begin(), end, [&](const fsbml_fit_t *fit) { sum += fit->params.*m; });
            const double mean = sum / static_cast<double>(end - fits.begin());
            std::for_each(fits.begin(), end, [&](fsbml_fit_t *fit) { fit->params.*m = mean; });
        }
        fits.erase(fits.begin(), end);
    }
}

double way(const fsbml_fit_t &fit) noexcept
{
    return fit.params.o_s_ns + fit.params.L_ns + fit.params.o_r_ns;
}

// The other direction's too, where there is one.
void keep_back(fsbml_fit_t *fits, std::size_t n) noexcept
{
    for (std::size_t i = 0; i < n; ++i) {
        fsbml_loggp_t &back = fits[i].back;
        if (back.G_ns_per_byte > 0.0) {
            back.o_s_ns = fits[i].params.o_s_ns;
            back.g_ns = fits[i].params.g_ns;
            if (level(back.G_ns_per_byte, fits[i].params.G_ns_per_byte, kLevelG, 0.0)) {
                back.G_ns_per_byte = fits[i].params.G_ns_per_byte;
            }
        }
    }
}

} // namespace

fsbml_rate_t better(const fsbml_rate_t &one, const fsbml_rate_t &two) noexcept
{
    const double a = one.G_ns_per_byte;
    const double b = two.G_ns_per_byte;
    bool first = one.steady || !(b > 0.0)
                 || (!two.steady && a > 0.0
                     && (one.high_ns_per_byte - one.low_ns_per_byte) * b
                            <= (two.high_ns_per_byte - two.low_ns_per_byte) * a);
    if (0 == one.stamps && 0 == two.stamps && a > 0.0 && b > 0.0) {
        first = a <= b;
    }
    fsbml_rate_t rate = first ? one : two;
    if (std::fabs(a - b) <= kConfirms * std::max(a, b)) {
        rate.burst_bytes = std::max(one.burst_bytes, two.burst_bytes);
    }
    return rate;
}

fsbml_fit_t sweep_fit(const fsbml_sweep_t &seen) noexcept
{
    fsbml_fit_t out{};
    // One that could not be told for disturbances is rougher than the other direction's; of two such ones,
    // the slower one is further off.
    const bool rough = 0 == seen.there.stamps && seen.back.G_ns_per_byte > 0.0
                       && (0 != seen.back.stamps || seen.back.G_ns_per_byte < seen.there.G_ns_per_byte);
    const bool told = seen.there.G_ns_per_byte > 0.0 && !rough;
    const fsbml_rate_t &rate = told ? seen.there : seen.back;
    const double others = std::max(seen.packets, 2U) - 1.0;
    const double one_way = ns(seen.one_ns) / 2.0;
    const auto gap_of = [&](std::uint64_t time) {
        return std::max(0.0, (ns(time) - ns(seen.one_ns)) / others);
    };
    fsbml_loggp_t &p = out.params;
    const double gap = gap_of(seen.row_ns);
    const double delayed = gap_of(seen.delayed_ns);
    p.o_s_ns = std::clamp(delayed - ns(seen.delay_ns), 0.0, one_way / 2.0);
    p.o_r_ns = std::min(ns(seen.take_ns) / std::max(seen.packets, 1U), one_way / 2.0);
    p.L_ns = std::max(0.0, one_way - p.o_s_ns - p.o_r_ns);
    p.G_ns_per_byte = rate.G_ns_per_byte;
    // Where small messages take no longer than the overhead, that is what they show, and no gap (3.2.2.2).
    const double bytes = p.G_ns_per_byte * (seen.bytes - 1.0);
    p.g_ns = gap > kAsOverhead * p.o_s_ns ? std::max(0.0, gap - bytes) : 0.0;
    p.g_ns = std::min(p.g_ns, kWholeFrame * p.G_ns_per_byte + kSmallNs); // more has another reason
    p.burst_ns = std::max(rate.burst_bytes, static_cast<double>(seen.at_once)) * p.G_ns_per_byte;
    // Disturbances make a direction look up to some two times slower, but hardly more.
    const bool slow_back = seen.back.G_ns_per_byte > kSlow * p.G_ns_per_byte;
    if (seen.back.G_ns_per_byte > 0.0 && (0 != seen.back.stamps || 0 == seen.there.stamps || slow_back)) {
        out.back.o_s_ns = p.o_s_ns;
        out.back.g_ns = p.g_ns;
        out.back.G_ns_per_byte = seen.back.G_ns_per_byte;
    }
    const double low = rate.low_ns_per_byte / std::max(rate.G_ns_per_byte, kMinG);
    out.low = out.high = p;
    out.low.G_ns_per_byte *= low;
    out.high.G_ns_per_byte = rate.high_ns_per_byte;
    out.residual = (rate.high_ns_per_byte - rate.low_ns_per_byte) / std::max(rate.G_ns_per_byte, kMinG) / 2.0;
    out.tight = seen.there.steady && (seen.back.steady || !(seen.back.G_ns_per_byte > 0.0));
    out.probes = seen.there.stamps + seen.back.stamps;
    out.valid = 0 != seen.one_ns && rate.G_ns_per_byte > 0.0 && valid(p);
    return out.valid ? out : fsbml_fit_t{};
}

void sweep_level(fsbml_fit_t *fits, std::size_t n)
{
    using P = fsbml_loggp_t;
    std::vector<fsbml_fit_t *> valid;
    for (std::size_t i = 0; i < n; ++i) {
        if (fits[i].valid) {
            valid.push_back(&fits[i]);
        }
    }
    level_members(valid, {&P::L_ns, &P::o_s_ns, &P::o_r_ns}, [](const fsbml_fit_t &a, const fsbml_fit_t &b) {
        return level(way(a), way(b), kLevelWay, kLevelNs);
    });
    level_members(valid, {&P::g_ns}, [](const fsbml_fit_t &a, const fsbml_fit_t &b) {
        return level(a.params.g_ns, b.params.g_ns, kLevelWay, kLevelNs);
    });
    level_members(valid, {&P::G_ns_per_byte}, [](const fsbml_fit_t &a, const fsbml_fit_t &b) {
        return level(a.params.G_ns_per_byte, b.params.G_ns_per_byte, kLevelG, 0.0);
    });
    keep_back(fits, n);
}

bool fit_is_like(const fsbml_fit_t &fit, const fsbml_fit_t &other) noexcept
{
    if (!fit.valid || !other.valid) {
        return false;
    }
    const double one = gap_ns(fit.params, kLarge);
    const double two = gap_ns(other.params, kLarge);
    return std::fabs(one - two) <= kAlike * std::max(one, two);
}

bool sweep_confirms(const fsbml_sweep_t &seen, const fsbml_fit_t &fit) noexcept
{
    if (!fit.valid || seen.bytes < 1 || !(seen.there.G_ns_per_byte > 0.0)) {
        return false;
    }
    const double known = fit_alone(fit).params.G_ns_per_byte;
    const double expected = predict_prtt(fit, FSBML_PROBE_THERE, 1.0, 0.0, seen.bytes);
    const double one = ns(seen.one_ns);
    // What disturbs makes a rail look slower and farther, and never better than it is.
    const bool steady = seen.there.steady;
    return expected > 0.0 && one >= expected / kAnswers - kAnswersNs
           && (!steady || one <= expected * kAnswers + kAnswersNs)
           && seen.there.G_ns_per_byte >= (1.0 - kConfirms) * known
           && seen.there.G_ns_per_byte <= (steady ? 1.0 + kConfirms : kSlow) * known;
}

} // namespace fsbml
