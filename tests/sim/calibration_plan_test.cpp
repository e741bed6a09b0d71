// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The whole calibration against simulated rails: is the budget kept, is it over quickly, what is probed.
#include "calibration_rails.hpp"

#include "../unit/test.hpp"

using namespace sim;

// The budget is kept for every set and several budgets, with and without bursts.
TEST(CalibrationPlan, KeepsTheBudget)
{
    for (const auto kind : {plain, shaped}) {
        for (const auto &mbit : kSets) {
            for (const double budget : {kBudget, kBudget / 10.0, kBudget * 5.0}) {
                fsbml_calib_config_t config = defaults(7);
                config.budget_ns = static_cast<std::uint64_t>(budget);
                const Result r = calibrate(rails(kind, mbit), config);
                // A first message of 4 KiB on a 1 Mbit/s rail cannot be foreseen by what came before it.
                const double slowest = *std::min_element(mbit.begin(), mbit.end());
                const double blind = slowest < 5.0 && budget < kBudget ? 80e6 : 0.0;
                EXPECT_LE(r.elapsed_ns, budget + blind)
                    << name_of(mbit) << " budget " << budget / 1e6 << " ms";
            }
        }
    }
}

// A quiet machine: the rule ends it. 200 and 20 Mbit/s take 100 ms with the pilot and both directions, G is
// within 2 %, and a rail sends less than a quarter of what the thesis' plan sends (3.4.3): 9 times
// PRTT(1,0,s) and PRTT(16,0,s) of each multiple of 2 KiB up to 64 KiB.
TEST(CalibrationPlan, QuietRailsEndByTheRule)
{
    double thesis = 0.0;
    for (double bytes = 2048.0; bytes <= 65536.0; bytes += 2048.0) {
        thesis += 9.0 * (2.0 + 17.0) * bytes;
    }
    struct Case {
        std::vector<double> mbit;
        double typical_ms; // of all seeds together
        double most_ms;    // of one
    };
    const std::vector<Case> cases = {
        {{200, 20}, 95, 125}, {{20}, 90, 130},   {{100}, 95, 130},  {{400}, 120, 160},
        {{5}, 290, 300},      {{1000}, 85, 160}, {{10000}, 30, 60}, {{100000}, 15, 30},
    };
    for (const Case &c : cases) {
        const auto shapes = rails(shaped, c.mbit);
        double sum = 0.0;
        int off = 0; // the rule asks for nine of ten within 2 %
        for (int seed = 1; seed <= kSeeds; ++seed) {
            const Result r = calibrate(shapes, defaults(static_cast<std::uint64_t>(seed)));
            sum += r.elapsed_ns;
            EXPECT_LE(r.elapsed_ns, c.most_ms * 1e6) << name_of(c.mbit) << " seed " << seed;
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                EXPECT_TRUE(r.fits[i].tight) << name_of(c.mbit) << " rail " << i << " seed " << seed;
                off += error_of(r, shapes, i) > 0.02 ? 1 : 0;
                EXPECT_LE(error_of(r, shapes, i), 0.04)
                    << name_of(c.mbit) << " rail " << i << " seed " << seed;
                EXPECT_LT(r.bytes[i], thesis / 4.0) << name_of(c.mbit) << " rail " << i << " seed " << seed;
                EXPECT_NEAR(r.fits[i].params.L_ns, shapes[i].p.L_ns, 5e3)
                    << name_of(c.mbit) << " seed " << seed;
                EXPECT_NEAR(r.fits[i].params.o_s_ns, shapes[i].p.o_s_ns, 1.5e3)
                    << name_of(c.mbit) << " seed " << seed;
            }
        }
        EXPECT_LE(sum / kSeeds, c.typical_ms * 1e6) << name_of(c.mbit);
        EXPECT_LE(off, kSeeds / 20) << name_of(c.mbit);
    }
}

// A disturbed machine gets more time than a quiet one, at most the budget.
TEST(CalibrationPlan, DisturbedRailsTakeLonger)
{
    auto shapes = rails(shaped, {200, 20});
    double quiet = 0.0;
    double disturbed = 0.0;
    for (int seed = 1; seed <= kSeeds; ++seed) {
        quiet += calibrate(shapes, defaults(static_cast<std::uint64_t>(seed))).elapsed_ns;
    }
    for (Shape &s : shapes) {
        s.noise_ns = 200e3;
    }
    int tight = 0;
    for (int seed = 1; seed <= kSeeds; ++seed) {
        const Result r = calibrate(shapes, defaults(static_cast<std::uint64_t>(seed)));
        EXPECT_LE(r.elapsed_ns, kBudget) << seed;
        disturbed += r.elapsed_ns;
        tight += r.fits[0].tight ? 1 : 0;
    }
    EXPECT_GT(disturbed, 2.0 * quiet);
    EXPECT_LT(tight, kSeeds / 4);
}

