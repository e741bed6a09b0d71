// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// The whole calibration against simulated rails: is G right, is the budget kept, is it over quickly.
#include "calibration.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

using namespace sim;

namespace
{

constexpr double kBudget = 300e6;
constexpr int kSeeds = 40;

std::string name_of(const std::vector<double> &mbit)
{
    std::string name;
    for (const double m : mbit) {
        name += std::to_string(static_cast<int>(m)) + " ";
    }
    return name + "Mbit/s";
}

std::vector<Shape> rails(Shape (*kind)(double), const std::vector<double> &mbit)
{
    std::vector<Shape> shapes;
    for (const double m : mbit) {
        shapes.push_back(kind(m));
        if (m > 1000.0) {
            shapes.back().noise_ns = std::min(shapes.back().noise_ns, 500.0);
        }
    }
    return shapes;
}

double error_of(const Result &r, const std::vector<Shape> &shapes, std::size_t i)
{
    return std::fabs(r.fits[i].params.G_ns_per_byte / shapes[i].true_G() - 1.0);
}

const std::vector<std::vector<double>> kSets = {
    {200, 20},          {100, 100},       {20, 20}, {200, 1},           {1},
    {100000, 100000},   {100000, 1},      {1000},   {10000, 1000},      {200, 200, 20, 20},
    {400, 100, 50, 20}, {10, 10, 10, 10}, {5, 5},   {10000, 200, 20, 1}};

} // namespace

// On rails that are LogGP to the letter all parameters come out exactly, whatever plan the budget allowed.
TEST(Calibration, ExactOnExactRails)
{
    for (const auto &mbit : kSets) {
        const auto shapes = rails(plain, mbit);
        const Result r = calibrate(shapes, defaults());
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            ASSERT_TRUE(r.fits[i].valid) << name_of(mbit) << r.fits[i].reason;
            const fsbml_loggp_t &p = r.fits[i].params;
            const fsbml_loggp_t &truth = shapes[i].p;
            EXPECT_NEAR(p.G_ns_per_byte, truth.G_ns_per_byte, 1e-3 * truth.G_ns_per_byte + 1e-3)
                << name_of(mbit);
            EXPECT_NEAR(p.L_ns, truth.L_ns, 20.0) << name_of(mbit);
            EXPECT_EQ(p.burst_ns, 0.0) << name_of(mbit);
            EXPECT_NEAR(p.o_s_ns, truth.o_s_ns, 5.0) << name_of(mbit);
            EXPECT_NEAR(p.g_ns, truth.g_ns, 0.05 * truth.g_ns + 4096.0 * 1e-4 * truth.G_ns_per_byte)
                << name_of(mbit);
        }
    }
}

// Shaped rails with noise: G within 5 % for the sets that a cluster has, from 10 Mbit/s to 100 Gbit/s.
TEST(Calibration, ShapedRailsWithinFivePercent)
{
    for (const auto &mbit : kSets) {
        if (*std::min_element(mbit.begin(), mbit.end()) < 5.0) {
            continue;
        }
        const auto shapes = rails(shaped, mbit);
        for (int seed = 1; seed <= kSeeds; ++seed) {
            const Result r = calibrate(shapes, defaults(static_cast<std::uint64_t>(seed)));
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                ASSERT_TRUE(r.fits[i].valid) << name_of(mbit) << " seed " << seed << r.fits[i].reason;
                EXPECT_LT(error_of(r, shapes, i), 0.05) << name_of(mbit) << " rail " << i << " seed " << seed;
            }
        }
    }
}

// The bucket of a shaped rail is found, on the small side: what is not there must not be counted on.
TEST(Calibration, BurstOfShapedRails)
{
    for (const std::vector<double> &mbit : {std::vector<double>{200, 20}, {100, 100}, {400, 100, 50, 20}}) {
        const auto shapes = rails(shaped, mbit);
        for (int seed = 1; seed <= kSeeds; ++seed) {
            const Result r = calibrate(shapes, defaults(static_cast<std::uint64_t>(seed)));
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                const double bytes = r.fits[i].params.burst_ns / r.fits[i].params.G_ns_per_byte;
                EXPECT_LT(bytes, 1.1 * shapes[i].burst) << name_of(mbit) << " rail " << i << " seed " << seed;
                EXPECT_GT(bytes, 0.5 * shapes[i].burst) << name_of(mbit) << " rail " << i << " seed " << seed;
            }
        }
    }
}

