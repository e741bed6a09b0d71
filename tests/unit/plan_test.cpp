// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The ladder of plans: sizes, packets, costs, and that each rung down is cheaper.
#include "measure/prtt/prtt.hpp"

#include "test.hpp"

using namespace fsbml;

namespace
{

using Sizes = std::vector<std::uint32_t>;

constexpr Limits kLimits{16, 2048, 1, 9, 65536, {}};
constexpr Prtt kGap{16, 0, 1};
constexpr Prtt kOverhead{8, 22000, 1};

Plan plan(std::size_t rung, const Limits &limits, double G)
{
    return make_plan(rung, limits, Pace{40e3, 2e3, G}, kGap, kOverhead);
}

std::size_t cells_of(const Plan &p, fsbml_probe_kind_t kind)
{
    return static_cast<std::size_t>(std::count_if(p.cells.begin(), p.cells.end(),
                                                  [&](const PlannedCell &c) { return c.prtt.kind == kind; }));
}

} // namespace

// From 4 KiB on, each size the same factor above the one before, the largest always among them.
TEST(Plan, Sizes)
{
    EXPECT_EQ(line_sizes(2048, 1, 65536, 5), (Sizes{4096, 8192, 16384, 32768, 65536}));
    EXPECT_EQ(line_sizes(2048, 1, 16384, 3), (Sizes{4096, 8192, 16384}));
    EXPECT_EQ(line_sizes(2048, 1, 12288, 3), (Sizes{4096, 7168, 12288}));
    EXPECT_EQ(line_sizes(2048, 1, 65536, 2), (Sizes{4096, 65536}));
    EXPECT_EQ(line_sizes(2048, 1, 65536, 1), (Sizes{65536}));
    EXPECT_EQ(line_sizes(2048, 1, 65480, 3), (Sizes{4096, 16384, 65480}));
    EXPECT_EQ(line_sizes(2048, 1, 6144, 2), (Sizes{4096, 6144}));
}

// Neighbours are as far apart as the user wants, but two there always are.
TEST(Plan, SizesAreApart)
{
    for (const std::uint32_t step : {1U, 1024U, 2048U, 5000U, 20000U}) {
        const Sizes sizes = line_sizes(step, 1, 65536, 12);
        for (std::size_t i = 1; i < sizes.size(); ++i) {
            EXPECT_GE(sizes[i] - sizes[i - 1], step);
        }
        EXPECT_GE(sizes.size(), 2U);
        EXPECT_EQ(sizes.back(), 65536U);
    }
    EXPECT_EQ(line_sizes(60000, 1, 65536, 4), (Sizes{4096, 65536}));
}

// Where the largest probe is small, so are the steps; nothing is at or below the small size.
TEST(Plan, SizesOfSmallRails)
{
    EXPECT_EQ(line_sizes(2048, 1, 4096, 2), (Sizes{2048, 4096}));
    EXPECT_EQ(line_sizes(256, 1, 1000, 2), (Sizes{500, 1000}));
    EXPECT_EQ(line_sizes(2048, 1, 2, 5), (Sizes{2}));
    EXPECT_EQ(line_sizes(2048, 1, 1, 5), Sizes{});
    EXPECT_EQ(line_sizes(2048, 3000, 4096, 5), (Sizes{4096}));
    EXPECT_EQ(line_sizes(2048, 1, 65536, 0), Sizes{});
}

