// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Decisions for a destination with extra latency on some of its rails.
#include "model/model.hpp"
#include "sched.hpp"

#include "test.hpp"

#include <atomic>
#include <thread>

namespace
{

constexpr fsbml_loggp_t kFast = loggp(20e3, 2e3, 2e3, 3e3, 40.0);  // 200 Mbit/s
constexpr fsbml_loggp_t kHalf = loggp(20e3, 2e3, 2e3, 3e3, 80.0);  // 100 Mbit/s
constexpr fsbml_loggp_t kSlow = loggp(20e3, 2e3, 2e3, 3e3, 400.0); // 20 Mbit/s

fsbml_far_t far(std::initializer_list<double> extra_ns)
{
    double all[FSBML_MAX_RAILS] = {};
    std::copy(extra_ns.begin(), extra_ns.end(), all);
    fsbml_far_t f;
    fsbml_far_set(&f, all);
    return f;
}

} // namespace

// 100 us farther: what takes 40 ns a byte less wins from 2401 bytes on, as it is the one that is preferred by
// 4 us.
TEST(Far, SmallMessagesTakeTheNearerRail)
{
    const SchedPtr s = make_sched({kFast, kHalf});
    const fsbml_far_t f = far({100e3});
    EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 1, 3), 0);
    EXPECT_EQ(fsbml_sched_choose_far(s.get(), 1000, 1, 3, &f), 1);
    EXPECT_EQ(fsbml_sched_choose_far(s.get(), 1000, 2399, 3, &f), 1);
    EXPECT_EQ(fsbml_sched_choose_far(s.get(), 1000, 2403, 3, &f), 0);
    EXPECT_EQ(fsbml_sched_choose_far(s.get(), 1000, 1, 1, &f), 0) << "the one rail, however far";
    EXPECT_EQ(fsbml_sched_choose_far(s.get(), 1000, 1, 0, &f), -1);
    EXPECT_EQ(fsbml_sched_choose(s.get(), 1000, 1, 3), 0) << "others are as near as before";
}

// Distance and backlog add up: the near rail is taken until its backlog is longer than the way.
TEST(Far, BacklogCountsBesideDistance)
{
    const SchedPtr s = make_sched({kFast, kFast});
    const fsbml_far_t f = far({0.0, 100e3});
    int near = 0;
    while (0 == fsbml_sched_choose_far(s.get(), 1000, 1001, 3, &f)) {
        fsbml_sched_charge(s.get(), 0, 1000, 1001); // 43 us each
        ++near;
        ASSERT_LT(near, 10);
    }
    EXPECT_EQ(near, 3); // 2 us of the first 129 are o
}

// A subset of the rails, and the last ones: each has its own extra.
TEST(Far, EveryRailHasItsOwn)
{
    const SchedPtr s = make_sched(std::vector<fsbml_loggp_t>(32, kFast));
    double extra[FSBML_MAX_RAILS];
    for (std::size_t near = 0; near < 32; ++near) {
        for (std::size_t i = 0; i < 32; ++i) {
            extra[i] = i == near ? 0.0 : 50e3 + static_cast<double>(i);
        }
        fsbml_far_t f;
        fsbml_far_set(&f, extra);
        EXPECT_EQ(fsbml_sched_choose_far(s.get(), 1000, 100, ~0U, &f), static_cast<int>(near));
        EXPECT_EQ(fsbml_sched_choose_far(s.get(), 1000, 100, ~(1U << near), &f), 0 == near ? 1 : 0);
    }
}

// The thesis' rule has L in it as well; the two others know no times.
TEST(Far, OnlyForRulesThatKnowLatency)
{
    const fsbml_far_t f = far({100e3});
    for (const auto policy : {FSBML_POLICY_ARRIVAL, FSBML_POLICY_THESIS}) {
        EXPECT_EQ(fsbml_sched_choose_far(make_sched({kFast, kSlow}, policy).get(), 1000, 1, 3, &f), 1);
    }
    for (const auto policy : {FSBML_POLICY_ROUNDROBIN, FSBML_POLICY_SINGLE}) {
        EXPECT_EQ(fsbml_sched_choose_far(make_sched({kFast, kSlow}, policy).get(), 1000, 1, 3, &f), 0);
    }
}

// With nothing added, every decision is choose()'s: models of one and two pieces, all policies, sizes, masks,
// with rails that have no model.
TEST(Far, NothingAddedChangesNothing)
{
    const std::uint64_t seed = 2718;
    std::mt19937_64 random(seed);
    const auto log_uniform = [&](double low, double high) {
        return low * std::pow(high / low, std::uniform_real_distribution<double>(0.0, 1.0)(random));
    };
    const fsbml_far_t none = far({});
    for (int run = 0; run < 300; ++run) {
        const std::size_t n = 1 + random() % 32;
        const SchedPtr s(fsbml_sched_create(n, static_cast<fsbml_policy_t>(run % 4)));
        for (std::size_t i = 0; i < n; ++i) {
            const double o = log_uniform(100.0, 1e5);
            fsbml_loggp_t p =
                loggp(log_uniform(100.0, 1e6), o, o, log_uniform(100.0, 1e5), log_uniform(0.01, 1e4));
            if (0 == random() % 3) {
                p = broken(p, 4096, p.g_ns + p.G_ns_per_byte * 5000.0, p.G_ns_per_byte * 1.2);
            }
            if (0 != random() % 8) {
                ASSERT_EQ(fsbml_sched_set_model(s.get(), i, &p), 0);
            }
        }
        std::uint64_t now = 0;
        for (int i = 0; i < 100; ++i) {
            now += random() % 1000000;
            const std::size_t bytes = random() % 100000;
            const auto mask = static_cast<std::uint32_t>(random());
            ASSERT_EQ(fsbml_sched_choose_far(s.get(), now, bytes, mask, &none),
                      fsbml_sched_choose(s.get(), now, bytes, mask))
                << "seed " << seed << " run " << run;
            send_one(s.get(), now, bytes, mask);
        }
    }
}

