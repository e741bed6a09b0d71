// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// From what the two ends of a path see to the cause of its fault, and to a sentence that names it.
#include "api/fsbml_core.h"

#include "test.hpp"

namespace
{

// node1 is 10.71.1.1, node2 10.71.1.2, and so on; all is well.
fsbml_end_t end_of(unsigned node, std::uint32_t seen = 0)
{
    fsbml_end_t e{};
    (void) std::snprintf(e.node, sizeof e.node, "node%u", node);
    (void) std::snprintf(e.address, sizeof e.address, "10.71.1.%u", node);
    (void) std::snprintf(e.network, sizeof e.network, "10.71.1.0/24");
    e.device[5] = static_cast<std::uint8_t>(node);
    e.seen = FSBML_END_HAS | seen;
    e.mtu = 1500;
    return e;
}

void resolves_to(fsbml_end_t &e, unsigned node)
{
    e.seen |= FSBML_END_RESOLVED;
    e.neighbour[5] = static_cast<std::uint8_t>(node);
}

struct Found {
    int kind;
    std::string why;
};

Found diagnose(const fsbml_end_t &here, const fsbml_end_t &there)
{
    char why[FSBML_REASON_MAX] = "untouched";
    const int kind = fsbml_diagnose(&here, &there, why);
    return {kind, why};
}

Found alone(const fsbml_end_t &here)
{
    char why[FSBML_REASON_MAX] = "untouched";
    const int kind = fsbml_diagnose(&here, nullptr, why);
    return {kind, why};
}

} // namespace

TEST(Diagnosis, ACableIsOutWhereThereIsNoCarrier)
{
    const Found f =
        diagnose(end_of(1, FSBML_END_UNRESOLVED), end_of(2, FSBML_END_NO_CARRIER | FSBML_END_QUIET));
    EXPECT_EQ(FSBML_FAULT_CUT, f.kind);
    EXPECT_EQ("the interface has no carrier on node2: its cable is out", f.why);
    EXPECT_EQ(f.why,
              diagnose(end_of(2, FSBML_END_NO_CARRIER), end_of(1)).why); // told alike from the other end
}

TEST(Diagnosis, NothingGetsThrough)
{
    const Found f = diagnose(end_of(1, FSBML_END_UNRESOLVED), end_of(2, FSBML_END_QUIET));
    EXPECT_EQ(FSBML_FAULT_CUT, f.kind);
    EXPECT_EQ("nothing gets through, neither from node1 to node2 nor back", f.why);
}

TEST(Diagnosis, FramesGetThroughOneWay)
{
    fsbml_end_t hears = end_of(2);
    resolves_to(hears, 1); // it was asked for its address
    const Found f = diagnose(end_of(1, FSBML_END_UNRESOLVED), hears);
    EXPECT_EQ(FSBML_FAULT_ONE_WAY, f.kind);
    EXPECT_EQ("what node1 sends arrives at node2, but what node2 sends does not arrive at node1", f.why);
    EXPECT_EQ(f.why, diagnose(hears, end_of(1, FSBML_END_UNRESOLVED)).why);
    for (const std::uint32_t sign : {FSBML_END_HEARD, FSBML_END_HALF_OPEN, FSBML_END_CONNECTED}) {
        EXPECT_EQ(FSBML_FAULT_ONE_WAY, diagnose(end_of(1, FSBML_END_QUIET), end_of(2, sign)).kind);
    }
}

// An address that is known is no sign of what gets through now: it may be from long ago.
TEST(Diagnosis, AnOldAddressProvesNoWay)
{
    fsbml_end_t knows = end_of(2);
    resolves_to(knows, 1);
    const Found f = diagnose(end_of(1, FSBML_END_QUIET), knows);
    EXPECT_EQ(FSBML_FAULT_CUT, f.kind);
    EXPECT_EQ("nothing that node2 sends arrives at node1", f.why);
    EXPECT_EQ(f.why, diagnose(knows, end_of(1, FSBML_END_QUIET)).why);
    knows.seen |= FSBML_END_QUIET;
    EXPECT_EQ("nothing gets through, neither from node1 to node2 nor back",
              diagnose(end_of(1, FSBML_END_QUIET), knows).why);
}

