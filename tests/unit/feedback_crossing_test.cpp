// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a process learns of a rail by which as much comes as it sends: acknowledgements come behind that.

#include "flow.hpp"
#include "test.hpp"

using namespace two_rails;

namespace
{

constexpr std::uint64_t kLate = 2 * kMs;

// One message at a time, as in an exchange: the next one is sent when this one is there.
void exchange(VirtualRails &net, std::uint64_t ms, std::size_t bytes = 65536)
{
    for (const std::uint64_t end = net.now + ms * kMs; net.now < end; net.step()) {
        if (net.rail[0].queued < 1.0) {
            net.give(0, bytes);
        }
    }
}

TEST(FeedbackOfCrossingBulk, LateAcknowledgementsAreNoSlowRail)
{
    for (const std::size_t bytes : {16384, 65536, 262144}) {
        VirtualRails net(fast_and_slow(), {kFast, kSlow});
        net.acks_late = kLate;
        exchange(net, 1000, bytes);
        EXPECT_NEAR(kFast, net.gap(0), 0.2 * kFast) << bytes;
        EXPECT_TRUE(net.told.empty()) << bytes;
    }
}

// They come later and later while the other end's queue fills, and sooner when it gets empty.
TEST(FeedbackOfCrossingBulk, AQueueThatFillsIsNoSlowRail)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    for (std::uint64_t t = 0; t < 1000; ++t) { // ms
        const std::uint64_t in_cycle = t % 80 * kMs;
        net.acks_late = in_cycle < 50 * kMs ? 100'000 + in_cycle / 3 : kMs;
        exchange(net, 1, 1 << 20);
        EXPECT_LT(net.gap(0), 1.2 * kFast) << t;
    }
    EXPECT_TRUE(net.told.empty());
}

// At one of four looks it has clearly something to do, and never has nothing.
TEST(FeedbackOfCrossingBulk, ARailThatIsSeldomSeenBusyIsNoFastOne)
{
    for (const std::uint64_t received : {0, 25'000}) {
        VirtualRails net(fast_and_slow(), {kFast, kSlow});
        for (int i = 0; i < 600; ++i) {
            net.now += kMs;
            fsbml_sched_charge(net.sched.get(), 0, net.now, 25'000);
            ASSERT_TRUE(fsbml_feedback_begin(net.feedback.get(), net.now));
            ASSERT_TRUE(fsbml_feedback_asks(net.feedback.get(), 0, net.now));
            fsbml_flow_seen_t seen{};
            seen.n = 1;
            seen.look.bytes = 25'000;
            seen.look.busy_ns = kMs;
            seen.queued = seen.in_flight = 0 == i % 4 ? 65'536 : 20'000;
            seen.received = received;
            seen.usual_ns = 2 * kMs;
            seen.round_trip_ns = 0 != received ? 100'000 : 2 * kMs;
            seen.payload = 1.0;
            seen.all_known = true;
            fsbml_feedback_seen(net.feedback.get(), 0, net.now, &seen);
            fsbml_feedback_end(net.feedback.get(), 0);
        }
        EXPECT_EQ(0 == received, net.gap(0) < kFast / 1.4); // of one way alone it must be true
    }
}

// Nor do they keep the next message from it.
TEST(FeedbackOfCrossingBulk, WhatHasArrivedIsNoBacklog)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    net.acks_late = kLate;
    exchange(net, 100);
    while (net.rail[0].queued >= 1.0) {
        net.step();
    }
    EXPECT_LE(net.backlog(0), kMs / 4);
}

// Also where they come later than usual: the other end has just begun.
TEST(FeedbackOfCrossingBulk, WhatMayHaveArrivedIsNoBacklog)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    net.acks_late = 5 * kMs;
    net.is_usual = false;
    for (const std::uint64_t end = net.now + 200 * kMs; net.now < end; net.step()) {
        if (net.rail[0].queued < 1.0) {
            net.give(0, 65536);
        }
        EXPECT_LE(static_cast<double>(net.backlog(0)), net.rail[0].queued * kFast + 2.0 * kMs);
    }
}

// That acknowledgements come late takes nothing from what is on the way: the rail would get more than it
// carries.
TEST(FeedbackOfCrossingBulk, WhatIsUnderWayIsABacklog)
{
    constexpr std::uint64_t left = 12'000;
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    for (int i = 0; i < 2; ++i) {
        net.now += kMs;
        fsbml_sched_charge(net.sched.get(), 1, net.now, 2 * left);
        ASSERT_TRUE(fsbml_feedback_begin(net.feedback.get(), net.now));
        ASSERT_TRUE(fsbml_feedback_asks(net.feedback.get(), 1, net.now));
        fsbml_flow_seen_t seen{};
        seen.n = 1;
        seen.queued = seen.in_flight = left;
        seen.received = 100'000;
        seen.usual_ns = kLate;
        seen.round_trip_ns = 100'000;
        seen.payload = 1.0;
        seen.all_known = true;
        fsbml_feedback_seen(net.feedback.get(), 1, net.now, &seen);
        fsbml_feedback_end(net.feedback.get(), 0);
    }
    EXPECT_GE(static_cast<double>(net.backlog(1)), kSlow * left - 100e3);
    EXPECT_LT(static_cast<double>(net.backlog(1)), kSlow * left);
}

TEST(FeedbackOfCrossingBulk, ARailThatFallsIsFoundOut)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    net.acks_late = kLate;
    exchange(net, 500);
    net.rail[0].gap = kFallen;
    exchange(net, 500);
    EXPECT_NEAR(kFallen, net.gap(0), 0.2 * kFallen);
    ASSERT_EQ(1U, net.told.size());
    EXPECT_NEAR(mbps(kFallen), net.told[0].after_mbps, 0.2 * mbps(kFallen));
    net.rail[0].gap = kFast;
    exchange(net, 1500);
    EXPECT_NEAR(kFast, net.gap(0), 0.2 * kFast);
}

} // namespace
