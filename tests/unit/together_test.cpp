// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Rails that share nothing or a link, and what is concluded from streams on them.
#include "together.hpp"

using namespace fsbml;

TEST(Together, RailsOfTheirOwnNeedOneRound)
{
    World w({25.0, 2.5});
    w.play();
    EXPECT_EQ(1U, w.runs);
    EXPECT_EQ(0U, w.left_out);
    EXPECT_EQ(40.0, gap_per_byte(w, 0));
    EXPECT_EQ(400.0, gap_per_byte(w, 1));
    EXPECT_EQ(1.0, w.fit[0].together);
    EXPECT_EQ(1.0, w.fit[1].together);
}

TEST(Together, ASharedLinkMakesBothSlowerAndLeavesNoneOut)
{
    World w({25.0, 25.0});
    w.slower = [](std::uint32_t rails, std::size_t) { return 3U == rails ? 2.0 : 1.0; };
    w.play();
    EXPECT_EQ(0U, w.left_out);
    for (const std::size_t i : {0U, 1U}) {
        EXPECT_NEAR(80.0, gap_per_byte(w, i), 1.0);
        EXPECT_NEAR(2.0, w.fit[i].together, 0.02);
        EXPECT_TRUE(w.fit[i].valid);
        EXPECT_NEAR(40.0, fit_alone(w.fit[i]).params.G_ns_per_byte, 1e-9);
    }
}

TEST(Together, BothPiecesOfTheGapAreScaled)
{
    World w({25.0, 25.0});
    w.fit[0].params.break_bytes = 16384;
    w.fit[0].params.g_above_ns = 7e5;
    w.fit[0].params.G_above_ns_per_byte = 50.0;
    w.slower = [](std::uint32_t rails, std::size_t) { return 3U == rails ? 2.0 : 1.0; };
    w.play();
    const fsbml_loggp_t &p = w.fit[0].params;
    const double factor = w.fit[0].together;
    EXPECT_NEAR(2.0, factor, 0.02);
    EXPECT_DOUBLE_EQ(7e5 * factor, p.g_above_ns);
    EXPECT_DOUBLE_EQ(50.0 * factor, p.G_above_ns_per_byte);
    EXPECT_EQ(16384.0, p.break_bytes);
    EXPECT_EQ(3e3, p.g_ns);
}

TEST(Together, ARailThatCostsMoreThanItGivesIsLeftOut)
{
    World w({112.0, 10.0});
    w.slower = [](std::uint32_t rails, std::size_t) { return 3U == rails ? 1.5 : 1.0; }; // 122 -> 81
    w.play();
    EXPECT_EQ(2U, w.left_out);
    EXPECT_TRUE(w.fit[0].valid);
    EXPECT_FALSE(w.fit[1].valid);
    EXPECT_NEAR(1e3 / 112.0, gap_per_byte(w, 0), 1e-9);
    EXPECT_EQ(1.0, w.fit[0].together);
    const std::string reason = w.fit[1].reason;
    EXPECT_EQ(0U, reason.find("left out: with it the rails carry ")) << reason;
    EXPECT_NE(std::string::npos, reason.find(" MB/s together, without it 1")) << reason;
    EXPECT_NE(std::string::npos, reason.find("(a shared link or bus?)")) << reason;
}

TEST(Together, OfThreeTheOneThatHarmsIsLeftOut)
{
    World w({25.0, 50.0, 10.0});
    w.slower = [](std::uint32_t rails, std::size_t) { return has(rails, 2) && rails != 4U ? 1.6 : 1.0; };
    w.play();
    EXPECT_EQ(4U, w.left_out);
    EXPECT_EQ(40.0, gap_per_byte(w, 0));
    EXPECT_EQ(20.0, gap_per_byte(w, 1));
}

TEST(Together, OneMomentWithoutHarmIsEnough)
{
    World w({112.0, 10.0});
    int pairs = 0;
    w.slower = [&](std::uint32_t rails, std::size_t i) {
        pairs += 3U == rails && 0 == i ? 1 : 0;
        return 3U == rails && pairs != 2 ? 3.0 : 1.0; // slow in all rounds but the second
    };
    w.play();
    EXPECT_EQ(0U, w.left_out);
    EXPECT_TRUE(w.fit[1].valid);
}

TEST(Together, OneRailStaysWhateverTheyDo)
{
    World w({25.0, 20.0, 15.0});
    w.slower = [](std::uint32_t rails, std::size_t) {
        double n = 0.0;
        for (; 0 != rails; rails &= rails - 1) {
            n += 1.0;
        }
        return n * n * n;
    };
    w.play();
    EXPECT_EQ(0b110U, w.left_out);
    EXPECT_TRUE(w.fit[0].valid);
    EXPECT_EQ(40.0, gap_per_byte(w, 0));
}

