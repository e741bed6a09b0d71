// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// The ladder of plans: sizes, costs, and that each rung down is cheaper.
#include "plan.hpp"

#include <gtest/gtest.h>

using namespace fsbml;

namespace
{
constexpr Limits kLimits{16, 2048, 1, 9, 65536};
constexpr Prtt kGap{16, 0, 1};
constexpr Prtt kOverhead{16, 14000, 1};

Plan plan(std::size_t rung, const Limits &limits, double G)
{
    return make_plan(rung, limits, Pace{40e3, 2e3, G}, kGap, kOverhead);
}
} // namespace

// Multiples of the step, evenly spread, the largest always among them, from 4 KiB on.
TEST(Plan, Sizes)
{
    using Sizes = std::vector<std::uint32_t>;
    EXPECT_EQ(line_sizes(2048, 1, 12288, 3), (Sizes{4096, 8192, 12288}));
    EXPECT_EQ(line_sizes(2048, 1, 8192, 16), (Sizes{4096, 6144, 8192}));
    EXPECT_EQ(line_sizes(2048, 1, 65536, 2), (Sizes{4096, 65536}));
    EXPECT_EQ(line_sizes(2048, 1, 65536, 31).size(), 31U);
    EXPECT_EQ(line_sizes(2048, 1, 65536, 1), (Sizes{65536}));
    EXPECT_EQ(line_sizes(2048, 1, 65480, 3).back(), 63488U);
}

// Where the largest probe is small, so are the steps; nothing is at or below the small size.
TEST(Plan, SizesOfSmallRails)
{
    using Sizes = std::vector<std::uint32_t>;
    EXPECT_EQ(line_sizes(2048, 1, 4096, 5), (Sizes{2048, 4096}));
    EXPECT_EQ(line_sizes(2048, 1, 1000, 5), (Sizes{500, 1000}));
    EXPECT_EQ(line_sizes(2048, 1, 2, 5), (Sizes{2}));
    EXPECT_EQ(line_sizes(2048, 1, 1, 5), Sizes{});
    EXPECT_EQ(line_sizes(2048, 3000, 4096, 5), (Sizes{4096}));
    EXPECT_EQ(line_sizes(2048, 1, 65536, 0), Sizes{});
    EXPECT_EQ(line_sizes(1000000, 1, 65536, 4), (Sizes{32768, 65536}));
}

// PRTT(n,d,s): n messages there, one back.
TEST(Plan, PredictionFollowsTheFormula)
{
    const Pace pace{40e3, 2e3, 10.0};
    EXPECT_DOUBLE_EQ(predict_ns(pace, {1, 0, 1000}), 40e3 + 2 * 1000 * 10.0);
    EXPECT_DOUBLE_EQ(predict_ns(pace, {16, 0, 1000}), 40e3 + 15 * 2e3 + 17 * 1000 * 10.0);
    EXPECT_DOUBLE_EQ(predict_ns(pace, {2, 5000, 1}), 40e3 + 7e3 + 3 * 10.0);
}

// The top rung is the thesis' plan: n and the samples that the user wants, up to the largest size.
TEST(Plan, TopRung)
{
    const Plan top = plan(0, kLimits, 0.08);
    EXPECT_EQ(top.packets, 16U);
    EXPECT_EQ(top.samples, 9U);
    EXPECT_EQ(top.largest, 65536U);
    EXPECT_EQ(top.cells.size(), 3U + 2U * 16U);
    EXPECT_EQ(top.rest_ns, 0.0);
}

// Each rung costs less than the one above, on slow and on fast rails; the last asks for small messages only.
TEST(Plan, LadderGoesDown)
{
    for (const double G : {0.08, 8.0, 40.0, 400.0, 8000.0}) {
        for (std::size_t rung = 1; rung < rungs(); ++rung) {
            EXPECT_LT(plan(rung, kLimits, G).cost_ns, plan(rung - 1, kLimits, G).cost_ns)
                << rung << " G " << G;
        }
    }
    EXPECT_EQ(plan(rungs() - 1, kLimits, 400.0).cells.size(), 3U);
    EXPECT_EQ(plan(rungs() + 5, kLimits, 400.0).cells.size(), 3U);
}

// The user's limits hold on every rung.
TEST(Plan, LimitsHold)
{
    const Limits tight{3, 512, 1, 2, 5000};
    for (std::size_t rung = 0; rung < rungs(); ++rung) {
        const Plan p = plan(rung, tight, 100.0);
        EXPECT_LE(p.samples, 2U);
        for (const Prtt &c : p.cells) {
            EXPECT_LE(c.bytes, 5000U);
            EXPECT_TRUE(c.packets <= 3U || c == kGap || c == kOverhead);
        }
    }
}

// Probes of few and small packets start rested; large ones, to which a burst is nothing, do not wait.
TEST(Plan, RestsWhereABurstMatters)
{
    for (std::size_t rung = 0; rung + 1 < rungs(); ++rung) {
        const Plan p = plan(rung, kLimits, 100.0);
        EXPECT_EQ(p.rest_ns > 0.0, p.packets * p.largest < 512U * 1024U) << rung;
    }
}