// A known limit has a size on either side, in place of those nearby, and three sizes each make a piece.
TEST(Plan, KnownLimits)
{
    Limits limits = kLimits;
    const Sizes grid = line_sizes(2048, 1, 65536, 8);
    const auto with = [&](std::uint32_t limit) {
        limits.change = {limit};
        Sizes sizes = grid;
        add_changes(sizes, limits);
        return sizes;
    };
    EXPECT_EQ(with(0), grid);
    EXPECT_EQ(with(1500), grid);  // below all bulk sizes
    EXPECT_EQ(with(65536), grid); // nothing is beyond it
    EXPECT_EQ(with(~0U), grid);
    for (const std::uint32_t limit : {5000U, 12288U, 30000U, 60000U}) {
        const Sizes sizes = with(limit);
        const auto above = std::upper_bound(sizes.begin(), sizes.end(), limit);
        EXPECT_EQ(*(above - 1), limit);
        EXPECT_LE(*above, limit + limit / 16);
        EXPECT_GE(above - sizes.begin(), 3) << limit;
        EXPECT_GE(sizes.end() - above, 3) << limit;
        EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
        EXPECT_EQ(std::adjacent_find(sizes.begin(), sizes.end()), sizes.end());
        EXPECT_LE(sizes.size(), grid.size() + 3);
    }
    limits.change = {12288, 12288, 30000, 0};
    Sizes sizes = grid;
    add_changes(sizes, limits);
    EXPECT_EQ(std::adjacent_find(sizes.begin(), sizes.end()), sizes.end());
    Sizes few{4096, 8192, 16384};
    add_changes(few, limits);
    EXPECT_EQ(few, (Sizes{4096, 8192, 16384}));
}

// Where small sizes show nothing but the processors' time, most sizes are above.
TEST(Plan, SizesWhereBytesShow)
{
    const Plan fast = plan(0, kLimits, 0.08); // 2 us are 25000 bytes
    EXPECT_EQ(std::count_if(fast.sizes.begin(), fast.sizes.end(), [](std::uint32_t s) { return s > 25000; }),
              6);
    EXPECT_EQ(fast.sizes.front(), 4096U);
    EXPECT_EQ(fast.sizes.back(), 65536U);
    EXPECT_EQ(plan(0, kLimits, 0.8).sizes, line_sizes(2048, 1, 65536, 8));
}

// Small messages that empty a bucket of 4 KiB, though it fills while the processor is busy: of each plan with
// more than a sample, unless so many or so large ones are not allowed.
TEST(Plan, SmallMessagesBeyondTheBucket)
{
    const auto small_cells = [](const Plan &p) {
        std::vector<Prtt> cells;
        for (const PlannedCell &c : p.cells) {
            if (FSBML_PROBE_THERE == c.prtt.kind && 0 == c.prtt.delay_ns && c.prtt.bytes > 1
                && c.prtt.bytes < 4096) {
                cells.push_back(c.prtt);
            }
        }
        return cells;
    };
    for (const double G : {8.0, 40.0, 400.0, 1600.0}) {
        for (std::size_t rung = 0; rung < rungs(); ++rung) {
            const Plan p = plan(rung, kLimits, G);
            const std::vector<Prtt> cells = small_cells(p);
            ASSERT_EQ(cells.size(), p.samples > 1 ? 1U : 0U) << rung << " G " << G;
            for (const Prtt &c : cells) {
                EXPECT_EQ(c.packets, 16U);
                EXPECT_GT(c.packets * (c.bytes + 66.0 - 2e3 / G), 4096.0) << G;
                EXPECT_LT(c.packets * (c.bytes + 66.0 - 2e3 / G), 1.3 * 4096.0) << G;
            }
        }
    }
    EXPECT_TRUE(small_cells(plan(0, kLimits, 0.8)).empty()) << "only large messages do";
    Limits few = kLimits;
    few.packets = 2;
    EXPECT_TRUE(small_cells(plan(0, few, 8.0)).empty());
    few = kLimits;
    few.max_bytes = 300;
    for (const Prtt &c : small_cells(plan(0, few, 40.0))) {
        EXPECT_LE(c.bytes, 300U);
    }
}

// Few large packets, many small ones.
TEST(Plan, Packets)
{
    const Pace slow{40e3, 2e3, 400.0};
    EXPECT_EQ(packets_for(slow, 4096, 16), 2U);
    EXPECT_EQ(packets_for(slow, 1, 16), 16U);
    const Pace fast{40e3, 2e3, 8.0};
    EXPECT_EQ(packets_for(fast, 4096, 16), 16U);
    EXPECT_EQ(packets_for(fast, 4096, 4), 4U);
    EXPECT_GT(packets_for(fast, 8192, 16), packets_for(fast, 65536, 16));
    EXPECT_EQ(packets_for(fast, 1000000, 16), 2U);
}