// Another job's streams: what a rail carried alone was the worst that was seen of it, and the fastest that
// was seen beside the others is what came in at once after a pause.
TEST(Together, WhatWasDisturbedAloneIsTakenFromTheMiddle)
{
    World w({25.0, 0.5});
    w.fit[1].tight = false;
    std::size_t round = 0;
    w.slower = [&](std::uint32_t, std::size_t i) {
        constexpr double of_round[] = {0.2, 1.1, 0.22, 0.03, 1.0, 0.21, 0.2};
        return 0 == i ? 1.2 : of_round[round++ % 7];
    };
    w.play();
    EXPECT_EQ(0U, w.left_out);
    EXPECT_NEAR(0.21 * 2000.0, gap_per_byte(w, 1), 1e-9);
    EXPECT_EQ(1.0, w.fit[1].together);
    World sure({25.0, 0.5});
    sure.slower = [](std::uint32_t, std::size_t i) { return 0 == i ? 1.0 : 0.2; };
    sure.play();
    EXPECT_EQ(2000.0, gap_per_byte(sure, 1));
    World bucket({25.0, 0.5}); // filled meanwhile
    bucket.fit[1].tight = false;
    bucket.fit[1].params.burst_ns = 40e6;
    bucket.slower = sure.slower;
    bucket.play();
    EXPECT_EQ(2000.0, gap_per_byte(bucket, 1));
}

// Processors that others use: a third of the streams take up to three times as long.
TEST(Together, DisturbedRunsLeaveNoRailOut)
{
    std::size_t wrong = 0;
    std::size_t scaled = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> chance(0.0, 1.0);
        World w({25.0, 2.5});
        w.late = [&] {
            return chance(random) < 0.33 ? 1.0 + 2.0 * chance(random) : 1.0 + 0.02 * chance(random);
        };
        w.play();
        wrong += 0 != w.left_out ? 1 : 0;
        scaled += w.fit[0].together > kShares || w.fit[1].together > kShares ? 1 : 0;
    }
    RecordProperty("scaled", static_cast<int>(scaled));
    EXPECT_EQ(0U, wrong);
    EXPECT_LE(scaled, kSeeds / 100);
}

TEST(Together, NorDoTheyOnASharedLink)
{
    std::size_t wrong = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> chance(0.0, 1.0);
        World w({25.0, 25.0, 25.0});
        w.slower = [](std::uint32_t rails, std::size_t) { return 7U == rails ? 3.0 : 2.0; };
        w.late = [&] {
            return chance(random) < 0.25 ? 1.0 + 2.0 * chance(random) : 1.0 + 0.02 * chance(random);
        };
        w.play();
        wrong += 0 != w.left_out ? 1 : 0;
    }
    EXPECT_EQ(0U, wrong);
}

TEST(Together, AlwaysEnds)
{
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed);
        std::exponential_distribution<double> late(1.0);
        World w(std::vector<double>(8, 25.0));
        w.late = [&] { return 1.0 + late(random); };
        w.play();
        EXPECT_LT(w.runs, 160U) << "seed " << seed;
        EXPECT_NE(0xffU, w.left_out) << "seed " << seed;
    }
}

TEST(Together, TakesInOnlyRailsThatHaveAModel)
{
    std::vector<fsbml_fit_t> fit(FSBML_MAX_RAILS);
    fit[0] = fit[1] = fit[2] = fit_of(25.0);
    fit[1].valid = false;
    EXPECT_EQ(5U, Together(fit.data(), 0x7).next());
    EXPECT_EQ(0U, Together(fit.data(), 0x3).next());
    Together one(fit.data(), 0x1);
    EXPECT_EQ(0U, one.next());
    one.conclude(fit.data());
    EXPECT_EQ(0.0, fit[0].together);
}

TEST(TogetherApi, ChecksItsArguments)
{
    fsbml_fit_t fit[2] = {fit_of(25.0), fit_of(2.5)};
    errno = 0;
    EXPECT_EQ(nullptr, fsbml_together_create(2, nullptr, 3));
    EXPECT_EQ(EINVAL, errno);
    EXPECT_EQ(nullptr, fsbml_together_create(2, fit, 7));
    EXPECT_EQ(nullptr, fsbml_together_create(0, fit, 0));
    EXPECT_EQ(nullptr, fsbml_together_create(FSBML_MAX_RAILS + 1, fit, 3));
    EXPECT_EQ(0U, fsbml_together_next(nullptr));
    EXPECT_EQ(-EINVAL, fsbml_together_report(nullptr, nullptr, 0.0, 1000));
    EXPECT_EQ(0U, fsbml_together_conclude(nullptr, fit));
    fsbml_together_destroy(nullptr);
}

// A stream that does not get through ends it: the rails stay what they are.
TEST(TogetherApi, AStreamThatIsLostEndsIt)
{
    fsbml_fit_t fit[2] = {fit_of(25.0), fit_of(2.5)};
    fsbml_together_t *t = fsbml_together_create(2, fit, 3);
    ASSERT_NE(nullptr, t);
    fsbml_rate_t rate[2] = {};
    rate[0].G_ns_per_byte = 80.0;
    rate[1].G_ns_per_byte = 400.0;
    EXPECT_EQ(3U, fsbml_together_next(t));
    EXPECT_EQ(0, fsbml_together_report(t, rate, 0.1, 1000));
    EXPECT_EQ(3U, fsbml_together_next(t));
    rate[0].G_ns_per_byte = 0.0;
    EXPECT_EQ(0, fsbml_together_report(t, rate, 0.1, 1000));
    EXPECT_EQ(-EINVAL, fsbml_together_report(t, rate, 0.1, 1000));
    EXPECT_EQ(0U, fsbml_together_conclude(t, fit));
    EXPECT_TRUE(fit[0].valid && fit[1].valid);
    EXPECT_EQ(40.0, fit[0].params.G_ns_per_byte);
    fsbml_together_destroy(t);
}
