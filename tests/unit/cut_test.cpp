// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Messages in pieces: what is cut, where, and that it gains.
#include "sched.hpp"

#include "test.hpp"

#include <algorithm>
#include <numeric>

namespace
{

constexpr fsbml_loggp_t kFast = loggp(20e3, 2e3, 2e3, 3e3, 40.0);  // 200 Mbit/s
constexpr fsbml_loggp_t kHalf = loggp(20e3, 2e3, 2e3, 3e3, 80.0);  // 100 Mbit/s
constexpr fsbml_loggp_t kSlow = loggp(20e3, 2e3, 2e3, 3e3, 400.0); // 20 Mbit/s
constexpr std::uint64_t kNow = 1000;
constexpr std::size_t kMessage = 65536;

struct Cut {
    std::size_t share[FSBML_MAX_RAILS] = {}, pieces = 0;

    std::size_t total() const { return std::accumulate(std::begin(share), std::end(share), std::size_t{0}); }
};

Cut cut(const fsbml_sched_t *s, std::size_t bytes, std::uint32_t rails, const fsbml_far_t *far = nullptr)
{
    Cut c;
    c.pieces = fsbml_sched_cut(s, kNow, bytes, rails, far, c.share);
    return c;
}

// When the last piece arrives, and the whole on the best of the rails.
std::uint64_t ends(const fsbml_sched_t *s, const Cut &c)
{
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        last = 0 != c.share[i] ? std::max(last, fsbml_sched_predict(s, i, kNow, c.share[i])) : last;
    }
    return last;
}
std::uint64_t whole(const fsbml_sched_t *s, std::size_t n, std::size_t bytes)
{
    std::uint64_t best = ~std::uint64_t{0};
    for (std::size_t i = 0; i < n; ++i) {
        best = std::min(best, fsbml_sched_predict(s, i, kNow, bytes));
    }
    return best;
}

} // namespace

TEST(Cut, EqualRailsTakeAHalfEach)
{
    const SchedPtr s = make_sched({kHalf, kHalf});
    const Cut c = cut(s.get(), kMessage, 3);
    ASSERT_EQ(c.pieces, 2U);
    EXPECT_EQ(c.total(), kMessage);
    EXPECT_NEAR(static_cast<double>(c.share[0]), kMessage / 2.0, 1024.0);
}

// By their rates, less what the way takes.
TEST(Cut, UnlikeRailsEndTogether)
{
    for (const std::size_t bytes : {8192U, 16384U, 65536U, 1048576U}) {
        const SchedPtr s = make_sched({kFast, kHalf, kSlow});
        const Cut c = cut(s.get(), bytes, 7);
        ASSERT_GE(c.pieces, 2U) << bytes;
        EXPECT_EQ(c.total(), bytes);
        const std::uint64_t last = ends(s.get(), c);
        for (std::size_t i = 0; i < 3; ++i) {
            if (0 != c.share[i]) {
                EXPECT_NEAR(static_cast<double>(fsbml_sched_predict(s.get(), i, kNow, c.share[i])),
                            static_cast<double>(last), 0.1 * static_cast<double>(last) + 12e3)
                    << bytes << " bytes, rail " << i;
            }
        }
        EXPECT_LT(last, whole(s.get(), 3, bytes));
    }
}