// PRTT(n,d,s): n messages there, one back; BACK the other way round; TAKE waits once; BOTH at the worst one
// way after the other.
TEST(Plan, PredictionFollowsTheFormula)
{
    const Pace pace{40e3, 2e3, 10.0};
    EXPECT_DOUBLE_EQ(predict_ns(pace, {1, 0, 1000}), 40e3 + 2 * 1000 * 10.0);
    EXPECT_DOUBLE_EQ(predict_ns(pace, {16, 0, 1000}), 40e3 + 15 * 2e3 + 17 * 1000 * 10.0);
    EXPECT_DOUBLE_EQ(predict_ns(pace, {2, 5000, 1}), 40e3 + 7e3 + 3 * 10.0);
    EXPECT_DOUBLE_EQ(predict_ns(pace, {4, 0, 1000, FSBML_PROBE_BACK}), 40e3 + 3 * 2e3 + 4 * 1000 * 10.0);
    EXPECT_DOUBLE_EQ(predict_ns(pace, {4, 90000, 1000, FSBML_PROBE_TAKE}), 40e3 + 90e3 + 4 * 2e3);
    EXPECT_DOUBLE_EQ(predict_ns(pace, {4, 0, 1000, FSBML_PROBE_BOTH}), 40e3 + 3 * 2e3 + 8 * 1000 * 10.0);
}

// The top rung: all kinds, three samples, up to the largest size; both directions at two sizes.
// What comes back has that direction's pace.
TEST(Plan, PredictionOfSlowerAnswers)
{
    const Pace pace{40e3, 2e3, 10.0, 50.0};
    EXPECT_DOUBLE_EQ(predict_ns(pace, {4, 0, 1000}), 40e3 + 3 * 2e3 + 4 * 1000 * 10.0 + 1000 * 50.0);
    EXPECT_DOUBLE_EQ(predict_ns(pace, {4, 0, 1000, FSBML_PROBE_BACK}), 40e3 + 3 * 2e3 + 4 * 1000 * 50.0);
    EXPECT_DOUBLE_EQ(predict_ns(pace, {4, 0, 1000, FSBML_PROBE_BOTH}),
                     40e3 + 3 * 2e3 + 4 * 1000 * (10.0 + 50.0));
}

// With slower answers, every rung of two sizes tells the other direction, and costs what that takes.
TEST(Plan, SlowerAnswers)
{
    const Pace pace{40e3, 2e3, 420.0, 1690.0};
    int added = 0;
    for (std::size_t rung = 0; rung < rungs(); ++rung) {
        const Plan alike = plan(rung, kLimits, 420.0);
        const Plan slower = make_plan(rung, kLimits, pace, kGap, kOverhead);
        EXPECT_DOUBLE_EQ(slower.rest_ns, 4096 * 1690.0);
        const auto large = [](const PlannedCell &c) {
            return FSBML_PROBE_BACK == c.prtt.kind && c.prtt.bytes >= 4096;
        };
        const auto back = std::count_if(slower.cells.begin(), slower.cells.end(), large);
        if (slower.sizes.size() >= 2) {
            EXPECT_GE(back, 2) << rung;
            EXPECT_GT(slower.cost_ns, alike.cost_ns) << rung;
        }
        added += slower.cells.size() > alike.cells.size() ? 1 : 0;
    }
    EXPECT_GE(added, 2);
}