// An address that both know is no sign of what gets through now; so no cause is made up.
TEST(Diagnosis, BothWaysOpenIsNoCut)
{
    fsbml_end_t a = end_of(1);
    fsbml_end_t b = end_of(2);
    resolves_to(a, 2);
    resolves_to(b, 1);
    EXPECT_EQ(FSBML_FAULT_OTHER, diagnose(a, b).kind);
    EXPECT_NE("", diagnose(a, b).why);
    EXPECT_EQ(FSBML_FAULT_OTHER,
              diagnose(end_of(1, FSBML_END_CONNECTED), end_of(2, FSBML_END_CONNECTED)).kind);
    const Found nothing = diagnose(end_of(1), end_of(2));
    EXPECT_EQ(FSBML_FAULT_OTHER, nothing.kind);
    EXPECT_EQ("", nothing.why);
}

TEST(Diagnosis, TheOtherEndIsInAnotherNetwork)
{
    fsbml_end_t there{};
    (void) std::snprintf(there.node, sizeof there.node, "node2");
    EXPECT_EQ("it is in 10.71.1.0/24 on node1, where node2 has no address", diagnose(end_of(1), there).why);
    (void) std::snprintf(there.network, sizeof there.network, "10.72.1.0/24");
    const Found f = diagnose(end_of(1), there);
    EXPECT_EQ(FSBML_FAULT_SUBNET, f.kind);
    EXPECT_EQ("it is in 10.71.1.0/24 on node1, where node2 has no address; that has one in 10.72.1.0/24",
              f.why);
}

TEST(Diagnosis, SmallFramesAlone)
{
    const std::uint32_t stuck = FSBML_END_CONNECTED | FSBML_END_STUCK;
    const Found f = diagnose(end_of(1, stuck), end_of(2, FSBML_END_CONNECTED));
    EXPECT_EQ(FSBML_FAULT_MTU, f.kind);
    EXPECT_EQ(
        "small frames get through, but not those of 1500 bytes, the MTU of the interface: an MTU black hole",
        f.why);
    EXPECT_EQ(f.why, diagnose(end_of(2, FSBML_END_CONNECTED), end_of(1, stuck)).why);
    EXPECT_EQ(f.why, alone(end_of(1, stuck)).why);
    fsbml_end_t large = end_of(2, FSBML_END_CONNECTED);
    large.mtu = 9000;
    EXPECT_EQ("small frames get through, but not those of 9000 bytes, the MTU on node2: an MTU black hole",
              diagnose(end_of(1, stuck), large).why);
}

// What worked, and stands, is not said never to have worked.
TEST(Diagnosis, AProvedConnectionIsNotDoubted)
{
    const std::uint32_t good = FSBML_END_CONNECTED | FSBML_END_PROVED;
    EXPECT_EQ("", diagnose(end_of(1, good), end_of(2, good)).why);
    EXPECT_NE("", diagnose(end_of(1, FSBML_END_CONNECTED), end_of(2, FSBML_END_CONNECTED)).why);
}

// Where large frames have passed before, it is no black hole.
TEST(Diagnosis, ARailFallsSilent)
{
    const std::uint32_t stuck = FSBML_END_CONNECTED | FSBML_END_STUCK | FSBML_END_PROVED;
    const Found f = diagnose(end_of(1, stuck), end_of(2, FSBML_END_CONNECTED | FSBML_END_PROVED));
    EXPECT_EQ(FSBML_FAULT_CUT, f.kind);
    EXPECT_EQ("it worked at first; then what node1 sends is not acknowledged any more", f.why);
}

TEST(Diagnosis, OneAddressTwice)
{
    fsbml_end_t there = end_of(2);
    std::memcpy(there.address, end_of(1).address, sizeof there.address);
    const Found own = diagnose(end_of(1), there);
    EXPECT_EQ(FSBML_FAULT_LOOP, own.kind);
    EXPECT_EQ("node1 and node2 have the same address on it, 10.71.1.1", own.why);
    fsbml_end_t misled = end_of(1);
    resolves_to(misled, 3);
    const Found third = diagnose(misled, end_of(2));
    EXPECT_EQ(FSBML_FAULT_LOOP, third.kind);
    EXPECT_EQ(
        "10.71.1.2 is the address of node2, but for node1 another device (00:00:00:00:00:03) answers to it",
        third.why);
    EXPECT_EQ(third.why, diagnose(end_of(2), misled).why);
}

