// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// Rails that share nothing, a link, or a processor, and what is concluded from streams on them.
#include "loggp.hpp"
#include "together.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace fsbml;

namespace
{

constexpr std::uint32_t kLeast = 32;
constexpr std::uint64_t kSeeds = 1000;

fsbml_fit_t fit_of(double bytes_per_us)
{
    fsbml_fit_t fit{};
    fit.valid = true;
    fit.params = {};
    fit.params.L_ns = 15e3;
    fit.params.o_s_ns = fit.params.o_r_ns = 2e3;
    fit.params.g_ns = 3e3;
    fit.params.G_ns_per_byte = 1e3 / bytes_per_us;
    return fit;
}

bool has(std::uint32_t rails, std::size_t i)
{
    return 0 != (rails >> i & 1U);
}

// Rails by their speeds alone; `slower(rails, i)` is how many times as long rail i takes beside these rails.
struct World {
    std::vector<fsbml_fit_t> fit;
    std::function<double(std::uint32_t, std::size_t)> slower = [](std::uint32_t, std::size_t) { return 1.0; };
    std::function<double()> late_ns = [] { return 0.0; };
    double sending = 0.05; // of the time of each run
    std::size_t runs = 0;
    std::uint32_t left_out = 0;

    explicit World(const std::vector<double> &bytes_per_us)
    {
        for (const double speed : bytes_per_us) {
            fit.push_back(fit_of(speed));
        }
    }

    void play()
    {
        const std::vector<std::uint32_t> most(fit.size(), 65536);
        fit.resize(FSBML_MAX_RAILS);
        Together t(fit.data(), (UINT32_C(1) << most.size()) - 1, kLeast, padded(most).data());
        for (std::uint32_t rails = t.next(); 0 != rails; rails = t.next()) {
            double time_ns[FSBML_MAX_RAILS] = {};
            double longest = 0.0;
            for (std::size_t i = 0; i < most.size(); ++i) {
                if (has(rails, i)) {
                    const fsbml_loggp_t &p = fit[i].params;
                    time_ns[i] = 2 * (p.L_ns + p.o_s_ns + p.o_r_ns) + late_ns()
                                 + t.stream(i).packets * gap_ns(p, t.stream(i).bytes) * slower(rails, i);
                    longest = std::max(longest, time_ns[i]);
                }
            }
            ASSERT_LT(++runs, 1000U);
            t.report(time_ns, sending * longest);
        }
        t.conclude(fit.data());
        left_out = t.left_out();
    }

    static std::vector<std::uint32_t> padded(std::vector<std::uint32_t> most)
    {
        most.resize(FSBML_MAX_RAILS);
        return most;
    }
};

double gap_per_byte(const World &w, std::size_t rail)
{
    return w.fit[rail].params.G_ns_per_byte;
}

} // namespace

TEST(Streams, TakeTheTimeThatTheyAreGiven)
{
    for (const double speed : {0.1, 2.5, 25.0, 1000.0}) {
        const fsbml_fit_t fit = fit_of(speed);
        const fsbml_stream_t s = stream_for(fit, 4e6, kLeast, 65536);
        EXPECT_GE(s.packets, 3U);
        EXPECT_LE(s.bytes, 8192U);
        EXPECT_GE(s.bytes, kLeast);
        EXPECT_NEAR(1.0, s.packets * gap_ns(fit.params, s.bytes) / 4e6, 0.3) << speed;
    }
}

TEST(Streams, AreBoundedWhateverTheRail)
{
    EXPECT_EQ(512U, stream_for(fit_of(1e6), 4e6, kLeast, 65536).packets);
    EXPECT_EQ(3U, stream_for(fit_of(1e-3), 4e6, kLeast, 65536).packets);
    EXPECT_EQ(kLeast, stream_for(fit_of(1e-3), 4e6, kLeast, 65536).bytes);
    EXPECT_EQ(1000U, stream_for(fit_of(1e3), 4e6, kLeast, 1000).bytes);
}

