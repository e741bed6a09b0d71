// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Which rail bulk takes, and when it is to wait.

#include "flow.hpp"

#include "flow/flow.hpp"
#include "schedule/schedule.hpp"
#include "test.hpp"

namespace
{

using fsbml::Pauses;
using fsbml::Windows;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::size_t kPiece = 32768;
constexpr std::uint64_t kNow = 1'000'000'000;

// Two rails of 200 and 100 Mbit/s, with windows of two pieces.
class WindowsTest : public testing::Test
{
protected:
    explicit WindowsTest(bool alone = true, bool may_refuse = true) : windows(sched->impl, alone, may_refuse)
    {
        windows.set(0, 40.0, static_cast<std::uint64_t>(2 * 40.0 * kPiece));
        windows.set(1, 80.0, static_cast<std::uint64_t>(2 * 80.0 * kPiece));
    }

    int take(std::uint32_t best, std::size_t left = 8 * kPiece, bool is_short = true)
    {
        piece = {this, left, kPiece, best, 3, true, false};
        const int rail = windows.take(kNow, is_short, piece);
        if (rail >= 0) {
            fsbml_sched_charge(sched.get(), static_cast<std::size_t>(rail), kNow, piece.bytes);
        }
        return rail;
    }

    // So much bulk that a trial is a small part of it.
    void much_bulk()
    {
        for (int i = 0; i < 100; ++i) {
            windows.take(kNow, false, piece = {this, kPiece, kPiece, 0, 3, true, false});
        }
    }

    void fill(std::size_t rail, int pieces)
    {
        for (int i = 0; i < pieces; ++i) {
            fsbml_sched_charge(sched.get(), rail, kNow, kPiece);
        }
    }

