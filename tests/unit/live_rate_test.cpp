// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The rate of a rail by what its transport delivers: looks at a rail of a given rate, once a millisecond.

#include "flow/flow.hpp"
#include "test.hpp"

#include <random>

namespace
{

using fsbml::LiveRate;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::size_t kQuantum = 32768;

fsbml_live_look_t look_of(std::uint64_t elapsed, std::uint64_t busy, std::uint64_t limited,
                          std::uint64_t bytes, bool is_busy)
{
    return {elapsed, busy, limited, bytes, 0, is_busy, false, false};
}

// A look of a millisecond at a rail that is busy all the time; gap in ns/byte.
fsbml_live_look_t busy_look(double gap, std::uint64_t elapsed = kMs)
{
    const auto bytes = static_cast<std::uint64_t>(static_cast<double>(elapsed) / gap);
    return look_of(elapsed, elapsed, 0, bytes, true);
}

// Milliseconds until the rate jumps, -1: it does not.
int jumps_after(LiveRate &rate, const fsbml_live_look_t &look, int most)
{
    for (int ms = 1; ms <= most; ++ms) {
        if (LiveRate::Change::jump == rate.look(look)) {
            return ms;
        }
    }
    return -1;
}

TEST(LiveRate, StaysWhereItIsRight)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    EXPECT_EQ(-1, jumps_after(rate, busy_look(40.0), 1000));
    EXPECT_NEAR(40.0, rate.gap(), 0.1);
}

TEST(LiveRate, FollowsARailThatFalls)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    const int ms = jumps_after(rate, busy_look(400.0), 1000);
    EXPECT_GT(ms, 0);
    EXPECT_LE(ms, 3 * 53); // three samples of four fragments, 13 ms each
    EXPECT_NEAR(400.0, rate.gap(), 1.0);
}

TEST(LiveRate, FollowsAVerySlowRailByOneFragment)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    EXPECT_GT(jumps_after(rate, busy_look(2000.0), 1000), 0);
    EXPECT_NEAR(2000.0, rate.gap(), 10.0);
}

TEST(LiveRate, NeedsNoWholeFragmentsOfARailThatIsLate)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    jumps_after(rate, busy_look(40.0), 100);
    const int ms = jumps_after(rate, busy_look(400.0), 1000);
    EXPECT_GT(ms, 0);
    EXPECT_LE(ms, 3 * 11 + 5); // a sample should have taken 5 ms: three of 11, not of 53
}

TEST(LiveRate, ReplacesAGuessByTheFirstSample)
{
    LiveRate rate(0.8, 0.0, kQuantum, true);
    EXPECT_LE(jumps_after(rate, busy_look(400.0), 1000), 12);
    EXPECT_NEAR(400.0, rate.gap(), 1.0);
    for (int ms = 0; ms < 11; ++ms) { // from then on it is no guess
        EXPECT_NE(LiveRate::Change::jump, rate.look(busy_look(40.0)));
    }
}

TEST(LiveRate, DriftsToARailThatIsALittleSlower)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    EXPECT_EQ(-1, jumps_after(rate, busy_look(42.0), 2000));
    EXPECT_NEAR(42.0, rate.gap(), 0.1);
}

TEST(LiveRate, NeverJumpsByNoise)
{
    std::mt19937 random(1);
    RecordProperty("seed", 1);
    std::uniform_real_distribution<double> noise(0.7, 1.3);
    LiveRate rate(40.0, 0.0, kQuantum);
    for (int ms = 0; ms < 100000; ++ms) {
        ASSERT_NE(LiveRate::Change::jump, rate.look(busy_look(40.0 * noise(random)))) << ms;
    }
    EXPECT_NEAR(40.0, rate.gap(), 4.0);
}

// Taken for 10 times slower than it is by now, it gets a fragment now and then, which is gone at once.
TEST(LiveRate, FindsOutThatAHardlyUsedRailHasRecovered)
{
    LiveRate rate(400.0, 0.0, kQuantum);
    int jumped = -1;
    for (int i = 0; i < 100 && jumped < 0; ++i) { // a fragment each 13 ms takes 1.3 ms
        bool any = false;
        for (const fsbml_live_look_t &l :
             {look_of(kMs, kMs, 0, 25000, true), look_of(kMs, 0, 0, kQuantum - 25000, false),
              look_of(2 * kMs, 0, 0, 0, false)}) {
            any = LiveRate::Change::jump == rate.look(l) || any;
        }
        jumped = any ? i : jumped;
    }
    EXPECT_GE(jumped, 0);
    EXPECT_LT(rate.gap(), 100.0); // not sooner than it was seen to be idle; its share tells the rest
    EXPECT_GE(rate.gap(), 40.0);
}

// Messages that take little more than a look: one of two looks finds the rail busy.
TEST(LiveRate, IsNoFasterForBeingIdleAtALook)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    for (int i = 0; i < 200; ++i) { // 44 kB, 1.7 ms
        rate.look(look_of(kMs, 0, 0, 0, true));
        rate.look(look_of(kMs, 0, 0, 44'000, false));
        rate.look(look_of(kMs, 0, 0, 0, false));
    }
    EXPECT_EQ(40.0, rate.gap());
}

// One message at a time, and after each a pause that fills the bucket: what it lets pass makes the rail no
// slower.
TEST(LiveRate, FindsOutThatARailIsSlowerHoweverFullItsBucket)
{
    constexpr std::uint64_t kBucket = 125'000;
    for (const double gap : {40.0, 400.0}) {
        LiveRate rate(40.0, kBucket, kQuantum);
        for (int i = 0; i < 3; ++i) {
            double left = 250'000.0 - kBucket;
            rate.look(look_of(kMs, 0, 0, kBucket, true));
            while ((left -= kMs / gap) > 0.0) {
                rate.look(busy_look(gap));
            }
            rate.look(look_of(100 * kMs, 0, 0, 0, false));
        }
        EXPECT_NEAR(gap, rate.gap(), 0.3 * gap);
    }
}

// A rail that is busy now and then costs a round trip each time: it is no slower for that.
TEST(LiveRate, IsNoSlowerForPauses)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(LiveRate::Change::none, rate.look(look_of(kMs, kMs, 0, 10000, true)));
        EXPECT_EQ(LiveRate::Change::none, rate.look(look_of(kMs, 0, 0, 1000, false)));
    }
    EXPECT_EQ(40.0, rate.gap());
}

