// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a process learns of its rails while it sends: rates, backlogs, windows, by rails in virtual time.

#include "flow.hpp"
#include "test.hpp"

using namespace two_rails;

namespace
{

TEST(Feedback, RefusesWhatIsNoScheduler)
{
    const fsbml_feedback_config_t config{nullptr, 3, true, true, 0};
    EXPECT_EQ(nullptr, fsbml_feedback_create(&config));
    EXPECT_EQ(nullptr, fsbml_feedback_create(nullptr));
    fsbml_feedback_destroy(nullptr);
}

TEST(Feedback, LeavesARailAloneThatIsAsItsModelSays)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    net.stream(2000);
    EXPECT_TRUE(net.told.empty());
    EXPECT_NEAR(kFast, net.gap(0), 0.05 * kFast);
    EXPECT_NEAR(kSlow, net.gap(1), 0.05 * kSlow);
}

TEST(Feedback, LooksAtNoIdleRail)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    for (int i = 0; i < 10000; ++i) {
        net.step();
    }
    EXPECT_EQ(0U, net.rail[0].asked + net.rail[1].asked);
}

TEST(Feedback, LooksOnceAMillisecond)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    net.stream(100);
    EXPECT_LE(net.rail[0].asked, 101U);
    EXPECT_GE(net.rail[0].asked, 95U);
}

TEST(Feedback, LooksTakeAFiftiethOfTheProcessorTime)
{
    for (const std::uint64_t shared_by : {1, 8}) {
        VirtualRails net(fast_and_slow(), {kFast, kSlow});
        net.look_takes = 40'000 * shared_by; // as the shim has it
        net.stream(400);
        EXPECT_LE(net.rail[0].asked, 400 / (2 * shared_by) + 1);
        EXPECT_GE(net.rail[0].asked, 400 / (3 * shared_by));
    }
}

TEST(Feedback, LooksAtNoRailWhoseTransportSaysNothing)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    const fsbml_feedback_config_t config{net.sched.get(), 2, true, true, 0};
    net.feedback.reset(fsbml_feedback_create(&config));
    net.stream(50);
    EXPECT_EQ(0U, net.rail[0].asked);
    EXPECT_GT(net.rail[1].asked, 0U);
}

TEST(Feedback, FollowsARailThatFallsAndTellsOnce)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    net.stream(500);
    net.rail[0].gap = kFallen;
    net.stream(1500);
    EXPECT_NEAR(kFallen, net.gap(0), 0.1 * kFallen);
    ASSERT_EQ(1U, net.told.size());
    EXPECT_EQ(0U, net.told[0].rail);
    EXPECT_NEAR(mbps(kFast), net.told[0].before_mbps, 0.1 * mbps(kFast));
    EXPECT_NEAR(mbps(kFallen), net.told[0].after_mbps, 0.1 * mbps(kFallen));
    EXPECT_NEAR(kSlow, net.gap(1), 0.1 * kSlow);
}

// As of a peer that stops: what its kernel has room for is delivered more and more slowly, and then there is
// nothing to look at.
TEST(Feedback, TellsOfNoRateThatWasNotSeenToLast)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    net.stream(500);
    net.rail[0].gap = kFallen;
    net.stream(150);
    ASSERT_NEAR(kFallen, net.gap(0), 0.1 * kFallen);
    net.rail[0].gap = kFast;
    for (int i = 0; i < 3000; ++i) {
        net.step();
    }
    net.stream(1000);
    EXPECT_NEAR(kFast, net.gap(0), 0.1 * kFast);
    EXPECT_TRUE(net.told.empty());
}

TEST(Feedback, FollowsARailThatRecovers)
{
    VirtualRails net(fast_and_slow(), {kFallen, kSlow});
    net.stream(1500);
    net.rail[0].gap = kFast;
    net.stream(1500);
    EXPECT_NEAR(kFast, net.gap(0), 0.2 * kFast);
    EXPECT_EQ(2U, net.told.size());
    EXPECT_GT(net.rate_of_stream(500), 0.9 * (1 / kFast + 1 / kSlow));
}

