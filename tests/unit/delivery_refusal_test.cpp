// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What delivery answers when the transport refuses, or a path comes back, call by call.
#include "delivery_pair.hpp"

namespace
{

using namespace delivery;

TEST(DeliveryRefusal, GivesTheNumberBackOfWhatWasRefused)
{
    fsbml_delivery_limits_t l = limits();
    l.lead_messages = 5;
    Pair p(l);
    fsbml_delivery_seal_t first{}, again{};
    for (int i = 0; i < 1000; ++i) { // nothing of it counts
        ASSERT_EQ(0, send(p[0], 0, 1000, &first));
        ASSERT_EQ(0, fsbml_delivery_refused(p[0], kNow, &first));
    }
    EXPECT_TRUE(fsbml_delivery_idle(p[0]));
    ASSERT_EQ(0, send(p[0], 0, 1000, &again));
    EXPECT_EQ(first.number, again.number);
    EXPECT_EQ(1, arrive(p[1], 0, again));
    first.path = 7;
    EXPECT_EQ(-EINVAL, fsbml_delivery_refused(p[0], kNow, &first));
}

// Another message is behind it: the receiver is told that the number has none.
TEST(DeliveryRefusal, TellsOfANumberWithoutAMessage)
{
    Pair p(limits());
    fsbml_delivery_seal_t one{}, two{};
    ASSERT_EQ(0, send(p[0], 0, 16, &one));
    ASSERT_EQ(0, send(p[0], 0, 16, &two));
    EXPECT_EQ(1, arrive(p[1], 0, two));
    EXPECT_EQ(0, fsbml_delivery_refused(p[0], kNow, &one));
    EXPECT_EQ(-EINVAL, fsbml_delivery_refused(p[0], kNow, &one)); // once
    pump(p, 0);
    fsbml_delivery_flush(p[0]);
    pump(p, 0);
    pump(p, 1);
    pump(p, 0);
    EXPECT_TRUE(fsbml_delivery_idle(p[0]));
    fsbml_delivery_counters_t c{};
    fsbml_delivery_counters(p[0], &c);
    EXPECT_EQ(1U, c.sent);
    fsbml_delivery_counters(p[1], &c);
    EXPECT_EQ(1U, c.delivered);
    EXPECT_EQ(0U, c.false_frames);
}

// The acknowledgement that went with a refused message is not lost.
TEST(DeliveryRefusal, AcknowledgesAgainAfterARefusal)
{
    fsbml_delivery_limits_t l = limits();
    l.ack_messages = 8;
    Pair p(l);
    fsbml_delivery_seal_t seal{};
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(0, send(p[0], 0, 16, &seal));
        ASSERT_EQ(1, arrive(p[1], 0, seal));
    }
    ASSERT_EQ(0, send(p[1], 1, 16, &seal));
    ASSERT_EQ(16, seal.bytes);
    ASSERT_EQ(0, fsbml_delivery_refused(p[1], kNow, &seal));
    pump(p, 1);
    pump(p, 0);
    EXPECT_TRUE(fsbml_delivery_idle(p[0]));
}

TEST(DeliveryRefusal, OffersWhatWasLostUntilItIsSent)
{
    Pair p(limits());
    fsbml_delivery_seal_t seal{};
    fsbml_delivery_message_t *const one = message(100), *const two = message(10000);
    ASSERT_EQ(0, send(p[0], 0, one, &seal));
    ASSERT_EQ(0, send(p[0], 0, two, &seal));
    EXPECT_EQ(-ENOENT, fsbml_delivery_resend(p[0], 1, kNow, 0, &seal));
    fsbml_delivery_path_failed(p[0], 0, kNow);
    EXPECT_EQ(2U, fsbml_delivery_paths(p[0]));
    EXPECT_EQ(-ENETDOWN, send(p[0], 0, 16));
    EXPECT_EQ(nullptr, fsbml_delivery_waiting(p[0])); // the peer has not said yet what it has
    const auto told = pump(p, 0);
    ASSERT_EQ(1U, told.size());
    EXPECT_EQ(FSBML_DELIVERY_SUSPECTED, told[0].kind);
    pump(p, 1);
    ASSERT_EQ(one, fsbml_delivery_waiting(p[0]));
    EXPECT_EQ(-ENETDOWN, fsbml_delivery_resend(p[0], 0, kNow, 0, &seal));
    ASSERT_EQ(0, fsbml_delivery_resend(p[0], 1, kNow, 0, &seal));
    EXPECT_EQ(1, fsbml_delivery_refused(p[0], kNow, &seal)); // it stays here, behind the other one
    ASSERT_EQ(two, fsbml_delivery_waiting(p[0]));
    ASSERT_EQ(0, fsbml_delivery_resend(p[0], 1, kNow, 0, &seal));
    EXPECT_EQ(1, arrive(p[1], 1, seal));
    ASSERT_EQ(0, fsbml_delivery_resend(p[0], 1, kNow, 0, &seal));
    EXPECT_EQ(1, arrive(p[1], 1, seal));
    EXPECT_EQ(nullptr, fsbml_delivery_waiting(p[0]));
    fsbml_delivery_counters_t c{};
    fsbml_delivery_counters(p[0], &c);
    EXPECT_EQ(2U, c.sent);
    EXPECT_EQ(2U, c.sent_again);
}

