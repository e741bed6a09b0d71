// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What delivery answers call by call: headers, budgets, refusals, arguments.
#include "delivery_world.hpp"

namespace
{

using namespace delivery;

constexpr std::uint64_t kNow = 1000 * kMs;

// Two ends without lines: frames go by hand.
struct Pair {
    explicit Pair(const fsbml_delivery_limits_t &l, std::uint32_t paths = 2)
        : store(fsbml_delivery_store_create(&l))
    {
        for (unsigned e = 0; e < 2; ++e) {
            const fsbml_delivery_peer_t peer{0x1111 * (e + 1), 0x1111 * (2 - e),
                                             static_cast<std::uint16_t>(0x0100 + e),
                                             static_cast<std::uint16_t>(0x0101 - e), paths};
            end[e].reset(fsbml_delivery_create(store.get(), &peer));
            for (std::uint32_t p = 0; p < paths; ++p) {
                fsbml_delivery_path_up(end[e].get(), p, kNow);
            }
        }
    }
    fsbml_delivery_t *operator[](unsigned e) { return end[e].get(); }

    StorePtr store;
    Ptr end[2];
};

int send(fsbml_delivery_t *d, std::uint32_t path, std::uint32_t bytes, fsbml_delivery_seal_t *seal = nullptr)
{
    static const std::vector<char> body(8192);
    const fsbml_delivery_part_t part{body.data(), bytes};
    const fsbml_delivery_message_t m{bytes, 65, 1, &part, nullptr, 0};
    fsbml_delivery_seal_t other{};
    return fsbml_delivery_send(d, path, kNow, &m, nullptr == seal ? &other : seal);
}

int keep(fsbml_delivery_t *d, std::uint32_t path, std::uint32_t bytes, void *handle,
         fsbml_delivery_seal_t *seal)
{
    const fsbml_delivery_message_t m{bytes, 66, 0, nullptr, handle, 0};
    return fsbml_delivery_send(d, path, kNow, &m, seal);
}

int arrive(fsbml_delivery_t *d, std::uint32_t path, const fsbml_delivery_seal_t &seal,
           fsbml_delivery_arrival_t *arrival = nullptr)
{
    fsbml_delivery_arrival_t other{};
    return fsbml_delivery_arrived(d, path, kNow, seal.header, seal.bytes,
                                  nullptr == arrival ? &other : arrival);
}

// Lets all frames of an end go to the other; returns how many actions of other kinds there were.
std::vector<fsbml_delivery_action_t> pump(Pair &p, unsigned e, std::uint64_t now = kNow)
{
    std::vector<fsbml_delivery_action_t> others;
    fsbml_delivery_action_t a{};
    fsbml_delivery_arrival_t arrival{};
    fsbml_delivery_tick(p[e], now);
    while (fsbml_delivery_next(p[e], now, &a)) {
        if (FSBML_DELIVERY_FRAME == a.kind) {
            EXPECT_EQ(0, fsbml_delivery_arrived(p[1 - e], a.path, now, a.frame, a.bytes, &arrival));
        } else {
            others.push_back(a);
        }
    }
    return others;
}

// Both ends of a job may be compiled differently, and of different versions later: these bytes are fixed.
TEST(DeliverySending, HeaderIsInNetworkOrder)
{
    Pair p(limits());
    fsbml_delivery_seal_t seal{};
    ASSERT_EQ(0, send(p[0], 1, 10, &seal));
    const std::uint8_t expected[8] = {0x12,
                                      65,
                                      0x01,
                                      0x01,
                                      1,
                                      seal.generation,
                                      static_cast<std::uint8_t>(seal.number >> 8),
                                      static_cast<std::uint8_t>(seal.number & 0xff)};
    EXPECT_EQ(8, seal.bytes);
    EXPECT_EQ(0, std::memcmp(expected, seal.header, 8));
    EXPECT_EQ(0x0101, fsbml_delivery_handle_of(seal.header, 8));
    fsbml_delivery_arrival_t arrival{};
    EXPECT_EQ(1, arrive(p[1], 1, seal, &arrival));
    EXPECT_EQ(8, arrival.header);
    EXPECT_EQ(65, arrival.tag);
    EXPECT_EQ(0, arrive(p[1], 1, seal)); // a second time
    EXPECT_EQ(-EBADMSG, fsbml_delivery_handle_of(seal.header, 7));
    seal.header[0] = 0x22; // another version
    EXPECT_EQ(-EBADMSG, fsbml_delivery_handle_of(seal.header, 8));
    EXPECT_EQ(-EBADMSG, arrive(p[1], 1, seal));
}

TEST(DeliverySending, BoundsTheMessagesAhead)
{
    fsbml_delivery_limits_t l = limits();
    l.lead_messages = 100;
    l.ack_messages = 100;
    Pair p(l);
    fsbml_delivery_seal_t first{}, seal{};
    ASSERT_EQ(0, send(p[0], 0, 16, &first));
    for (int i = 1; i < 100; ++i) {
        ASSERT_EQ(0, send(p[0], 1, 16, &seal));
        ASSERT_EQ(1, arrive(p[1], 1, seal));
    }
    EXPECT_EQ(-EAGAIN, send(p[0], 1, 16));
    fsbml_delivery_flush(p[0]);
    pump(p, 0);
    pump(p, 1);
    EXPECT_EQ(-EAGAIN, send(p[0], 1, 16)); // all but the first are acknowledged: it is the first that counts
    ASSERT_EQ(1, arrive(p[1], 0, first));
    fsbml_delivery_flush(p[0]);
    pump(p, 0);
    pump(p, 1);
    EXPECT_EQ(0, send(p[0], 1, 16));
}

TEST(DeliverySending, BoundsTheBytesAhead)
{
    fsbml_delivery_limits_t l = limits();
    l.lead_bytes = 1000000;
    Pair p(l);
    fsbml_delivery_seal_t seal{};
    int handle = 0;
    EXPECT_EQ(0, keep(p[0], 0, 5000000, &handle, &seal)); // alone, it may be longer
    EXPECT_EQ(-EAGAIN, keep(p[0], 1, 1, &handle, &seal));
    Pair q(l);
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(0, keep(q[0], 0, 100000, &handle, &seal));
    }
    EXPECT_EQ(-EAGAIN, keep(q[0], 0, 1, &handle, &seal));
}

