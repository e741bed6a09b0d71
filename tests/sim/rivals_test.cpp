// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The rivals in sim/rules, one by one: a sequence of decisions computed by hand shows what each is known for.
#include "rivals.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace rivals_test;

// --------------------------------------------------------------- in turn, and alone

TEST(RoundRobin, TakesTheNextRailThatMayBeUsed)
{
    const Cluster c = of_gaps({1.0, 10.0, 1.0});
    Process p("round-robin", c);
    EXPECT_EQ(p.send_each(5, 64), (Rails{0, 1, 2, 0, 1}));
    EXPECT_EQ(p.by(0b101).send_each(3, 64), (Rails{2, 0, 2}));
}

TEST(RoundRobin, CutsAsTheComponentDoes)
{
    const Cluster c = of_gaps({1.0, 1.0}); // needs 1 + 200 / 0.06 bytes, and has the least
    Process p("round-robin", c);
    EXPECT_EQ(
        p.message(65537),
        (Pieces{
            {0, 8192}, {1, 8192}, {0, 8192}, {1, 8192}, {0, 8192}, {1, 8192}, {0, 8192}, {1, 8192}, {0, 1}}));
    EXPECT_EQ(p.message(65536), (Pieces{{1, 65536}})); // what the eager limit leaves whole
}

TEST(WeightedRoundRobin, IsSmooth) // the example in nginx' own change
{
    Process p("weighted-round-robin", of_gaps({0.2, 1.0, 1.0}));
    EXPECT_EQ(p.send_each(14, 64), (Rails{0, 0, 1, 0, 2, 0, 0, 0, 0, 1, 0, 2, 0, 0}));
}

TEST(FairQueuing, CountsTasks)
{
    Process p("fair-queuing", of_gaps({0.5, 1.0}));
    EXPECT_EQ(p.send_each(3, 64), (Rails{0, 0, 1}));
    EXPECT_EQ(p.send(16384), 0); // costs no more than others
    EXPECT_EQ(p.send_each(5, 64), (Rails{0, 1, 0, 0, 1}));
}

TEST(FairQueuing, OrBytes)
{
    Process p("fair-queuing-bytes", of_gaps({0.5, 1.0}));
    EXPECT_EQ(p.send(1000), 0);                                // through at 500
    EXPECT_EQ(p.send_each(6, 100), (Rails{1, 1, 1, 1, 1, 0})); // at 100 to 500, then 550 comes before 600
}

TEST(Single, StaysOnTheBestRailForAllSizes)
{
    const Cluster c =
        cluster_of({loggp(500.0, 100.0, 100.0, 100.0, 10.0), loggp(9000.0, 100.0, 100.0, 100.0, 1.0),
                    loggp(8000.0, 100.0, 100.0, 100.0, 1.0)});
    Process wide("single-bandwidth", c), quick("single-latency", c);
    EXPECT_EQ(wide.message(1 << 20), (Pieces{{2, 1 << 20}}));
    EXPECT_EQ(wide.send_each(3, 1), (Rails{2, 2, 2}));
    EXPECT_EQ(wide.by(0b011).send(1), 1);
    EXPECT_EQ(quick.message(1 << 20), (Pieces{{0, 1 << 20}}));
    EXPECT_EQ(quick.by(0b110).send(1), 2);
}

// --------------------------------------------------------------- Open MPI

TEST(Ob1, TwoStepsAMessageLandOnTheSecondOfTwoRails)
{
    Process p("ob1", of_gaps({400.0, 40.0})); // the faster one is the first, and never comes
    EXPECT_EQ(p.send_each(6, 4096), (Rails{0, 0, 0, 0, 0, 0}));
}

TEST(Ob1, TwoStepsTakeEveryOtherOfThreeRails)
{
    Process p("ob1", of_gaps({1.0, 1.0, 1.0}));
    EXPECT_EQ(p.send_each(3, 64), (Rails{1, 0, 2}));
    EXPECT_EQ(p.to(2).send_each(2, 64), (Rails{1, 0})); // each peer has its own turn
    EXPECT_EQ(p.to(1).send(64), 1);
    EXPECT_EQ(p.to(3).by(0b100).send_each(3, 64), (Rails{2, 2, 2}));
}

