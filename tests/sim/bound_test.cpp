// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Lower bounds worked out by hand.
#include "bound_job.hpp"

#include "../unit/test.hpp"

using namespace fsbml::sim;

namespace
{

void add(std::vector<Op> &ops, const Op &op, std::size_t times)
{
    ops.insert(ops.end(), times, op);
}

// To the nanosecond: what is not a whole number of picoseconds is rounded down.
void expect_ns(Time bound, double ns)
{
    EXPECT_LE(static_cast<double>(bound), ns * kPsPerNs + 1e-3);
    EXPECT_GE(static_cast<double>(bound), ns * kPsPerNs - 10);
}

// In phases all send to all others and then wait for all.
Workload exchange(std::uint32_t ranks, std::uint32_t phases, std::uint64_t bytes)
{
    Workload w = workload(std::vector<std::vector<Op>>(ranks));
    for (std::uint32_t p = 0; p < ranks; ++p) {
        for (std::uint32_t phase = 0; phase < phases; ++phase) {
            for (std::uint32_t i = 1; i < ranks; ++i) {
                w.process[p].push_back(send((p + i) % ranks, bytes));
            }
            for (std::uint32_t i = 1; i < ranks; ++i) {
                w.process[p].push_back(recv((p + i) % ranks));
            }
        }
    }
    return w;
}

} // namespace

TEST(Bound, OfOneMessageOnOneRail)
{
    const Cluster c = cluster(2, {rail(1000, 200, 300, 50, 2)});
    const Workload w = workload({{send(1, 1001)}, {recv(0)}});
    // o_s + L + gap(s) - gap(1) + o_r
    EXPECT_EQ(lower_bound(c, w).makespan, 3500 * kPsPerNs);
    EXPECT_EQ(lower_bound(c, w, kUncut).makespan, 3500 * kPsPerNs);
}

TEST(Bound, OfOneMessageThatMayBeCut)
{
    const Cluster c = cluster(2, {rail(1000, 200, 300, 50, 2), rail(1000, 200, 300, 50, 2)});
    const Workload w = workload({{send(1, 1001)}, {recv(0)}});
    // Half of gap(1001) on each, of which gap(1) is no delay.
    expect_ns(lower_bound(c, w).makespan, 1500 + 2050 / 2.0 - 50);
    EXPECT_EQ(lower_bound(c, w, kUncut).makespan, 3500 * kPsPerNs);
    EXPECT_EQ(lower_bound(c, w, {1001, 0}).makespan, 3500 * kPsPerNs);
    // In pieces of 500 bytes and more these cost gap(500) / 500 each, if that is more.
    EXPECT_GE(lower_bound(c, w, {500, 0}).makespan, lower_bound(c, w).makespan);
    EXPECT_LT(lower_bound(c, w, {500, 0}).makespan, 3500 * kPsPerNs);
    EXPECT_EQ(lower_bound(c, w, {1, 1001}).makespan, 3500 * kPsPerNs);
    EXPECT_EQ(lower_bound(c, w, {1, 1000}).makespan, lower_bound(c, w).makespan);
}

TEST(Bound, ARailOfLittleUseIsLeftAlone)
{
    const Cluster c = cluster(2, {rail(1000, 200, 300, 50, 2), rail(9000, 200, 300, 1, 0.1)});
    const Workload w = workload({{send(1, 1001)}, {recv(0)}});
    EXPECT_EQ(lower_bound(c, w).makespan, 3500 * kPsPerNs);
}

// Three that are not cut: two on the one and one on the other.
TEST(Bound, MessagesThatAreNotCutAreCounted)
{
    const Cluster c = cluster(2, {rail(1000, 200, 300, 50, 2), rail(1000, 200, 300, 50, 2)});
    Workload w = workload({{}, {}});
    add(w.process[0], send(1, 1001), 3);
    add(w.process[1], recv(0), 3);
    expect_ns(lower_bound(c, w, kUncut).makespan, 1500 + 2 * 2050 - 50);
    expect_ns(lower_bound(c, w).makespan, 1500 + 1.5 * 2050 - 50);
}

// 30 messages, of which the fast rail takes one in 100 ns, and the slow one in 200 ns and 400 ns later.
TEST(Bound, EqualFinishOfManyMessages)
{
    const Cluster c = cluster(2, {rail(1000, 10, 10, 100, 0.5), rail(1400, 10, 10, 200, 0.5)});
    Workload w = workload({{}, {}});
    add(w.process[0], send(1, 1), 30);
    add(w.process[1], recv(0), 30);
    // 21 are there after 1020 + 20 * 100, and 9 after 1420 + 8 * 200: but one rail has its first one 10
    // later.
    const double T = 3020 + 10;
    expect_ns(lower_bound(c, w).makespan, T);

    // There and back adds up, in any number of rounds.
    for (int round = 0; round < 3; ++round) {
        add(w.process[1], send(0, 1), 30);
        add(w.process[0], recv(1), 30);
        add(w.process[0], send(1, 1), 30);
        add(w.process[1], recv(0), 30);
    }
    expect_ns(lower_bound(c, w).makespan, 7 * T);
    expect_ns(lower_bound(c, w).path, 7 * T);
}