// The choice is that of models whose L is so much larger, but for near ties, which are settled by the models.
TEST(Far, IsLatency)
{
    const std::uint64_t seed = 1618;
    std::mt19937_64 random(seed);
    for (int run = 0; run < 200; ++run) {
        const std::size_t n = 2 + random() % 7;
        std::vector<fsbml_loggp_t> models(n);
        std::vector<fsbml_loggp_t> farther(n);
        double extra[FSBML_MAX_RAILS] = {};
        for (std::size_t i = 0; i < n; ++i) {
            // 10 us and 10 % apart at least, so that there are no ties
            models[i] = loggp(20e3 * std::pow(1.5, static_cast<double>(i)), 1e3, 1e3, 1e3,
                              1.0 + static_cast<double>(random() % 1000));
            extra[i] = 0 == random() % 2 ? 0.0 : 1e6 * std::pow(1.5, static_cast<double>(i));
            farther[i] = models[i];
            farther[i].L_ns += extra[i];
        }
        fsbml_far_t f;
        fsbml_far_set(&f, extra);
        const SchedPtr a = make_sched(models);
        const SchedPtr b = make_sched(farther);
        for (int i = 0; i < 200; ++i) {
            const std::uint64_t now = 1000 + static_cast<std::uint64_t>(i) * 50000;
            const std::size_t bytes = 1 + random() % 20000;
            const int rail = fsbml_sched_choose_far(a.get(), now, bytes, all_rails(n), &f);
            ASSERT_EQ(rail, fsbml_sched_choose(b.get(), now, bytes, all_rails(n)))
                << "seed " << seed << " run " << run;
            fsbml_sched_charge(a.get(), static_cast<std::size_t>(rail), now, bytes);
            fsbml_sched_charge(b.get(), static_cast<std::size_t>(rail), now, bytes);
        }
    }
}

// What is no number, or less than nothing, is nothing; nothing is more than 17 s.
TEST(Far, Bounds)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    const fsbml_far_t f = far({nan, -5.0, -inf, inf, 1e30, 1e10, 0.5});
    EXPECT_EQ(f.ticks[0], 0U);
    EXPECT_EQ(f.ticks[1], 0U);
    EXPECT_EQ(f.ticks[2], 0U);
    EXPECT_EQ(f.ticks[3], fsbml::kFarMax);
    EXPECT_EQ(f.ticks[4], fsbml::kFarMax);
    EXPECT_EQ(f.ticks[5], 64U * 10000000000U);
    EXPECT_EQ(f.ticks[6], 32U);
    EXPECT_EQ(f.ticks[31], 0U);
}

// The largest extra beside the largest model, a backlog of 13 days, the largest message, years later: nothing
// wraps to something near.
TEST(Far, Saturates)
{
    const std::uint64_t year = 31557600ULL * 1000000000ULL;
    const fsbml_loggp_t worst = loggp(1e12, 1e12, 1e12, 1e12, 1e6);
    const double inf = std::numeric_limits<double>::infinity();
    const fsbml_far_t both = far({inf, inf});
    const fsbml_far_t first = far({inf, 0.0});
    for (const std::uint64_t now : {std::uint64_t{1000}, 7 * year, 9 * year, ~std::uint64_t{0}}) {
        const SchedPtr s = make_sched({worst, kFast});
        fsbml_sched_choose(s.get(), 1, 1, 3); // starts the clock
        for (int i = 0; i < 200; ++i) {
            fsbml_sched_charge(s.get(), 0, now, ~std::size_t{0});
            EXPECT_EQ(fsbml_sched_choose_far(s.get(), now, ~std::size_t{0}, 3, &both), 1);
            EXPECT_EQ(fsbml_sched_choose_far(s.get(), now, 1, 3, &first), 1);
        }
    }
    // 13 days of backlog are more than 17 s, and 17 s more than what is idle.
    const SchedPtr s = make_sched({kFast, kFast});
    EXPECT_EQ(fsbml_sched_choose_far(s.get(), 1000, 1, 3, &first), 1);
    for (int i = 0; i < 2000; ++i) {
        fsbml_sched_charge(s.get(), 1, 1000, ~std::size_t{0});
    }
    ASSERT_GT(fsbml_sched_backlog(s.get(), 1, 1000), 12 * (year / 365));
    EXPECT_EQ(fsbml_sched_choose_far(s.get(), 1000, 1, 3, &first), 0);
}

// Threads with near and far destinations on one scheduler, models replaced meanwhile.
TEST(Far, Threads)
{
    const SchedPtr s = make_sched({kFast, kHalf, kSlow});
    const fsbml_far_t f = far({1e9, 0.0, 1e9});
    std::atomic<bool> stop{false};
    std::atomic<int> bad{0};
    std::thread writer([&] {
        for (unsigned i = 0; !stop.load(); ++i) {
            fsbml_sched_set_model(s.get(), 1, 0 == i % 2 ? &kHalf : &kFast);
        }
    });
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20000; ++i) {
                const auto now = static_cast<std::uint64_t>(i) * 100000;
                const int rail = 0 == t ? send_one(s.get(), now, 512, 7)
                                        : fsbml_sched_choose_far(s.get(), now, 512, 7, &f);
                bad += 0 == t ? rail < 0 || rail > 2 : rail != 1 ? 1 : 0;
            }
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    stop = true;
    writer.join();
    EXPECT_EQ(bad.load(), 0);
}
