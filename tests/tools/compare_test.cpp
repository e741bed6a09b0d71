// Ratios within rounds, what is sure about them, the ideal.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/arms/arms.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace fsbml::bench;

std::string line(const std::string &arm, int messages, std::size_t bytes, double value,
                 const std::string &unit = "us")
{
    std::ostringstream text;
    text << R"({"bench":"onetoone","operation":"exchange","variant":"","arm":")" << arm << R"(","messages":)"
         << messages << R"(,"bytes":)" << bytes << R"(,"unit":")" << unit
         << R"(","mean":0,"traffic":{},"samples":[)" << value << "]}\n";
    return text.str();
}

Results results_of(const std::string &lines)
{
    Results results;
    std::istringstream stream(lines);
    results.read(stream);
    return results;
}

const Place small{"exchange", "", 8, 16, "us"};

TEST(Ratio, IsOfLaunchesOfTheSameRound)
{
    // A machine that is three times slower in the second round: the arms' medians say nothing, the rounds
    // say 1.1.
    const Results results = results_of(line("a", 8, 16, 11) + line("b", 8, 16, 10) + line("a", 8, 16, 33)
                                       + line("b", 8, 16, 30) + line("a", 8, 16, 11) + line("b", 8, 16, 10));
    const std::optional<Ratio> found = ratio(results, "a", "b", small);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->median, 1.1, 1e-12);
    EXPECT_NEAR(found->spread, 0, 1e-12);
    EXPECT_EQ(found->rounds, 3);
}

TEST(Ratio, OfRatesIsOfTheirInverse)
{
    const Place place{"exchange", "", 8, 16, "MB/s"};
    const Results results = results_of(line("a", 8, 16, 200, "MB/s") + line("b", 8, 16, 100, "MB/s"));
    EXPECT_NEAR(ratio(results, "a", "b", place)->median, 0.5, 1e-12);
    EXPECT_EQ(best_arm(results, {"a", "b"}, place), "a");
}

TEST(Ratio, IsNoneWhereAnArmWasNotMeasured)
{
    const Results results = results_of(line("a", 8, 16, 11));
    EXPECT_FALSE(ratio(results, "a", "b", small));
    EXPECT_FALSE(ratio_to_best(results, "b", {"a"}, small));
    EXPECT_FALSE(ratio_to_ideal(results, "a", {"a", "b"}, small));
    EXPECT_FALSE(best_arm(results, {}, small));
}

// Two launches of five are no rival to be paired with each of the five.
TEST(BestArm, WasLaunchedAtLeastHalfAsOften)
{
    std::string lines = line("b", 8, 16, 10);
    for (int launch = 0; launch < 4; ++launch) {
        lines += line("a", 8, 16, 11);
    }
    EXPECT_EQ(best_arm(results_of(lines), {"a", "b"}, small), "a");
    EXPECT_EQ(best_arm(results_of(lines + line("b", 8, 16, 10)), {"a", "b"}, small), "b");
}

TEST(Ratio, IsNoneOfWhatIsNotAboveZero)
{
    // L is what remains of the latency when the overheads are taken off.
    const Results results = results_of(line("a", 8, 16, -1) + line("b", 8, 16, 10) + line("c", 8, 16, 0));
    EXPECT_FALSE(ratio(results, "a", "b", small));
    EXPECT_FALSE(ratio(results, "b", "c", small));
    EXPECT_EQ(best_arm(results, {"a", "b", "c"}, small), "b");
    EXPECT_FALSE(best_arm(results, {"a", "c"}, small));
    EXPECT_FALSE(ratio_to_ideal(results, "b", {"a", "b"}, small));
    EXPECT_DOUBLE_EQ(results.at("a", small)->median, -1);
}

TEST(Interval, OfFewRoundsIsTheWholeRange)
{
    const Ratio ratio = ratio_of({1.3, 0.9, 1.0, 1.1, 1.2});
    EXPECT_DOUBLE_EQ(ratio.low, 0.9);
    EXPECT_DOUBLE_EQ(ratio.high, 1.3);
    EXPECT_NEAR(ratio.sure, 1 - 2 / 32.0, 1e-12);
}

TEST(Interval, OfManyRoundsLeavesOutTheEnds)
{
    // 15 rounds: the 4th from each end holds the median with 1 - 2 * 576 / 2^15 = 0.965, the 5th with 0.882
    // only.
    std::vector<double> rounds;
    for (int i = 1; i <= 15; ++i) {
        rounds.push_back(i);
    }
    const Ratio ratio = ratio_of(rounds);
    EXPECT_DOUBLE_EQ(ratio.low, 4);
    EXPECT_DOUBLE_EQ(ratio.high, 12);
    EXPECT_NEAR(ratio.sure, 1 - 2 * 576 / 32768.0, 1e-12);
}