TEST(Cut, ALittleGainIsNone)
{
    const SchedPtr s = make_sched({kFast, kSlow});
    EXPECT_EQ(cut(s.get(), 1024, 3).pieces, 0U);
    EXPECT_EQ(cut(s.get(), 64, 3).pieces, 0U);
    EXPECT_EQ(cut(s.get(), 1, 3).pieces, 0U);
    EXPECT_EQ(cut(s.get(), 0, 3).pieces, 0U);
    EXPECT_EQ(cut(s.get(), kMessage, 3).pieces, 2U) << "a tenth";
    const SchedPtr slower = make_sched({kFast, loggp(20e3, 2e3, 2e3, 3e3, 800.0)});
    EXPECT_EQ(cut(slower.get(), kMessage, 3).pieces, 0U) << "a twentieth";
    EXPECT_EQ(cut(s.get(), 16384, 3).pieces, 2U) << "a tenth, some 50 us";
    EXPECT_EQ(cut(s.get(), 6144, 3).pieces, 0U) << "a tenth, some 20 us";
    const auto behind = [](std::size_t messages, std::size_t bytes) {
        const SchedPtr busy = make_sched({kFast, kSlow});
        for (std::size_t i = 0; i < messages; ++i) {
            fsbml_sched_charge(busy.get(), 0, kNow, bytes);
        }
        return cut(busy.get(), bytes, 3).pieces;
    };
    EXPECT_EQ(behind(1, 6144), 2U) << "what the slow rail does meanwhile is gained as well";
    EXPECT_EQ(behind(2, 4096), 0U);
    EXPECT_EQ(behind(3, 4096), 2U);
    EXPECT_EQ(behind(3, 3072), 0U);
    constexpr fsbml_loggp_t gigabit = loggp(20e3, 2e3, 2e3, 3e3, 8.0);
    EXPECT_EQ(cut(make_sched({gigabit, gigabit}).get(), 6144, 3).pieces, 2U) << "some 20 us, but a quarter";
    EXPECT_EQ(cut(make_sched({gigabit, gigabit}).get(), 4096, 3).pieces, 0U) << "less than that";
}

// What a message waits for anyway does not make a gain smaller; but for a gain of some 50 us a queue is not
// made longer for the processors.
TEST(Cut, BehindAQueueShortMessagesStayWhole)
{
    constexpr fsbml_loggp_t gigabit = loggp(20e3, 2e3, 2e3, 3e3, 8.0);
    const auto behind = [](const fsbml_loggp_t &rail, std::size_t queue, std::size_t bytes) {
        const SchedPtr s = make_sched({rail, rail});
        for (std::size_t i = 0; i < 2; ++i) {
            fsbml_sched_charge(s.get(), i, kNow, queue);
        }
        return cut(s.get(), bytes, 3).pieces;
    };
    EXPECT_EQ(behind(kHalf, 2 * kMessage, kMessage), 2U);
    EXPECT_EQ(behind(kHalf, 64 * kMessage, kMessage), 2U);
    EXPECT_EQ(behind(gigabit, 2 * kMessage, 16384), 2U);
    EXPECT_EQ(behind(gigabit, 2 * kMessage, 8192), 0U);
    EXPECT_EQ(behind(gigabit, 0, 8192), 2U);
}

// A shaper's bucket lets a message pass at the speed of the line, until it is empty; a bucket of two frames
// may have given one away.
TEST(Cut, WhatABucketLetsPassStaysWhole)
{
    const auto two = [](double gap, double bytes) {
        const fsbml_loggp_t rail = loggp(2e3, 1e3, 1e3, 1e3, gap, gap * bytes);
        return make_sched({rail, rail});
    };
    EXPECT_EQ(cut(two(8.0, 17e3).get(), 16384, 3).pieces, 0U);
    EXPECT_EQ(cut(two(8.0, 15e3).get(), 16384, 3).pieces, 2U);
    const SchedPtr emptied = two(8.0, 17e3);
    fsbml_sched_charge(emptied.get(), 0, kNow, 3000);
    fsbml_sched_charge(emptied.get(), 1, kNow, 3000);
    EXPECT_EQ(cut(emptied.get(), 16384, 3).pieces, 2U);
    EXPECT_EQ(cut(two(80.0, 3e3).get(), 2048, 3).pieces, 2U);
    EXPECT_EQ(cut(two(80.0, 8500.0).get(), 2048, 3).pieces, 0U);
}

TEST(Cut, ABusyRailTakesLess)
{
    const SchedPtr s = make_sched({kHalf, kHalf});
    fsbml_sched_charge(s.get(), 1, kNow, kMessage / 4);
    const Cut c = cut(s.get(), kMessage, 3);
    ASSERT_EQ(c.pieces, 2U);
    EXPECT_NEAR(static_cast<double>(c.share[1]), kMessage * 3 / 8.0, 1024.0);
}

