// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "flow/flow.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

constexpr std::uint64_t kSamples = 16; // many
constexpr double kClearNs = 10e3;
constexpr double kClear = 0.25; // of the way on the farther of two rails
constexpr double kStill = 0.5;  // of what is clear

double half(std::uint64_t round_trip_ns) noexcept
{
    return static_cast<double>(round_trip_ns) / 2.0;
}

// What the rail adds to L, or takes off; a rail of which nothing is known is as measured.
double beyond_measured(const fsbml_round_trip_t &r) noexcept
{
    const double measured = 0 != r.measured_ns ? half(r.measured_ns) : static_cast<double>(r.L_ns);
    return 0 != r.least_ns && measured > 0.0 ? half(r.least_ns) - measured : 0.0;
}

double extra(const fsbml_round_trip_t &r, double of_nearest) noexcept
{
    const double found = r.samples >= kSamples ? beyond_measured(r) - of_nearest : 0.0;
    const double clear = std::max(kClearNs, kClear * half(r.least_ns));
    const auto counts = static_cast<double>(r.counts_ns);
    if (found < (counts > 0.0 ? kStill * clear : clear)) {
        return 0.0;
    }
    return counts > 0.0 && std::fabs(found - counts) < kStill * clear ? counts : found;
}

} // namespace

std::uint32_t distance(std::uint32_t rails, const fsbml_round_trip_t *rail, double *extra_ns) noexcept
{
    double nearest = 0.0;
    for (std::uint32_t left = rails; 0 != left; left &= left - 1) {
        const double beyond = beyond_measured(rail[__builtin_ctz(left)]);
        nearest = left == rails ? beyond : std::min(nearest, beyond);
    }
    std::uint32_t changed = 0;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        const bool has = 0 != (rails >> i & 1);
        extra_ns[i] = has ? extra(rail[i], nearest) : 0.0;
        changed |= has && static_cast<std::uint64_t>(extra_ns[i]) != rail[i].counts_ns ? UINT32_C(1) << i : 0;
    }
    return changed;
}

} // namespace fsbml