TEST(Interval, OfOneRoundIsSureOfNothing)
{
    EXPECT_DOUBLE_EQ(ratio_of({2}).sure, 0);
}

TEST(VerdictOf, SaysOnlyWhatTheIntervalAllows)
{
    EXPECT_EQ(verdict(ratio_of({0.9, 0.91, 0.92, 0.9, 0.9})), Verdict::faster);
    EXPECT_EQ(verdict(ratio_of({0.99, 1.0, 1.02, 1.0, 1.0})), Verdict::same);
    EXPECT_EQ(verdict(ratio_of({1.05, 1.1, 1.2, 1.1, 1.1})), Verdict::slower);
    EXPECT_EQ(verdict(ratio_of({0.9, 1.0, 1.1, 1.0, 1.0})), Verdict::unclear);
    EXPECT_EQ(verdict(ratio_of({0.95, 0.99, 1.0, 0.99, 0.99})), Verdict::unclear);
}

TEST(VerdictOf, NeedsFiveRounds)
{
    EXPECT_EQ(verdict(ratio_of({0.5, 0.5, 0.5, 0.5})), Verdict::unclear);
}

TEST(Ideal, DealsWholeMessages)
{
    // Ten times slower, the second rail cannot help with 8 messages; with 11 it takes one, and with 32 three.
    EXPECT_DOUBLE_EQ(ideal_cost({10, 100}, 1, 16), 10);
    EXPECT_DOUBLE_EQ(ideal_cost({10, 100}, 8, 16), 10);
    EXPECT_NEAR(ideal_cost({10, 100}, 11, 16), 100 / 11.0, 1e-12);
    EXPECT_NEAR(ideal_cost({10, 100}, 32, 16), 300 / 32.0, 1e-12);
    EXPECT_DOUBLE_EQ(ideal_cost({10, 10}, 2, 16), 5);
}

TEST(Ideal, CutsLongMessages)
{
    EXPECT_NEAR(ideal_cost({10, 100}, 1, 1 << 20), 1 / 0.11, 1e-12);
}

TEST(Ideal, AddsSpeedsWhereMessagesAreNotKnown)
{
    EXPECT_NEAR(ideal_cost({10, 100}, 0, 16), 1 / 0.11, 1e-12);
}

TEST(Ideal, IsThatOfTheSameRound)
{
    const Place one{"exchange", "", 1, 16, "us"};
    const Results results =
        results_of(line("r0", 1, 16, 10) + line("r1", 1, 16, 20) + line("f", 1, 16, 11)
                   + line("r0", 1, 16, 30) + line("r1", 1, 16, 20) + line("f", 1, 16, 22));
    const std::optional<Ratio> found = ratio_to_ideal(results, "f", {"r0", "r1"}, one);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->median, 1.1, 1e-12);
}

TEST(Share, OfTheSumIsOfRatesOfTheSameRound)
{
    // A machine at half its speed in the second round.
    const auto rate = [](const char *arm, double value) { return line(arm, 8, 1 << 20, value, "MB/s"); };
    const Results results = results_of(rate("r0", 20) + rate("r1", 5) + rate("f", 24) + rate("r0", 10)
                                       + rate("r1", 2.5) + rate("f", 12));
    const std::optional<Ratio> found =
        share_of_sum(results, "f", {"r0", "r1"}, {"exchange", "", 8, 1 << 20, "MB/s"});
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->median, 0.96, 1e-12);
    EXPECT_NEAR(found->spread, 0, 1e-12);
    EXPECT_EQ(found->rounds, 2);
    EXPECT_FALSE(share_of_sum(results, "f", {}, {"exchange", "", 8, 1 << 20, "MB/s"}));
    EXPECT_FALSE(share_of_sum(results, "f", {"r0", "r7"}, {"exchange", "", 8, 1 << 20, "MB/s"}));
    EXPECT_FALSE(share_of_sum(results_of(line("f", 8, 16, 1) + line("r0", 8, 16, 1)), "f", {"r0"}, small));
}

TEST(Share, OfTheLayerBelowIsByTheSamePoint)
{
    const Results upper = results_of(line("a", 8, 16, 20) + line("a", 8, 64, 50));
    const Results below = results_of(line("a", 1, 16, 15));
    EXPECT_NEAR(*share_of_below(upper, below, "a", small), 0.75, 1e-12);
    EXPECT_FALSE(share_of_below(upper, below, "a", {"exchange", "", 8, 64, "us"}));
    EXPECT_FALSE(share_of_below(upper, below, "b", small));
    const Results rate = results_of(line("a", 8, 16, 75, "MB/s"));
    const Results rate_below = results_of(line("a", 8, 16, 100, "MB/s"));
    EXPECT_NEAR(*share_of_below(rate, rate_below, "a", {"exchange", "", 8, 16, "MB/s"}), 0.75, 1e-12);
}

} // namespace
