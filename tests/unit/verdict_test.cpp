// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The first sentences of a job report name what went right or wrong.

#include "jobs.hpp"

#include "test.hpp"

TEST(Verdict, OfTwoGoodRailsSaysWhatTheSecondGave)
{
    Job j = two_rails();
    EXPECT_EQ(headline(j),
              "eth1 carried 7 % of the bytes and saved about 8 % of the communication time (by the model, "
              "against eth0 alone).");
    EXPECT_EQ(sentences(j)[1], "Open MPI's rule (r2) would have taken about 10 times as long.");
    EXPECT_EQ(sentences(j).size(), 2u);
    EXPECT_EQ(parsed(j)["blames_a_rail"], false);
    EXPECT_EQ(parsed(j)["best_alone"], "eth0");
    EXPECT_NEAR(parsed(j)["saved"], 0.08, 0.001);
}

TEST(Verdict, IsHonestWhenNothingWasGained)
{
    Job j = two_rails();
    j.took(3400000000, {1.002, 9.8}, 1.0);
    EXPECT_EQ(headline(j),
              "eth1 carried 7 % of the bytes, but saved next to nothing (by the model, against eth0 alone).");
    EXPECT_EQ(sentences(j)[1], "Open MPI's rule (r2) would have taken about as long.");
    j.took(3400000000, {0.8, 9.8}, 0.9);
    EXPECT_EQ(
        headline(j),
        "eth1 carried 7 % of the bytes, but eth0 alone would have taken 20 % less time (by the model).");
    EXPECT_EQ(sentences(j)[1], "Open MPI's rule (r2) would have taken about 10 % less time.");
}

TEST(Verdict, OfAUselessRailSaysWhy)
{
    Job j(2, 2, {25.0, 0.1});
    j.sent(0, 1000, 4096).took(1000000, {1.0, 200.0}, 100.0);
    EXPECT_EQ(headline(j), "Only eth0 carried anything.");
    EXPECT_EQ(sentences(j)[1],
              "eth1 carried nothing: another rail was predicted to be faster for each message.");
    j.table->rail[1].fit.valid = false;
    put(j.table->rail[1].fit.reason, "no answer within 500 ms");
    EXPECT_EQ(sentences(j)[1], "eth1 was not used: no answer within 500 ms.");
    EXPECT_NE(report(j.get(), FSBML_FORM_TEXT).find("eth1: not used, no answer within 500 ms"),
              std::string::npos);
}

TEST(Verdict, BlamesAFaultFirst)
{
    Job j = two_rails();
    j.fault("eth1", "node1", "node2", "frames above 1400 bytes do not pass (MTU black hole)");
    EXPECT_EQ(headline(j), "eth1 carried nothing between node1 and node2: frames above 1400 bytes do not "
                           "pass (MTU black hole).");
    EXPECT_EQ(parsed(j)["blames_a_rail"], true);
    // The other way is the same pair.
    j.fault("eth1", "node2", "node1", "frames above 1400 bytes do not pass (MTU black hole)");
    EXPECT_EQ(sentences(j).size(), 3u);
    j.fault("eth0", "node3", "node4", "it carries 0.6 MB/s, where an earlier job measured 24 MB/s",
            FSBML_FAULT_ONLY_SLOW);
    EXPECT_EQ(sentences(j)[1], "eth0 is far slower than it should be between node3 and node4: it carries "
                               "0.6 MB/s, where an earlier job measured 24 MB/s.");
}

// Each end begins with itself.
TEST(Verdict, TellsOnceWhatHoldsBothWays)
{
    Job j = two_rails();
    j.fault("eth1", "node0", "node1", "nothing gets through, neither from node0 to node1 nor back");
    j.fault("eth1", "node1", "node0", "nothing gets through, neither from node1 to node0 nor back");
    EXPECT_EQ(sentences(j).size(), 3u);
    EXPECT_NE(report(j.get(), FSBML_FORM_TEXT).find("eth1, node0 to node1 and back: nothing"),
              std::string::npos);
    Job twins = two_rails();
    twins.fault("eth1", "node0", "node1", "node1 and node0 have the same address on it, 10.71.1.1");
    twins.fault("eth1", "node1", "node0", "node0 and node1 have the same address on it, 10.71.1.1");
    EXPECT_EQ(sentences(twins).size(), 3u);
    Job unlike = two_rails(); // these contradict each other
    unlike.fault("eth1", "node0", "node1", "what node0 sends arrives at node1, but not what node1 sends");
    unlike.fault("eth1", "node1", "node0", "what node1 sends arrives at node0, but not what node0 sends");
    EXPECT_EQ(sentences(unlike).size(), 4u);
    put(j.s().fault[1].rail, "eth0");
    EXPECT_EQ(sentences(j).size(), 4u);
}