// A stream that fits into a shaper's bucket is a processor's time and nothing else; where it would last too
// long without that, rails count as independent.
TEST(Streams, OutlastBuckets)
{
    const std::uint32_t most[] = {65536, 65536};
    fsbml_fit_t fits[] = {fit_of(0.6), fit_of(0.6)}; // 5 Mbit/s
    for (fsbml_fit_t &f : fits) {
        f.params.burst_ns = 2900 * f.params.G_ns_per_byte;
    }
    const Together slow(fits, 3, kLeast, most);
    EXPECT_NE(slow.next(), 0U);
    EXPECT_EQ(slow.rest_ns(), fits[0].params.burst_ns);
    const fsbml_stream_t s = slow.stream(0);
    EXPECT_GT(s.packets * s.bytes, 3 * 2900U);
    fits[0].params.burst_ns = fits[1].params.burst_ns = 24e6; // 1 Mbit/s
    EXPECT_EQ(Together(fits, 3, kLeast, most).next(), 0U);
}

TEST(Together, RailsOfTheirOwnNeedOneRound)
{
    World w({25.0, 2.5});
    w.play();
    EXPECT_EQ(3U, w.runs);
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
    EXPECT_NE(std::string::npos, reason.find("(a shared link, bus or processor?)")) << reason;
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

TEST(Together, OneMomentOfHarmIsNotEnough)
{
    World w({112.0, 10.0});
    int pairs = 0;
    w.slower = [&](std::uint32_t rails, std::size_t i) {
        pairs += 3U == rails && 0 == i ? 1 : 0;
        return 3U == rails && pairs != 4 ? 3.0 : 1.0; // slow in all rounds but the fourth
    };
    w.play();
    EXPECT_EQ(0U, w.left_out);
    EXPECT_TRUE(w.fit[1].valid);
}

TEST(Together, ABusyProcessorLeavesNoRailOut)
{
    World w({2000.0, 2000.0});
    w.slower = [](std::uint32_t rails, std::size_t) { return 3U == rails ? 3.0 : 1.0; };
    w.sending = 0.6;
    w.play();
    EXPECT_EQ(0U, w.left_out);
    EXPECT_TRUE(w.fit[0].valid && w.fit[1].valid);
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

// Processors that others use: a third of the runs are late by up to two of a scheduler's time slices.
TEST(Together, DisturbedRunsLeaveNoRailOut)
{
    std::size_t wrong = 0;
    std::size_t scaled = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> chance(0.0, 1.0);
        World w({25.0, 2.5});
        w.late_ns = [&] { return chance(random) < 0.33 ? 8e6 * chance(random) : 20e3 * chance(random); };
        w.play();
        wrong += 0 != w.left_out ? 1 : 0;
        scaled += w.fit[0].together > kShares || w.fit[1].together > kShares ? 1 : 0;
    }
    RecordProperty("scaled", static_cast<int>(scaled));
    EXPECT_EQ(0U, wrong);
    EXPECT_LT(scaled, kSeeds / 200);
}

TEST(Together, NorDoTheyOnASharedLink)
{
    std::size_t wrong = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> chance(0.0, 1.0);
        World w({25.0, 25.0, 25.0});
        w.slower = [](std::uint32_t rails, std::size_t) {
            return 7U == rails ? 3.0 : 0 == (rails & (rails - 1)) ? 1.0 : 2.0;
        };
        w.late_ns = [&] { return chance(random) < 0.25 ? 8e6 * chance(random) : 20e3 * chance(random); };
        w.play();
        wrong += 0 != w.left_out ? 1 : 0;
    }
    EXPECT_EQ(0U, wrong);
}

TEST(Together, AlwaysEnds)
{
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed);
        std::exponential_distribution<double> late(1e-7);
        World w(std::vector<double>(8, 25.0));
        w.late_ns = [&] { return late(random); };
        w.play();
        EXPECT_LT(w.runs, 160U) << "seed " << seed;
        EXPECT_NE(0xffU, w.left_out) << "seed " << seed;
    }
}

