// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Long messages that await an answer of their receiver, against schedules that were worked out by hand.
#include "cluster_job.hpp"

#include "../unit/model.hpp"

#include "../unit/test.hpp"

namespace fsbml::sim
{

namespace
{

// 1001 bytes: gap 3 us, of which one byte's is 1 us; 10001 bytes: 21 us. 2 us to send, 4 us to take in.
constexpr fsbml_loggp_t kRail = loggp(10e3, 2e3, 4e3, 1e3, 2.0);
constexpr std::uint64_t kAbove = 10001;

// In halves above 1001 or 10001 bytes; answers have one byte.
Outcome held(std::vector<std::vector<Op>> ops, std::uint32_t nodes, std::uint64_t above)
{
    const Cluster cluster = cluster_of({kRail}, nodes);
    const Workload workload{"", std::move(ops)};
    ToldRules rules({0}, [above](const Situation &whole, std::vector<Rule::Piece> &out) {
        const std::uint64_t first = whole.bytes > above ? whole.bytes / 2 : whole.bytes;
        out.push_back({first, -1});
        if (first < whole.bytes) {
            out.push_back({whole.bytes - first, -1});
        }
    });
    Simulation s;
    s.cluster = &cluster;
    s.workload = &workload;
    s.rules = &rules;
    s.rendezvous = {above, 1};
    s.keep_passages = true;
    return simulate(s);
}

} // namespace

// There at 14, taken in at 18; the answer is given at 20, there at 30, taken in at 34; the rest begins at 36.
TEST(Rendezvous, TheRestFollowsTheAnswer)
{
    const Outcome o = held({{send(1, 2002)}, {recv(0)}}, 2, 1001);
    ASSERT_EQ(o.passages.size(), 2U);
    EXPECT_EQ(o.passages[0].arrives, us(14));
    EXPECT_EQ(o.passages[1].given, us(34));
    EXPECT_EQ(o.passages[1].begins, us(36));
    EXPECT_EQ(o.makespan, us(52));
    EXPECT_EQ(o.done[0], us(2)); // the process goes on meanwhile
    EXPECT_EQ(o.decisions, 3U);
    EXPECT_EQ(o.received, 1U);
}

TEST(Rendezvous, ShortMessagesAreNotHeld)
{
    const Outcome o = held({{send(1, 1001)}, {recv(0)}}, 2, 1001);
    EXPECT_EQ(o.makespan, us(18));
    EXPECT_EQ(o.decisions, 1U);
}

TEST(Rendezvous, WhoComputesAnswersLater)
{
    const Outcome o = held({{send(1, 2002)}, {compute(us(100)), recv(0)}}, 2, 1001);
    EXPECT_EQ(o.passages.at(1).given, us(120));
    EXPECT_EQ(o.makespan, us(138));
    const Outcome p = held({{send(1, 2002), compute(us(100))}, {recv(0)}}, 2, 1001);
    EXPECT_EQ(p.passages.at(1).given, us(106)); // the answer was there at 30
}

// Rank 1's own three messages keep its NIC busy until 65; its answer, given at 38, is behind them. Rank 0
// takes in the last of them until 78, the answer until 82.
TEST(Rendezvous, TheAnswerWaitsBehindItsSendersOwnMessages)
{
    const Outcome o = held({{send(1, 20002), recv(1), recv(1), recv(1)},
                            {send(0, kAbove), send(0, kAbove), send(0, kAbove), recv(0)}},
                           2, kAbove);
    ASSERT_EQ(o.passages.size(), 5U);
    EXPECT_EQ(o.passages[4].given, us(82));
    EXPECT_EQ(o.makespan, us(118));
}

// The first of both is found; the other one awaits its answer until that one is whole.
TEST(Rendezvous, AReceiveFromAnybodyAnswersOneAfterTheOther)
{
    const Op any = recv(kAnyPeer);
    const Outcome o = held({{send(2, 2002)}, {compute(us(1)), send(2, 2002)}, {any, any}}, 3, 1001);
    ASSERT_EQ(o.passages.size(), 4U);
    EXPECT_EQ(o.passages[2].from, 0U);
    EXPECT_EQ(o.passages[2].begins, us(36));
    EXPECT_EQ(o.passages[3].from, 1U);
    EXPECT_EQ(o.passages[3].begins, us(70));
    EXPECT_EQ(o.makespan, us(86));
}

// Messages of a sender are received in their order, whichever are pending.
TEST(Rendezvous, OrderIsKept)
{
    const Outcome o =
        held({{send(1, 2002), send(1, 500), send(1, 2002)}, {recv(0), recv(0), recv(0)}}, 2, 1001);
    EXPECT_EQ(o.received, 3U);
    EXPECT_EQ(o.undelivered, 0U);
    std::vector<std::uint64_t> order;
    for (const Passage &p : o.passages) {
        order.push_back(p.message);
    }
    EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 1, 2, 0, 2}));
}

} // namespace fsbml::sim