TEST(Verdict, NamesTheNodeThatAllFaultsHave)
{
    Job j = many_ranks();
    EXPECT_EQ(
        headline(j),
        "eth1 carried nothing between node3 and 4 other nodes: frames above 1400 bytes do not pass (MTU "
        "black hole).");
    j.fault("eth1", "node5", "node6", "frames above 1400 bytes do not pass (MTU black hole)");
    EXPECT_EQ(
        headline(j),
        "eth1 carried nothing between node0 and node3, and between 4 other pairs of nodes: frames above "
        "1400 bytes do not pass (MTU black hole).");
}

TEST(Verdict, BlamesASlowRailFromTwentyArrivalsOn)
{
    Job j(2, 2, {25.0, 2.5});
    j.sent(0, 10000, 4096).took(1000000, {1.1, 9.0}, 2.0).sent(1, 500, 4096, 3.0);
    EXPECT_EQ(
        headline(j),
        "Messages on eth1 took 3.0 times as long as predicted (in the median): it is slower than when it was "
        "measured, or others use it.");
    std::fill(std::begin(j.rail(1).ratio), std::end(j.rail(1).ratio), 0);
    j.rail(1).ratio[45] = 19;
    EXPECT_FALSE(says(j, "predicted"));
    j.rail(1).ratio[45] = 20;
    EXPECT_TRUE(says(j, "predicted"));
    j.rail(1).ratio[45] = 0;
    j.rail(1).ratio[39] = 20; // all below 2
    EXPECT_FALSE(says(j, "predicted"));
}

// What all rails have in common is not the fault of one.
TEST(Verdict, BlamesNoRailWhenAllAreLate)
{
    Job j(2, 2, {25.0, 2.5});
    j.sent(0, 10000, 4096, 3.2).sent(1, 500, 4096, 2.6).took(1000000, {1.1, 9.0}, 2.0);
    EXPECT_NE(headline(j).find("on every rail"), std::string::npos) << headline(j);
    EXPECT_EQ(headline(j).find("eth"), std::string::npos) << headline(j);
}

// A slow rail is so for long messages; where short ones are late most of all, it is no rail.
TEST(Verdict, TakesNoBusyProcessorForASlowRail)
{
    Job j(2, 2, {25.0, 2.5});
    j.sent(0, 10000, 40, 60.0).sent(0, 100, 65536, 3.0).sent(1, 500, 40, 12.0).sent(1, 50, 65536, 2.0);
    j.took(1000000, {1.1, 9.0}, 2.0);
    EXPECT_EQ(
        headline(j),
        "Messages took 12 times as long as predicted and more on every rail (in the median), short ones "
        "most of all: the processors are too busy to take them in, or others use the network now and "
        "then.");
    std::fill(std::begin(j.rail(1).ratio), std::end(j.rail(1).ratio), 0);
    EXPECT_EQ(headline(j).find("Messages on eth0 took "), 0u) << headline(j);
    EXPECT_TRUE(
        says(j, "(in the median), short ones most of all: the processors are too busy to take them in, or "
                "others use it now and then."));
    j.rail(0).by_size[0].arrivals = 4; // too few to say so
    EXPECT_FALSE(says(j, "short ones"));

    Job slow(2, 2, {25.0, 2.5});
    slow.sent(0, 10000, 40).sent(1, 50, 40).sent(1, 500, 65536, 3.0).took(1000000, {1.1, 9.0}, 2.0);
    EXPECT_TRUE(says(slow, "(in the median): it is slower than when it was measured, or others use it."));
}

TEST(Verdict, SpeaksOfParametersThatWereGiven)
{
    Job j(2, 2, {25.0, 2.5});
    j.table->rail[1].fit.probes = 0;
    j.sent(0, 10000, 4096).took(1000000, {1.1, 9.0}, 2.0).sent(1, 500, 4096, 3.0);
    EXPECT_TRUE(says(j, "it is slower than the given parameters say, or others use it."));
}