// Nothing comes behind what was lost: the question does, and finds that it is missing. Also by the only path.
TEST(DeliveryRefusal, SendsTheLastMessageAgainThatWasTakenAndLost)
{
    for (const unsigned paths : {1U, 2U}) {
        World w(limits(), paths, 1);
        w.lines.loses_data = 1000;
        w.add(0, w.clock.now, 16);
        w.run_for(kMs);
        w.lines.loses_data = 0;
        w.run_for(kSecond);
        EXPECT_TRUE(w.is_done());
        EXPECT_EQ(1U, w.end[0].suspected);
    }
}

// The answer to CLOSE is judged, too: nothing that was never sent can have arrived.
TEST(DeliveryRefusal, ResumesNotWhatWasNeverSent)
{
    Pair p(limits());
    fsbml_delivery_seal_t seal{};
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(0, send(p[0], 0, 16, &seal));
        if (i < 2) {
            ASSERT_EQ(1, arrive(p[1], 0, seal));
        }
    }
    fsbml_delivery_path_failed(p[0], 0, kNow);
    pump(p, 0);
    fsbml_delivery_action_t answer{};
    fsbml_delivery_tick(p[1], kNow);
    ASSERT_TRUE(fsbml_delivery_next(p[1], kNow, &answer));
    ASSERT_EQ(FSBML_DELIVERY_SUSPECTED, answer.kind); // what comes of a path goes for both ways
    ASSERT_TRUE(fsbml_delivery_next(p[1], kNow, &answer));
    ASSERT_EQ(FSBML_DELIVERY_FRAME, answer.kind);
    const std::uint32_t number_at = 14, bits_at = 16;
    ASSERT_EQ(32U, answer.bytes); // identity, RESUME, bits, CLOSE
    fsbml_delivery_arrival_t arrival{};
    const unsigned number = answer.frame[number_at] * 256U + answer.frame[number_at + 1];
    const auto says = [&](int off, std::uint8_t bits) {
        fsbml_delivery_action_t forged = answer;
        forged.frame[number_at] = static_cast<std::uint8_t>((number + static_cast<unsigned>(off)) >> 8);
        forged.frame[number_at + 1] = static_cast<std::uint8_t>(number + static_cast<unsigned>(off));
        forged.frame[bits_at + 7] = bits;
        return fsbml_delivery_arrived(p[0], 1, kNow, forged.frame, forged.bytes, &arrival);
    };
    for (const int off : {4, 100, 20000, -3, -100}) { // three were not acknowledged, none before those five
        EXPECT_EQ(-EBADMSG, says(off, 0)) << off;
    }
    for (const std::uint8_t bits : {4, 8, 255}) { // two may have arrived behind the first that is missing
        EXPECT_EQ(-EBADMSG, says(0, bits)) << int{bits};
    }
    EXPECT_EQ(nullptr, fsbml_delivery_waiting(p[0]));
    EXPECT_EQ(0, says(0, 2));         // the last one has
    EXPECT_EQ(3U, pump(p, 0).size()); // it is resumed, and the first two are let go
    int again = 0;
    for (; nullptr != fsbml_delivery_waiting(p[0]); ++again) {
        ASSERT_EQ(0, fsbml_delivery_resend(p[0], 1, kNow, 0, &seal));
    }
    EXPECT_EQ(2, again);
    EXPECT_EQ(0, says(0, 2)); // a repeat
}

TEST(DeliveryRefusal, MakesAControlFrameAnewThatWasRefused)
{
    Pair p(limits());
    ASSERT_EQ(0, send(p[0], 0, 16));
    fsbml_delivery_path_failed(p[0], 0, kNow);
    pump(p, 0); // CLOSE
    fsbml_delivery_action_t a{};
    fsbml_delivery_tick(p[1], kNow);
    ASSERT_TRUE(fsbml_delivery_next(p[1], kNow, &a));
    ASSERT_EQ(FSBML_DELIVERY_SUSPECTED, a.kind);
    ASSERT_TRUE(fsbml_delivery_next(p[1], kNow, &a));
    ASSERT_EQ(0x17, a.frame[8]); // RESUME
    fsbml_delivery_unsent(p[1], kNow, &a);
    EXPECT_LE(fsbml_delivery_due(p[1]), kNow + kMs);
    EXPECT_TRUE(fsbml_delivery_tick(p[1], kNow + kMs));
    fsbml_delivery_action_t again{};
    ASSERT_TRUE(fsbml_delivery_next(p[1], kNow + kMs, &again));
    ASSERT_EQ(24U, again.bytes); // identity, RESUME, bits; CLOSE is said again by its own clock
    EXPECT_EQ(0, std::memcmp(a.frame, again.frame, again.bytes));
}

// A fresh connection is not yet trusted with much.
TEST(DeliveryRefusal, TriesAPathThatCameBack)
{
    Pair p(limits());
    fsbml_delivery_path_failed(p[0], 0, kNow);
    EXPECT_EQ(2U, fsbml_delivery_paths(p[0]));
    fsbml_delivery_path_up(p[0], 0, kNow);
    EXPECT_EQ(2U, fsbml_delivery_paths(p[0]));
    pump(p, 0); // a probe
    pump(p, 1);
    pump(p, 0);
    EXPECT_EQ(3U, fsbml_delivery_paths(p[0]));
    fsbml_delivery_seal_t seal{};
    for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(0, send(p[0], 0, 16, &seal));
        ASSERT_EQ(1, arrive(p[1], 0, seal));
    }
    EXPECT_EQ(2U, fsbml_delivery_paths(p[0]));
    EXPECT_EQ(-ENETDOWN, send(p[0], 0, 16));
    fsbml_delivery_flush(p[0]);
    pump(p, 0);
    pump(p, 1);
    EXPECT_EQ(3U, fsbml_delivery_paths(p[0]));
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(0, send(p[0], 0, 16));
    }
}

} // namespace