// With nothing but its own evidence, it would get nothing any more: a 400th of the other's rate.
TEST(Feedback, TriesARailThatHasBecomeFarSlower)
{
    VirtualRails net({loggp(50e3, 1e3, 1e3, 5e3, kFast), loggp(50e3, 1e3, 1e3, 5e3, kFast)},
                     {400 * kFast, kFast});
    net.stream(3000, true, 4 * VirtualRails::kQuantum);
    EXPECT_GT(net.gap(0), 100 * kFast);
    net.rail[0].gap = kFast;
    net.stream(3000, true, 4 * VirtualRails::kQuantum);
    EXPECT_LT(net.gap(0), 2 * kFast);
}

// -------------------------------------------------------------- receivers

fsbml_flow_connection_t held_up(std::uint64_t in_flight)
{
    return {100'000, kMs, kMs, 500'000, in_flight, 0, 100'000, 100'000, 0.95, false, false};
}

TEST(Feedback, AReceiverThatComputesHoldsItsConnectionUp)
{
    fsbml_flow_seen_t seen{};
    const fsbml_flow_connection_t c = held_up(1448);
    fsbml_flow_add(&seen, &c);
    EXPECT_EQ(kMs, seen.look.limited_ns);
    EXPECT_EQ(0U, seen.queued);
}

