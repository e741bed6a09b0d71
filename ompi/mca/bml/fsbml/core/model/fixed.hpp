// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Fixed-point time and per-byte gap: the scheduler's arithmetic.
//
// Time is counted in ticks of 1/64 ns in 64 bits. A per-byte gap is ticks per byte with 35 fraction bits
// (Q29.35): one constant shift serves every rail, and the range that is allowed, 1 TB/s (0.064 ticks/B = 2^31
// units) to 1 kB/s (6.4e7 ticks/B < 2^61 units), is held with a relative error of at most 2^-32 from
// rounding.
//
// Nothing wraps, by bounds instead of checks: a message's cost stays below 2^61, L + o_r + o_s below 2^48,
// and the clock stops at kTimeMax = 2^64 - 2^61 - 2^48 (8.0 years), so that every sum of the hot path fits 64
// bits. After that every rail counts as idle and the choice is that of the model alone.
#ifndef FSBML_FIXED_HPP
#define FSBML_FIXED_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace fsbml
{

using Ticks = std::uint64_t;
__extension__ using Wide = unsigned __int128;

// The bounds are never reached in practice: as predicted branches they cost the hot path no latency.
constexpr bool likely(bool condition) noexcept
{
    return __builtin_expect_with_probability(condition, 1, 1.0) != 0;
}

constexpr unsigned kTickShift = 6; // 64 ticks a nanosecond
constexpr Ticks kTicksPerNs = Ticks{1} << kTickShift;
constexpr unsigned kGapFraction = 35; // fraction bits of a per-byte gap
constexpr std::uint64_t kStepsMax =
    (std::uint64_t{1} << kGapFraction) - 1; // 32 GiB; larger messages cost the same
constexpr Ticks kCostMax = Ticks{1} << 61;  // no message costs as much
constexpr Ticks kTimeMax = ~Ticks{0} - kCostMax - (Ticks{1} << 48) + 1;
// No rail to a destination is farther than its model by more: 17 s. Keys, which are arrivals less `now`, stay
// below 2^63.
constexpr Ticks kFarMax = Ticks{1} << 40;

constexpr Ticks ticks_from_ns(std::uint64_t ns) noexcept
{
    return likely(ns < (kTimeMax >> kTickShift)) ? ns << kTickShift : kTimeMax;
}

constexpr std::uint64_t ns_from_ticks(Ticks t) noexcept
{
    return t >> kTickShift;
}

// To the nearest tick. The caller has checked that ns is finite, not negative and below 2^57.
inline Ticks ticks_from_ns(double ns) noexcept
{
    return static_cast<Ticks>(std::llround(ns * static_cast<double>(kTicksPerNs)));
}

// What is farther than the model says; not a number is not farther.
inline Ticks far_ticks(double ns) noexcept
{
    constexpr auto most = static_cast<double>(kFarMax / kTicksPerNs);
    return !(ns > 0.0) ? 0 : ns < most ? ticks_from_ns(ns) : kFarMax;
}

// ns/byte to Q29.35. The caller has checked the range (loggp.hpp).
inline std::uint64_t gap_from_ns_per_byte(double ns_per_byte) noexcept
{
    constexpr double unit =
        static_cast<double>(kTicksPerNs) * static_cast<double>(std::uint64_t{1} << kGapFraction);
    return static_cast<std::uint64_t>(std::llround(ns_per_byte * unit));
}

// A message's size as the hot path takes it: s-1 (an empty message costs what one of a byte does), shifted so
// that the product's high word is the cost.
constexpr std::uint64_t byte_steps(std::size_t bytes) noexcept
{
    const std::uint64_t steps = bytes - 1; // of none: the largest number
    return (likely(steps < kStepsMax) ? steps : bytes != 0 ? kStepsMax : 0) << (64 - kGapFraction);
}

// G (s-1) of byte_steps(s), to the nearest tick: an error below 0.1 % from 8 ns on.
constexpr Ticks bytes_cost(std::uint64_t gap_per_byte, std::uint64_t steps) noexcept
{
    const Wide product = static_cast<Wide>(gap_per_byte) * steps;
    return static_cast<Ticks>(product >> 64) + (static_cast<std::uint64_t>(product) >> 63);
}

// The same rounded down: enough for comparing rails, and two instructions less for each.
constexpr Ticks bytes_cost_floor(std::uint64_t gap_per_byte, std::uint64_t steps) noexcept
{
    return static_cast<Ticks>((static_cast<Wide>(steps) * gap_per_byte) >> 64);
}

} // namespace fsbml

#endif
