// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a process learns of its rails while others want its processor, or use the rails as well.

#include "flow.hpp"
#include "test.hpp"

using namespace two_rails;

namespace
{

// It runs for 0.1 ms, then not for 4.
void stream_now_and_then(VirtualRails &net)
{
    for (int i = 0; i < 500; ++i) {
        while (net.under_way() < 24.0 * VirtualRails::kQuantum && net.offer() >= 0) {
        }
        net.step(4 * kMs);
    }
}

TEST(FeedbackShared, TellsNothingOfAProcessThatIsShortOfAProcessor)
{
    VirtualRails net(fast_and_slow(), {3 * kFast, kSlow});
    stream_now_and_then(net);
    EXPECT_NEAR(3 * kFast, net.gap(0), 0.2 * 3 * kFast); // it is used as it is
    EXPECT_TRUE(net.told.empty());
}

// Nor that a rail has become faster, which looks so far apart do not contradict.
TEST(FeedbackShared, TellsNoGainOfAProcessThatIsShortOfAProcessor)
{
    for (const bool is_short : {false, true}) {
        VirtualRails net(fast_and_slow(), {kFast, kSlow});
        net.stream(500);
        net.rail[0].gap = kFast / 2;
        net.stream(100);
        ASSERT_NEAR(kFast / 2, net.gap(0), 0.2 * kFast / 2);
        if (is_short) {
            stream_now_and_then(net);
        } else {
            net.stream(500);
        }
        EXPECT_EQ(is_short ? 0U : 1U, net.told.size());
    }
}

// That is more than such a process can make of it.
TEST(FeedbackShared, TellsOfAFarChangeHoweverShortOfAProcessor)
{
    for (const double is : {kFallen, kFast / 6}) {
        VirtualRails net(fast_and_slow(), {is, kSlow});
        stream_now_and_then(net);
        ASSERT_EQ(1U, net.told.size());
        EXPECT_NEAR(mbps(is), net.told[0].after_mbps, 0.2 * mbps(is));
    }
}

// What it had given to the rail was through long before it came back, and gave it more before it looked.
TEST(FeedbackShared, IsNoSlowerForAProcessThatIsShortOfAProcessor)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    net.given_first = VirtualRails::kQuantum; // 1.3 ms
    for (int i = 0; i < 500; ++i) {
        net.step(4 * kMs);
    }
    EXPECT_NEAR(kFast, net.gap(0), 0.1 * kFast);
    net.given_first = 6 * VirtualRails::kQuantum; // 7.9 ms: now it is never through
    net.rail[0].gap = 2 * kFast;
    for (int i = 0; i < 100; ++i) {
        net.step(4 * kMs);
    }
    EXPECT_NEAR(2 * kFast, net.gap(0), 0.2 * kFast);
}

// Each time it is busy for 7.9 ms, from one of the kernel's steps to shortly before the second one after it:
// one of two is counted.
TEST(FeedbackShared, IsNoFasterForTheStepsInWhichTheKernelCounts)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow}, true, 4 * kMs);
    for (int i = 0; i < 500; ++i) {
        net.give(0, static_cast<std::size_t>(7.9 * kMs / kFast));
        net.step(12 * kMs);
    }
    EXPECT_NEAR(kFast, net.gap(0), 0.1 * kFast);
}

// The process lost its processor between two questions to the kernel: by the one the rail has something left,
// by the other it has not.
TEST(FeedbackShared, IsNoFasterForWhatCameBetweenTwoQuestions)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    for (int i = 0; i < 500; ++i) {
        net.give(0, 8 * VirtualRails::kQuantum); // 10.5 ms
        net.step(kMs);
        net.unseen = 12000;
        net.step(9 * kMs + 500'000);
        net.unseen = 0;
        net.step(2 * kMs);
    }
    EXPECT_NEAR(kFast, net.gap(0), 0.1 * kFast);
}

// It was measured while others had the processors, as six times as fast as it is: that it is not is no fall.
// What follows is one, and so is what becomes of a rail that was measured rightly all the same.
TEST(FeedbackShared, TellsNoFallOfARailThatWasMeasuredWrongly)
{
    for (const double is : {6 * kFast, kFast}) {
        for (const fsbml_doubt_t doubt : {FSBML_DOUBT_BUCKET, FSBML_DOUBT_ALL}) {
            VirtualRails net(fast_and_slow(), {is, kSlow});
            fsbml_sched_doubt(net.sched.get(), 0, doubt);
            net.stream(1500);
            EXPECT_NEAR(is, net.gap(0), 0.1 * is);
            EXPECT_TRUE(net.told.empty());
            net.rail[0].gap = 5 * is;
            net.stream(3000);
            ASSERT_EQ(1U, net.told.size());
            EXPECT_NEAR(mbps(is), net.told[0].before_mbps, 0.1 * mbps(is));
        }
    }
}

// This rank has a tenth of the rail, the others the rest: by its own bytes the rail would be ten times
// slower.
TEST(FeedbackShared, CountsWhatOtherRanksSend)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow}, false);
    net.counted = 1;
    net.rail[0].gap = 10 * kFast;
    for (int i = 0; i < 1000; ++i) {
        while (net.rail[0].queued < 2 * VirtualRails::kQuantum) {
            net.give(0, VirtualRails::kQuantum);
        }
        net.counted += static_cast<std::uint64_t>(0.9 * kMs / kFast);
        net.step(kMs);
    }
    EXPECT_NEAR(kFast, net.gap(0), 0.1 * kFast);
    EXPECT_TRUE(net.told.empty());
}

// It sends for 1.4 of 8 ms, and the others all the time.
TEST(FeedbackShared, IsNoFasterForWhatOtherRanksSend)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow}, false);
    net.counted = 1;
    for (int i = 0; i < 4000; ++i) {
        if (0 == i % 8) {
            net.give(0, 36000);
        }
        net.counted += static_cast<std::uint64_t>(0.8 * kMs / kFast);
        net.step(kMs);
    }
    EXPECT_NEAR(kFast, net.gap(0), 0.1 * kFast);
}

} // namespace
