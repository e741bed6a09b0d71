// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The fixed-point arithmetic: error bounds, and that nothing wraps.
#include "model/model.hpp"

#include "test.hpp"

using namespace fsbml;

// The stated bound: below 0.1 % from 1 kB/s to 1 TB/s for every charge of at least 8 ns, against long double.
TEST(Fixed, CostIsWithinATenthOfAPercent)
{
    double worst = 0.0;
    for (double G = kMinG; G <= kMaxG * 1.0000001; G *= std::pow(10.0, 1.0 / 64.0)) {
        const double g_clipped = std::min(G, kMaxG);
        for (std::size_t bytes = 2; bytes <= (std::size_t{1} << 35); bytes = bytes + bytes / 3 + 1) {
            const long double exact =
                static_cast<long double>(g_clipped) * static_cast<long double>(bytes - 1);
            if (exact < 8.0L) {
                continue;
            }
            const Ticks ticks = bytes_cost(gap_from_ns_per_byte(g_clipped), byte_steps(bytes));
            const long double got = static_cast<long double>(ticks) / kTicksPerNs;
            worst = std::max(worst, static_cast<double>(std::fabs(got / exact - 1.0L)));
        }
    }
    EXPECT_LT(worst, 0.001);
}

// For charges of a microsecond on, where rounding to ticks hardly counts, the error is below 1e-5.
TEST(Fixed, LongCostsAreFarBetter)
{
    for (double G = kMinG; G <= kMaxG; G *= 1.37) {
        const auto bytes = static_cast<std::size_t>(std::ceil(1000.0 / G)) + 1;
        const long double exact = static_cast<long double>(G) * static_cast<long double>(bytes - 1);
        const long double got = bytes_cost(gap_from_ns_per_byte(G), byte_steps(bytes));
        EXPECT_LT(std::fabs(got / kTicksPerNs / exact - 1.0L), 1e-5L) << "G " << G;
    }
}

// The representation of G itself is exact to 2^-32 over the whole range.
TEST(Fixed, GapRepresentation)
{
    for (double G = kMinG; G <= kMaxG; G *= 1.01) {
        const long double back = static_cast<long double>(gap_from_ns_per_byte(G)) / (64.0L * 34359738368.0L);
        EXPECT_LE(std::fabs(back / G - 1.0L), std::pow(2.0L, -32) * 1.01L) << "G " << G;
    }
}

// What compares rails is the same but for the last tick.
TEST(Fixed, FloorIsTheSameButForATick)
{
    const std::uint64_t gap = gap_from_ns_per_byte(0.087654321);
    for (std::size_t bytes = 1; bytes < 100000; bytes += 7) {
        const Ticks difference =
            bytes_cost(gap, byte_steps(bytes)) - bytes_cost_floor(gap, byte_steps(bytes));
        EXPECT_LE(difference, 1U);
    }
}

// Empty and one-byte messages have no byte cost; larger than 32 GiB costs as much as 32 GiB, never less.
TEST(Fixed, Sizes)
{
    const std::uint64_t gap = gap_from_ns_per_byte(8.0);
    EXPECT_EQ(byte_steps(0), 0U);
    EXPECT_EQ(byte_steps(1), 0U);
    EXPECT_EQ(bytes_cost(gap, byte_steps(2)), 8U * 64U);
    EXPECT_EQ(bytes_cost(gap, byte_steps(~std::size_t{0})),
              bytes_cost(gap, byte_steps(std::size_t{1} << 35)));
    EXPECT_GT(bytes_cost(gap, byte_steps(~std::size_t{0})),
              bytes_cost(gap, byte_steps(std::size_t{1} << 34)));
}

// The bounds that the hot path's sums rest on.
TEST(Fixed, NothingCanWrap)
{
    EXPECT_LT(bytes_cost(gap_from_ns_per_byte(kMaxG), byte_steps(~std::size_t{0}))
                  + ticks_from_ns(kMaxTimeNs),
              kCostMax);
    const Ticks latest = kTimeMax + ticks_from_ns(kMaxTimeNs) * 3; // now + o_s + L + o_r
    EXPECT_GT(latest, kTimeMax);
    EXPECT_GT(latest + (kCostMax - 1), latest);
    EXPECT_EQ(ticks_from_ns(~std::uint64_t{0}), kTimeMax);
    EXPECT_EQ(ticks_from_ns(std::uint64_t{1}), 64U);
    const double years = static_cast<double>(ns_from_ticks(kTimeMax)) / 1e9 / 86400.0 / 365.25;
    EXPECT_GT(years, 7.9);
}