TEST(Ob1, TwoStepsTakeHalfOfFourRails)
{
    Process p("ob1", of_gaps({1.0, 2.0, 3.0, 4.0}));
    EXPECT_EQ(p.send_each(4, 64), (Rails{1, 3, 1, 3}));
}

TEST(Ob1, ToldLatenciesLeaveTheLeastOfThem)
{
    const Cluster c =
        cluster_of({loggp(20e3, 100.0, 100.0, 100.0, 1.0), loggp(10e3, 100.0, 100.0, 100.0, 8.0),
                    loggp(10.3e3, 100.0, 100.0, 100.0, 4.0)});
    Process p("ob1-latency", c);
    EXPECT_EQ(p.send_each(3, 64), (Rails{1, 1, 1})); // of 2 and 1, 10 us each: the second, as always
    EXPECT_EQ(p.by(0b011).send_each(3, 64), (Rails{1, 1, 1}));
    EXPECT_EQ(p.by(0b101).send_each(3, 64), (Rails{2, 2, 2}));
}

TEST(Ob1, SharesLongMessagesByWeightInTurn)
{
    Process p("ob1", of_gaps({400.0, 40.0}));
    // 10/11 and 1/11 of 1 MiB, rounded down; the byte that is left goes to the first.
    const Pieces first{{1, 131072}, {0, 95325},  {1, 131072},
                       {1, 131072}, {1, 131072}, {1, 131072},
                       {1, 131072}, {1, 131072}, {1, 953251 - 7 * 131072}};
    EXPECT_EQ(p.message(1 << 20), first);
    EXPECT_EQ(p.message(100000), (Pieces{{1, 90909}, {0, 9091}})); // what is left is within the eager limit
    EXPECT_EQ(p.message(65536), (Pieces{{0, 65536}}));
}

TEST(Ob1, UsesFourRailsAtOnce)
{
    Process p("ob1", of_gaps({1.0, 1.0, 1.0, 1.0, 1.0}));
    const auto rails = [&] {
        std::set<int> used;
        for (const auto &piece : p.message(500000)) {
            used.insert(piece.first);
        }
        return used;
    };
    EXPECT_EQ(rails(), (std::set<int>{0, 1, 2, 3}));
    EXPECT_EQ(rails(), (std::set<int>{4, 0, 1, 2}));
}

// --------------------------------------------------------------- UCX

TEST(Ucx, DropsLanesBelowAQuarter)
{
    EXPECT_EQ(Process("ucx", of_gaps({1.0, 5.0})).message(1 << 20), (Pieces{{0, 1 << 20}})); // 0.2
    EXPECT_EQ(Process("ucx", of_gaps({1.0, 4.0})).message(1 << 20),
              (Pieces{{0, 838860}, {1, 209716}})); // 0.25 stays
    EXPECT_EQ(Process("ucx", of_gaps({10.0 / 3.0, 1.0})).message(1 << 20),
              (Pieces{{0, 241979}, {1, 806597}})); // 0.3
}

TEST(Ucx, UsesTwoLanesUnlessToldOtherwise)
{
    const Cluster c = of_gaps({2.0, 1.0, 1.0});
    EXPECT_EQ(Process("ucx", c).message(1 << 20), (Pieces{{1, 1 << 19}, {2, 1 << 19}}));
    EXPECT_EQ(Process("ucx-all-rails", c).message(1000000), (Pieces{{0, 200000}, {1, 400000}, {2, 400000}}));
}

TEST(Ucx, SendsSmallMessagesOnTheQuickestLane)
{
    const Cluster c =
        cluster_of({loggp(1000.0, 100.0, 100.0, 100.0, 1.0), loggp(900.0, 100.0, 100.0, 100.0, 1.0)});
    Process p("ucx", c);
    EXPECT_EQ(p.message(8), (Pieces{{1, 8}}));
    // A rendezvous is worth it from 0.99 (2200 + 1000 + 400 + s/2) < 1100 + s on: above 4879.2 bytes.
    EXPECT_EQ(p.message(4879), (Pieces{{1, 4879}}));
    EXPECT_EQ(p.message(4880), (Pieces{{0, 4880}})); // less than a chunk: the first lane's
    EXPECT_EQ(p.message(20480), (Pieces{{0, 16384}, {1, 4096}}));
    EXPECT_EQ(p.message(65536), (Pieces{{0, 32768}, {1, 32768}}));
}

