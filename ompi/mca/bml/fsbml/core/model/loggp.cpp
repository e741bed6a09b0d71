// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "model/model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fsbml
{

namespace
{

bool time_valid(double ns) noexcept
{
    return std::isfinite(ns) && ns >= 0.0 && ns <= kMaxTimeNs;
}

bool per_byte_valid(double ns) noexcept
{
    return std::isfinite(ns) && ns >= kMinG && ns <= kMaxG;
}

bool overhead_valid(double ns_per_byte) noexcept
{
    return std::isfinite(ns_per_byte) && ns_per_byte >= 0.0 && ns_per_byte <= kMaxO;
}

bool above_valid(const fsbml_loggp_t &p) noexcept
{
    if (0.0 == p.break_bytes) { // what would be above it is of no use, but a number
        return time_valid(p.g_above_ns) && p.G_above_ns_per_byte >= 0.0 && p.G_above_ns_per_byte <= kMaxG;
    }
    return std::isfinite(p.break_bytes) && p.break_bytes >= kMinBreak && p.break_bytes <= kMaxBreak
           && per_byte_valid(p.G_above_ns_per_byte) && time_valid(p.g_above_ns)
           && p.g_above_ns >= kLeastAbove * (p.g_ns + p.G_ns_per_byte * (p.break_bytes - 1.0));
}

// The largest power of two that is not above n (n > 0).
std::size_t power_of_two_below(std::size_t n) noexcept
{
    std::size_t p = 1;
    while (p <= n / 2) {
        p *= 2;
    }
    return p;
}

} // namespace

bool valid(const fsbml_loggp_t &p) noexcept
{
    return time_valid(p.L_ns) && time_valid(p.o_s_ns) && time_valid(p.o_r_ns) && time_valid(p.g_ns)
           && time_valid(p.burst_ns) && per_byte_valid(p.G_ns_per_byte) && overhead_valid(p.O_s_ns_per_byte)
           && overhead_valid(p.O_r_ns_per_byte) && above_valid(p);
}

bool fit_sane(const fsbml_fit_t &f) noexcept
{
    constexpr double most_ratio = 1e6;
    const auto within = [](double value, double most) {
        return value >= 0.0 && value <= most;
    }; // and a number
    const bool members = std::all_of(std::begin(kMembers), std::end(kMembers), [&](double fsbml_loggp_t::*m) {
        return within(f.params.*m, kMaxTimeNs) && within(f.back.*m, kMaxTimeNs);
    });
    return members && within(f.duplex, most_ratio) && within(f.together, most_ratio)
           && std::isfinite(f.residual) && f.residual >= 0.0;
}

fsbml_loggp_t slowed(const fsbml_loggp_t &p, double factor) noexcept
{
    fsbml_loggp_t s = p;
    for (const auto member : {&fsbml_loggp_t::g_ns, &fsbml_loggp_t::G_ns_per_byte, &fsbml_loggp_t::burst_ns,
                              &fsbml_loggp_t::g_above_ns, &fsbml_loggp_t::G_above_ns_per_byte}) {
        s.*member *= factor;
    }
    return s;
}

fsbml_loggp_t assumed(double mbps) noexcept
{
    constexpr double usual_L = 10e3, usual_o = 1e3;
    fsbml_loggp_t p{};
    p.L_ns = usual_L;
    p.o_s_ns = p.o_r_ns = p.g_ns = usual_o;
    p.G_ns_per_byte = 8e3 / mbps;
    return p;
}

bool learn(fsbml_fit_t &fit, double gap_ns_per_byte, std::size_t quantum) noexcept
{
    constexpr double same = 1.1;
    const auto bytes = static_cast<double>(quantum);
    const double factor =
        quantum > 0 && gap_ns_per_byte > 0.0 ? gap_ns_per_byte * bytes / gap_ns(fit.params, bytes) : 0.0;
    const fsbml_loggp_t p = slowed(fit.params, factor);
    if (!fit.valid || !(factor > same || factor * same < 1.0) || !valid(p)) {
        return false;
    }
    fit.params = p;
    fit.tight = true;
    return true;
}

double gap_ns(const fsbml_loggp_t &p, double bytes) noexcept
{
    return p.break_bytes > 0.0 && bytes >= p.break_bytes
               ? p.g_above_ns + p.G_above_ns_per_byte * (bytes - p.break_bytes)
               : p.g_ns + p.G_ns_per_byte * (bytes > 1.0 ? bytes - 1.0 : 0.0);
}

namespace
{

// On a line of `fixed` ns and G ns/byte, a fragment of q bytes loses at most `loss` when fixed + o_s <= loss
// G (q-1). What each byte adds to o_s is lost with fragments of any size. Of two lines, the one with the
// lower G is to be used, if its sizes are allowed and a fragment that is as good does not lie below.
double least_fragment(const fsbml_loggp_t &p, double loss, double max) noexcept
{
    const double below = 1.0 + (p.g_ns + p.o_s_ns) / (loss * p.G_ns_per_byte);
    if (0.0 == p.break_bytes || p.break_bytes > max
        || (below < p.break_bytes && p.G_ns_per_byte <= p.G_above_ns_per_byte)) {
        return below;
    }
    const double fixed = p.g_above_ns - p.G_above_ns_per_byte * (p.break_bytes - 1.0);
    return std::max(p.break_bytes, 1.0 + std::max(0.0, fixed + p.o_s_ns) / (loss * p.G_above_ns_per_byte));
}

} // namespace

// The rail that needs the largest fragment decides.
std::size_t quantum(const fsbml_loggp_t *params, std::size_t n, double loss, std::size_t min,
                    std::size_t max) noexcept
{
    if (0 == max || min > max || nullptr == params || !(loss > 0.0) || !std::isfinite(loss)) {
        return max; // no model to cut by: as large as the rail takes
    }
    double need = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        if (valid(params[i])) {
            need = std::max(need, least_fragment(params[i], loss, static_cast<double>(max)));
        }
    }
    if (0.0 == need) {
        return max;
    }
    // Where no power of two lies in [min, max], max is the answer.
    const std::size_t top = power_of_two_below(max) >= min ? power_of_two_below(max) : max;
    std::size_t q = 1;
    while ((static_cast<double>(q) < need || q < min) && q <= top / 2) {
        q *= 2;
    }
    return static_cast<double>(q) < need || q < min ? top : q;
}

} // namespace fsbml
