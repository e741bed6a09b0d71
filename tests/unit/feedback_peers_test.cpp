// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a process learns of a rail by which it sends to several peers: others send to them as well.

#include "flow.hpp"
#include "test.hpp"

namespace
{

constexpr double kGap = 40.0, kOther = 80.0; // ns per byte: 200 and 100 Mbit/s

VirtualRails to_peers(std::size_t peers)
{
    VirtualRails net({loggp(50e3, 1e3, 1e3, 5e3, kGap), loggp(50e3, 1e3, 1e3, 5e3, kOther)}, {kGap, kOther});
    net.peers = peers;
    net.stream(500);
    return net;
}

} // namespace

// Their ends of the rail are busy with what others send, for as long as a collective operation takes.
TEST(FeedbackOfPeers, SeveralThatAreSlowForAWhileAreNoSlowRail)
{
    for (const std::size_t peers : {1, 3}) {
        VirtualRails net = to_peers(peers);
        net.rail[0].gap = 3.0 * kGap;
        net.stream(90);
        net.rail[0].gap = kGap;
        EXPECT_EQ(1 == peers, net.gap(0) > 2.0 * kGap);
    }
}

TEST(FeedbackOfPeers, ARailThatFallsIsFoundOut)
{
    VirtualRails net = to_peers(3);
    net.rail[0].gap = 10.0 * kGap;
    net.stream(450);
    EXPECT_NEAR(10.0 * kGap, net.gap(0), kGap);
    net.rail[0].gap = kGap;
    net.stream(2000);
    EXPECT_NEAR(kGap, net.gap(0), 0.1 * kGap);
}