// Its window is full of what waits for the rail.
TEST(Feedback, ASlowRailIsNoReceiverThatComputes)
{
    fsbml_flow_seen_t seen{};
    const fsbml_flow_connection_t c = held_up(200'000);
    fsbml_flow_add(&seen, &c);
    EXPECT_EQ(0U, seen.look.limited_ns);
    EXPECT_EQ(500'000U, seen.queued);
    EXPECT_EQ(100'000U, seen.look.bytes);
}

// To one peer of several a cable is out: what its connection has left does not keep the rail busy.
TEST(Feedback, AConnectionThatIsSilentDoesNotOccupyItsRail)
{
    fsbml_flow_seen_t seen{};
    fsbml_flow_connection_t c = held_up(200'000);
    c.is_silent = true;
    c.acknowledged = 0;
    fsbml_flow_add(&seen, &c);
    EXPECT_EQ(0U, seen.queued);
    EXPECT_EQ(0U, seen.look.busy_ns);
    EXPECT_EQ(0U, seen.with_bulk);
    c.acknowledged = 1448; // since the look before
    fsbml_flow_add(&seen, &c);
    EXPECT_EQ(500'000U, seen.queued);
    EXPECT_EQ(kMs, seen.look.busy_ns);
}

// Much waits, and nothing is on its way: the peer has stopped, and takes in a little now and then.
TEST(Feedback, APeerThatStopsIsNoSlowRail)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    net.stream(500);
    net.takes_in = false;
    net.rail[0].gap = net.rail[1].gap = kFallen;
    net.stream(3000);
    EXPECT_NEAR(kFast, net.gap(0), 0.05 * kFast);
    EXPECT_NEAR(kSlow, net.gap(1), 0.05 * kSlow);
    EXPECT_TRUE(net.told.empty());
}

TEST(Feedback, AddsUpConnections)
{
    fsbml_flow_seen_t seen{};
    fsbml_flow_connection_t c{1000, 10, 0, 200, 100, 500, 70'000, 90'000, 0.95, false, false};
    fsbml_flow_add(&seen, &c);
    c.received = 100;
    c.usual_ns = 95'000;
    fsbml_flow_add(&seen, &c);
    EXPECT_EQ(600U, seen.received);
    EXPECT_EQ(90'000U, seen.usual_ns); // of the one by which most came
    seen = {};
    fsbml_flow_add(&seen, &c);
    c.round_trip_ns = 50'000;
    c.is_first = true; // what it has done before is not of this look
    c.queued = 10000;
    fsbml_flow_add(&seen, &c);
    EXPECT_EQ(1000U, seen.look.bytes);
    EXPECT_EQ(10U, seen.look.busy_ns);
    EXPECT_EQ(10200U, seen.queued);
    EXPECT_EQ(1U, seen.with_bulk);
    EXPECT_EQ(200U, seen.in_flight);
    EXPECT_EQ(50'000U, seen.round_trip_ns);
}

// ------------------------------------------------------- without measurement

// What is assumed of rails that were not measured: 10 Gbit/s, and all alike.
std::vector<fsbml_loggp_t> assumed()
{
    return {loggp(10e3, 1e3, 1e3, 1e3, 0.8), loggp(10e3, 1e3, 1e3, 1e3, 0.8)};
}

void guess(VirtualRails &net)
{
    fsbml_sched_doubt(net.sched.get(), 0, FSBML_DOUBT_ALL);
    fsbml_sched_doubt(net.sched.get(), 1, FSBML_DOUBT_ALL);
}

// What it was charged is over long before the next look.
TEST(Feedback, LooksAtARailWhoseModelIsTooFast)
{
    VirtualRails net(assumed(), {kFast, kFallen});
    net.give(0, VirtualRails::kQuantum);
    net.step(kMs);
    ASSERT_EQ(0U, net.backlog(0) - std::min<std::uint64_t>(net.backlog(0), kMs));
    EXPECT_EQ(1U, net.rail[0].asked);
    EXPECT_EQ(0U, net.rail[1].asked);
}

TEST(Feedback, LearnsRailsFromTraffic)
{
    for (const auto &[fast, slow] : std::vector<std::pair<double, double>>{
             {kFast, kFallen}, {kSlow, kSlow}, {kFast, kSlow}, {4.0, 8.0}, {kFast, 8000.0}}) {
        for (const bool is_short : {false, true}) {
            VirtualRails net(assumed(), {fast, slow});
            guess(net);
            net.stream(500, is_short);
            EXPECT_GT(net.rate_of_stream(500, is_short), 0.9 * (1 / fast + 1 / slow))
                << fast << ' ' << slow << ' ' << is_short << ": " << net.gap(0) << ' ' << net.gap(1);
        }
    }
}

// By the model all that is queued would be on its way.
TEST(Feedback, LearnsRailsThatAreLong)
{
    VirtualRails net(assumed(), {kFast, kFallen});
    net.round_trip = 2 * kMs;
    guess(net);
    net.stream(500, true);
    EXPECT_NEAR(kFast, net.gap(0), 0.1 * kFast);
    EXPECT_NEAR(kFallen, net.gap(1), 0.1 * kFallen);
}

// A model that is far too slow gives the rail nothing; a hundredth of what the other one carries does.
TEST(Feedback, TriesARailWhoseModelIsFarTooSlow)
{
    VirtualRails net({loggp(50e3, 1e3, 1e3, 5e3, kFast), loggp(50e3, 1e3, 1e3, 5e3, 1e5)}, {kFast, kFast});
    net.stream(2000, true, 4 * VirtualRails::kQuantum);
    EXPECT_LT(net.gap(1), 2 * kFast);
    EXPECT_GT(net.rate_of_stream(500, true), 0.9 * 2 / kFast);
}

TEST(Feedback, TriesARailThatIsAsSlowAsItsModelSaysLessAndLess)
{
    VirtualRails net({loggp(50e3, 1e3, 1e3, 5e3, kFast), loggp(50e3, 1e3, 1e3, 5e3, 1e4)}, {kFast, 1e4});
    net.stream(10'000, false, 4 * VirtualRails::kQuantum);
    EXPECT_GE(net.rail[1].delivered, 2 * 16384U);
    EXPECT_LE(net.rail[1].delivered, 8 * 16384U);
    EXPECT_NEAR(1e4, net.gap(1), 500.0);
}

// A fall is noticed soon, however slow the rail has become: in 0.1 s a stream has all that is left.
TEST(Feedback, AStreamGetsOverAFallSoon)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    net.stream(1000, true);
    net.rail[0].gap = kFallen;
    net.stream(150, true);
    EXPECT_GT(net.rate_of_stream(500, true), 0.95 * (1 / kFallen + 1 / kSlow));
    net.rail[0].gap = kFast;
    net.stream(500, true);
    EXPECT_GT(net.rate_of_stream(500, true), 0.95 * (1 / kFast + 1 / kSlow));
}

// A process that does not look for a while has as much with a rail if bulk waited by then. One that had sent
// all of it, and computed, lets small messages wait no longer for that.
TEST(Feedback, QueuesLastForPausesThatBulkHasToWaitIn)
{
    for (const bool waits : {false, true}) {
        VirtualRails net(fast_and_slow(), {kFast, kSlow});
        for (int i = 0; i < 4; ++i) {
            net.stream(20, true);
            // The last one gets room, and all are delivered.
            for (int steps = 0; !waits && steps < 1000; ++steps) {
                net.step();
                if (500 == steps) {
                    EXPECT_GE(net.offer(), 0);
                }
            }
            net.step(100 * kMs);
        }
        net.stream(20, true);
        EXPECT_EQ(waits, net.under_way() > 20 * VirtualRails::kQuantum) << net.under_way();
    }
}

TEST(Feedback, BeginsAnewWithAnotherModel)
{
    VirtualRails net(fast_and_slow(), {kFallen, kSlow});
    net.stream(1000);
    ASSERT_GT(net.gap(0), 5 * kFast);
    const fsbml_loggp_t model = loggp(50e3, 1e3, 1e3, 4e3, kFast);
    ASSERT_EQ(0, fsbml_sched_set_model(net.sched.get(), 0, &model));
    net.give(0, VirtualRails::kQuantum);
    net.step(kMs);
    EXPECT_NEAR(kFast, net.gap(0), 1.0);
}

// ----------------------------------------------------------------- backlog

TEST(Feedback, CorrectsABacklogUpwards)
{
    VirtualRails net(fast_and_slow(), {kFallen, kSlow});
    net.give(0, 10 * VirtualRails::kQuantum); // 13 ms by the model; it delivers a tenth of that
    net.step(10 * kMs);
    EXPECT_NEAR(12.0 * kMs, static_cast<double>(net.backlog(0)), 0.1 * kMs); // 303 kB, less a round trip
}

TEST(Feedback, CorrectsABacklogDownwardsOnceLittleIsLeft)
{
    VirtualRails net(fast_and_slow(), {kFast / 4, kSlow});
    net.give(0, 4 * VirtualRails::kQuantum); // 5.3 ms by the model
    net.step(kMs);                           // 31 of 131 kB are left
    EXPECT_LE(net.backlog(0), 2 * kMs);
    net.step(kMs);
    EXPECT_EQ(0U, net.backlog(0));
}

// A BTL may keep what its transport has no room for.
TEST(Feedback, BelievesNoHalfFullTransport)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    fsbml_sched_charge(net.sched.get(), 0, net.now, 100 * VirtualRails::kQuantum);
    net.rail[0].queued = 50.0 * VirtualRails::kQuantum;
    net.step(kMs);
    EXPECT_GT(net.backlog(0), 120 * kMs);
}

TEST(Feedback, TakesNothingBackWhileConnectionsAreUnknown)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    net.knows_all = false;
    fsbml_sched_charge(net.sched.get(), 0, net.now, 100 * VirtualRails::kQuantum);
    net.step(kMs);
    EXPECT_GT(net.backlog(0), 120 * kMs);
    net.knows_all = true;
    net.step(kMs);
    EXPECT_EQ(0U, net.backlog(0));
}

TEST(Feedback, TakesNothingBackOfWhatOtherRanksMayHave)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow}, false);
    fsbml_sched_charge(net.sched.get(), 0, net.now, 100 * VirtualRails::kQuantum);
    net.step(kMs);
    EXPECT_GT(net.backlog(0), 120 * kMs);
}

TEST(Feedback, LeavesARailOfWhichNothingIsKnownToItsModel)
{
    VirtualRails net(fast_and_slow(), {kFast, kSlow});
    const fsbml_flow_seen_t nothing{};
    net.give(0, VirtualRails::kQuantum);
    ASSERT_TRUE(fsbml_feedback_asks(net.feedback.get(), 0, net.now));
    const double before = net.gap(0);
    fsbml_feedback_seen(net.feedback.get(), 0, net.now, &nothing);
    EXPECT_EQ(before, net.gap(0));
    const std::uint64_t later = net.now + 100 * kMs;
    net.give(1, 100);
    EXPECT_TRUE(fsbml_feedback_asks(net.feedback.get(), 1, net.now));
    fsbml_feedback_seen(net.feedback.get(), 1, net.now, &nothing);
    EXPECT_FALSE(fsbml_feedback_asks(net.feedback.get(), 1, later));
}

} // namespace
