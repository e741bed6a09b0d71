// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What delivery answers call by call: headers, budgets, arguments.
#include "delivery_pair.hpp"

namespace
{

using namespace delivery;

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

// After an eighth of what is acknowledged at once; and no message waits while memory is given back.
TEST(DeliverySending, AcknowledgesWithTheNextMessage)
{
    fsbml_delivery_limits_t l = limits();
    l.ack_messages = 32;
    Pair p(l);
    fsbml_delivery_seal_t seal{};
    fsbml_delivery_arrival_t arrival{};
    pump(p, 0);
    pump(p, 1);
    for (int i = 1; i <= 4; ++i) {
        ASSERT_EQ(0, send(p[0], 0, 16, &seal));
        ASSERT_EQ(1, arrive(p[1], 0, seal, &arrival));
        EXPECT_FALSE(arrival.work || arrival.released);
        ASSERT_EQ(0, send(p[1], 0, 16, &seal));
        EXPECT_EQ(i < 4 ? 8 : 16, seal.bytes);
    }
    ASSERT_EQ(1, arrive(p[0], 0, seal, &arrival));
    EXPECT_EQ(16, arrival.header);
    EXPECT_TRUE(arrival.released && !arrival.work);
    EXPECT_EQ(4U, pump(p, 0).size()); // which gives all of them back
    ASSERT_EQ(0, send(p[0], 0, 16, &seal));
    ASSERT_EQ(1, arrive(p[1], 0, seal, &arrival));
    EXPECT_FALSE(arrival.released);
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
    pump(p, 0);
    EXPECT_EQ(-EAGAIN, send(p[0], 1, 16)); // all but the first are acknowledged: it is the first that counts
    ASSERT_EQ(1, arrive(p[1], 0, first));
    fsbml_delivery_flush(p[0]);
    pump(p, 0);
    pump(p, 1);
    EXPECT_EQ(1U, pump(p, 0).size()); // it is let go
    EXPECT_EQ(0, send(p[0], 1, 16));
}

TEST(DeliverySending, BoundsTheBytesAhead)
{
    fsbml_delivery_limits_t l = limits();
    l.lead_bytes = 1000000;
    Pair p(l);
    EXPECT_EQ(0, send(p[0], 0, 5000000)); // alone, it may be longer
    EXPECT_EQ(-EAGAIN, send(p[0], 1, 1));
    Pair q(l);
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(0, send(q[0], 0, 100000));
    }
    EXPECT_EQ(-EAGAIN, send(q[0], 0, 1));
}

TEST(DeliverySending, LetsMessagesGoInOrder)
{
    Pair p(limits());
    fsbml_delivery_message_t messages[3] = {};
    fsbml_delivery_seal_t seal{};
    for (fsbml_delivery_message_t &m : messages) {
        ASSERT_EQ(0, send(p[0], 0, &m, &seal));
        ASSERT_EQ(1, arrive(p[1], 0, seal));
    }
    EXPECT_FALSE(fsbml_delivery_idle(p[0]));
    fsbml_delivery_flush(p[0]);
    EXPECT_EQ(0U, pump(p, 0).size());
    pump(p, 1);
    EXPECT_FALSE(fsbml_delivery_idle(p[0]));
    const std::vector<fsbml_delivery_action_t> gone = pump(p, 0);
    ASSERT_EQ(3U, gone.size());
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(FSBML_DELIVERY_RELEASE, gone[i].kind);
        EXPECT_EQ(&messages[i], gone[i].message);
    }
    EXPECT_TRUE(fsbml_delivery_idle(p[0]));
}

TEST(DeliverySending, RefusesWhatIsNoArgument)
{
    fsbml_delivery_limits_t l = limits();
    fsbml_delivery_peer_t peer{1, 2, 3, 4, 2};
    EXPECT_EQ(nullptr, fsbml_delivery_create(nullptr, &peer));
    EXPECT_EQ(nullptr, fsbml_delivery_create(&l, nullptr));
    for (const std::uint32_t paths : {0U, FSBML_MAX_RAILS + 1U}) {
        peer.paths = paths;
        errno = 0;
        EXPECT_EQ(nullptr, fsbml_delivery_create(&l, &peer));
        EXPECT_EQ(EINVAL, errno);
    }
    using Limits = fsbml_delivery_limits_t;
    const std::function<void(Limits &)> wrong[] = {
        [](Limits &x) { x.lead_messages = 16385; }, [](Limits &x) { x.lead_messages = 0; },
        [](Limits &x) { x.lead_bytes = 0; },        [](Limits &x) { x.ack_messages = 0; },
        [](Limits &x) { x.suspect_ns = 0; },        [](Limits &x) { x.dead_ns = UINT64_MAX; }};
    peer.paths = 2;
    for (const auto &spoil : wrong) {
        Limits other = l;
        spoil(other);
        EXPECT_EQ(nullptr, fsbml_delivery_create(&other, &peer));
    }
    Pair p(l);
    EXPECT_EQ(-EINVAL, send(p[0], 2, 16));
    fsbml_delivery_seal_t seal{};
    EXPECT_EQ(-EINVAL, fsbml_delivery_resend(p[0], 2, kNow, 0, &seal));
    for (const std::uint32_t path : {2U, 31U, UINT32_MAX}) { // nothing happens
        fsbml_delivery_path_up(p[0], path, kNow);
        fsbml_delivery_path_failed(p[0], path, kNow);
        fsbml_delivery_path_doubtful(p[0], path, kNow);
    }
    EXPECT_EQ(3U, fsbml_delivery_paths(p[0]));
    fsbml_delivery_destroy(nullptr);
}

} // namespace