    SchedPtr sched = make_sched({loggp(50e3, 1e3, 1e3, 1e3, 40.0), loggp(50e3, 1e3, 1e3, 1e3, 80.0)});
    Windows windows;
    fsbml_bulk_t piece{};
};

TEST_F(WindowsTest, ARailHasRoomUpToItsWindow)
{
    EXPECT_EQ(0, take(0));
    EXPECT_EQ(0, take(0));
    EXPECT_EQ(0U, windows.refusals());
}

TEST_F(WindowsTest, BeyondItAnotherRailTakesIt)
{
    fill(0, 3);
    EXPECT_EQ(1, take(0));
}

TEST_F(WindowsTest, BulkWaitsForTheFastRailIfThatIsSooner)
{
    fill(0, 3);
    fill(1, 1);
    EXPECT_EQ(-1, take(0, kPiece)); // there after 5.2 ms; by the slow rail after 5.3
    EXPECT_EQ(1U, windows.refusals());
    EXPECT_EQ(1, take(0, 8 * kPiece)); // the last of so much would be later
}

TEST_F(WindowsTest, BulkWaitsIfNoRailHasRoom)
{
    fill(0, 3);
    fill(1, 3);
    EXPECT_EQ(-1, take(0, 100 * kPiece));
    EXPECT_EQ(kPiece, piece.bytes);
}

TEST_F(WindowsTest, APeerWithNothingUnderWayIsNotRefused)
{
    fill(0, 3);
    fill(1, 3);
    EXPECT_EQ(-1, take(0, 100 * kPiece));
    piece.is_idle = true; // as the kernel says when asked
    EXPECT_EQ(0, windows.take(kNow, true, piece));
    EXPECT_EQ(0U, windows.refusals());
}

TEST_F(WindowsTest, WithoutSmallMessagesARailHasRoomForMore)
{
    fill(0, 3);
    EXPECT_EQ(0, take(0, kPiece, false));
    fill(0, 6); // 13.1 ms of 2.6 + 10
    fill(1, 5); // it would be the later one
    EXPECT_EQ(-1, take(0, kPiece, false));
}

TEST_F(WindowsTest, WithoutSmallMessagesNoWholeMessageWaits)
{
    fill(0, 100);
    piece = {this, kPiece, kPiece, 0, 3, false, false};
    EXPECT_EQ(0, windows.take(kNow, false, piece));
}

class WindowsOfThreads : public WindowsTest
{
protected:
    WindowsOfThreads() : WindowsTest(true, false) {}
};

TEST_F(WindowsOfThreads, RefuseNothing)
{
    fill(0, 100);
    fill(1, 100);
    EXPECT_EQ(0, take(0));
}

// Each rank by what it has with the rail itself, or those that come late would never get on.
class SharedWindows : public WindowsTest
{
protected:
    SharedWindows() : WindowsTest(false) {}
};

TEST_F(SharedWindows, AreTheRanksOwn)
{
    fill(0, 100);
    EXPECT_EQ(0, take(0));
    EXPECT_EQ(0, take(0));
    EXPECT_EQ(0, take(0)); // its window and no more
    EXPECT_NE(0, take(0, kPiece));
    windows.left(0, 0);
    EXPECT_EQ(0, take(0));
}

TEST_F(WindowsTest, TrialsAreAHundredthOfTheBulkAtMost)
{
    std::uint64_t bulk = 0, tried = 0;
    EXPECT_FALSE(windows.arm(1));
    for (int i = 0; i < 1000; ++i) {
        windows.arm(1);
        const int rail = windows.take(kNow, false, piece = {this, 8 * kPiece, kPiece, 0, 3, true, false});
        bulk += piece.bytes;
        tried += 1 == rail ? piece.bytes : 0;
        windows.end_trial();
        ASSERT_LE(100 * tried, bulk);
    }
    EXPECT_GT(200 * tried, bulk);
}

TEST_F(WindowsTest, ATrialTakesASmallPieceOnce)
{
    much_bulk();
    ASSERT_TRUE(windows.arm(1));
    EXPECT_EQ(1, take(0));
    EXPECT_LT(piece.bytes, kPiece);
    EXPECT_EQ(kNow, windows.tried(1).sent_ns);
    EXPECT_EQ(piece.bytes, windows.tried(1).bytes);
    EXPECT_EQ(0U, windows.tried(0).sent_ns);
    EXPECT_EQ(0, take(0)) << "one at a time";
    EXPECT_FALSE(windows.arm(0));
    windows.end_trial();
    EXPECT_TRUE(windows.arm(0));
}

TEST_F(WindowsTest, ATrialTakesNoWholeMessageAndNoOtherPeers)
{
    much_bulk();
    ASSERT_TRUE(windows.arm(1));
    piece = {this, kPiece, kPiece, 0, 3, false, false};
    EXPECT_EQ(0, windows.take(kNow, true, piece));
    piece = {this, kPiece, kPiece, 0, 1, true, false};
    EXPECT_EQ(0, windows.take(kNow, true, piece));
    EXPECT_EQ(0U, windows.tried(1).sent_ns);
}

// What a pause is judged by: bulk that had to wait since it was last asked, or much of it under way.
TEST_F(WindowsTest, HadBulkThatWaitedOrIsMuch)
{
    EXPECT_EQ(0, take(0));
    EXPECT_FALSE(windows.had_bulk());
    fill(0, 3);
    fill(1, 3);
    EXPECT_EQ(-1, take(0, kPiece));
    EXPECT_TRUE(windows.had_bulk());
    EXPECT_TRUE(windows.had_bulk()); // it still waits
    EXPECT_EQ(0, windows.take(kNow + 10 * kMs, true, piece));
    EXPECT_TRUE(windows.had_bulk());
    EXPECT_FALSE(windows.had_bulk());
    windows.left(1, 120'000); // 9.6 ms
    EXPECT_FALSE(windows.had_bulk());
    windows.left(1, 130'000);
    EXPECT_TRUE(windows.had_bulk());
}

// ------------------------------------------------------------------ pauses

TEST(Pauses, OfAProcessThatPollsAreNone)
{
    Pauses pauses;
    std::uint64_t now = kNow, window = 0;
    for (int i = 0; i < 1000; ++i) {
        window = pauses.look(now += 1000, true);
    }
    EXPECT_NEAR(2000.0, static_cast<double>(window), 1.0);
}

TEST(Pauses, OneLongOneIsTheSystems)
{
    Pauses pauses;
    std::uint64_t now = kNow, window = 0;
    for (int i = 0; i < 1'000'000; ++i) {
        window = pauses.look(now += 500 == i ? 20 * kMs : 1000, true);
    }
    EXPECT_LT(window, kMs);
}

TEST(Pauses, LongOnesAreTheProgramsAndForgotten)
{
    Pauses pauses;
    std::uint64_t now = kNow, window = 0;
    for (int i = 0; i < 100; ++i) {
        window = pauses.look(now += 0 == i % 20 ? 20 * kMs : 1000, true);
    }
    EXPECT_GE(window, 20 * kMs);
    for (int i = 0; i < 60'000; ++i) {
        window = pauses.look(now += 100'000, true);
    }
    EXPECT_LT(window, kMs);
}

// A program that computes between two exchanges: nothing waits then.
TEST(Pauses, WithoutBulkAreNone)
{
    Pauses pauses;
    std::uint64_t now = kNow, window = 0;
    for (int i = 0; i < 100; ++i) {
        window = pauses.look(now += 0 == i % 20 ? 20 * kMs : 1000, 0 != i % 20);
    }
    EXPECT_LT(window, kMs / 10);
    EXPECT_EQ(pauses.away_ns(), 4 * 20 * kMs);
}

TEST(Pauses, WhatIsMoreThanALookIsAway)
{
    Pauses pauses;
    std::uint64_t now = kNow;
    for (int i = 0; i < 1000; ++i) {
        (void) pauses.look(now += 0 == i % 10 ? 4 * kMs : 100'000, true);
    }
    EXPECT_EQ(pauses.away_ns(), 99 * 4 * kMs); // nothing was before the first look
}

} // namespace