// A shaped rail of 1 Mbit/s, where 64 KiB take half a second: still within 6 % (its plan is a sample or two),
// and its neighbour does not suffer.
TEST(Calibration, OneMegabit)
{
    for (const std::vector<double> &mbit :
         {std::vector<double>{1}, {200, 1}, {100000, 1}, {10000, 200, 20, 1}}) {
        const auto shapes = rails(shaped, mbit);
        for (int seed = 1; seed <= kSeeds; ++seed) {
            const Result r = calibrate(shapes, defaults(static_cast<std::uint64_t>(seed)));
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                ASSERT_TRUE(r.fits[i].valid) << name_of(mbit) << " seed " << seed << r.fits[i].reason;
                EXPECT_LT(error_of(r, shapes, i), 0.06) << name_of(mbit) << " rail " << i << " seed " << seed;
            }
        }
    }
}

// One probe in a hundred is late by 4 ms, a scheduler's time slice: in 95 of 100 runs G is within 5 % all the
// same.
TEST(Calibration, DisturbedProbes)
{
    for (const std::vector<double> &mbit : {std::vector<double>{200, 20}, {100, 100}, {400, 100, 50, 20}}) {
        auto shapes = rails(shaped, mbit);
        for (Shape &s : shapes) {
            s.wild = 0.01;
            s.wild_ns = 4e6;
        }
        int wrong = 0;
        int fits = 0;
        for (int seed = 1; seed <= 100; ++seed) {
            const Result r = calibrate(shapes, defaults(static_cast<std::uint64_t>(seed)));
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                wrong += r.fits[i].valid && error_of(r, shapes, i) < 0.05 ? 0 : 1;
                ++fits;
            }
        }
        EXPECT_LE(wrong, fits / 20) << name_of(mbit) << ": " << wrong << " of " << fits;
    }
}

// Something else runs for 30 % of the time and holds probes up by 2 ms on average: nine of ten are within 8
// %.
TEST(Calibration, BusyMachine)
{
    for (const std::vector<double> &mbit : {std::vector<double>{200, 20}, {100, 100}}) {
        auto shapes = rails(shaped, mbit);
        for (Shape &s : shapes) {
            s.busy = 0.3;
            s.busy_ns = 2e6;
        }
        int wrong = 0;
        for (int seed = 1; seed <= 100; ++seed) {
            const Result r = calibrate(shapes, defaults(static_cast<std::uint64_t>(seed)));
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                wrong += r.fits[i].valid && error_of(r, shapes, i) < 0.08 ? 0 : 1;
            }
        }
        EXPECT_LE(wrong, 20) << name_of(mbit) << ": " << wrong << " of 200";
    }
}

// The budget is kept for every set and several budgets, with and without bursts.
TEST(Calibration, KeepsTheBudget)
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
TEST(Calibration, QuietRailsEndByTheRule)
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
TEST(Calibration, DisturbedRailsTakeLonger)
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
TEST(Calibration, RoundsAreLimited)
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