TEST(Bound, SendersProcessorMayBeWhatTakesLongest)
{
    const Cluster c = cluster(2, {rail(1000, 300, 10, 100, 0.5), rail(1000, 300, 10, 200, 0.5)});
    Workload w = workload({{}, {}});
    add(w.process[0], send(1, 1), 30);
    add(w.process[1], recv(0), 30);
    expect_ns(lower_bound(c, w).makespan, 30 * 300 + 1000 + 10);
    const Cluster taking = cluster(2, {rail(1000, 10, 300, 100, 0.5), rail(1000, 10, 300, 200, 0.5)});
    expect_ns(lower_bound(taking, w).makespan, 10 + 1000 + 30 * 300);
}

TEST(Bound, ManyToOne)
{
    const Cluster c = cluster(8, {rail(1000, 200, 30, 50, 2)});
    for (const bool any_rank : {false, true}) {
        Workload w = workload(std::vector<std::vector<Op>>(8));
        for (std::uint32_t p = 1; p < 8; ++p) {
            w.process[p].push_back(send(0, 1001));
            w.process[0].push_back(recv(any_rank ? kAnyPeer : p));
        }
        expect_ns(lower_bound(c, w).makespan, 200 + 1000 + 7 * 2050 - 50 + 30);
    }
}

// Then one more message depends on all of them.
TEST(Bound, ManyToOneGoesOn)
{
    const Cluster c = cluster(8, {rail(1000, 200, 30, 50, 2)});
    Workload w = workload(std::vector<std::vector<Op>>(8));
    for (std::uint32_t p = 1; p < 8; ++p) {
        w.process[p].push_back(send(0, 1001));
        w.process[0].push_back(recv(p));
    }
    w.process[0].push_back(compute(5000));
    w.process[0].push_back(send(1, 1001));
    w.process[1].push_back(recv(0));
    expect_ns(lower_bound(c, w).makespan, (200 + 1000 + 7 * 2050 - 50 + 30) + 5000 + (200 + 3000 + 30));
    // All but the first begin later: it is of no account, and neither is the time before.
    for (std::uint32_t p = 2; p < 8; ++p) {
        w.process[p].insert(w.process[p].begin(), compute(50000));
    }
    expect_ns(lower_bound(c, w).path, 50000 + (200 + 1000 + 6 * 2050 - 50 + 30) + 5000 + (200 + 3000 + 30));
}

TEST(Bound, AllToAllInPhases)
{
    const Cluster c = cluster(4, {rail(1000, 20, 30, 50, 2), rail(1000, 20, 30, 50, 2)});
    const double phase = 20 + 1000 + 3 * 2050 / 2.0 - 50 + 30;
    for (const std::uint32_t phases : {1U, 2U, 5U}) {
        expect_ns(lower_bound(c, exchange(4, phases, 1001)).makespan, phases * phase);
    }
}

// What a process sends to many takes its NIC's time, before what it waits for can be answered.
TEST(Bound, ManyAreAskedAndAnswer)
{
    const Cluster c = cluster(9, {rail(1000, 20, 30, 50, 2)});
    Workload w = workload(std::vector<std::vector<Op>>(9));
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
        for (std::uint32_t p = 1; p < 9; ++p) {
            w.process[0].push_back(send(p, 1001));
            w.process[p].push_back(recv(0));
            w.process[p].push_back(compute(700));
            w.process[p].push_back(send(0, 1));
        }
        for (std::uint32_t p = 1; p < 9; ++p) {
            w.process[0].push_back(recv(p));
        }
    }
    expect_ns(lower_bound(c, w).makespan, kRounds * ((1050 + 8 * 2050 - 50) + 700 + 1050));
}

// A second rail that one of two peers has: what only the first rail can take stays there.
TEST(Bound, RailsThatNotAllNodesHave)
{
    Cluster c = cluster(3, {rail(1000, 1, 1, 100, 0.5), rail(1000, 1, 1, 100, 0.5)});
    c.rails[1].nodes = {0, 1};
    for (const int first : {10, 15, 5}) {
        Workload w = workload({{}, {}, {}});
        add(w.process[0], send(2, 1), static_cast<std::size_t>(20 - first));
        add(w.process[0], send(1, 1), static_cast<std::size_t>(first));
        add(w.process[1], recv(0), static_cast<std::size_t>(first));
        add(w.process[2], recv(0), static_cast<std::size_t>(20 - first));
        expect_ns(lower_bound(c, w).makespan, 1002 - 100 + 100 * std::max(10, 20 - first));
    }
}

