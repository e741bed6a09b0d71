// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The simulator of a cluster against schedules that were worked out by hand.
#include "cluster_job.hpp"

#include "../unit/model.hpp"
#include "model/model.hpp"
#include "sim/traffic/traffic.hpp"

#include "../unit/test.hpp"

namespace fsbml::sim
{

namespace
{

// 1001 bytes: gap 3 us, of which one byte's is 1 us; 10001 bytes: 21 us. 2 us to send, 4 us to take in.
constexpr fsbml_loggp_t kRail = loggp(10e3, 2e3, 4e3, 1e3, 2.0);

std::vector<Time> begins(const Outcome &o)
{
    std::vector<Time> times;
    for (const Passage &p : o.passages) {
        times.push_back(p.begins);
    }
    return times;
}

std::vector<Time> arrivals(const Outcome &o)
{
    std::vector<Time> times;
    for (const Passage &p : o.passages) {
        times.push_back(p.arrives);
    }
    return times;
}

using Times = std::vector<Time>;

void halves(const Situation &whole, std::vector<Rule::Piece> &out)
{
    out.push_back({whole.bytes / 2, -1});
    out.push_back({whole.bytes - whole.bytes / 2, -1});
}

} // namespace

TEST(Cluster, OneMessageTakesWhatTheModelSays)
{
    const Outcome o = run(cluster_of({kRail}), {{send(1, 1001)}, {recv(0)}});
    ASSERT_EQ(o.passages.size(), 1U);
    EXPECT_EQ(o.passages[0].given, 0);
    EXPECT_EQ(o.passages[0].begins, us(2));
    EXPECT_EQ(o.passages[0].ends, us(5));
    EXPECT_EQ(o.passages[0].arrives, us(14));
    EXPECT_EQ(o.passages[0].received, us(18));
    EXPECT_EQ(o.done, (Times{us(2), us(18)}));
    EXPECT_EQ(o.makespan, us(18));
    EXPECT_EQ(o.rails[0].busy, us(3));
    EXPECT_EQ(o.rails[0].bytes, 1001U);
}

// Of any size and on any rail: overheads by size, and a gap that breaks.
TEST(Cluster, IdleMessagesTakeWhatIsPredicted)
{
    fsbml_loggp_t sloping = kRail;
    sloping.O_s_ns_per_byte = 0.25;
    sloping.O_r_ns_per_byte = 0.5;
    for (const fsbml_loggp_t &p : {kRail, sloping, broken(sloping, 4096, 9e3, 0.5)}) {
        for (const std::uint64_t bytes : {1, 2, 1000, 4095, 4096, 4097, 1 << 20}) {
            const Outcome o = run(cluster_of({p}), {{send(1, bytes)}, {recv(0)}});
            const double ns = predict_arrival(p, 1, 0, static_cast<double>(bytes));
            EXPECT_NEAR(static_cast<double>(o.makespan), 1e3 * ns, 2.0) << bytes;
        }
    }
    EXPECT_EQ(run(cluster_of({kRail}), {{send(1, 0)}, {recv(0)}}).makespan, us(16)); // as one byte
}

// Both fragments cost the one processor, there and here, though each has a rail of its own.
TEST(Cluster, TwoRailsShareTheProcessors)
{
    ToldRules rules({0, 1}, halves);
    const Outcome o = run(cluster_of({kRail, kRail}), {{send(1, 2002)}, {recv(0)}}, rules);
    EXPECT_EQ(begins(o), (Times{us(2), us(4)}));
    EXPECT_EQ(arrivals(o), (Times{us(14), us(16)}));
    EXPECT_EQ(o.done, (Times{us(4), us(22)}));
    EXPECT_EQ(o.decisions, 2U);
    EXPECT_EQ(o.sent, 1U);
}

TEST(Cluster, ABusyRailDelays)
{
    ToldRules rules;
    const Outcome o = run(cluster_of({kRail}), {{send(1, 1001), send(1, 10001)}, {recv(0), recv(0)}}, rules);
    EXPECT_EQ(begins(o), (Times{us(2), us(5)}));
    EXPECT_EQ(arrivals(o), (Times{us(14), us(35)}));
    EXPECT_EQ(o.makespan, us(39));
    ASSERT_EQ(rules.sent.size(), 2U); // is told when the NIC is done
    EXPECT_EQ(rules.sent[0].when, us(5));
    EXPECT_EQ(rules.sent[1].when, us(26));
    EXPECT_EQ(rules.sent[1].decided, us(2));
    EXPECT_EQ(rules.sent[1].bytes, 10001U);
}

// A bucket of 5 us lets three messages pass as fast as the processor makes them; refilled after a pause.
TEST(Cluster, ABurstPassesAtOnce)
{
    fsbml_loggp_t p = kRail;
    p.burst_ns = 5e3;
    std::vector<Op> ops(5, send(1, 1001));
    ops.push_back(until(us(100)));
    ops.push_back(send(1, 1001));
    const Outcome o = run(cluster_of({p}), {ops, {}});
    EXPECT_EQ(begins(o), (Times{us(2), us(4), us(6), us(8), us(10), us(102)}));
    EXPECT_EQ(o.passages[4].ends, us(12)); // as it took 2 x 3 us of a bucket that was filled by one until 10
    EXPECT_EQ(arrivals(o), (Times{us(12), us(14), us(16), us(18), us(21), us(112)}));
    for (std::size_t n = 1; n <= 5; ++n) {
        const double ns = predict_arrival(p, static_cast<double>(n), 0, 1001) - p.o_r_ns;
        EXPECT_NEAR(static_cast<double>(o.passages[n - 1].arrives), 1e3 * ns, 2.0) << n;
    }
}

// Two send to a third at once: its NIC takes in one after the other.
TEST(Cluster, IncastKeepsTheReceivingNicBusy)
{
    const Outcome o =
        run(cluster_of({kRail}, 3), {{send(2, 1001)}, {send(2, 1001)}, {recv(kAnyPeer), recv(kAnyPeer)}});
    EXPECT_EQ(begins(o), (Times{us(2), us(2)}));
    EXPECT_EQ(arrivals(o), (Times{us(14), us(17)}));
    EXPECT_EQ(o.makespan, us(22));
}

// Its ranks send over one NIC.
TEST(Cluster, RanksOfANodeShareItsNic)
{
    const Outcome o =
        run(cluster_of({kRail}, 2, 2), {{send(1, 1001)}, {recv(0)}, {send(3, 1001)}, {recv(2)}});
    EXPECT_EQ(begins(o), (Times{us(2), us(5)}));
    EXPECT_EQ(arrivals(o), (Times{us(14), us(17)}));
}

TEST(Cluster, HalfDuplexSendsAndReceivesInTurn)
{
    Cluster c = cluster_of({kRail});
    const std::vector<std::vector<Op>> ops{{send(1, 10001), send(1, 10001), recv(1)},
                                           {send(0, 10001), recv(0), recv(0)}};
    const Outcome full = run(c, ops);
    EXPECT_EQ(begins(full), (Times{us(2), us(2), us(23)}));
    EXPECT_EQ(arrivals(full), (Times{us(32), us(32), us(53)}));
    c.full_duplex = false;
    // From 12 on a message waits for each NIC, which is sending until 23; the second one is sent after that.
    const Outcome half = run(c, ops);
    EXPECT_EQ(begins(half), (Times{us(2), us(2), us(44)}));
    EXPECT_EQ(arrivals(half), (Times{us(43), us(43), us(74)}));
}

// Where the NIC holds one message, ranks whose messages wait have their turns.
TEST(Cluster, AFullQueueIsFilledInTurn)
{
    Cluster c = cluster_of({kRail}, 2, 2);
    const std::vector<std::vector<Op>> ops{
        {send(1, 10001), send(1, 10001), send(1, 10001)}, {}, {compute(us(10)), send(1, 10001)}};
    EXPECT_EQ(begins(run(c, ops)), (Times{us(2), us(23), us(44), us(65)}));
    c.rails[0].queue = 1;
    const Outcome o = run(c, ops);
    EXPECT_EQ(begins(o), (Times{us(2), us(23), us(65), us(44)}));
    EXPECT_EQ(o.done[0], us(6)); // no rank waits for the queue
    c.rails[0].queue = 3;        // room for all three of rank 0
    EXPECT_EQ(begins(run(c, ops)), (Times{us(2), us(23), us(44), us(65)}));
}

// 1001 bytes take 4.004 us over it; the second comes when 251 bytes are still there.
TEST(Cluster, ABottleneckDelaysOrLoses)
{
    Cluster c = cluster_of({kRail});
    const std::vector<std::vector<Op>> ops{{send(1, 1001), send(1, 1001)}, {recv(0), recv(0)}};
    c.bottlenecks.push_back({0, {0}, 4.0, 2000, us(100)});
    EXPECT_EQ(arrivals(run(c, ops)), (Times{us(16.004), us(20.008)}));
    c.bottlenecks[0].buffer_bytes = 1252;
    EXPECT_EQ(run(c, ops).rails[0].retransmitted, 0U);
    c.bottlenecks[0].buffer_bytes = 1251;
    ToldRules rules;
    const Outcome lost = run(c, ops, rules);
    EXPECT_EQ(begins(lost), (Times{us(2), us(108)}));
    EXPECT_EQ(arrivals(lost), (Times{us(16.004), us(122.004)}));
    EXPECT_EQ(lost.rails[0].retransmitted, 1U);
    EXPECT_EQ(lost.rails[0].busy, us(9));
    EXPECT_EQ(lost.undelivered, 0U);
    EXPECT_EQ(rules.sent.size(), 2U); // once each
    c.bottlenecks[0].buffer_bytes = 0;
    EXPECT_EQ(run(c, ops).rails[0].retransmitted, 0U);
}

// Each direction has the link for itself, ranks that stay on one side do not use it, and two links add up.
TEST(Cluster, BottlenecksAreBetweenTheirSides)
{
    Cluster c = cluster_of({kRail}, 4);
    c.bottlenecks.push_back({0, {2, 3}, 4.0, 0, 0});
    const std::vector<std::vector<Op>> ops{
        {send(2, 1001)}, {send(0, 1001)}, {send(1, 1001)}, {send(2, 1001)}};
    EXPECT_EQ(arrivals(run(c, ops)), (Times{us(16.004), us(14), us(16.004), us(17.000)}));
    c.bottlenecks.push_back({0, {0}, 10.0, 0, 0});
    EXPECT_EQ(arrivals(run(c, ops))[0], us(22.01));
    // Of two that share it, the second waits; on another rail there is none.
    const std::vector<std::vector<Op>> shared{{send(2, 1001)}, {send(3, 1001)}, {}, {}};
    c.bottlenecks.pop_back();
    EXPECT_EQ(arrivals(run(c, shared)), (Times{us(16.004), us(20.008)}));
}

// What the second of two links loses goes over both again, once it is known to be lost.
TEST(Cluster, WhatIsSentAgainGoesAllTheWay)
{
    Cluster c = cluster_of({kRail}, 3);
    c.bottlenecks.push_back({0, {0}, 10.0, 0, 0});           // 10.01 us each
    c.bottlenecks.push_back({0, {0, 1}, 40.0, 1100, us(1)}); // full until 42.04: lost at 12.01, 22.02, 32.03
    const Outcome o = run(c, {{send(2, 1001), send(2, 1001)}, {}, {}});
    EXPECT_EQ(begins(o), (Times{us(2), us(33.03)}));
    EXPECT_EQ(arrivals(o)[0], us(52.04));
    EXPECT_EQ(arrivals(o)[1], us(92.08));
    EXPECT_EQ(o.rails[0].retransmitted, 3U);
    c.bottlenecks = {{0, {0}, 1.0, 0, 0}}; // faster than the NIC: no difference
    EXPECT_EQ(arrivals(run(c, {{send(2, 1001)}, {}, {}})), (Times{us(14)}));
}

// LogGP's formulas for the two orders of an all-to-all; behind half of the bandwidth, the far steps take
// twice as long.
TEST(Cluster, AllToAllTakesWhatLoggpSays)
{
    const fsbml_loggp_t p = loggp(30e3, 100, 100, 100, 8.0);
    const auto simulated = [](const Cluster &c, AllToAll order, std::uint64_t m, ToldRules::Cut cut) {
        ToldRules rules({0}, std::move(cut));
        const Outcome o = run(c, all_to_all(c.nodes, order, Sizes::all(m), 1).process, rules);
        return static_cast<double>(o.makespan) / kPsPerNs;
    };
    for (const std::uint32_t ranks : {2U, 4U, 32U}) {
        for (const std::uint64_t m : {100U, 10000U, 200000U}) {
            const Cluster c = cluster_of({p}, ranks);
            const double way = predict_arrival(p, 1.0, 0.0, static_cast<double>(m));
            const double gap = gap_ns(p, static_cast<double>(m));
            EXPECT_NEAR(simulated(c, AllToAll::xor_steps, m, nullptr), (ranks - 1) * way, 0.1);
            EXPECT_NEAR(simulated(c, AllToAll::xor_sends, m, nullptr), way + (ranks - 2) * gap, 0.1);
        }
    }
    const auto packets = [](const Situation &whole, std::vector<Rule::Piece> &out) {
        out.assign(whole.bytes / 1000, {1000, -1});
    };
    Cluster half = cluster_of({p}, 4);
    half.bottlenecks = {{0, {0, 1}, 8.0, 0, 0}}; // as fast as one NIC, for two
    const double gaps = (1 + 2 * 2) * 100 * gap_ns(p, 1000.0);
    EXPECT_NEAR(simulated(half, AllToAll::xor_sends, 100000, packets) / (gaps + p.L_ns), 1.0, 0.02);
    EXPECT_NEAR(simulated(half, AllToAll::xor_steps, 100000, packets) / (gaps + 3 * p.L_ns), 1.0, 0.02);
}

TEST(Cluster, MessagesAreReceivedInTheOrderOfSending)
{
    const fsbml_loggp_t slow = loggp(100e3, 2e3, 4e3, 1e3, 2.0);
    ToldRules rules({1, 0});
    const Cluster c = cluster_of({kRail, slow}, 3);
    // The second is there at 20, the first at 108; a rank that answers after one receive has received the
    // first.
    const Outcome o = run(c, {{send(1, 1001), send(1, 1001)}, {recv(0)}, {}}, rules);
    EXPECT_EQ(o.passages[1].received, us(20));
    EXPECT_EQ(o.done[1], us(108));
    // From any rank: what another sent is whole earlier.
    ToldRules again({1, 0});
    const Outcome any =
        run(c, {{send(1, 1001)}, {recv(kAnyPeer)}, {compute(us(50)), send(0, 1), send(1, 1001)}}, again);
    EXPECT_EQ(any.done[1], us(70));
}

// While it computes, nothing is taken in; while it waits for a time, it is.
TEST(Cluster, WhoComputesTakesNothingIn)
{
    const Cluster c = cluster_of({kRail});
    EXPECT_EQ(run(c, {{send(1, 1001)}, {compute(us(50)), recv(0)}}).done[1], us(54));
    EXPECT_EQ(run(c, {{send(1, 1001)}, {until(us(50)), recv(0)}}).done[1], us(50));
    EXPECT_EQ(run(c, {{send(1, 1001)}, {until(us(15)), recv(0)}}).done[1], us(18));
    const Outcome unreceived = run(c, {{send(1, 1001)}, {}});
    EXPECT_EQ(unreceived.done[1], 0);
    EXPECT_EQ(unreceived.makespan, us(18));
    EXPECT_EQ(unreceived.received, 1U);
}

TEST(Cluster, ANodeNeedsNoRailWithin)
{
    Cluster c = cluster_of({kRail}, 2, 2);
    c.rails[0].nodes = {0};
    const Outcome o = run(c, {{}, {compute(us(3)), send(3, 5), send(1, 7)}, {}, {recv(1)}});
    EXPECT_EQ(o.done[3], us(3));
    EXPECT_EQ(o.sent, 2U);
    EXPECT_EQ(o.received, 2U);
    EXPECT_EQ(o.decisions, 0U);
}

TEST(Cluster, RulesAreAskedForRailsThatBothNodesHave)
{
    Cluster c = cluster_of({kRail, kRail, kRail}, 3);
    c.rails[0].nodes = {0, 1};
    c.rails[1].nodes = {2, 0};
    ToldRules rules({0, 1});
    run(c, {{send(1, 1), send(2, 1)}, {}, {}}, rules);
    ASSERT_EQ(rules.asked.size(), 2U);
    EXPECT_EQ(rules.asked[0].rails, 5U);
    EXPECT_EQ(rules.asked[1].rails, 6U);
    EXPECT_EQ(rules.asked[1].now, us(2));
    EXPECT_EQ(rules.asked[1].peer, 2U);
    ToldRules wrong({1});
    EXPECT_THROW(run(c, {{send(1, 1)}, {}, {}}, wrong), std::logic_error);
}

TEST(Cluster, WhatIsCutMustBeTheMessage)
{
    ToldRules less({0}, [](const Situation &, std::vector<Rule::Piece> &out) { out.push_back({7, -1}); });
    EXPECT_THROW(run(cluster_of({kRail}), {{send(1, 8)}, {}}, less), std::logic_error);
    ToldRules none({0}, [](const Situation &, std::vector<Rule::Piece> &) {});
    EXPECT_THROW(run(cluster_of({kRail}), {{send(1, 0)}, {}}, none), std::logic_error);
    ToldRules fixed({0}, [](const Situation &, std::vector<Rule::Piece> &out) {
        out.push_back({3, 1});
        out.push_back({5, 0});
    });
    const Outcome o = run(cluster_of({kRail, kRail}), {{send(1, 8)}, {}}, fixed);
    EXPECT_EQ(o.rails[0].bytes, 5U);
    EXPECT_EQ(o.rails[1].bytes, 3U);
    EXPECT_TRUE(fixed.asked.empty());
}

} // namespace fsbml::sim
