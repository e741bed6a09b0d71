// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Decisions of a real observer, written to a file: read back as they were, replayed, taken for a workload.
#include "sim/trace/trace.hpp"

#include "../unit/sched.hpp"
#include "../unit/trace_file.hpp"

#include "../unit/test.hpp"

namespace fsbml::sim
{
namespace
{

DecisionHeader read(std::istream &in, std::vector<fsbml_decision_t> &all, std::string *not_all = nullptr)
{
    TraceLines lines(in, "file");
    if (!lines.next()) {
        lines.fail("nothing");
    }
    DecisionReader reader(lines);
    for (fsbml_decision_t d; reader.next(d);) {
        all.push_back(d);
    }
    if (not_all != nullptr) {
        *not_all = reader.not_all();
    }
    return reader.header();
}

void expect_same(const fsbml_decision_t &a, const fsbml_decision_t &b)
{
    EXPECT_EQ(a.now_ns, b.now_ns);
    EXPECT_EQ(a.bytes, b.bytes);
    EXPECT_EQ(a.peer, b.peer);
    EXPECT_EQ(a.candidates, b.candidates);
    EXPECT_EQ(a.rail, b.rail);
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        EXPECT_EQ(a.arrival_ns[i], b.arrival_ns[i]);
        EXPECT_EQ(a.backlog_ns[i], b.backlog_ns[i]);
        EXPECT_EQ(a.extra_ns[i], b.extra_ns[i]);
    }
}

using DecisionsFile = TraceFileTest;

TEST_F(DecisionsFile, IsReadAsItWasWritten)
{
    Traced t(3, 1, 8192);
    t.run(1000, 4711);
    t.told.messages = 1000;
    ASSERT_EQ(fsbml_trace_store(path.c_str(), &t.told, reason), 0) << reason;
    std::ifstream in(path);
    std::vector<fsbml_decision_t> all;
    std::string why;
    const DecisionHeader h = read(in, all, &why);
    EXPECT_EQ(why, "");
    EXPECT_EQ(h.rank, 1U);
    EXPECT_EQ(h.ranks, 4U);
    EXPECT_EQ(h.node, "node1");
    EXPECT_EQ(h.policy, FSBML_POLICY_ARRIVAL);
    EXPECT_EQ(h.origin_ns, 1764000000000000100U);
    EXPECT_EQ(h.every, 1U);
    EXPECT_EQ(h.lost, 0U);
    EXPECT_EQ(h.messages, 1000U);
    ASSERT_EQ(h.rails.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(h.rails[i].name, t.told.name[i]);
        EXPECT_EQ(h.rails[i].key, t.told.key[i]);
        EXPECT_TRUE(h.rails[i].measured);
        EXPECT_EQ(0, std::memcmp(&h.rails[i].model, &t.told.model[i], sizeof(fsbml_loggp_t))) << i;
    }
    const std::vector<fsbml_decision_t> kept = t.kept();
    ASSERT_EQ(all.size(), kept.size());
    bool farther = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
        SCOPED_TRACE(i);
        fsbml_decision_t d = kept[i];
        d.now_ns -= t.told.origin_ns;
        expect_same(all[i], d);
        farther = farther || d.extra_ns[2] > 0;
    }
    EXPECT_TRUE(farther);
}

TEST_F(DecisionsFile, OfASampleSaysWhatItIs)
{
    const struct {
        std::uint32_t every, entries;
        std::uint64_t messages;
        const char *says;
    } cases[] = {{10, 8192, 1000, "one in 10 decisions was kept"},
                 {1, 100, 1000, "the first 900 decisions were overwritten by later ones"},
                 {1, 8192, 1001, "1001 messages were sent, but 1000 decisions are there"}};
    for (const auto &c : cases) {
        Traced t(2, c.every, c.entries);
        t.run(1000, 1);
        t.told.messages = c.messages;
        ASSERT_EQ(fsbml_trace_store(path.c_str(), &t.told, reason), 0) << reason;
        std::vector<fsbml_decision_t> all;
        std::string why;
        std::ifstream in(path);
        read(in, all, &why);
        EXPECT_EQ(why, c.says);
        std::ifstream again(path);
        std::ostringstream out;
        TraceWriter writer(out);
        try {
            std::istringstream others[3];
            std::vector<TraceRecord> records{{"sampled", &again}};
            for (std::uint32_t i = 0; i < 3; ++i) {
                others[i].str("fsbml-sends 1 rank " + std::to_string(i == 1 ? 3 : i)
                              + " ranks 4 origin 1764000000000000000\nend 0\n");
                records.push_back({"other", &others[i]});
            }
            merge(records, {}, writer);
            ADD_FAILURE() << "taken for a workload: " << c.says;
        } catch (const TraceError &e) {
            EXPECT_NE(std::string(e.what()).find("it is no record of all messages, but a sample: "),
                      std::string::npos)
                << e.what();
            EXPECT_NE(std::string(e.what()).find(c.says), std::string::npos) << e.what();
        }
    }
}