// One message of 32 KiB at a time, each answered: it takes 13 ms on a rail that is believed to take 1.3.
TEST(LiveRate, FindsOutThatARailWithOneMessageAtATimeIsSlower)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    for (int i = 0; i < 20; ++i) {
        for (int ms = 0; ms < 13; ++ms) {
            rate.look(look_of(kMs, 0, 0, 2500, ms < 12), 100'000);
        }
        rate.look(look_of(kMs, 0, 0, 268, false), 100'000);
    }
    EXPECT_GT(rate.gap(), 200.0);
    EXPECT_LT(rate.gap(), 440.0);
}

// Each time costs a round trip, which is no rate.
TEST(LiveRate, IsNoSlowerForALongWay)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    for (int i = 0; i < 200; ++i) { // 1.3 ms of bytes, and 10 ms until they are acknowledged
        for (int ms = 0; ms < 11; ++ms) {
            EXPECT_EQ(LiveRate::Change::none,
                      rate.look(look_of(kMs, 0, 0, ms == 10 ? kQuantum : 0, true), 10 * kMs));
        }
        EXPECT_EQ(LiveRate::Change::none, rate.look(look_of(kMs, 0, 0, 0, false), 10 * kMs));
    }
    EXPECT_EQ(40.0, rate.gap());
}

TEST(LiveRate, IsNotTheReceivers)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    for (int ms = 0; ms < 3000; ++ms) { // it was stopped: nothing is taken in
        EXPECT_EQ(LiveRate::Change::none, rate.look(look_of(kMs, kMs, kMs, 0, true)));
    }
    EXPECT_EQ(40.0, rate.gap());
}

TEST(LiveRate, IsNotWhatFollowsWhenTheReceiverGoesOn)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    for (int ms = 0; ms < 3000; ++ms) {
        rate.look(look_of(kMs, kMs, kMs, 0, true));
    }
    EXPECT_EQ(-1, jumps_after(rate, busy_look(160.0), 500)); // it takes in what it had left
    EXPECT_GT(jumps_after(rate, busy_look(160.0), 200), 0);  // that lasts: the rail has become slow
}

TEST(LiveRate, IsNotWhatABucketLetsPass)
{
    const double burst = 1e6;
    LiveRate rate(80.0, burst, kQuantum);
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(LiveRate::Change::none, rate.look(look_of(1000 * kMs, 0, 0, 0, false))); // the bucket fills
        for (int ms = 0; ms < 100; ++ms) { // and empties, ten times faster
            const double gap = ms < 8 ? 8.0 : 80.0;
            EXPECT_NE(LiveRate::Change::jump, rate.look(busy_look(gap))) << i << ' ' << ms;
        }
    }
    EXPECT_NEAR(80.0, rate.gap(), 1.0);
}

// Long messages there and back: in each pause some of the bucket comes back, and passes at once.
TEST(LiveRate, IsNotWhatComesBackToABucketInShortPauses)
{
    LiveRate rate(80.0, 100e3, kQuantum);
    for (int i = 0; i < 1000; ++i) {
        rate.look(look_of(3 * kMs, 0, 0, 0, false));
        rate.look(look_of(kMs, 0, 0, 50000, true)); // 37.5 kB of it
    }
    EXPECT_NEAR(80.0, rate.gap(), 1.0);
}

// Beside busy processors acknowledgements wait for one, and come at once then.
TEST(LiveRate, IsNoFasterForWhatComesAfterALateLook)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    rate.look(busy_look(40.0));
    for (int i = 0; i < 100; ++i) {
        rate.look(look_of(14 * kMs, 14 * kMs, 0, 35'000, true));
        for (int ms = 0; ms < 16; ++ms) {
            EXPECT_NE(LiveRate::Change::jump, rate.look(busy_look(16.0 / 715'000.0 * kMs)));
        }
    }
    EXPECT_NEAR(40.0, rate.gap(), 6.0);
    jumps_after(rate, busy_look(40.0), 200); // and then they come as ever
    const int ms = jumps_after(rate, busy_look(400.0), 1000);
    EXPECT_GT(ms, 0);
    EXPECT_LE(ms, 3 * 11 + 5);
}

// A process that computes looks seldom: there the kernel's count of busy time is taken.
TEST(LiveRate, TakesTheKernelsCountBetweenLooksThatAreFarApart)
{
    LiveRate rate(40.0, 0.0, kQuantum);
    for (int i = 0; i < 100; ++i) { // busy for 12 of 50 ms, at both looks: queued since
        fsbml_live_look_t look = look_of(50 * kMs, 12 * kMs, 0, 300000, true);
        look.may_have_idled = true;
        EXPECT_EQ(LiveRate::Change::none, rate.look(look));
    }
    EXPECT_EQ(40.0, rate.gap());
    EXPECT_GT(jumps_after(rate, busy_look(400.0, 50 * kMs), 100), 0);
    EXPECT_NEAR(400.0, rate.gap(), 1.0);
}

} // namespace