TEST(DeliverySending, BoundsCopies)
{
    fsbml_delivery_limits_t l = limits();
    l.copy_bytes = 10000;
    Pair p(l);
    EXPECT_EQ(-EINVAL, send(p[0], 0, 4097)); // what is larger is not copied
    EXPECT_EQ(0, send(p[0], 0, 4000));
    EXPECT_EQ(0, send(p[0], 0, 4000));
    EXPECT_EQ(-EAGAIN, send(p[0], 0, 4000));
    EXPECT_EQ(-EAGAIN, fsbml_delivery_copy(p[0], 3000));
    EXPECT_EQ(0, fsbml_delivery_copy(p[0], 2000)); // the caller's own
    EXPECT_EQ(-EAGAIN, send(p[0], 0, 16));
    fsbml_delivery_uncopy(p[0], 2000);
    EXPECT_EQ(0, send(p[0], 0, 16));
    int handle = 0;
    fsbml_delivery_seal_t seal{};
    EXPECT_EQ(0, keep(p[0], 0, 100000, &handle, &seal));
}

TEST(DeliverySending, BoundsTheStore)
{
    fsbml_delivery_limits_t l = limits();
    l.store_bytes = 3 * 8192;
    Pair p(l);
    int n = 0;
    while (0 == send(p[0], 0, 4000)) {
        ++n;
    }
    EXPECT_EQ(6, n);
    EXPECT_EQ(3U * 8192U, fsbml_delivery_store_bytes(p.store.get()));
}

TEST(DeliverySending, LetsHandlesGoInOrder)
{
    Pair p(limits());
    int handles[3] = {};
    fsbml_delivery_seal_t seal{};
    for (int &handle : handles) {
        ASSERT_EQ(0, keep(p[0], 0, 10000, &handle, &seal));
        ASSERT_EQ(1, arrive(p[1], 0, seal));
        ASSERT_EQ(0, send(p[0], 0, 16, &seal));
        ASSERT_EQ(1, arrive(p[1], 0, seal));
    }
    EXPECT_FALSE(fsbml_delivery_idle(p[0]));
    fsbml_delivery_flush(p[0]);
    EXPECT_EQ(0U, pump(p, 0).size());
    pump(p, 1);
    EXPECT_FALSE(fsbml_delivery_idle(p[0]));
    const std::vector<fsbml_delivery_action_t> gone = pump(p, 0);
    ASSERT_EQ(3U, gone.size());
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(FSBML_DELIVERY_RELEASE, gone[static_cast<std::size_t>(i)].kind);
        EXPECT_EQ(&handles[i], gone[static_cast<std::size_t>(i)].handle);
    }
    EXPECT_TRUE(fsbml_delivery_idle(p[0]));
}