TEST(Bound, RanksOfANodeShareItsNics)
{
    Cluster c = cluster(2, {rail(1000, 1, 1, 100, 0.5)});
    c.ranks_per_node = 4;
    Workload w = workload(std::vector<std::vector<Op>>(8));
    for (std::uint32_t p = 0; p < 8; p += 2) {
        add(w.process[p], send(p + 1, 1), 10);
        add(w.process[p + 1], recv(p), 10);
    }
    expect_ns(lower_bound(c, w).makespan, 1002 + 39 * 100);
    // Within a node nothing is asked of them.
    w.process[0].push_back(send(2, 1 << 20));
    w.process[2].push_back(recv(0));
    expect_ns(lower_bound(c, w).makespan, 1002 + 39 * 100);
    // One that sends or receives, but not both, has to do it twice if the others send as much back.
    w = workload(std::vector<std::vector<Op>>(2));
    for (const std::uint32_t p : {0U, 1U}) {
        add(w.process[p], send(1 - p, 1), 40);
        add(w.process[p], recv(1 - p), 40);
    }
    c.full_duplex = false;
    expect_ns(lower_bound(c, w).makespan, 2 + 79 * 100); // a NIC is never idle while L is over
    c.full_duplex = true;
    expect_ns(lower_bound(c, w).makespan, 1002 + 39 * 100);
}

TEST(Bound, ComputingAndWaitingForAClock)
{
    const Cluster c = cluster(2, {rail(1000, 100, 100, 10, 1)});
    const Op until{Op::Kind::until, 0, 0, 7000 * kPsPerNs};
    Workload w = workload({{until, send(1, 1)}, {recv(0), compute(500), until}});
    expect_ns(lower_bound(c, w).makespan, 7000 + 1200 + 500);
    w = workload({{compute(3000)}, {compute(4000)}});
    expect_ns(lower_bound(c, w).processors, 4000);
    EXPECT_EQ(lower_bound(c, workload({})).makespan, 0);
}

// A bucket lets pass at once what it holds, but no more.
TEST(Bound, ABucketHidesWhatItHolds)
{
    Cluster c = cluster(2, {rail(1000, 1, 1, 100, 0.5)});
    c.rails[0].real.burst_ns = 1000;
    Workload w = workload({{}, {}});
    add(w.process[0], send(1, 1), 50);
    add(w.process[1], recv(0), 50);
    expect_ns(lower_bound(c, w).makespan, 1002 + 49 * 100 - 1000);
    w = workload({{send(1, 1)}, {recv(0)}});
    expect_ns(lower_bound(c, w).makespan, 1002);
}

// What may become faster is taken for as fast as it ever is; what dies, for alive.
TEST(Bound, ChangesCountAtTheirBest)
{
    Cluster c = cluster(2, {rail(1000, 100, 100, 100, 1)});
    const Workload w = workload({{send(1, 1001)}, {recv(0)}});
    c.rails[0].changes = {{1000, 5.0}, {2000, 0.0}};
    expect_ns(lower_bound(c, w).makespan, 2200);
    c.rails[0].changes = {{1000, 0.5}};
    expect_ns(lower_bound(c, w).makespan, 1700);
    c.rails[0].changes = {{0, 2.0}};
    expect_ns(lower_bound(c, w).makespan, 3200);
}

TEST(Bound, RefusesWhatMakesNoSense)
{
    Cluster c = cluster(3, {rail(1000, 100, 100, 10, 1)});
    EXPECT_THROW(lower_bound(c, workload({{send(7, 1)}, {}})), std::invalid_argument);
    EXPECT_THROW(lower_bound(c, workload({{}, {}, {}, {}})), std::invalid_argument);
    EXPECT_THROW(lower_bound(c, workload({{recv(kAnyPeer), recv(1)}, {send(0, 1), send(0, 1)}})),
                 std::invalid_argument);
    EXPECT_THROW(lower_bound(c, workload({{recv(1)}, {}})), std::runtime_error);
    EXPECT_THROW(lower_bound(c, workload({{recv(1), send(1, 1)}, {recv(0), send(0, 1)}})),
                 std::runtime_error);
    c.rails[0].nodes = {0, 1};
    EXPECT_THROW(lower_bound(c, workload({{}, {send(2, 1)}, {recv(1)}})), std::invalid_argument);
    c.rails[0].nodes = {0, 1, 5};
    EXPECT_THROW(lower_bound(c, workload({{}, {}})), std::invalid_argument);
}

// A million messages.
TEST(Bound, OfAThousandProcesses)
{
    const Cluster c = cluster(1000, {rail(1000, 20, 30, 50, 2), rail(1000, 20, 30, 50, 2)});
    expect_ns(lower_bound(c, exchange(1000, 1, 1001)).makespan, 20 + 1000 + 999 * 2050 / 2.0 - 50 + 30);
    Workload ring = workload(std::vector<std::vector<Op>>(1000));
    for (int step = 0; step < 500; ++step) {
        for (std::uint32_t p = 0; p < 1000; ++p) {
            ring.process[p].push_back(send((p + 1) % 1000, 1001));
            ring.process[p].push_back(recv((p + 999) % 1000));
        }
    }
    expect_ns(lower_bound(c, ring, kUncut).makespan, 500 * 3050.0);
}
