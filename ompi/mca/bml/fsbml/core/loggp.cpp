// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "loggp.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

bool time_valid(double ns) noexcept
{
    return std::isfinite(ns) && ns >= 0.0 && ns <= kMaxTimeNs;
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
           && time_valid(p.burst_ns) && std::isfinite(p.G_ns_per_byte) && p.G_ns_per_byte >= kMinG
           && p.G_ns_per_byte <= kMaxG;
}

double gap_ns(const fsbml_loggp_t &p, double bytes) noexcept
{
    return p.g_ns + p.G_ns_per_byte * (bytes > 1.0 ? bytes - 1.0 : 0.0);
}

// A fragment of q bytes loses at most `loss` on a rail when g + o_s <= loss G (q-1), that is from
// q = 1 + (g + o_s) / (loss G) on. The rail that needs the largest q decides.
std::size_t quantum(const fsbml_loggp_t *params, std::size_t n, double loss, std::size_t min,
                    std::size_t max) noexcept
{
    if (0 == max || min > max || nullptr == params || !(loss > 0.0) || !std::isfinite(loss)) {
        return max; // no model to cut by: as large as the rail takes
    }
    double need = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        if (valid(params[i])) {
            need =
                std::max(need, 1.0 + (params[i].g_ns + params[i].o_s_ns) / (loss * params[i].G_ns_per_byte));
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