TEST(Diagnosis, QuestionsComeToSomebodyElse)
{
    fsbml_end_t here = end_of(1, FSBML_END_ASTRAY);
    (void) std::snprintf(here.name, sizeof here.name, "itself");
    EXPECT_EQ(FSBML_FAULT_LOOP, alone(here).kind);
    EXPECT_EQ("what node1 sends on it comes to itself", alone(here).why);
}

// A cable that leads back is named, and whose it is, from either end and from a third node's.
TEST(Diagnosis, ACableLeadsBack)
{
    const fsbml_end_t looped = end_of(1, FSBML_END_UNRESOLVED | FSBML_END_ECHO);
    const std::uint32_t other_sees[] = {FSBML_END_QUIET | FSBML_END_UNRESOLVED, FSBML_END_UNRESOLVED, 0};
    for (const std::uint32_t seen : other_sees) {
        const Found f = diagnose(end_of(2, seen), looped);
        EXPECT_EQ(FSBML_FAULT_LOOP, f.kind);
        EXPECT_EQ("what node1 sends on it comes back to node1 itself: its cabling makes a loop", f.why);
        EXPECT_EQ(f.why, diagnose(looped, end_of(2, seen)).why);
        EXPECT_EQ(f.why, diagnose(end_of(3, seen), looped).why);
    }
    EXPECT_EQ(FSBML_FAULT_LOOP, alone(looped).kind);
    fsbml_end_t knows = end_of(2, FSBML_END_QUIET);
    resolves_to(knows, 1); // from long ago: that does not matter
    EXPECT_EQ(FSBML_FAULT_LOOP, diagnose(knows, looped).kind);
    EXPECT_EQ(FSBML_FAULT_LOOP, diagnose(looped, knows).kind);
}

// It is not the cause where the other end gets what is sent, nor where a stronger sign says something else.
TEST(Diagnosis, WhatComesBackIsNotAlwaysTheCause)
{
    const fsbml_end_t echo = end_of(1, FSBML_END_UNRESOLVED | FSBML_END_ECHO);
    for (const std::uint32_t sign : {FSBML_END_HEARD, FSBML_END_HALF_OPEN, FSBML_END_CONNECTED}) {
        EXPECT_EQ(FSBML_FAULT_ONE_WAY, diagnose(echo, end_of(2, sign)).kind);
        EXPECT_EQ(FSBML_FAULT_ONE_WAY, diagnose(end_of(2, sign), echo).kind);
    }
    EXPECT_EQ(FSBML_FAULT_CUT, diagnose(echo, end_of(2, FSBML_END_NO_CARRIER)).kind);
    fsbml_end_t none{};
    (void) std::snprintf(none.node, sizeof none.node, "node2");
    EXPECT_EQ(FSBML_FAULT_SUBNET, diagnose(echo, none).kind);
    fsbml_end_t same = end_of(2);
    std::memcpy(same.address, echo.address, sizeof same.address);
    EXPECT_EQ("node1 and node2 have the same address on it, 10.71.1.1", diagnose(echo, same).why);
}

// Without the other end's word there is less to say, and nothing is made up.
TEST(Diagnosis, OneEndAlone)
{
    EXPECT_EQ(FSBML_FAULT_CUT, alone(end_of(1, FSBML_END_NO_CARRIER)).kind);
    EXPECT_EQ(FSBML_FAULT_CUT, alone(end_of(1, FSBML_END_UNRESOLVED)).kind);
    EXPECT_EQ(FSBML_FAULT_OTHER, alone(end_of(1, FSBML_END_QUIET)).kind);
    EXPECT_EQ("", alone(end_of(1)).why);
    char why[FSBML_REASON_MAX];
    EXPECT_EQ(-EINVAL, fsbml_diagnose(nullptr, nullptr, why));
}

