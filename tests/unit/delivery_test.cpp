// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Delivery to one peer, case by case: acknowledgements, paths that fail, bounds. In virtual time.
#include "delivery_world.hpp"

namespace
{

using namespace delivery;

TEST(Delivery, AcknowledgesAfterSoManyMessages)
{
    World w(limits(), 1, 1);
    stream(w, 0, 64);
    w.run_for(2 * kMs);
    expect_done(w);
    EXPECT_EQ(1U, w.counters(1).control_frames);
    EXPECT_EQ(0U, w.counters(0).control_frames);
}

TEST(Delivery, AcknowledgesAfterAWhile)
{
    World w(limits(), 1, 1);
    stream(w, 0, 3);
    w.run_for(30 * kMs);
    EXPECT_FALSE(w.is_done());
    w.run_for(20 * kMs);
    expect_done(w);
    EXPECT_EQ(1U, w.counters(1).control_frames);
}

// Until then their memory waits.
TEST(Delivery, AcknowledgesLargeMessagesSooner)
{
    World w(limits(), 1, 1);
    stream(w, 0, 1, 100000);
    w.run_for(10 * kMs);
    expect_done(w);
}

TEST(Delivery, AcknowledgesAfterSoManyBytes)
{
    World w(limits(), 1, 1);
    stream(w, 0, 4, 70000);
    w.run_for(2 * kMs);
    expect_done(w);
}

TEST(Delivery, AcknowledgesWithMessages)
{
    World w(limits(), 2, 1);
    for (unsigned i = 0; i < 4000; ++i) { // ping-pong
        w.add(i % 2, w.clock.now + i * 100 * kUs, 16);
    }
    w.run_for(400 * kMs);
    EXPECT_EQ(4000U, w.end[0].messages.arrived() + w.end[1].messages.arrived());
    EXPECT_EQ(0U, w.counters(0).control_frames + w.counters(1).control_frames);
    w.run_for(100 * kMs);
    expect_done(w);
}

TEST(Delivery, ResumesByAnotherPathWhatAFailedOneHasLost)
{
    World w(limits(), 2, 1);
    stream(w, 0, 200);
    w.fault(World::kCut, w.clock.now + 100 * kUs, 0, 0);
    w.run_for(20 * kMs);
    EXPECT_EQ(200U, w.end[0].messages.arrived());
    EXPECT_EQ(1U, w.end[0].suspected);
    EXPECT_EQ(1U, w.end[0].resumed);
    EXPECT_GT(w.counters(0).sent_again, 10U);
    EXPECT_LT(w.counters(0).sent_again, 100U);
    EXPECT_EQ(1U, w.end[1].suspected); // with nothing under way: nothing to agree on
    EXPECT_EQ(0U, w.end[1].resumed);
    w.run_for(kSecond);
    expect_done(w);
}

TEST(Delivery, AsksBeforeItSuspects)
{
    World w(limits(), 2, 1);
    w.fault(World::kStall, w.clock.now, 0, 0);
    stream(w, 0, 200);
    w.run_for(90 * kMs);
    EXPECT_EQ(0U, w.end[0].suspected);
    w.run_for(100 * kMs); // the kernel's retransmissions, and the peer answers on the other path
    EXPECT_EQ(1U, w.end[0].suspected);
    EXPECT_EQ(200U, w.end[0].messages.arrived());
}

// What was under way on a path that was suspected without reason comes late, and is known.
TEST(Delivery, DropsWhatComesOfAClosedGeneration)
{
    World w(limits(), 2, 1);
    w.fault(World::kStall, w.clock.now, 0, 0);
    stream(w, 0, 200);
    w.fault(World::kMend, w.clock.now + 400 * kMs, 0, 0);
    w.run_for(2 * kSecond);
    expect_done(w);
    EXPECT_EQ(1U, w.end[0].suspected);
    EXPECT_EQ(0U, w.end[0].dead);
    EXPECT_EQ(1U, w.end[0].up); // and it may stay
    EXPECT_GT(w.counters(1).stale, 50U);
    EXPECT_EQ(0U, w.counters(1).false_frames);
    EXPECT_EQ(3U, fsbml_delivery_paths(w.d(0)));
}

TEST(Delivery, IsDeadAfterASecondAndComesBack)
{
    World w(limits(), 2, 1);
    w.fault(World::kStall, w.clock.now, 0, 0);
    w.fault(World::kStall, w.clock.now, 1, 0);
    stream(w, 0, 20);
    w.fault(World::kMend, w.clock.now + 5 * kSecond, 0, 0);
    w.run_for(kSecond);
    EXPECT_EQ(0U, w.end[0].dead);
    w.run_for(kSecond);
    EXPECT_EQ(1U, w.end[0].dead);
    EXPECT_EQ(2U, fsbml_delivery_paths(w.d(0)));
    w.run_for(5 * kSecond);
    EXPECT_EQ(1U, w.end[0].up);
    EXPECT_EQ(3U, fsbml_delivery_paths(w.d(0)));
}

// A stopped process, or one that computes, answers nowhere.
TEST(Delivery, NeverSuspectsASilentPeer)
{
    World w(limits(), 3, 1);
    stream(w, 0, 200);
    stream(w, 1, 200);
    w.fault(World::kPause, w.clock.now + 50 * kUs, 1, 5000);
    for (unsigned i = 1; i < 100; ++i) { // signs alone prove nothing, either
        w.run_for(50 * kMs);
        for (unsigned p = 0; p < 3; ++p) {
            fsbml_delivery_path_doubtful(w.d(0), p, w.clock.now);
        }
    }
    EXPECT_EQ(0U, w.end[0].suspected + w.end[1].suspected);
    w.run_for(2 * kSecond);
    expect_done(w);
    EXPECT_EQ(0U, w.end[0].suspected + w.end[1].suspected);
    EXPECT_LT(w.counters(0).control_frames, 80U); // it does not ask too often
}

// Nor is a path dead on which it does not answer.
TEST(Delivery, IsNotDeadWhileThePeerIsSilent)
{
    World w(limits(), 2, 1);
    w.fault(World::kStall, w.clock.now, 0, 0);
    stream(w, 0, 20);
    while (0 == w.end[0].resumed && w.clock.now < 2 * kSecond) {
        w.run_for(kMs);
    }
    ASSERT_EQ(1U, w.end[0].resumed);
    w.fault(World::kPause, w.clock.now, 1, 4000);
    w.run_for(3900 * kMs);
    EXPECT_EQ(0U, w.end[0].dead + w.end[1].dead);
    w.run_for(3 * kSecond);
    EXPECT_EQ(1U, w.end[0].dead + w.end[1].dead); // the end that finds out first takes the connection apart
}

TEST(Delivery, NeverSuspectsASlowPathWithoutASign)
{
    World w(limits(), 2, 1);
    w.line(0, 0).delay = 3 * kSecond;
    stream(w, 0, 200);
    w.run_for(5 * kSecond);
    expect_done(w);
    EXPECT_EQ(0U, w.end[0].suspected);
}

TEST(Delivery, NeverSuspectsForItsOwnPause)
{
    World w(limits(), 2, 1);
    stream(w, 0, 200);
    stream(w, 1, 200);
    w.fault(World::kPause, w.clock.now + 100 * kUs, 0, 3000);
    w.run_for(5 * kSecond);
    expect_done(w);
    EXPECT_EQ(0U, w.end[0].suspected + w.end[1].suspected);
}

// The receiver misses a message that the transport should have delivered: that is a sign.
TEST(Delivery, ResumesWhatTheReceiverMisses)
{
    World w(limits(), 2, 1);
    w.lines.loses_data = 100;
    stream(w, 0, 100);
    w.run_for(kMs);
    w.lines.loses_data = 0;
    EXPECT_LT(w.end[0].messages.arrived(), 100U);
    w.run_for(3 * kSecond);
    expect_done(w);
    EXPECT_GE(w.end[0].suspected, 1U);
}

TEST(Delivery, AsksWhereAnAcknowledgementWasLost)
{
    World w(limits(), 2, 1);
    w.lines.loses_control = 1000;
    stream(w, 0, 100);
    w.run_for(50 * kMs);
    EXPECT_EQ(100U, w.end[0].messages.arrived());
    EXPECT_FALSE(w.is_done());
    w.lines.loses_control = 0;
    w.run_for(200 * kMs);
    expect_done(w);
    EXPECT_EQ(0U, w.end[0].suspected);
}

TEST(Delivery, AsksAtOnceBeforeTheEnd)
{
    World w(limits(), 2, 1);
    stream(w, 0, 5);
    w.run_for(kMs);
    EXPECT_FALSE(w.is_done());
    fsbml_delivery_flush(w.d(0));
    w.serve(0);
    w.run_for(kMs);
    expect_done(w);
}

TEST(Delivery, ClosesUntilThePeerAnswers)
{
    World w(limits(), 2, 1);
    w.lines.loses_control = 1000;
    stream(w, 0, 100);
    w.fault(World::kCut, w.clock.now + 60 * kUs, 0, 0);
    w.run_for(2 * kSecond);
    EXPECT_EQ(0U, w.end[0].resumed);
    w.lines.loses_control = 0;
    w.run_for(2 * kSecond);
    expect_done(w);
    EXPECT_EQ(1U, w.end[0].resumed);
}

// Generations have 8 bits.
TEST(Delivery, GoesOnAfterAllGenerations)
{
    World w(limits(), 2, 1);
    for (int i = 0; i < 300; ++i) {
        stream(w, 0, 10);
        stream(w, 1, 10);
        w.fault(World::kCut, w.clock.now + 50 * kUs, 0, 0);
        w.fault(World::kMend, w.clock.now + 50 * kUs, 0, 0);
        w.run_for(62 * kSecond);
    }
    expect_done(w);
    EXPECT_GT(w.end[0].resumed, 256U);
    EXPECT_EQ(0U, w.counters(0).false_frames + w.counters(1).false_frames);
}

// Numbers have 16 bits.
TEST(Delivery, GoesOnAfterAllNumbers)
{
    World w(limits(), 1, 1);
    w.line(0, 0).delay = 10 * kMs; // 10,000 are under way
    stream(w, 0, 200000);
    w.fault(World::kCut, w.clock.now + 100 * kMs, 0, 0);
    w.fault(World::kMend, w.clock.now + 100 * kMs, 0, 0);
    w.run_for(2 * kSecond);
    expect_done(w);
    EXPECT_EQ(200000U, w.counters(1).delivered);
}

TEST(Delivery, IsDeafOneWay)
{
    World w(limits(), 2, 1);
    stream(w, 0, 100);
    stream(w, 1, 100);
    w.fault(World::kStall, w.clock.now + 50 * kUs, 1, 0); // only what comes from end 1 is held up
    w.run_for(kSecond);
    EXPECT_EQ(200U, w.end[0].messages.arrived() + w.end[1].messages.arrived());
    EXPECT_EQ(1U, w.end[1].suspected);
    EXPECT_EQ(1U, w.end[0].suspected); // which is told of it, and does not wait to be deaf itself
    w.run_for(kSecond);
    EXPECT_TRUE(w.end[0].messages.are_done(1) && w.end[1].messages.are_done(1));
}

// Its interface has no carrier: nothing waits to be late, and both ends leave the path at once.
TEST(Delivery, LeavesAPathThatIsCutAtOnce)
{
    World w(limits(), 2, 1);
    stream(w, 0, 100);
    stream(w, 1, 100);
    w.run_for(50 * kUs);
    w.fault(World::kStall, w.clock.now, 0, 0);
    w.fault(World::kStall, w.clock.now, 1, 0);
    w.fault(World::kCarrier, w.clock.now, 0, 0);
    w.run_for(5 * kMs);
    EXPECT_EQ(1U, w.end[0].suspected);
    EXPECT_EQ(1U, w.end[1].suspected);
    EXPECT_EQ(200U, w.end[0].messages.arrived() + w.end[1].messages.arrived());
    w.fault(World::kCarrier, w.clock.now, 0, 1); // the last one that takes messages
    w.run_for(5 * kMs);
    EXPECT_EQ(1U, w.end[0].suspected);
    EXPECT_EQ(2U, fsbml_delivery_paths(w.d(0)));
}

TEST(Delivery, IsSmall)
{
    World w(limits(), 2, 1);
    EXPECT_LE(fsbml_delivery_bytes(w.d(0)), 1024U);
    EXPECT_LE(sizeof(fsbml_delivery_message_t), 40U);
}

} // namespace
