// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Rails that a processor feeds, and what is concluded from streams on them.
#include "together.hpp"

using namespace fsbml;

// Two rails, with whose streams the processor is busy: how many times as long each takes beside the other.
static World two(double fast, double first, double second)
{
    World w({fast, fast / 2.0});
    w.slower = [=](std::uint32_t rails, std::size_t i) {
        return 3U != rails ? 1.0 : 0 == i ? first : second;
    };
    w.sending = 0.8;
    w.play();
    return w;
}

// Where sending keeps the processor busy, rails are not slower for a message alone, whichever was first in
// turn.
TEST(Processor, ABusyProcessorIsNoSlowerRail)
{
    const World w = two(2000.0, 1.3, 1.1);
    EXPECT_EQ(0U, w.left_out);
    for (const std::size_t i : {0U, 1U}) {
        EXPECT_DOUBLE_EQ(0 == i ? kShares : 1.1, w.fit[i].together);
        EXPECT_NEAR(0 == i ? 0.5 : 1.0, gap_per_byte(w, i), 1e-9);
        EXPECT_EQ(std::string("beside the others it is limited by the processor"), w.fit[i].reason);
        EXPECT_FALSE(w.fit[i].in_turn);
    }
    World late({2000.0, 1000.0}); // and if that shows in the last round only
    std::size_t round = 0;
    late.slower = [&](std::uint32_t rails, std::size_t i) {
        round += 3U == rails && 0 == i ? 1 : 0;
        late.sending = round < 7 ? 0.05 : 0.8;
        return 3U == rails ? 1.3 : 1.0;
    };
    late.play();
    EXPECT_NEAR(0.5, gap_per_byte(late, 0), 1e-9);
}

// Wherever the best, with which they are compared, stands in the table.
TEST(Processor, OfWhatTheProcessorFeedsNoFasterEachProcessUsesOneOfTheBest)
{
    for (const std::size_t slow : {0U, 2U}) {
        World w(0 == slow ? std::vector<double>{500.0, 1900.0, 2000.0}
                          : std::vector<double>{2000.0, 1900.0, 500.0});
        w.slower = [](std::uint32_t rails, std::size_t) { return 7U == rails ? 2.1 : 1.0; };
        w.sending = 0.8;
        w.fit[1].back.G_ns_per_byte = 0.8;
        w.play();
        EXPECT_EQ(1U << slow, w.left_out);
        for (const std::size_t i : {std::size_t{1}, 2 - slow}) {
            EXPECT_TRUE(w.fit[i].valid && w.fit[i].in_turn);
            EXPECT_EQ(1.0, w.fit[i].together); // the others gain nothing
            EXPECT_NEAR((1e3 / 1900.0 + 1e3 / 2000.0 + 0.8) / 3.0, gap_per_byte(w, i), 1e-9);
            EXPECT_EQ(0.0, w.fit[i].back.G_ns_per_byte);
        }
        EXPECT_NE(std::string::npos,
                  std::string(w.fit[slow].reason).find("(the processor is busy with sending)"));
    }
}

TEST(Processor, BesideAFastRailThatTheProcessorFeedsASlowOneIsLeftOut)
{
    World w({2000.0, 500.0});
    w.slower = [](std::uint32_t rails, std::size_t) { return 3U == rails ? 1.3 : 1.0; };
    w.sending = 0.8;
    w.play();
    EXPECT_EQ(0b10U, w.left_out);
    EXPECT_TRUE(w.fit[0].in_turn);
    EXPECT_STREQ("", w.fit[0].reason); // there is no other
}

// Also where a rail of 2 Gbit/s is one that it hardly feeds.
TEST(Processor, ASlowerRailThatTakesAsMuchAsItGivesIsLeftOut)
{
    EXPECT_EQ(0b10U, two(240.0, 1.9, 1.3).left_out);
    const World slow = two(120.0, 1.9, 1.3); // any processor feeds such ones: others had it, nothing is known
    EXPECT_EQ(0U, slow.left_out);
    EXPECT_NEAR(1e3 / 120.0, gap_per_byte(slow, 0), 1e-9);
    EXPECT_NEAR(1e3 / 60.0, gap_per_byte(slow, 1), 1e-9);
}