// --------------------------------------------------------------- MVAPICH

TEST(Mvapich, TakesRailsInTurnForSmallMessages)
{
    Process p("mvapich-adaptive", of_gaps({1.0, 1.0}));
    EXPECT_EQ(p.message(16384), (Pieces{{1, 16384}}));
    EXPECT_EQ(p.message(1), (Pieces{{0, 1}}));
    EXPECT_EQ(p.message(1), (Pieces{{1, 1}}));
}

TEST(Mvapich, LearnsWeightsFromFinishTimes)
{
    Process p("mvapich-adaptive", of_gaps({1.0, 1.0}));
    p.now(1000);
    EXPECT_EQ(p.message(30720), (Pieces{{1, 15360}, {0, 15360}}));
    p.sent(0, 15360, 1000 + 100);
    EXPECT_EQ(p.message(30720), (Pieces{{1, 15360}, {0, 15360}})); // no news before all stripes are through
    p.sent(1, 15360, 1000 + 300);
    // Speeds of 3:1 call for 2304 and 768; with a tenth of the old 1536: 2227 and 844.
    EXPECT_EQ(p.message(307100), (Pieces{{0, 222700}, {1, 84400}}));
    EXPECT_EQ(p.to(2).message(30720), (Pieces{{1, 15360}, {0, 15360}})); // another peer knows nothing of it
}

TEST(Mvapich, SmallMessagesTeachNothing)
{
    Process p("mvapich-adaptive", of_gaps({1.0, 1.0}));
    EXPECT_EQ(p.message(15360), (Pieces{{1, 15360}}));
    EXPECT_EQ(p.message(30720), (Pieces{{1, 15360}, {0, 15360}}));
    p.sent(1, 15360, 900); // the small one
    p.sent(0, 15360, 100);
    EXPECT_EQ(p.message(307200), (Pieces{{1, 153600}, {0, 153600}}));
}

// --------------------------------------------------------------- Multipath TCP

TEST(Mptcp, TakesTheLeastLingerTime)
{
    const Cluster c =
        cluster_of({loggp(90e3, 100.0, 100.0, 100.0, 4.0), loggp(1e3, 100.0, 100.0, 100.0, 1.0)});
    Process p("mptcp-linger", c);
    // All idle: the first, be it slower and farther. Then the other until both need 4 us.
    EXPECT_EQ(p.send_each(7, 1000), (Rails{0, 1, 1, 1, 1, 0, 1}));
    p.sent(0, 1000, 1);
    p.sent(0, 1000, 1);
    EXPECT_EQ(p.send(1), 0);
}

TEST(Mptcp, DecidesByBurst)
{
    Process p("mptcp-linger", of_gaps({1.0, 1.0}));
    EXPECT_EQ(p.message(150000), (Pieces{{0, 65428}, {1, 65428}, {0, 19144}}));
}

// --------------------------------------------------------------- ECF

// Fragments of 8 KiB; a round trip of 10 us with a window of 10000 bytes, and one of `slow` ns.
Cluster ecf_cluster(double slow)
{
    const auto rail = [](double rtt) { return loggp((rtt - 8192.0) / 2.0 - 50.0, 25.0, 25.0, 1.0, 1.0); };
    return cluster_of({rail(slow), rail(10000.0)});
}

Process ecf_busy(double slow)
{
    Process p("ecf", ecf_cluster(slow));
    EXPECT_EQ(p.send_each(2, 8192), (Rails{1, 1})); // the second begins in the window's last 1808 bytes
    return p;
}

TEST(Ecf, WaitsAtTheBorder)
{
    // To wait takes 10000 (1 + 1).
    EXPECT_EQ(ecf_busy(19996.0).choose(8192), 0);
    EXPECT_EQ(ecf_busy(20000.0).choose(8192), 0);
    EXPECT_EQ(ecf_busy(20004.0).choose(8192), 1);
    EXPECT_EQ(ecf_busy(20004.0).choose(10003), 1); // 20003 < 20004
    EXPECT_EQ(ecf_busy(20004.0).choose(10004), 0);
}