TEST(DeliverySending, GivesTheNumberBackOfWhatWasRefused)
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
TEST(DeliverySending, TellsOfANumberWithoutAMessage)
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
    EXPECT_TRUE(fsbml_delivery_idle(p[0]));
    fsbml_delivery_counters_t c{};
    fsbml_delivery_counters(p[0], &c);
    EXPECT_EQ(1U, c.sent);
    fsbml_delivery_counters(p[1], &c);
    EXPECT_EQ(1U, c.delivered);
    EXPECT_EQ(0U, c.false_frames);
}

// The acknowledgement that went with a refused message is not lost.
TEST(DeliverySending, AcknowledgesAgainAfterARefusal)
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
    EXPECT_TRUE(fsbml_delivery_idle(p[0]));
}

TEST(DeliverySending, OffersWhatWasLostUntilItIsSent)
{
    Pair p(limits());
    fsbml_delivery_seal_t seal{};
    fsbml_delivery_message_t m{};
    fsbml_delivery_part_t part{};
    int handle = 0;
    ASSERT_EQ(0, send(p[0], 0, 100, &seal));
    ASSERT_EQ(0, keep(p[0], 0, 10000, &handle, &seal));
    EXPECT_EQ(-ENOENT, fsbml_delivery_resend(p[0], 1, kNow, 0, &seal));
    fsbml_delivery_path_failed(p[0], 0, kNow);
    EXPECT_EQ(2U, fsbml_delivery_paths(p[0]));
    EXPECT_EQ(-ENETDOWN, send(p[0], 0, 16));
    EXPECT_FALSE(fsbml_delivery_waiting(p[0], &m, &part)); // the peer has not said yet what it has
    const auto told = pump(p, 0);
    ASSERT_EQ(1U, told.size());
    EXPECT_EQ(FSBML_DELIVERY_SUSPECTED, told[0].kind);
    pump(p, 1);
    ASSERT_TRUE(fsbml_delivery_waiting(p[0], &m, &part));
    EXPECT_EQ(100U, m.bytes);
    EXPECT_EQ(65, m.tag);
    ASSERT_EQ(&part, m.parts);
    EXPECT_EQ(100U, part.bytes);
    EXPECT_EQ(-ENETDOWN, fsbml_delivery_resend(p[0], 0, kNow, 0, &seal));
    ASSERT_EQ(0, fsbml_delivery_resend(p[0], 1, kNow, 0, &seal));
    EXPECT_EQ(1, fsbml_delivery_refused(p[0], kNow, &seal)); // it stays here, behind the other one
    ASSERT_TRUE(fsbml_delivery_waiting(p[0], &m, &part));
    EXPECT_EQ(nullptr, m.parts);
    EXPECT_EQ(&handle, m.handle);
    ASSERT_EQ(0, fsbml_delivery_resend(p[0], 1, kNow, 0, &seal));
    EXPECT_EQ(1, arrive(p[1], 1, seal));
    ASSERT_EQ(0, fsbml_delivery_resend(p[0], 1, kNow, 0, &seal));
    EXPECT_EQ(1, arrive(p[1], 1, seal));
    EXPECT_FALSE(fsbml_delivery_waiting(p[0], &m, &part));
    fsbml_delivery_counters_t c{};
    fsbml_delivery_counters(p[0], &c);
    EXPECT_EQ(2U, c.sent);
    EXPECT_EQ(2U, c.sent_again);
}

// The answer to CLOSE is judged, too: nothing that was never sent can have arrived.
TEST(DeliverySending, ResumesNotWhatWasNeverSent)
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
    ASSERT_EQ(FSBML_DELIVERY_FRAME, answer.kind);
    const std::uint32_t number_at = 14, bits_at = 16;
    ASSERT_EQ(24U, answer.bytes); // identity, RESUME, bits
    fsbml_delivery_message_t m{};
    fsbml_delivery_part_t part{};
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
    EXPECT_FALSE(fsbml_delivery_waiting(p[0], &m, &part));
    EXPECT_EQ(0, says(0, 2)); // the last one has
    int again = 0;
    for (; fsbml_delivery_waiting(p[0], &m, &part); ++again) {
        ASSERT_EQ(0, fsbml_delivery_resend(p[0], 1, kNow, 0, &seal));
    }
    EXPECT_EQ(2, again);
    EXPECT_EQ(0, says(0, 2)); // a repeat
}