TEST(Together, TakesInOnlyRailsThatCanTellSomething)
{
    std::vector<fsbml_fit_t> fit(FSBML_MAX_RAILS);
    std::vector<std::uint32_t> most(FSBML_MAX_RAILS, 65536);
    fit[0] = fit[1] = fit[2] = fit_of(25.0);
    fit[3] = fit_of(25.0);
    fit[1].valid = false;
    fit[2].params.burst_ns = 1e9;
    Together two(fit.data(), 0xf, kLeast, most.data());
    EXPECT_EQ(1U, two.next());
    fit[3].params.burst_ns = 2e6;
    EXPECT_EQ(2e6, Together(fit.data(), 0xf, kLeast, most.data()).rest_ns());
    most[3] = kLeast - 1;
    EXPECT_EQ(0U, Together(fit.data(), 0xf, kLeast, most.data()).next());
    Together one(fit.data(), 0x1, kLeast, most.data());
    EXPECT_EQ(0U, one.next());
    one.conclude(fit.data());
    EXPECT_EQ(0.0, fit[0].together);
}

TEST(TogetherApi, ChecksItsArguments)
{
    fsbml_fit_t fit[2] = {fit_of(25.0), fit_of(2.5)};
    const std::uint32_t most[2] = {65536, 65536};
    errno = 0;
    EXPECT_EQ(nullptr, fsbml_together_create(2, nullptr, 3, kLeast, most));
    EXPECT_EQ(EINVAL, errno);
    EXPECT_EQ(nullptr, fsbml_together_create(2, fit, 7, kLeast, most));
    EXPECT_EQ(nullptr, fsbml_together_create(0, fit, 0, kLeast, most));
    EXPECT_EQ(nullptr, fsbml_together_create(FSBML_MAX_RAILS + 1, fit, 3, kLeast, most));
    EXPECT_EQ(nullptr, fsbml_together_create(2, fit, 3, kLeast, nullptr));
    EXPECT_EQ(0U, fsbml_together_next(nullptr, nullptr, nullptr));
    EXPECT_EQ(-EINVAL, fsbml_together_report(nullptr, nullptr, 0));
    EXPECT_EQ(0U, fsbml_together_conclude(nullptr, fit));
    fsbml_together_destroy(nullptr);
}

// A stream that does not get through ends it: the rails stay what they are.
TEST(TogetherApi, AStreamThatIsLostEndsIt)
{
    fsbml_fit_t fit[2] = {fit_of(25.0), fit_of(2.5)};
    const std::uint32_t most[2] = {65536, 65536};
    fsbml_together_t *t = fsbml_together_create(2, fit, 3, kLeast, most);
    fsbml_stream_t stream[2];
    std::uint64_t rest = 1;
    ASSERT_NE(nullptr, t);
    EXPECT_EQ(1U, fsbml_together_next(t, stream, &rest));
    EXPECT_EQ(0U, rest);
    EXPECT_GE(stream[0].packets, 3U);
    const std::uint64_t good[2] = {4000000, 0};
    const std::uint64_t lost[2] = {0, 0};
    EXPECT_EQ(0, fsbml_together_report(t, good, 1000));
    EXPECT_EQ(2U, fsbml_together_next(t, stream, &rest));
    EXPECT_EQ(0, fsbml_together_report(t, lost, 1000));
    EXPECT_EQ(0U, fsbml_together_next(t, stream, &rest));
    EXPECT_EQ(-EINVAL, fsbml_together_report(t, good, 1000));
    EXPECT_EQ(0U, fsbml_together_conclude(t, fit));
    EXPECT_TRUE(fit[0].valid && fit[1].valid);
    EXPECT_EQ(40.0, fit[0].params.G_ns_per_byte);
    fsbml_together_destroy(t);
}
