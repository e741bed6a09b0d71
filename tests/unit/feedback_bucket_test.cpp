// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a process learns of rails behind shapers, whose buckets let something pass at once after a pause.

#include "flow.hpp"
#include "test.hpp"

namespace
{

constexpr std::uint64_t kMs = 1'000'000;
constexpr double kFast = 40.0, kSlow = 80.0; // ns per byte: 200 and 100 Mbit/s

// Full buckets of so many ms.
VirtualRails with_buckets(double fast_ms = 16.0, double slow_ms = 8.0)
{
    std::vector<fsbml_loggp_t> models{loggp(50e3, 1e3, 1e3, 5e3, kFast), loggp(50e3, 1e3, 1e3, 5e3, kSlow)};
    models[0].burst_ns = fast_ms * kMs;
    models[1].burst_ns = slow_ms * kMs;
    VirtualRails net(models, {kFast, kSlow});
    net.rail[0].bucket = net.rail[0].tokens = fast_ms * kMs / kFast;
    net.rail[1].bucket = net.rail[1].tokens = slow_ms * kMs / kSlow;
    return net;
}

// What messages of `of` pieces each take that the other end answers with as many, ns.
double there_and_back(VirtualRails &net, std::size_t pieces, std::size_t of)
{
    const std::uint64_t start = net.now;
    for (std::size_t left = pieces; left > 0;) {
        net.step(net.under_way() > 0.0 ? VirtualRails::kStepNs : 1000);
        left -= net.offer(VirtualRails::kQuantum, true, of * VirtualRails::kQuantum) >= 0 ? 1 : 0;
    }
    while (net.under_way() > 0.0) {
        net.step();
    }
    const std::uint64_t took = net.now - start;
    for (const std::uint64_t end = net.now + took; net.now < end;) {
        net.step();
    }
    return static_cast<double>(took);
}

double mean_there_and_back(VirtualRails &net, std::size_t pieces, std::size_t of)
{
    double sum = 0.0;
    for (int i = 0; i < 70; ++i) {
        const double took = there_and_back(net, pieces, of);
        sum += i < 20 ? 0.0 : took;
    }
    return sum / 50.0;
}

} // namespace

// What a bucket has let pass at once is not there any more.
TEST(FeedbackOfBuckets, WhatABucketGaveMustComeBack)
{
    VirtualRails net = with_buckets();
    net.give(0, 6 * VirtualRails::kQuantum); // 7.9 ms
    net.step(kMs);
    EXPECT_EQ(0.0, net.rail[0].queued);
    EXPECT_NEAR(6.9 * kMs, static_cast<double>(net.backlog(0)), 0.1 * kMs);
    for (int i = 0; i < 10; ++i) {
        net.step(kMs);
    }
    EXPECT_EQ(0U, net.backlog(0));
}

// No more than it holds, whatever was charged.
TEST(FeedbackOfBuckets, ABucketLacksNoMoreThanItHolds)
{
    VirtualRails net = with_buckets();
    fsbml_sched_charge(net.sched.get(), 0, net.now, 100 * VirtualRails::kQuantum);
    net.step(kMs);
    EXPECT_EQ(16 * kMs, net.backlog(0));
}

// Others have taken what was in it: what waits from one look to the next has met an empty one.
TEST(FeedbackOfBuckets, WhatWaitsHasMetAnEmptyBucket)
{
    VirtualRails net = with_buckets();
    net.rail[0].tokens = 0.0;
    net.give(0, 4 * VirtualRails::kQuantum); // 5.2 ms
    net.step(kMs);
    EXPECT_NEAR(4.2 * kMs, static_cast<double>(net.backlog(0)), 0.1 * kMs);
    net.step(kMs);
    EXPECT_NEAR(19.1 * kMs, static_cast<double>(net.backlog(0)), 0.1 * kMs); // less a round trip
}

// Bulk that passes at once does not wait for room.
TEST(FeedbackOfBuckets, ABucketIsRoomForBulk)
{
    VirtualRails net = with_buckets();
    net.give(0, VirtualRails::kQuantum);
    net.give(1, VirtualRails::kQuantum);
    net.step(kMs);
    std::size_t taken = 2;
    while (taken < 100 && net.offer(VirtualRails::kQuantum, true) >= 0) {
        ++taken;
    }
    EXPECT_GE(taken * VirtualRails::kQuantum, net.rail[0].bucket + net.rail[1].bucket);
    EXPECT_LT(taken, 100);
}

// Each rail can deliver its share while the other direction is at work.
TEST(FeedbackOfBuckets, LongMessagesAreSharedByWhatComesBackToTheBuckets)
{
    constexpr std::size_t kPieces = 8;
    VirtualRails net = with_buckets();
    const double ideal = kPieces * VirtualRails::kQuantum / (1.0 / kFast + 1.0 / kSlow) / 2.0;
    EXPECT_NEAR(ideal, mean_there_and_back(net, kPieces, kPieces), 0.1 * ideal);
    EXPECT_NEAR(kFast, net.gap(0), 0.1 * kFast); // and they are no faster for it
    EXPECT_NEAR(kSlow, net.gap(1), 0.1 * kSlow);
}

// One can whose bucket has 80 ms, and the other, which has none, gets less than by its rate.
TEST(FeedbackOfBuckets, ARailWithABucketTakesMoreOfAMessage)
{
    constexpr std::size_t kPieces = 32;
    const double ideal = kPieces * VirtualRails::kQuantum / (2.0 / kFast + 1.0 / kSlow);
    for (const std::size_t of : {1U, 2U, 8U, 32U}) { // so many messages at once, too
        VirtualRails net = with_buckets(80.0, 0.0);
        EXPECT_NEAR(ideal, mean_there_and_back(net, kPieces, of), 0.25 * ideal) << of;
    }
}

// Pauses fill a bucket of 2.8 ms of which the model knows nothing, and what it lets pass looks like a rail
// that has become faster.
TEST(FeedbackOfBuckets, ADisturbedStartMayNotHaveSeenABucket)
{
    for (const fsbml_doubt_t doubt : {FSBML_DOUBT_NONE, FSBML_DOUBT_BUCKET}) {
        const std::vector<fsbml_loggp_t> models{loggp(50e3, 1e3, 1e3, 5e3, kFast)};
        VirtualRails net(models, {kFast});
        fsbml_sched_doubt(net.sched.get(), 0, doubt);
        net.rail[0].bucket = net.rail[0].tokens = 70'000.0;
        double least = kFast;
        for (int i = 0; i < 300; ++i) {
            net.give(0, 3 * VirtualRails::kQuantum); // 3.9 ms
            for (int ms = 0; ms < 14; ++ms) {
                net.step(kMs);
                least = std::min(least, net.gap(0));
            }
        }
        if (FSBML_DOUBT_BUCKET == doubt) {
            EXPECT_NEAR(kFast, least, 0.05 * kFast);
            EXPECT_TRUE(net.told.empty());
        } else {
            EXPECT_LT(least, kFast / 1.5); // or this test tests nothing
        }
    }
}