TEST(Verdict, TellsOfOthersOnTheInterface)
{
    Job j = two_rails();
    j.rail(1).interface_bytes = 5 * j.rail(1).bytes;
    EXPECT_EQ(headline(j), "eth1 carried 5.0 times what this job gave it: other programs use it.");
    j.rail(1).interfaces = 0; // not counted
    EXPECT_FALSE(says(j, "other programs"));
}

// Headers of small messages are the job's own, and less than a MiB is not worth a word.
TEST(Verdict, TakesHeadersForNobodyElse)
{
    Job j(2, 2, {25.0, 2.5});
    j.sent(0, 1000000, 1).sent(1, 1000, 1).took(1000000, {1.1, 9.0}, 2.0);
    j.rail(0).interface_bytes = 160000000;
    EXPECT_FALSE(says(j, "other programs"));
    j.rail(0).interface_bytes = 800000000;
    EXPECT_TRUE(says(j, "other programs"));
    j.rail(0).interface_bytes = 0;
    j.rail(1).interface_bytes = 1200000;
    EXPECT_FALSE(says(j, "other programs"));
    j.rail(1).interface_bytes = 1700000;
    EXPECT_TRUE(says(j, "other programs"));
}

TEST(Verdict, TellsOfLostPackets)
{
    Job j = two_rails();
    j.rail(0).retransmitted = 6000; // of 64000 segments
    EXPECT_EQ(headline(j).find("eth0 lost packets: 9 % of them had to be sent again."), 0u) << headline(j);
    j.rail(0).retransmitted = 600;
    EXPECT_FALSE(says(j, "lost packets"));
}

TEST(Verdict, SaysWhyThereWasNothingToChoose)
{
    Job none(2, 2, {});
    none.s().chose = 0;
    EXPECT_EQ(headline(none), "FSBML had nothing to choose: no rail was found.");
    Job one(2, 2, {25.0});
    one.s().chose = 0;
    one.sent(0, 100, 100);
    EXPECT_EQ(headline(one), "FSBML had nothing to choose: there is one rail only, eth0.");
    Job silent(2, 2, {25.0, 2.5});
    silent.s().chose = 0;
    EXPECT_EQ(headline(silent), "FSBML had nothing to choose: no message went over a rail.");
    silent.sent(0, 100, 100);
    EXPECT_EQ(headline(silent),
              "FSBML had nothing to choose: each message had one rail only that reaches its destination.");
    put(silent.table->reason, "there is no partner on another node");
    EXPECT_EQ(
        headline(silent),
        "FSBML had nothing to choose, as the rails were not measured: there is no partner on another node.");
}

TEST(Verdict, SaysOnceWhyNoRailHasParameters)
{
    Job j(2, 2, {25.0, 2.5});
    j.s().chose = 0;
    j.sent(0, 100, 100);
    for (std::size_t i = 0; i < 2; ++i) {
        j.table->rail[i].fit.valid = false;
        put(j.table->rail[i].fit.reason, "it was disturbed; were the processors busy?");
    }
    EXPECT_EQ(headline(j),
              "FSBML had nothing to choose, as no rail has parameters: it was disturbed; were the "
              "processors busy?");
    put(j.table->rail[1].fit.reason, "no answer");
    EXPECT_EQ(headline(j),
              "FSBML had nothing to choose, as eth0 has no parameters: it was disturbed; were the "
              "processors busy?");
    j.table->rail[0].fit.valid = true;
    EXPECT_EQ(headline(j), "FSBML had nothing to choose, as eth1 has no parameters: no answer.");
}

TEST(Verdict, SaysWhoIsMissing)
{
    Job j = many_ranks();
    j.s().heard = 61;
    EXPECT_EQ(sentences(j).back(), "3 of 64 ranks told nothing: what they did is not in here.");
    j.s().heard = 0;
    EXPECT_EQ(headline(j), "Nothing is known of this job: none of its ranks told anything.");
}

// A rail that not all could have used is no measure for what was saved.
TEST(Verdict, ComparesWithWhatAllCouldHaveDone)
{
    Job j = many_ranks();
    j.rail(0).alone_processes = 63;
    EXPECT_EQ(parsed(j)["best_alone"], "eth2");
    j.rail(2).alone_processes = 63;
    EXPECT_TRUE(parsed(j)["best_alone"].is_null());
    EXPECT_TRUE(parsed(j)["saved"].is_null());
    EXPECT_TRUE(says(j, "no rail was a choice for each message of every process"));
}