// Of models with and without breaks and bursts, busy and idle rails, near and far destinations.
TEST_F(DecisionsFile, OfTenThousandDecisionsAllComeOutAgain)
{
    for (const fsbml_policy_t policy :
         {FSBML_POLICY_ARRIVAL, FSBML_POLICY_THESIS, FSBML_POLICY_ROUNDROBIN, FSBML_POLICY_SINGLE}) {
        Traced t(8, 1, 16384, policy);
        t.run(10000, 42);
        ASSERT_EQ(fsbml_trace_store(path.c_str(), &t.told, reason), 0) << reason;
        std::ifstream in(path);
        std::vector<fsbml_decision_t> all;
        const DecisionReplay replay(read(in, all));
        ASSERT_EQ(all.size(), 10000U);
        std::size_t agree = 0, earliest = 0;
        for (const fsbml_decision_t &d : all) {
            agree += replay.agrees(d) ? 1 : 0;
            earliest += replay.earliest(d) ? 1 : 0;
        }
        EXPECT_EQ(agree, 10000U) << fsbml_policy_name(policy);
        if (policy == FSBML_POLICY_ARRIVAL) {
            EXPECT_EQ(earliest, 10000U);
        } else {
            EXPECT_LT(earliest, 9900U) << fsbml_policy_name(policy);
        }
        // By 2 ns, and it is noticed; in the other direction by 2 as well, whatever was cut off.
        for (const std::int64_t by : {2, -2}) {
            fsbml_decision_t d = all[5000];
            d.arrival_ns[__builtin_ctz(d.candidates)] += static_cast<std::uint64_t>(by);
            EXPECT_FALSE(replay.agrees(d));
        }
    }
}

// Changes of rates stand where they belong in time, and are no decisions.
TEST_F(DecisionsFile, HasTheChangesOfRates)
{
    Traced t(2, 1, 8192);
    fsbml_changes_t changes{};
    const struct {
        std::uint32_t rail;
        std::uint64_t ns;
        double before, after;
    } told[] = {{0, 0, 190.4, 20.1}, {1, 1500, 95, 1e-6}, {0, 90000000, 20.1, 1e9}, {2, 5, 1, 2}};
    for (const auto &c : told) {
        fsbml_change_t change{};
        change.rail = c.rail;
        change.ns = c.ns;
        change.before_mbps = c.before;
        change.after_mbps = c.after;
        fsbml_changes_add(&changes, &change);
    }
    t.told.changes = &changes;
    t.run(1000, 3);
    ASSERT_EQ(fsbml_trace_store(path.c_str(), &t.told, reason), 0) << reason;
    std::ifstream in(path);
    TraceLines lines(in, "file");
    ASSERT_TRUE(lines.next());
    DecisionReader reader(lines);
    std::size_t at_first = 9, before_second = 9, n = 0;
    std::uint64_t last = 0;
    for (fsbml_decision_t d; reader.next(d); ++n) {
        at_first = 0 == n ? reader.changes().size() : at_first;
        before_second = d.now_ns < 1500 ? reader.changes().size() : before_second;
        last = d.now_ns;
    }
    EXPECT_EQ(n, 1000U);
    EXPECT_EQ(reader.not_all(), "");
    EXPECT_EQ(at_first, 1U);
    EXPECT_EQ(before_second, 1U);
    ASSERT_LT(last, 90000000U);
    ASSERT_EQ(reader.changes().size(), 3U); // there is no third rail
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(reader.changes()[i].ns, told[i].ns);
        EXPECT_EQ(reader.changes()[i].rail, told[i].rail);
        EXPECT_DOUBLE_EQ(static_cast<double>(reader.changes()[i].before), 1e6 * told[i].before);
        EXPECT_DOUBLE_EQ(static_cast<double>(reader.changes()[i].after), 1e6 * told[i].after);
    }
}

