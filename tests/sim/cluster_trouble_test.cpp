// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The simulated cluster when a rail is not what it was, when the scheduler is told wrong, and when what is to
// be simulated makes no sense.
#include "cluster_job.hpp"

#include "../unit/model.hpp"
#include "sim/rules/rules.hpp"

#include "../unit/test.hpp"

#include <exception>

namespace fsbml::sim
{

namespace
{

constexpr fsbml_loggp_t kRail = loggp(10e3, 2e3, 4e3, 1e3, 2.0); // see cluster_test.cpp
constexpr fsbml_loggp_t kSlow = loggp(10e3, 2e3, 4e3, 1e3, 20.0);

const std::vector<std::vector<Op>> kTwo{{send(1, 1001), send(1, 1001)}, {recv(0), recv(0)}};

std::string complaint(const Cluster &c, const std::vector<std::vector<Op>> &process)
{
    try {
        run(c, process);
    } catch (const std::exception &e) {
        return e.what();
    }
    return "";
}

void expect_invalid(const Cluster &c, const std::vector<std::vector<Op>> &process = kTwo)
{
    EXPECT_THROW(run(c, process), std::invalid_argument);
}

} // namespace

TEST(ClusterTrouble, ARailSlowsDown)
{
    Cluster c = cluster_of({kRail});
    c.rails[0].changes = {{us(5), 3.0}};
    const Outcome o = run(c, kTwo);
    EXPECT_EQ(o.passages[0].arrives, us(14));
    EXPECT_EQ(o.passages[1].begins, us(5));
    EXPECT_EQ(o.passages[1].ends, us(14));
    EXPECT_EQ(o.passages[1].arrives, us(21));
}

// A rank that waits for what is lost is never done, and all else ends; the NIC is done with nothing more.
TEST(ClusterTrouble, ADeadRailSwallowsMessages)
{
    Cluster c = cluster_of({kRail});
    c.rails[0].changes = {{us(14.001), 0.0}};
    ToldRules rules;
    const Outcome o = run(c, {{send(1, 1001), send(1, 10001)}, {recv(0), recv(0), send(0, 1)}}, rules);
    EXPECT_EQ(o.sent, 2U);
    EXPECT_EQ(o.received, 1U);
    EXPECT_EQ(o.undelivered, 1U);
    EXPECT_EQ(o.done, (std::vector<Time>{us(4), kNever}));
    EXPECT_EQ(o.makespan, us(18));
    EXPECT_EQ(o.passages[1].begins, us(5));
    EXPECT_EQ(o.passages[1].arrives, kNever);
    EXPECT_EQ(rules.sent.size(), 1U);
    c.rails[0].changes = {{us(14), 0.0}}; // nothing gets through from then on
    EXPECT_EQ(run(c, kTwo).undelivered, 2U);
    c.rails[0].changes = {{0, 0.0}};
    c.rails[0].queue = 1;
    EXPECT_EQ(run(c, kTwo).undelivered, 2U);
    c.full_duplex = false;
    EXPECT_EQ(run(c, kTwo).undelivered, 2U);
}

TEST(ClusterTrouble, ARailComesBack)
{
    Cluster c = cluster_of({kRail});
    c.rails[0].changes = {{us(3), 0.0}, {us(50), 2.0}};
    const Outcome o = run(c, {{send(1, 1001), send(1, 1001)}, {}});
    EXPECT_EQ(o.passages[0].arrives, kNever); // on its way when the rail was cut
    EXPECT_EQ(o.passages[1].begins, us(50));
    EXPECT_EQ(o.passages[1].arrives, us(64));
    EXPECT_EQ(o.undelivered, 1U);
}

// A message with one fragment on a dead rail is not whole, whatever else arrives.
TEST(ClusterTrouble, AMessageIsLostWithAFragment)
{
    Cluster c = cluster_of({kRail, kRail});
    c.rails[1].changes = {{0, 0.0}};
    ToldRules rules({0, 1}, [](const Situation &s, std::vector<Rule::Piece> &out) {
        out.assign(2, {s.bytes / 2, -1});
    });
    const Outcome o = run(c, {{send(1, 2000)}, {}}, rules);
    EXPECT_EQ(o.undelivered, 1U);
    EXPECT_EQ(o.rails[0].messages, 1U);
    EXPECT_EQ(o.rails[1].messages, 0U);
}

TEST(ClusterTrouble, JitterOnlyDelaysAndHasASeed)
{
    Cluster c = cluster_of({kRail});
    c.rails[0].jitter = 0.5;
    std::vector<Op> ops;
    for (int i = 1; i <= 200; ++i) {
        ops.push_back(send(1, 1001));
        ops.push_back(until(us(100 * i)));
    }
    ToldRules rules;
    const Outcome one = run(c, {ops, {}}, rules, 1), same = run(c, {ops, {}}, rules, 1),
                  other = run(c, {ops, {}}, rules, 2);
    double sum = 0.0;
    int differ = 0;
    for (std::size_t i = 0; i < one.passages.size(); ++i) {
        const Passage &p = one.passages[i];
        EXPECT_GE(p.arrives - p.begins, us(12));
        EXPECT_EQ(p.arrives, same.passages[i].arrives);
        differ += p.arrives != other.passages[i].arrives ? 1 : 0;
        sum += static_cast<double>(p.arrives - p.begins) / static_cast<double>(us(12)) - 1.0;
    }
    // 0.5 times the mean of |N(0,1)|, 0.798, whose deviation over 200 messages is 0.0213.
    EXPECT_NEAR(sum / 200.0, 0.5 * 0.798, 0.08);
    EXPECT_GE(differ, 199);
}

// It decides by what it was told, and the rails take what they take.
TEST(ClusterTrouble, WrongParametersMislead)
{
    Cluster c = cluster_of({kRail, kSlow});
    FsbmlRules rules;
    EXPECT_EQ(run(c, {{send(1, 1001)}, {recv(0)}}, rules).makespan, us(18));
    std::swap(c.rails[0].believed, c.rails[1].believed);
    EXPECT_EQ(run(c, {{send(1, 1001)}, {recv(0)}}, rules).makespan, us(36));
}

// With one message at a time each takes the wrong rail, until that has been found to be slower than believed.
TEST(ClusterTrouble, FeedbackFindsWrongParametersOut)
{
    Cluster c = cluster_of({kRail, kRail});
    c.rails[1].real.G_ns_per_byte *= 100; // 12 ms a message
    c.rails[0].believed.G_ns_per_byte *= 2;
    std::vector<Op> there, back;
    for (int i = 0; i < 200; ++i) {
        there.insert(there.end(), {send(1, 60000), recv(1)});
        back.insert(back.end(), {recv(0), send(0, 8)});
    }
    FsbmlOptions open;
    open.feedback = false;
    FsbmlRules with, without(open);
    EXPECT_LT(run(c, {there, back}, with).makespan, run(c, {there, back}, without).makespan / 4);
}

// Only a ledger tells a rank that the first rail is busy with another's message.
TEST(ClusterTrouble, ALedgerTellsOfOtherRanks)
{
    Cluster c = cluster_of({kRail, kRail}, 2, 2);
    const std::vector<std::vector<Op>> ops{{send(1, 10001)}, {}, {send(1, 10001)}, {}};
    FsbmlRules rules;
    EXPECT_EQ(run(c, ops, rules).rails[0].messages, 2U);
    c.ledger = true;
    EXPECT_EQ(run(c, ops, rules).rails[0].messages, 1U);
    EXPECT_EQ(run(c, ops, rules).rails[0].messages, 1U); // each job has ledgers of its own
}

// Messages beyond the eager limit go in quanta, over both rails.
TEST(ClusterTrouble, FsbmlCutsLongMessages)
{
    const Cluster c = cluster_of({kRail, kRail});
    FsbmlOptions options;
    options.eager = 4096;
    options.quantum = 4000;
    options.pieces = false;
    FsbmlRules rules(options);
    const Outcome o = run(c, {{send(1, 4096), send(1, 4097), send(1, 10000), send(1, 0)}, {}}, rules);
    std::vector<std::uint64_t> sizes;
    for (const Passage &p : o.passages) {
        sizes.push_back(p.bytes);
    }
    EXPECT_EQ(sizes, (std::vector<std::uint64_t>{4096, 4000, 97, 4000, 4000, 2000, 0}));
    EXPECT_GT(o.rails[0].bytes, 4096U);
    EXPECT_GT(o.rails[1].bytes, 4096U);
    FsbmlRules by_model;
    const Outcome cut = run(c, {{send(1, 1 << 20)}, {}}, by_model);
    EXPECT_EQ(cut.passages[0].bytes, 32U * 1024U); // (2 + 1 us) / 6 % / 2 ns = 25 kB, to a power of two
}

// ------------------------------------------------------------------- nonsense

TEST(ClusterTrouble, AReceiveWithoutASendIsNamed)
{
    const Cluster c = cluster_of({kRail}, 3);
    EXPECT_EQ(complaint(c, {{send(1, 8)}, {recv(0), recv(0)}, {}}),
              "rank 1 waits for ever for a message from rank 0 (operation 1 of 2)");
    EXPECT_EQ(complaint(c, {{}, {}, {compute(5), recv(kAnyPeer)}}),
              "rank 2 waits for ever for a message from any rank (operation 1 of 2)");
    EXPECT_THROW(run(c, {{recv(1), send(1, 1)}, {recv(0), send(0, 1)}, {}}), std::runtime_error);
}

TEST(ClusterTrouble, WhatMakesNoSenseIsRefused)
{
    Cluster c = cluster_of({kRail}, 3);
    EXPECT_EQ(complaint(c, {{compute(1), send(3, 8)}, {}, {}}),
              "operation 1 of rank 0 names rank 3, which does not exist");
    EXPECT_THROW(run(c, {{send(kAnyPeer, 8)}, {}, {}}), std::invalid_argument);
    EXPECT_THROW(run(c, {{recv(9)}, {}, {}}), std::invalid_argument);
    expect_invalid(c, {{compute(-1)}});
    expect_invalid(c, {{until(std::numeric_limits<Time>::max())}});
    expect_invalid(c, {{}, {}, {}, {}});
    c.rails[0].nodes = {0, 1};
    EXPECT_EQ(complaint(c, {{}, {}, {recv(1)}}),
              "operation 0 of rank 2 names rank 1, but no rail joins node 2 with node 1");
    for (void (*spoil)(Cluster &) : std::initializer_list<void (*)(Cluster &)>{
             [](Cluster &x) { x.rails[0].real.G_ns_per_byte = 0.0; },
             [](Cluster &x) { x.rails[0].believed.L_ns = -1.0; },
             [](Cluster &x) { x.rails[0].jitter = std::numeric_limits<double>::quiet_NaN(); },
             [](Cluster &x) {
                 x.rails[0].changes = {{us(2), 1.0}, {us(1), 0.0}};
             },
             [](Cluster &x) {
                 x.rails[0].changes = {{us(2), -1.0}};
             },
             [](Cluster &x) {
                 x.rails[0].nodes = {0, 2};
             },
             [](Cluster &x) { x.rails.clear(); }, [](Cluster &x) { x.rails.resize(33, x.rails[0]); },
             [](Cluster &x) { x.nodes = 0; }, [](Cluster &x) { x.ranks_per_node = 0; },
             [](Cluster &x) {
                 x.bottlenecks = {{1, {0}, 1.0, 0, 0}};
             },
             [](Cluster &x) {
                 x.bottlenecks = {{0, {2}, 1.0, 0, 0}};
             },
             [](Cluster &x) {
                 x.bottlenecks = {{0, {0}, 1.0, 100, 0}};
             },
             [](Cluster &x) {
                 x.bottlenecks = {{0, {0}, 0.0, 100, 1}};
             },
             [](Cluster &x) {
                 x.bottlenecks = {{0, {0}, -1.0, 0, 0}};
             }}) {
        Cluster bad = cluster_of({kRail});
        EXPECT_EQ(complaint(bad, kTwo), "");
        spoil(bad);
        expect_invalid(bad);
    }
    EXPECT_THROW(simulate(Simulation{}), std::invalid_argument);
}

// 2^62 ps are 53 days: what would take longer is an error, not a wrong number.
TEST(ClusterTrouble, TimeDoesNotOverflow)
{
    const fsbml_loggp_t slowest = loggp(10e3, 2e3, 4e3, 1e3, 1e6);
    EXPECT_THROW(run(cluster_of({slowest}), {{send(1, std::uint64_t{1} << 40)}, {}}), std::overflow_error);
    const std::vector<Op> ops(4, send(1, 2'000'000'000));
    EXPECT_THROW(run(cluster_of({slowest}), {ops, {}}), std::overflow_error);
}

} // namespace fsbml::sim