// Slow is what is below a fifth: of an earlier job's figure, or of what both devices say.
TEST(Diagnosis, FarBelowItsSpeed)
{
    const auto speed = [](std::uint32_t here, std::uint32_t there, std::uint32_t seen, double measured,
                          double before) {
        fsbml_end_t a = end_of(1, seen);
        fsbml_end_t b = end_of(2, seen);
        a.speed_mbit = here;
        b.speed_mbit = there;
        char why[FSBML_REASON_MAX] = "untouched";
        const int kind = fsbml_diagnose_speed(&a, &b, 1e9 / measured, before > 0 ? 1e9 / before : 0, why);
        EXPECT_EQ(FSBML_FAULT_SLOW == kind, '\0' != why[0]);
        return FSBML_FAULT_SLOW == kind ? std::string(why) : std::string();
    };
    EXPECT_EQ("it carries 0.6 MB/s, though its speed is said to be 1000 Mbit/s",
              speed(1000, 1000, FSBML_END_HARDWARE, 0.6e6, 0));
    EXPECT_EQ("it carries 0.6 MB/s, though its speed is said to be 1000 Mbit/s",
              speed(10000, 1000, FSBML_END_HARDWARE, 0.6e6, 0));
    EXPECT_EQ("", speed(1000, 1000, FSBML_END_HARDWARE, 26e6, 0)); // a bad day, no fault
    EXPECT_EQ("", speed(10000, 100, FSBML_END_HARDWARE, 11e6, 0)); // the slower end counts
    EXPECT_EQ("", speed(10000, 10000, 0, 2.4e6, 0));               // made up by the drivers of virtual links
    EXPECT_EQ("", speed(0, 1000, FSBML_END_HARDWARE, 0.6e6, 0));   // one end does not say
    EXPECT_EQ("", speed(400000, 400000, FSBML_END_HARDWARE, 3e9, 0)); // one connection on a very fast network
    EXPECT_EQ("it carries 0.6 MB/s, where an earlier job measured 24 MB/s", speed(0, 0, 0, 0.6e6, 24e6));
    EXPECT_EQ("", speed(0, 0, 0, 6e6, 24e6));
}

TEST(Diagnosis, EndsOnTheWire)
{
    fsbml_end_t e = end_of(7, FSBML_END_CONNECTED | FSBML_END_STUCK);
    resolves_to(e, 9);
    (void) std::snprintf(e.name, sizeof e.name, "a name");
    e.speed_mbit = 25000;
    std::vector<unsigned char> record(fsbml_end_packed_max());
    const long n = fsbml_end_pack(&e, record.data(), record.size());
    ASSERT_GT(n, 0);
    fsbml_end_t back{};
    ASSERT_EQ(0, fsbml_end_unpack(&back, record.data(), static_cast<std::size_t>(n)));
    EXPECT_EQ(0, std::memcmp(&e, &back, sizeof e));
    for (long cut = 0; cut < n; ++cut) {
        EXPECT_EQ(-EBADMSG, fsbml_end_unpack(&back, record.data(), static_cast<std::size_t>(cut)));
    }
    for (long at = 0; at < n; ++at) {
        record[static_cast<std::size_t>(at)] ^= 1;
        EXPECT_NE(0, fsbml_end_unpack(&back, record.data(), static_cast<std::size_t>(n)));
        record[static_cast<std::size_t>(at)] ^= 1;
    }
    EXPECT_EQ(-ENOSPC, fsbml_end_pack(&e, record.data(), static_cast<std::size_t>(n) - 1));
    std::memset(e.node, 'x', sizeof e.node); // without an end
    EXPECT_EQ(-EINVAL, fsbml_end_pack(&e, record.data(), record.size()));
}

TEST(Diagnosis, KindsHaveNames)
{
    EXPECT_STREQ("cut", fsbml_fault_name(FSBML_FAULT_CUT));
    EXPECT_STREQ("loop", fsbml_fault_name(FSBML_FAULT_LOOP));
    EXPECT_STREQ("other", fsbml_fault_name(FSBML_FAULT_LOOP + 1));
}
