// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// Lower bounds worked out by hand, and held against the best of all assignments.
#include "cluster/bound.hpp"
#include "cluster/optimum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

using namespace fsbml::sim;

namespace
{

RailSpec rail(double L, double o_s, double o_r, double g, double G)
{
    RailSpec spec;
    spec.name = "rail";
    spec.real = {L, o_s, o_r, g, G, 0, 0, 0, 0, 0, 0};
    spec.believed = spec.real;
    return spec;
}

Cluster cluster(std::uint32_t nodes, std::vector<RailSpec> rails)
{
    Cluster c;
    c.nodes = nodes;
    c.rails = std::move(rails);
    return c;
}

Op send(std::uint32_t to, std::uint64_t bytes)
{
    return {Op::Kind::send, to, bytes, 0};
}

Op recv(std::uint32_t from)
{
    return {Op::Kind::recv, from, 0, 0};
}

Op compute(double ns)
{
    return {Op::Kind::compute, 0, 0, static_cast<Time>(ns * kPsPerNs)};
}

Workload workload(std::vector<std::vector<Op>> process)
{
    return {"test", std::move(process)};
}

void add(std::vector<Op> &ops, const Op &op, std::size_t times)
{
    ops.insert(ops.end(), times, op);
}

constexpr BoundOptions kUncut{kWhole};

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

class Dice
{
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    double real(double from, double to)
    {
        return from + (to - from) * static_cast<double>(random_() >> 11) * 0x1p-53;
    }

private:
    std::mt19937_64 random_;
};

RailSpec any_rail(Dice &dice)
{
    RailSpec spec = rail(dice.real(0, 5000), dice.real(1, 800), dice.real(1, 800), dice.real(10, 2000),
                         dice.real(0.01, 3));
    if (dice.below(3) == 0) {
        spec.real.O_s_ns_per_byte = dice.real(0, 0.2);
        spec.real.O_r_ns_per_byte = dice.real(0, 0.2);
    }
    if (dice.below(4) == 0) {
        spec.real.burst_ns = dice.real(0, 5000);
    }
    if (dice.below(4) == 0) {
        spec.real.break_bytes = 1024;
        spec.real.g_above_ns = spec.real.g_ns + spec.real.G_ns_per_byte * 1023 * dice.real(0.7, 2);
        spec.real.G_above_ns_per_byte = dice.real(0.01, 3);
    }
    return spec;
}

Cluster any_cluster(Dice &dice, std::uint32_t most_rails)
{
    Cluster c;
    c.nodes = static_cast<std::uint32_t>(2 + dice.below(3));
    c.ranks_per_node = static_cast<std::uint32_t>(1 + dice.below(2));
    const std::uint64_t rails = 1 + dice.below(most_rails);
    for (std::uint64_t r = 0; r < rails; ++r) {
        c.rails.push_back(any_rail(dice));
        if (r > 0 && c.nodes > 2 && dice.below(4) == 0) {
            c.rails.back().nodes = {0, 1};
        }
    }
    return c;
}

// Rounds of a few messages, which are received in the same round or later; now and then from anybody.
Workload any_workload(Dice &dice, const Cluster &c, std::uint64_t most)
{
    const std::uint32_t ranks = c.nodes * c.ranks_per_node;
    Workload w = workload(std::vector<std::vector<Op>>(ranks));
    std::uint64_t left = 1 + dice.below(most);
    const bool anybody = dice.below(6) == 0;
    std::vector<std::vector<std::uint32_t>> owed(ranks);
    while (left > 0) {
        const std::uint64_t now = 1 + dice.below(left);
        left -= now;
        const std::uint64_t bytes = 1 + dice.below(1U << (2 + dice.below(13)));
        const auto from = static_cast<std::uint32_t>(dice.below(ranks));
        const bool fixed = dice.below(2) == 0;
        for (std::uint64_t i = 0; i < now; ++i) {
            const auto p = fixed ? from : static_cast<std::uint32_t>(dice.below(ranks));
            const auto q = static_cast<std::uint32_t>((p + 1 + dice.below(ranks - 1)) % ranks);
            w.process[p].push_back(send(q, fixed ? bytes : 1 + dice.below(2 * bytes)));
            owed[q].push_back(p);
        }
        for (std::uint32_t q = 0; q < ranks; ++q) {
            if (dice.below(4) == 0) {
                w.process[q].push_back(compute(dice.real(0, 3000)));
            }
            if (dice.below(5) == 0) {
                continue;
            }
            for (const std::uint32_t p : owed[q]) {
                w.process[q].push_back(recv(anybody ? kAnyPeer : p));
            }
            owed[q].clear();
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
    EXPECT_EQ(lower_bound(c, w, BoundOptions{501}).makespan, 3500 * kPsPerNs);
    // In pieces of 500 bytes and more these cost gap(500) / 500 each, if that is more.
    EXPECT_GE(lower_bound(c, w, BoundOptions{500}).makespan, lower_bound(c, w).makespan);
    EXPECT_LT(lower_bound(c, w, BoundOptions{500}).makespan, 3500 * kPsPerNs);
}

TEST(Bound, ARailOfLittleUseIsLeftAlone)
{
    const Cluster c = cluster(2, {rail(1000, 200, 300, 50, 2), rail(9000, 200, 300, 1, 0.1)});
    const Workload w = workload({{send(1, 1001)}, {recv(0)}});
    EXPECT_EQ(lower_bound(c, w).makespan, 3500 * kPsPerNs);
}

// 30 messages, of which the fast rail takes one in 100 ns, and the slow one in 200 ns and 400 ns later.
TEST(Bound, EqualFinishOfManyMessages)
{
    const Cluster c = cluster(2, {rail(1000, 10, 10, 100, 0.5), rail(1400, 10, 10, 200, 0.5)});
    Workload w = workload({{}, {}});
    add(w.process[0], send(1, 1), 30);
    add(w.process[1], recv(0), 30);
    // (T - 1020 + 100) / 100 + (T - 1420 + 200) / 200 = 30
    const double T = (6000 + 2 * 920 + 1220) / 3.0;
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
    for (const bool anybody : {false, true}) {
        Workload w = workload(std::vector<std::vector<Op>>(8));
        for (std::uint32_t p = 1; p < 8; ++p) {
            w.process[p].push_back(send(0, 1001));
            w.process[0].push_back(recv(anybody ? kAnyPeer : p));
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
    w = exchange(2, 1, 1);
    c.full_duplex = false;
    expect_ns(lower_bound(c, w).makespan, 1002 + 100);
    c.full_duplex = true;
    expect_ns(lower_bound(c, w).makespan, 1002);
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

// ------------------------------------------------------------------ optimum

TEST(Optimum, TheModelByHand)
{
    const Cluster c = cluster(3, {rail(1000, 200, 300, 50, 2), rail(5000, 200, 300, 10, 1)});
    Workload w = workload({{send(2, 1001)}, {}, {recv(0)}});
    EXPECT_EQ(makespan_of(c, w, {0}), 3500 * kPsPerNs);
    EXPECT_EQ(makespan_of(c, w, {1}), 6500 * kPsPerNs);
    // On one rail it waits for the NIC, and is there before the receiver has taken in the first.
    w = workload({{send(2, 1001), send(2, 1)}, {}, {recv(0), recv(0)}});
    EXPECT_EQ(makespan_of(c, w, {0, 0}), (200 + 1000 + 2000 + 300 + 300) * kPsPerNs);
    EXPECT_EQ(makespan_of(c, w, {0, 1}), (400 + 5000 + 300) * kPsPerNs);
    // Two senders: the receiver's NIC takes the one after the other.
    w = workload({{send(2, 1001)}, {send(2, 1001)}, {recv(0), recv(1)}});
    EXPECT_EQ(makespan_of(c, w, {0, 0}), (3500 + 2050) * kPsPerNs);
    // Its processor takes in what has arrived after what it computes.
    w = workload({{send(2, 1)}, {}, {compute(9000), recv(0)}});
    EXPECT_EQ(makespan_of(c, w, {0}), 9300 * kPsPerNs);
    EXPECT_THROW(makespan_of(c, workload({{recv(1)}, {}}), {}), std::runtime_error);
}

TEST(Optimum, BranchAndBoundMissesNothing)
{
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        const Cluster c = any_cluster(dice, 3);
        const Workload w = any_workload(dice, c, 6);
        const Evaluate evaluate = [&](const Assignment &rails) { return makespan_of(c, w, rails); };
        const Optimum all = optimum(c, w, evaluate, false);
        const Optimum best = optimum(c, w, evaluate);
        ASSERT_EQ(best.makespan, all.makespan);
        ASSERT_EQ(makespan_of(c, w, best.rails), best.makespan);
        ASSERT_LE(best.evaluated, all.evaluated);
    }
}

// And is near it: what is lost is that a message is on one rail or the other.
TEST(Optimum, IsNeverBelowTheBound)
{
    std::vector<double> ratios;
    for (std::uint64_t seed = 1; seed <= 600; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        const Cluster c = any_cluster(dice, 4);
        const Workload w = any_workload(dice, c, 8);
        const Optimum best = optimum(c, w, [&](const Assignment &rails) { return makespan_of(c, w, rails); });
        const Time uncut = lower_bound(c, w, kUncut).makespan;
        ASSERT_LE(uncut, best.makespan);
        ASSERT_LE(lower_bound(c, w).makespan, uncut);
        ratios.push_back(static_cast<double>(best.makespan) / static_cast<double>(std::max<Time>(uncut, 1)));
    }
    std::sort(ratios.begin(), ratios.end());
    RecordProperty("median", std::to_string(ratios[ratios.size() / 2]));
    RecordProperty("p90", std::to_string(ratios[ratios.size() * 9 / 10]));
    EXPECT_LE(ratios[ratios.size() / 2], 1.02);
}

// --------------------------------------------------------------- monotonicity

TEST(Bound, AnotherRailNeverRaisesIt)
{
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        Cluster c = any_cluster(dice, 3);
        const Workload w = any_workload(dice, c, 40);
        const Bound without = lower_bound(c, w);
        c.rails.push_back(any_rail(dice));
        ASSERT_LE(lower_bound(c, w).makespan, without.makespan);
    }
}

TEST(Bound, ASlowerRailNeverLowersIt)
{
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        Cluster c = any_cluster(dice, 4);
        const Workload w = any_workload(dice, c, 40);
        const Bound fast = lower_bound(c, w);
        fsbml_loggp_t &p = c.rails[dice.below(c.rails.size())].real;
        const double slower = dice.real(1, 3);
        switch (dice.below(4)) {
        case 0:
            p.L_ns *= slower;
            break;
        case 1:
            p.o_s_ns *= slower;
            break;
        case 2:
            p.o_r_ns *= slower;
            break;
        default:
            p.g_ns *= slower;
            p.G_ns_per_byte *= slower;
            p.g_above_ns *= slower;
            p.G_above_ns_per_byte *= slower;
        }
        ASSERT_GE(lower_bound(c, w).makespan, fast.makespan);
    }
}

// Any schedule is an upper bound, also where messages are many.
TEST(Bound, NeverAboveSchedulesOfManyMessages)
{
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        const Cluster c = any_cluster(dice, 4);
        const Workload w = any_workload(dice, c, 300);
        Assignment rails;
        for (std::size_t p = 0; p < w.process.size(); ++p) {
            for (const Op &op : w.process[p]) {
                const bool far = p % c.nodes > 1 || op.peer % c.nodes > 1;
                if (op.kind == Op::Kind::send) {
                    std::size_t r = dice.below(c.rails.size());
                    rails.push_back(static_cast<std::uint32_t>(far && !c.rails[r].nodes.empty() ? 0 : r));
                }
            }
        }
        ASSERT_LE(lower_bound(c, w, kUncut).makespan, makespan_of(c, w, rails));
    }
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