TEST(Plan, TopRung)
{
    const Plan top = plan(0, kLimits, 0.8);
    EXPECT_EQ(top.samples, 3U);
    EXPECT_EQ(top.sizes.size(), 8U);
    EXPECT_EQ(cells_of(top, FSBML_PROBE_THERE), 3U + 2U * 8U + 1U);
    EXPECT_EQ(cells_of(top, FSBML_PROBE_BACK), 3U + 2U * 2U);
    EXPECT_EQ(cells_of(top, FSBML_PROBE_TAKE), 4U);
    EXPECT_EQ(cells_of(top, FSBML_PROBE_BOTH), 1U);
}

// A process that waits before it takes messages in waits until all are there, and they fit into a socket's
// buffers.
TEST(Plan, TakenMessagesHaveArrived)
{
    for (const double G : {0.08, 0.8, 8.0, 400.0}) {
        const Pace pace{40e3, 2e3, G};
        const Plan p = make_plan(0, kLimits, pace, kGap, kOverhead);
        std::uint32_t n = 0;
        for (const PlannedCell &c : p.cells) {
            if (FSBML_PROBE_TAKE == c.prtt.kind) {
                ++n;
                EXPECT_GE(c.prtt.delay_ns, 40e3 + c.prtt.packets * (2e3 + G * c.prtt.bytes));
                EXPECT_LE(c.prtt.packets * c.prtt.bytes, 16384U);
            }
        }
        EXPECT_EQ(n, G > 20.0 ? 2U : 4U); // overheads by size do not show on slow rails
    }
}

// Delays are clearly longer than the gap, whatever the size (thesis 3.5.2).
TEST(Plan, DelaysExceedTheGap)
{
    const Pace pace{40e3, 2e3, 0.8};
    for (const PlannedCell &c : make_plan(0, kLimits, pace, kGap, kOverhead).cells) {
        if (0 != c.prtt.delay_ns) {
            EXPECT_GE(c.prtt.delay_ns, 2.0 * (2e3 + 0.8 * c.prtt.bytes)) << c.prtt.bytes;
        }
    }
}

// Each rung costs less than the one above, on slow and on fast rails; the last asks for small messages only.
TEST(Plan, LadderGoesDown)
{
    for (const double G : {0.8, 8.0, 40.0, 400.0, 8000.0}) {
        for (std::size_t rung = 1; rung < rungs(); ++rung) {
            EXPECT_LT(plan(rung, kLimits, G).cost_ns, plan(rung - 1, kLimits, G).cost_ns)
                << rung << " G " << G;
        }
    }
    EXPECT_EQ(plan(rungs() - 1, kLimits, 400.0).cells.size(), 3U);
    EXPECT_EQ(plan(rungs() + 5, kLimits, 400.0).cells.size(), 3U);
    EXPECT_EQ(plan(last_rung_of(2), kLimits, 400.0).samples, 2U);
    EXPECT_EQ(plan(last_rung_of(2) + 1, kLimits, 400.0).samples, 1U);
    EXPECT_EQ(last_rung_of(1), rungs() - 1);
}

// What is only good to know goes first: below some rung there is neither the other direction nor both ways.
TEST(Plan, OtherKindsGoFirst)
{
    const Plan once = plan(last_rung_of(2) + 1, kLimits, 8000.0);
    EXPECT_EQ(cells_of(once, FSBML_PROBE_THERE), once.cells.size());
    EXPECT_GE(once.sizes.size(), 2U);
}

// The user's limits hold on every rung.
TEST(Plan, LimitsHold)
{
    const Limits tight{3, 512, 1, 2, 5000, {}};
    for (std::size_t rung = 0; rung < rungs(); ++rung) {
        const Plan p = plan(rung, tight, 100.0);
        EXPECT_LE(p.samples, 2U);
        for (const PlannedCell &c : p.cells) {
            EXPECT_LE(c.prtt.bytes, 5000U);
            const bool given = c.prtt.packets == kGap.packets || c.prtt.packets == kOverhead.packets;
            EXPECT_TRUE(c.prtt.packets <= 3U || (given && 1 == c.prtt.bytes)) << c.prtt.packets;
            EXPECT_GE(c.times, 1U);
        }
    }
}