TEST(DeliverySending, MakesAControlFrameAnewThatWasRefused)
{
    Pair p(limits());
    ASSERT_EQ(0, send(p[0], 0, 16));
    fsbml_delivery_path_failed(p[0], 0, kNow);
    pump(p, 0); // CLOSE
    fsbml_delivery_action_t a{};
    fsbml_delivery_tick(p[1], kNow);
    ASSERT_TRUE(fsbml_delivery_next(p[1], kNow, &a));
    ASSERT_EQ(0x17, a.frame[8]); // RESUME
    fsbml_delivery_unsent(p[1], kNow, &a);
    EXPECT_LE(fsbml_delivery_due(p[1]), kNow + kMs);
    EXPECT_TRUE(fsbml_delivery_tick(p[1], kNow + kMs));
    fsbml_delivery_action_t again{};
    ASSERT_TRUE(fsbml_delivery_next(p[1], kNow + kMs, &again));
    ASSERT_EQ(a.bytes, again.bytes);
    EXPECT_EQ(0, std::memcmp(a.frame, again.frame, a.bytes));
}

// A fresh connection is not yet trusted with much.
TEST(DeliverySending, TriesAPathThatCameBack)
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

TEST(DeliverySending, RefusesWhatIsNoArgument)
{
    fsbml_delivery_limits_t l = limits();
    fsbml_delivery_peer_t peer{1, 2, 3, 4, 2};
    const StorePtr store(fsbml_delivery_store_create(&l));
    ASSERT_NE(nullptr, store);
    EXPECT_EQ(nullptr, fsbml_delivery_store_create(nullptr));
    EXPECT_EQ(nullptr, fsbml_delivery_create(nullptr, &peer));
    EXPECT_EQ(nullptr, fsbml_delivery_create(store.get(), nullptr));
    for (const std::uint32_t paths : {0U, FSBML_MAX_RAILS + 1U}) {
        peer.paths = paths;
        errno = 0;
        EXPECT_EQ(nullptr, fsbml_delivery_create(store.get(), &peer));
        EXPECT_EQ(EINVAL, errno);
    }
    using Limits = fsbml_delivery_limits_t;
    const std::function<void(Limits &)> wrong[] = {
        [](Limits &x) { x.lead_messages = 16385; }, [](Limits &x) { x.lead_messages = 0; },
        [](Limits &x) { x.copy_max = 4097; },       [](Limits &x) { x.copy_bytes = x.copy_max - 1; },
        [](Limits &x) { x.store_bytes = 100; },     [](Limits &x) { x.ack_messages = 0; },
        [](Limits &x) { x.suspect_ns = 0; },        [](Limits &x) { x.dead_ns = UINT64_MAX; }};
    for (const auto &spoil : wrong) {
        Limits other = l;
        spoil(other);
        EXPECT_EQ(nullptr, fsbml_delivery_store_create(&other));
    }
    Pair p(l);
    EXPECT_EQ(-EINVAL, send(p[0], 2, 16));
    const char body[16] = "";
    const fsbml_delivery_part_t part{body, sizeof body};
    const fsbml_delivery_message_t unlike{15, 65, 1, &part, nullptr, 0};
    fsbml_delivery_seal_t seal{};
    EXPECT_EQ(-EINVAL, fsbml_delivery_send(p[0], 0, kNow, &unlike, &seal));
    EXPECT_EQ(-EINVAL, fsbml_delivery_resend(p[0], 2, kNow, 0, &seal));
    for (const std::uint32_t path : {2U, 31U, UINT32_MAX}) { // nothing happens
        fsbml_delivery_path_up(p[0], path, kNow);
        fsbml_delivery_path_failed(p[0], path, kNow);
        fsbml_delivery_path_doubtful(p[0], path, kNow);
    }
    EXPECT_EQ(3U, fsbml_delivery_paths(p[0]));
    fsbml_delivery_store_destroy(nullptr);
    fsbml_delivery_destroy(nullptr);
}

} // namespace