// The other kinds of probes: the other direction, both at once, overheads apart and by size.
TEST(Calibration, OtherKindsTell)
{
    for (const double mbit : {10000.0, 1000.0, 200.0}) {
        Shape s = plain(mbit);
        s.p.o_r_ns = 2.5e3;
        s.p.O_s_ns_per_byte = 0.3 * s.p.G_ns_per_byte;
        s.p.O_r_ns_per_byte = 0.2 * s.p.G_ns_per_byte;
        s.other = s.p;
        s.other.G_ns_per_byte = 1.5 * s.p.G_ns_per_byte;
        s.duplex = 1.4;
        const Result r = calibrate({s}, defaults());
        ASSERT_TRUE(r.fits[0].valid) << mbit << r.fits[0].reason;
        const fsbml_loggp_t &p = r.fits[0].params;
        EXPECT_NEAR(p.G_ns_per_byte, s.p.G_ns_per_byte, 0.02 * s.p.G_ns_per_byte) << mbit;
        EXPECT_NEAR(r.fits[0].back.G_ns_per_byte, s.other.G_ns_per_byte, 0.02 * s.other.G_ns_per_byte)
            << mbit;
        EXPECT_NEAR(p.o_r_ns, s.p.o_r_ns, 100.0) << mbit;
        EXPECT_NEAR(r.fits[0].duplex, 1.4, 0.2) << mbit;
        if (mbit > 500.0) { // on slow rails overheads by size do not show
            EXPECT_NEAR(p.O_s_ns_per_byte, s.p.O_s_ns_per_byte, 0.05 * s.p.O_s_ns_per_byte) << mbit;
            EXPECT_NEAR(p.O_r_ns_per_byte, s.p.O_r_ns_per_byte, 0.05 * s.p.O_r_ns_per_byte) << mbit;
        }
    }
}

// A rail whose protocol changes: at a limit that is known, and where nobody knows. Sizes are put in near it.
TEST(Calibration, BreaksAreRefined)
{
    for (const double at : {12000.0, 20000.0, 40000.0}) {
        for (const bool known : {true, false}) {
            Shape s = plain(10000);
            s.noise_ns = 500.0;
            s.p.break_bytes = at + 1.0;
            s.p.g_above_ns = s.p.g_ns + s.p.G_ns_per_byte * at + 20e3;
            s.p.G_above_ns_per_byte = 0.5 * s.p.G_ns_per_byte;
            fsbml_calib_rail_t rail{65536, {}};
            rail.limit[0] = known ? static_cast<std::uint32_t>(at) : 0;
            int found = 0;
            for (int seed = 1; seed <= kSeeds; ++seed) {
                const Result r = calibrate({s}, defaults(static_cast<std::uint64_t>(seed)), rail);
                std::uint32_t below = 0; // the next measured sizes
                std::uint32_t above = 65536;
                for (const fsbml_probe_t &p : r.probes) {
                    if (!p.warm_up && p.packets > 1 && FSBML_PROBE_THERE == p.kind) {
                        below = p.bytes <= at ? std::max(below, p.bytes) : below;
                        above = p.bytes > at ? std::min(above, p.bytes) : above;
                    }
                }
                EXPECT_LE(above, (known ? 1.08 : 1.3) * below)
                    << at << " known " << known << " seed " << seed;
                const fsbml_loggp_t &p = r.fits[0].params;
                found += p.break_bytes > below && p.break_bytes <= above + 1.0
                                 && std::fabs(p.G_above_ns_per_byte / s.p.G_above_ns_per_byte - 1.0) < 0.1
                             ? 1
                             : 0;
            }
            EXPECT_GE(found, kSeeds * 9 / 10) << at << " known " << known;
        }
    }
}

// What is refined is bounded, however the gaps jump about.
TEST(Calibration, RefinementIsBounded)
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
TEST(Calibration, RoundsAreMixedAndRepeatable)
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
TEST(Calibration, ProbesStayWithinLimits)
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

// A rail with a single size has no line: it says so instead of guessing.
TEST(Calibration, OneSizeIsNoLine)
{
    const Result r = calibrate(rails(plain, {100}), defaults(), 1);
    EXPECT_FALSE(r.fits[0].valid);
    EXPECT_NE(std::string(r.fits[0].reason).find("a line needs two"), std::string::npos) << r.fits[0].reason;
}

// A slow answer (10 ms) leaves room for few probes; what there was time for is right.
TEST(Calibration, LongLatency)
{
    auto shapes = rails(plain, {100, 100});
    shapes[0].p.L_ns = 5e6;
    const Result r = calibrate(shapes, defaults());
    EXPECT_LE(r.elapsed_ns, kBudget);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        ASSERT_TRUE(r.fits[i].valid) << r.fits[i].reason;
        EXPECT_LT(error_of(r, shapes, i), 0.05);
        EXPECT_NEAR(r.fits[i].params.L_ns, shapes[i].p.L_ns, 0.01 * shapes[i].p.L_ns);
    }
}