// A rail that is not measured is no choice where others are.
TEST(Decisions, RailsWithoutAModel)
{
    std::istringstream in(
        "fsbml-decisions 1 rank 0 ranks 2 node a policy arrival origin 0 every 1 lost 0 messages 2\n"
        "rail k eth0 L=1000 o_s=0 o_r=0 g=0 G=1\nrail k tcp#1 unmeasured # for now\n"
        "5 1 1 -> eth0 | eth0 1000 0 | tcp#1 0 0\n5 1 1 -> tcp#1 | tcp#1 0 0\nend 2\n");
    std::vector<fsbml_decision_t> all;
    const DecisionReplay replay(read(in, all));
    for (const fsbml_decision_t &d : all) {
        EXPECT_TRUE(replay.agrees(d) && replay.earliest(d));
    }
    all[0].rail = 1;
    EXPECT_FALSE(replay.earliest(all[0]));
}

// ------------------------------------------------------------- a workload

TEST(Decisions, AreARecordOfSends)
{
    const std::string zero =
        "fsbml-decisions 1 rank 0 ranks 2 node a policy arrival origin 100 every 1 lost 0 messages 3\n"
        "rail k eth0 L=1 o_s=0 o_r=0 g=0 G=1\n"
        "0 1 7 -> eth0 | eth0 7 0\n50 elsewhere 9 -> eth0\n50 1 8 -> eth0 | eth0 7 0\nend 3\n";
    const std::string one = "fsbml-sends 1 rank 1 ranks 2 origin 110\n10 0 3 # eth0\nend 1\n";
    std::istringstream a(zero), b(one);
    std::ostringstream out;
    TraceWriter writer(out);
    merge({{"0", &a}, {"1", &b}}, {"job", TraceMerge::kAtEnd}, writer);
    EXPECT_EQ(out.str(),
              "fsbml-trace 1 ranks 2 name job\n0 send 1 7\n1 until 20\n1 send 0 3\n0 until 50\n0 send 1 8\n"
              "0 recv 1\n1 recv 0\n1 recv 0\nend 8\n");
}

// ----------------------------------------------------------------- damage