// Streams on rails without a rate of their own are never steady, and one of them may be far off: slower than
// what the rail then carries beside the other.
TEST(Processor, UnsteadyStreamsDoNotHideThatTheProcessorIsTheLimit)
{
    for (const double first : {0.5, 1.0, 2.0}) {
        World w({7500.0, 7400.0});
        w.fit[0].tight = w.fit[1].tight = false;
        w.fit[0].params.G_ns_per_byte /= first;
        w.slower = [&](std::uint32_t rails, std::size_t i) {
            return (3U == rails ? 2.0 : 1.0) * (0 == i ? first : 1.0);
        };
        w.sending = 0.9;
        w.play();
        EXPECT_EQ(0U, w.left_out) << first;
        EXPECT_TRUE(w.fit[0].valid && w.fit[0].in_turn) << first;
        EXPECT_TRUE(w.fit[1].valid && w.fit[1].in_turn) << first;
    }
}

// Not where what each carries alone was disturbed by others.
TEST(Processor, NoneIsLeftOutForADisturbedProcessor)
{
    World w({2000.0, 1900.0});
    w.fit[0].tight = false;
    w.slower = [](std::uint32_t, std::size_t) { return 2.1; };
    w.sending = 0.8;
    w.play();
    EXPECT_EQ(0U, w.left_out);
    EXPECT_FALSE(w.fit[0].in_turn || w.fit[1].in_turn);
    World slow({25.0, 12.5}); // rails that any processor feeds
    slow.slower = [](std::uint32_t rails, std::size_t) { return 3U == rails ? 1.9 : 1.5; };
    slow.sending = 0.8;
    slow.play();
    EXPECT_TRUE(0U == slow.left_out && !slow.fit[0].in_turn && !slow.fit[1].in_turn);
}

// What two carry at once is no more than one where both share a link, or where the receiver is the limit:
// then the sender's processor does not tell that the second one gains nothing.
TEST(Processor, WhetherOthersGainIsKnownWhereOneKeepsTheProcessorBusy)
{
    for (const double beside : {1.9, 2.1}) {
        for (const double alone : {0.5, 1.0}) {
            World w({2000.0, 2000.0});
            w.slower = [&](std::uint32_t rails, std::size_t) { return 3U == rails ? beside : 1.0; };
            w.sending = 0.8;
            w.alone = alone;
            w.play();
            EXPECT_TRUE(w.fit[0].in_turn && w.fit[1].in_turn) << beside << ' ' << alone;
            EXPECT_EQ(1.0 == alone, w.fit[0].together >= 1.0) << beside << ' ' << alone;
            EXPECT_NEAR(beside / 2.0, w.fit[0].together, 0.061) << beside << ' ' << alone;
        }
    }
}

// One run of them may be faster than all others.
TEST(Processor, AChanceIsNoGain)
{
    World w({2000.0, 2000.0});
    std::size_t run = 0;
    w.slower = [&](std::uint32_t rails, std::size_t i) {
        run += 3U == rails && 0 == i ? 1 : 0;
        return 3U != rails ? 1.0 : 3 == run ? 1.7 : 2.0;
    };
    w.sending = 0.8;
    w.play();
    EXPECT_TRUE(w.fit[0].in_turn && w.fit[1].in_turn);
}

// It gains an eighth, and no more is possible.
TEST(Processor, ASlowRailBesideAFastOneStays)
{
    World w({1000.0, 125.0});
    w.slower = [](std::uint32_t rails, std::size_t) { return 3U == rails ? 1.05 : 1.0; };
    w.sending = 0.8;
    w.play();
    EXPECT_EQ(0U, w.left_out);
    EXPECT_FALSE(w.fit[0].in_turn || w.fit[1].in_turn);
}

// Processors that others use: sending takes long because it is interrupted.
TEST(Processor, InterruptedSendingLeavesNoRailOut)
{
    std::size_t wrong = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> chance(0.0, 1.0);
        const double fast = 0 == seed % 2 ? 500.0 : 250.0;
        World w({fast, fast / 2.0});
        w.sending = 0.8;
        w.late = [&] {
            return chance(random) < 0.33 ? 1.0 + 2.0 * chance(random) : 1.0 + 0.02 * chance(random);
        };
        w.play();
        wrong += 0 != w.left_out || w.fit[0].in_turn || w.fit[1].in_turn ? 1 : 0;
    }
    EXPECT_LE(wrong, kSeeds / 100);
}