// As many rounds as the user wants, and four times as many of what is not tight; one sample is never tight.
TEST(CalibrationPlan, RoundsAreLimited)
{
    for (const std::uint32_t samples : {1U, 2U, 9U}) {
        auto shapes = rails(shaped, {100000});
        shapes[0].noise_ns = 500e3; // never tight
        fsbml_calib_config_t config = defaults();
        config.samples = samples;
        config.budget_ns = 30000000000U;
        const Result r = calibrate(shapes, config);
        EXPECT_FALSE(r.fits[0].tight);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> count; // of (packets, bytes)
        for (const fsbml_probe_t &p : r.probes) {
            if (!p.warm_up && 0 == p.delay_ns && FSBML_PROBE_THERE == p.kind) {
                ++count[{p.packets, p.bytes}];
            }
        }
        EXPECT_GE((count[{16, 65536}]), samples);
        EXPECT_LE((count[{16, 65536}]), 4 * samples);
    }
}

// What is refined is bounded, however the gaps jump about.
TEST(CalibrationPlan, RefinementIsBounded)
{
    Shape s = plain(1000);
    s.segment = 9000.0; // large steps
    s.header = 6000.0;
    for (int seed = 1; seed <= kSeeds; ++seed) {
        const Result r = calibrate({s}, defaults(static_cast<std::uint64_t>(seed)));
        std::map<std::uint32_t, int> sizes;
        for (const fsbml_probe_t &p : r.probes) {
            sizes[p.bytes] += !p.warm_up && FSBML_PROBE_THERE == p.kind ? 1 : 0;
        }
        EXPECT_LE(sizes.size(), 1U + 8U + 3U + 3U) << seed; // small, line, refined, the pilot's
        EXPECT_LE(r.elapsed_ns, kBudget) << seed;
    }
}

// Rounds mix rails and sizes: after the pilot no rail has more than a few dozen probes in a row, and the
// order is that of the seed.
TEST(CalibrationPlan, RoundsAreMixedAndRepeatable)
{
    const auto shapes = rails(plain, {1000, 1000});
    const Result a = calibrate(shapes, defaults(3));
    const Result b = calibrate(shapes, defaults(3));
    const Result c = calibrate(shapes, defaults(4));
    ASSERT_EQ(a.probes.size(), b.probes.size());
    bool same_as_c = a.probes.size() == c.probes.size();
    int switches = 0;
    for (std::size_t i = 0; i < a.probes.size(); ++i) {
        EXPECT_EQ(a.probes[i].rail, b.probes[i].rail);
        EXPECT_EQ(a.probes[i].bytes, b.probes[i].bytes);
        EXPECT_EQ(a.probes[i].packets, b.probes[i].packets);
        EXPECT_EQ(a.probes[i].kind, b.probes[i].kind);
        same_as_c =
            same_as_c && a.probes[i].bytes == c.probes[i].bytes && a.probes[i].rail == c.probes[i].rail;
        switches += i > 0 && a.probes[i].rail != a.probes[i - 1].rail ? 1 : 0;
    }
    EXPECT_FALSE(same_as_c);
    EXPECT_GT(switches, static_cast<int>(a.probes.size()) / 4);
}

// The first probe of every rail is a warm-up and no probe asks for more than the rail or the user allows.
TEST(CalibrationPlan, ProbesStayWithinLimits)
{
    for (const std::uint32_t max : {2U, 100U, 1500U, 4096U, 65480U, 1000000U}) {
        fsbml_calib_config_t config = defaults(5);
        config.packets = 10;
        const auto shapes = rails(plain, {1000, 100});
        const Result r = calibrate(shapes, config, max);
        std::vector<bool> seen(2, false);
        for (const fsbml_probe_t &p : r.probes) {
            EXPECT_EQ(p.warm_up || seen.at(p.rail), true);
            seen[p.rail] = true;
            EXPECT_LE(p.bytes, max);
            EXPECT_GE(p.bytes, 1U);
            EXPECT_LE(p.packets, 10U);
            EXPECT_GE(p.packets, 1U);
        }
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            ASSERT_TRUE(r.fits[i].valid) << max << r.fits[i].reason;
            EXPECT_LT(error_of(r, shapes, i), 0.05) << max;
        }
    }
}