TEST(Ecf, CountsWhatIsStillToBeDecided)
{
    Process p = ecf_busy(20004.0);
    ASSERT_EQ(p.cut(139264).size(), 17U);
    for (int left = 17; left > 1; --left) {
        EXPECT_EQ(p.choose(8192), 0) << left;
    }
    EXPECT_EQ(p.choose(8192), 1); // with 8192 bytes to go
}

TEST(Ecf, WaitsOnWithHysteresis)
{
    Process fresh = ecf_busy(20004.0);
    EXPECT_EQ(fresh.choose(15000), 0);
    Process p = ecf_busy(20004.0);
    EXPECT_EQ(p.choose(8192), 1);
    EXPECT_EQ(p.choose(15004), 1); // 25004 < 1.25 * 20004
    EXPECT_EQ(p.choose(15006), 0); // and that was that
    EXPECT_EQ(p.choose(15000), 0);
}

TEST(Ecf, MindsDeviations)
{
    Process p = ecf_busy(20004.0);
    p.give(0, 8192);
    // Sent 1.6 us later than expected: RTT 20204, deviation 400. The first condition would hold all the more,
    // but the slow path's 20204 are less than two fast rounds and the deviation.
    p.sent(0, 8192, (8192 + 1600) * kPsPerNs);
    EXPECT_EQ(p.choose(8192), 0);
    EXPECT_EQ(ecf_busy(20204.0).choose(8192), 1);
}

TEST(Ecf, ReturnsToTheFastPathWithRoom)
{
    Process p = ecf_busy(20000.0);
    EXPECT_EQ(p.choose(64), 0);
    p.sent(1, 8192, 8192 * kPsPerNs);
    EXPECT_EQ(p.choose(64), 1);
}

// --------------------------------------------------------------- TENT

TEST(Tent, ScoresBytesInFlightByBandwidth)
{
    const Cluster c =
        cluster_of({loggp(9e6, 100.0, 100.0, 100.0, 1.0), loggp(1.0, 100.0, 100.0, 100.0, 2.0)});
    Process p("tent", c);        // its jitter is below 10 ns
    EXPECT_EQ(p.send(10000), 0); // 10 or 20 us; L is no matter
    EXPECT_EQ(p.send(8000), 1);  // 18 or 16
    EXPECT_EQ(p.send(8000), 0);  // 18 or 32
}

TEST(Tent, LearnsTheBandwidth)
{
    Process p("tent", of_gaps({1.0, 2.0}));
    EXPECT_EQ(p.send(10000), 0);
    p.sent(0, 10000, 100000 * kPsPerNs); // 0.1 bytes/ns, kept at 0.109
    EXPECT_EQ(p.send(1000), 1);          // 9.2 or 2 us
    EXPECT_EQ(p.send(4000), 1);          // 37 or 10
    p.give(0, 10000);
    p.sent(0, 10000, 1000 * kPsPerNs); // 10 bytes/ns, which is as much as it may be
    EXPECT_EQ(p.send(4000), 0);
}

std::size_t on_rail(const Pieces &pieces, int rail)
{
    return static_cast<std::size_t>(
        std::count_if(pieces.begin(), pieces.end(), [&](const auto &piece) { return piece.first == rail; }));
}

TEST(Tent, SharesManySlicesByScore)
{
    Process p("tent", of_gaps({1.0, 2.0}));
    EXPECT_EQ(p.cut(15 * 65536).size(), 15U);
    EXPECT_EQ(p.cut(15 * 65536).front().rail, -1); // each is decided for itself
    for (int call = 1; call <= 101; ++call) {
        Pieces pieces;
        for (const Rule::Piece &piece : p.cut(1 << 20)) {
            pieces.emplace_back(piece.rail, piece.bytes);
        }
        ASSERT_EQ(pieces.size(), 16U);
        // 10.7 and 5.3 of them, and the one left for the best; every 100th time in turn.
        ASSERT_EQ(on_rail(pieces, 0), 100 == call ? 8U : 11U) << "call " << call;
        ASSERT_EQ(on_rail(pieces, 1), 100 == call ? 8U : 5U) << "call " << call;
    }
    EXPECT_EQ(p.cut(100 << 20).size(), 32U);
}

} // namespace