TEST(Decisions, AreRefusedByLine)
{
    const std::string head =
        "fsbml-decisions 1 rank 0 ranks 2 node a policy arrival origin 0 every 1 lost 0 messages 1\n";
    const std::string rails = head + "rail k eth0 L=1 o_s=0 o_r=0 g=0 G=1\n";
    const std::string line = rails + "5 1 1 -> eth0 | eth0 1 0\n";
    std::string many_changes;
    for (int i = 0; i <= FSBML_MOST_CHANGES; ++i) {
        many_changes += "9 rate eth0 1 2\n";
    }
    const struct {
        std::string text;
        const char *says;
    } cases[] = {
        {"fsbml-sends 1 rank 0 ranks 2 origin 0\n",
         "line 1: 'fsbml-sends' where 'fsbml-decisions' is expected"},
        {"fsbml-decisions 3 rank 0\n", "line 1: version 3, but only 1 and 2 are known"},
        {"fsbml-decisions 0 rank 0\n", "line 1: version 0, but only 1 and 2 are known"},
        {"fsbml-decisions 1 rank 2 ranks 2 node a\n", "line 1: rank 2 of 2"},
        {"fsbml-decisions 1 rank 0 ranks 2 node a policy dice\n", "line 1: there is no policy 'dice'"},
        {"fsbml-decisions 1 rank 0 ranks 2 node a policy arrival origin 0 every 0 lost 0 messages 1\n",
         "line 1: one in 0"},
        {"fsbml-decisions 1 rank 0 ranks 2 node a policy arrival origin 0 every 1\n",
         "line 1: lost is missing"},
        {head, "there is no rail"},
        {head + "5 1 1 -> eth0\n", "line 2: there is no rail"},
        {head + "rail k\n", "line 2: the rail's name is missing"},
        {head + "rail k eth0\n", "line 2: what is known of rail is missing"},
        {head + "rail k eth0 L=1 o_s=0 o_r=0 g=0\n", "line 2: the parameters of rail eth0 are not complete"},
        {head + "rail k eth0 L=1x\n", "line 2: 'L=1x' is not a parameter and its value"},
        {head + "rail k eth0 L\n", "line 2: 'L' is not a parameter and its value"},
        {head + "rail k eth0 speed=1\n", "line 2: there is no parameter 'speed'"},
        {rails + "rail k eth0 unmeasured\n", "line 3: rail eth0 is there twice"},
        {rails, "line 3: it is cut off"},
        {line, "line 4: it is cut off"},
        {line + "end 2\n", "line 4: ends after 2, but 1"},
        {line + "4 1 1 -> eth0 | eth0 1 0\nend 2\n", "line 4: its time stamp is before"},
        {line + "9 1 1 -> eth0 | eth0 1", "line 4: its backlog is missing"},
        {line + "9 1 1 -> eth0 | eth0 1 0 5\nend 2\n", "line 4: what its destination adds is '5'"},
        {line + "9 1 1 -> eth0 | eth0 1 0 +5\nend 2\n", "line 4: the destination adds more"},
        {line + "9 1 1 -> eth1 | eth0 1 0\nend 2\n",
         "line 4: the rail that got it is 'eth1', which no line above"},
        {line + "9 1 1 -> eth0 | eth1 1 0\nend 2\n", "line 4: a candidate is 'eth1', which no line above"},
        {line + "9 1 1 -> eth0 | eth0 1 0 | eth0 1 0\nend 2\n", "line 4: candidate eth0 is there twice"},
        {line + "9 1 1 eth0\nend 2\n", "line 4: 'eth0' where '->' is expected"},
        {line + "9 2 1 -> eth0\nend 2\n", "line 4: the peer is 2, but"},
        {line + "9 0 1 -> eth0\nend 2\n", "line 4: the peer is the rank itself"},
        {line + "9 1 -1 -> eth0\nend 2\n", "line 4: the number of bytes is '-1'"},
        {line + "9999999999999999999 1 1 -> eth0\nend 2\n", "line 4: more than 106 days"},
        {line + "9 rate eth1 1 2\nend 1\n",
         "line 4: the rail whose rate changed is 'eth1', which no line above"},
        {line + "9 rate\nend 1\n", "line 4: the rail whose rate changed is missing"},
        {line + "9 rate eth0\nend 1\n", "line 4: the rate before is missing"},
        {line + "9 rate eth0 1\nend 1\n", "line 4: the rate after is missing"},
        {line + "9 rate eth0 1 -2\nend 1\n", "line 4: the rate after is '-2'"},
        {line + "9 rate eth0 0 2\nend 1\n", "line 4: a rate of 0 is none"},
        {line + "9 rate eth0 1 2 3\nend 1\n", "line 4: unexpected '3'"},
        {line + "4 rate eth0 1 2\nend 1\n", "line 4: its time stamp is before"},
        {line + "9 rate eth0 1 2\n", "line 5: it is cut off"},
        {line + "9 rate eth0 1 2\nend 2\n", "line 5: ends after 2, but 1"},
        {line + many_changes + "end 1\n", "line 68: more than 64 changes of rates"},
        {line + "end 1\n9 1 1 -> eth0\n", "line 5: something comes after the end"},
    };
    for (const auto &c : cases) {
        std::istringstream in(c.text);
        std::vector<fsbml_decision_t> all;
        try {
            read(in, all);
            ADD_FAILURE() << "accepted: " << c.text;
        } catch (const TraceError &e) {
            EXPECT_NE(std::string(e.what()).find(c.says), std::string::npos)
                << e.what() << "\nnot: " << c.says;
        }
    }
}

} // namespace
} // namespace fsbml::sim