TEST(Cut, AFarRailTakesLess)
{
    const SchedPtr s = make_sched({kHalf, kHalf});
    double extra[FSBML_MAX_RAILS] = {0.0, 80.0 * kMessage / 4.0};
    fsbml_far_t f;
    fsbml_far_set(&f, extra);
    const Cut c = cut(s.get(), kMessage, 3, &f);
    ASSERT_EQ(c.pieces, 2U);
    EXPECT_NEAR(static_cast<double>(c.share[1]), kMessage * 3 / 8.0, 1024.0);
}

TEST(Cut, OnlyMeasuredRailsOfTheMaskByArrival)
{
    const SchedPtr s = make_sched({kHalf, kHalf, kHalf});
    EXPECT_EQ(cut(s.get(), kMessage, 1).pieces, 0U);
    EXPECT_EQ(cut(s.get(), kMessage, 0).pieces, 0U);
    const Cut c = cut(s.get(), kMessage, 5);
    EXPECT_EQ(c.pieces, 2U);
    EXPECT_EQ(c.share[1], 0U);
    fsbml_sched_doubt(s.get(), 2, FSBML_DOUBT_ALL);
    EXPECT_EQ(cut(s.get(), kMessage, 5).pieces, 0U) << "one of them is a guess";
    fsbml_sched_doubt(s.get(), 2, FSBML_DOUBT_NONE);
    EXPECT_EQ(cut(s.get(), kMessage, 5).pieces, 2U);
    const SchedPtr some(fsbml_sched_create(2, FSBML_POLICY_ARRIVAL));
    EXPECT_EQ(cut(some.get(), kMessage, 3).pieces, 0U);
    ASSERT_EQ(fsbml_sched_set_model(some.get(), 1, &kHalf), 0);
    EXPECT_EQ(cut(some.get(), kMessage, 3).pieces, 0U);
    for (const fsbml_policy_t p : {FSBML_POLICY_THESIS, FSBML_POLICY_ROUNDROBIN, FSBML_POLICY_SINGLE}) {
        EXPECT_EQ(cut(make_sched({kHalf, kHalf}, p).get(), kMessage, 3).pieces, 0U);
    }
}

// Whatever the rails: all bytes once, and sooner than the whole.
TEST(Cut, RandomRails)
{
    std::mt19937 random(20261125);
    const auto real = [&](double from, double to) {
        return std::uniform_real_distribution<>(from, to)(random);
    };
    const auto up_to = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n)(random);
    };
    int n_cut = 0;
    for (int round = 0; round < 3000; ++round) {
        const auto n = 2 + up_to(6);
        std::vector<fsbml_loggp_t> models;
        for (std::size_t i = 0; i < n; ++i) {
            models.push_back(loggp(real(1e3, 1e5), real(500, 8e3), real(500, 8e3), real(0, 1e4),
                                   real(0.1, 500.0), up_to(1) == 1 ? real(0, 1e6) : 0.0));
        }
        const SchedPtr s = make_sched(models), idle = make_sched(models);
        for (std::size_t i = 0; i < n; ++i) {
            fsbml_sched_charge(s.get(), i, kNow, up_to(100000));
        }
        const auto bytes = 1 + up_to(200000);
        const Cut c = cut(s.get(), bytes, all_rails(n));
        if (0 != c.pieces) {
            std::uint64_t wait = ~std::uint64_t{0};
            for (std::size_t i = 0; i < n; ++i) {
                wait = std::min(wait, fsbml_sched_predict(s.get(), i, kNow, bytes)
                                          - fsbml_sched_predict(idle.get(), i, kNow, bytes));
            }
            ++n_cut;
            EXPECT_EQ(c.total(), bytes);
            EXPECT_LE((ends(s.get(), c) - wait) * 16, (whole(s.get(), n, bytes) - wait) * 15 + 16);
        }
    }
    EXPECT_GT(n_cut, 300);
}
