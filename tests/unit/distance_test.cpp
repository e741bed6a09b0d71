// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Extra latency of a peer's rails, by the kernel's round trips.

#include "api/fsbml_core.h"

#include <gtest/gtest.h>

#include <array>

namespace
{

constexpr std::uint32_t kBoth = 3;
constexpr std::uint64_t kMany = 16;
constexpr std::uint64_t kUs = 1000;

// Two rails, measured with round trips of 100 us, and the peer's are so too.
struct Peer {
    std::array<fsbml_round_trip_t, FSBML_MAX_RAILS> rail{};
    std::array<double, FSBML_MAX_RAILS> extra{};

    Peer()
    {
        for (std::size_t i = 0; i < 2; ++i) {
            rail[i] = {100 * kUs, kMany, 100 * kUs, 30 * kUs, 0};
        }
    }

    // Compares, and has what is found count from then on.
    std::uint32_t look(std::uint32_t rails = kBoth)
    {
        const std::uint32_t changed = fsbml_distance(rails, rail.data(), extra.data());
        for (std::size_t i = 0; i < rail.size(); ++i) {
            rail[i].counts_ns = static_cast<std::uint64_t>(extra[i]);
        }
        return changed;
    }
};

TEST(Distance, PeersThatAreAsFarAsMeasuredChangeNothing)
{
    Peer p;
    ASSERT_EQ(p.look(), 0U);
    ASSERT_EQ(p.extra[0], 0.0);
    ASSERT_EQ(p.extra[1], 0.0);
}

TEST(Distance, HalfOfALongerRoundTripIsWhatTheRailAdds)
{
    Peer p;
    p.rail[1].least_ns = 300 * kUs;
    ASSERT_EQ(p.look(), 2U);
    ASSERT_EQ(p.extra[0], 0.0);
    ASSERT_EQ(p.extra[1], 100e3);
    ASSERT_EQ(p.look(), 0U);
    ASSERT_EQ(p.extra[1], 100e3);
}

TEST(Distance, OnlyWhatTheRailsDifferByCounts)
{
    Peer p;
    p.rail[0].least_ns = 4000 * kUs;
    p.rail[1].least_ns = 4000 * kUs;
    ASSERT_EQ(p.look(), 0U);
    p.rail[1].least_ns = 6000 * kUs;
    ASSERT_EQ(p.look(), 2U);
    ASSERT_EQ(p.extra[1], 1000e3);
}

// The pair that measured was far on the second rail, and this peer is not: so the first one is behind.
TEST(Distance, ARailThatIsNearerThanMeasuredMakesTheOthersFarther)
{
    Peer p;
    p.rail[1].measured_ns = 500 * kUs;
    ASSERT_EQ(p.look(), 1U);
    ASSERT_EQ(p.extra[0], 200e3);
    ASSERT_EQ(p.extra[1], 0.0);
}

TEST(Distance, TenMicrosecondsAndAQuarterOfTheWayAreNoise)
{
    Peer p;
    p.rail[0] = {20 * kUs, kMany, 20 * kUs, 5 * kUs, 0};
    p.rail[1] = {39 * kUs, kMany, 20 * kUs, 5 * kUs, 0}; // 9.5 us, about half of the way
    ASSERT_EQ(p.look(), 0U);
    p.rail[1].least_ns = 40 * kUs;
    ASSERT_EQ(p.look(), 2U);

    Peer q;
    q.rail[1].least_ns = 133 * kUs; // 16.5 of 66.5 us
    ASSERT_EQ(q.look(), 0U);
    q.rail[1].least_ns = 134 * kUs;
    ASSERT_EQ(q.look(), 2U);
    ASSERT_EQ(q.extra[1], 17e3);
}

// A connection's first round trips wait for an address, or for a processor.
TEST(Distance, AFewSamplesMakeNoRailFarther)
{
    Peer p;
    p.rail[1].least_ns = 5000 * kUs;
    p.rail[1].samples = kMany - 1;
    ASSERT_EQ(p.look(), 0U);
    p.rail[1].samples = kMany;
    ASSERT_EQ(p.look(), 2U);
    ASSERT_EQ(p.extra[1], 2450e3);
}

// The nearest is so for sure: it cannot be farther than it has shown.
TEST(Distance, AFewSamplesAreEnoughForTheNearest)
{
    Peer p;
    p.rail[1].least_ns = 5000 * kUs;
    p.rail[0].samples = 1;
    ASSERT_EQ(p.look(), 2U);
}

TEST(Distance, WhatCountsIsNotChangedByALittle)
{
    Peer p;
    p.rail[1].least_ns = 300 * kUs;
    ASSERT_EQ(p.look(), 2U);
    p.rail[1].least_ns = 270 * kUs; // 85 us, and what is clear is 34
    ASSERT_EQ(p.look(), 0U);
    ASSERT_EQ(p.extra[1], 100e3);
    p.rail[1].least_ns = 260 * kUs; // 80 us
    ASSERT_EQ(p.look(), 2U);
    ASSERT_EQ(p.extra[1], 80e3);
    p.rail[1].least_ns = 400 * kUs;
    ASSERT_EQ(p.look(), 2U);
    ASSERT_EQ(p.extra[1], 150e3);
}

TEST(Distance, ItCountsUntilItIsHalfOfWhatWouldBeClear)
{
    Peer p;
    p.rail[1].least_ns = 140 * kUs;
    ASSERT_EQ(p.look(), 2U);
    p.rail[1].least_ns = 120 * kUs; // 10 us; clear is 15
    ASSERT_EQ(p.look(), 2U);
    ASSERT_EQ(p.extra[1], 10e3);
    p.rail[1].least_ns = 114 * kUs; // 7 of 14.25
    ASSERT_EQ(p.look(), 2U);
    ASSERT_EQ(p.extra[1], 0.0);
    p.rail[1].least_ns = 120 * kUs;
    ASSERT_EQ(p.look(), 0U);
}

// A table without the pair's round trip, as one that the user gave: then its L is to be right.
TEST(Distance, WithoutThePairsRoundTripItIsComparedWithL)
{
    Peer p;
    p.rail[0] = {100 * kUs, kMany, 0, 50 * kUs, 0};
    p.rail[1] = {400 * kUs, kMany, 0, 50 * kUs, 0};
    ASSERT_EQ(p.look(), 2U);
    ASSERT_EQ(p.extra[1], 150e3);
}

TEST(Distance, WhatIsNotKnownIsAsMeasured)
{
    Peer p;
    p.rail[1].least_ns = 0;
    ASSERT_EQ(p.look(), 0U);
    p.rail[0].least_ns = 400 * kUs; // beside a rail of another kind, which has no such figure
    ASSERT_EQ(p.look(), 1U);
    ASSERT_EQ(p.extra[0], 150e3);

    Peer no_table;
    no_table.rail[0] = {100 * kUs, kMany, 0, 0, 0};
    no_table.rail[1] = {9000 * kUs, kMany, 0, 0, 0};
    ASSERT_EQ(no_table.look(), 0U);
}

TEST(Distance, RailsThatDoNotLeadToThePeerAreLeftOut)
{
    Peer p;
    p.rail[1].least_ns = 300 * kUs;
    ASSERT_EQ(p.look(1), 0U);
    ASSERT_EQ(p.extra[1], 0.0);
    ASSERT_EQ(p.look(2), 0U); // alone, there is nothing to compare
    ASSERT_EQ(p.look(0), 0U);
}

} // namespace
