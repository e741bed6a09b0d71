// How the simulator is compared with a virtual cluster: cases, nearness, the bar, what is
// simulated.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/replay/replay.hpp"

#include "sim/traffic/traffic.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace fsbml::replay;
namespace sim = fsbml::sim;
namespace whatif = fsbml::whatif;

Row row(double measured, double spread, double simulated)
{
    Row r;
    r.name = "case";
    r.rails = "100mbit+20mbit";
    r.nodes = 2;
    r.measured_ns = measured;
    r.spread_ns = spread;
    r.simulated_ns = simulated;
    return r;
}

std::vector<Row> rows(int near, int unclear, int far)
{
    std::vector<Row> all(static_cast<std::size_t>(near), row(100, 1, 110));
    all.insert(all.end(), static_cast<std::size_t>(unclear), row(100, 10, 115));
    all.insert(all.end(), static_cast<std::size_t>(far), row(100, 1, 115));
    return all;
}

whatif::Rail rail(const std::string &name, double residual)
{
    fsbml_loggp_t p{};
    p.L_ns = 10e3;
    p.o_s_ns = 2e3;
    p.o_r_ns = 4e3;
    p.g_ns = 1e3;
    p.G_ns_per_byte = 2;
    return {name, p, 0, residual};
}

sim::Workload one_message(std::uint64_t bytes)
{
    return {"", {{{sim::Op::Kind::send, 1, bytes, 0}}, {{sim::Op::Kind::recv, 0, 0, 0}}}};
}

} // namespace

TEST(Replay, TheTenCasesEndAndFitTheirRails)
{
    const std::vector<Case> all = cases({});
    ASSERT_EQ(all.size(), 10U);
    std::set<std::string> names;
    for (const Case &one : all) {
        names.insert(one.name);
        EXPECT_NO_THROW(sim::check(one.workload)) << one.name;
        bool known = false;
        for (const RailSet &set : rail_sets()) {
            known = known || (set.name == one.set && set.nodes == one.workload.process.size());
        }
        EXPECT_TRUE(known) << one.name;
    }
    EXPECT_EQ(names.size(), 10U);
    EXPECT_EQ(cases({"halo", "barrier"}).size(), 2U);
    EXPECT_THROW(cases({"halo", "dice"}), std::invalid_argument);
}

TEST(Replay, TenPercentEitherWayAreNear)
{
    EXPECT_TRUE(is_near(row(100, 0, 110)));
    EXPECT_TRUE(is_near(row(100, 0, 90)));
    EXPECT_FALSE(is_near(row(100, 0, 110.5)));
    EXPECT_FALSE(is_near(row(100, 0, 89.5)));
    EXPECT_TRUE(may_be_near(row(100, 5, 115)));  // of 105
    EXPECT_TRUE(may_be_near(row(100, 5, 86)));   // of 95
    EXPECT_FALSE(may_be_near(row(100, 5, 116))); // 115.5
    EXPECT_FALSE(may_be_near(row(100, 5, 85)));  // 85.5
}

TEST(Replay, TheBarIsNineOfTen)
{
    EXPECT_STREQ(judge(rows(9, 0, 1)).outcome(), "met");
    EXPECT_STREQ(judge(rows(8, 0, 2)).outcome(), "NOT MET");
    EXPECT_STREQ(judge(rows(8, 1, 1)).outcome(), "unclear");
    EXPECT_STREQ(judge(rows(7, 1, 2)).outcome(), "NOT MET");
    EXPECT_STREQ(judge({}).outcome(), "NOT MET");
    EXPECT_EQ(judge(rows(8, 1, 1)).figures, "8 of 10");
}

TEST(Replay, ADocumentIsReadAsItWasWritten)
{
    Row one = row(100, 1, 115);
    one.launches_ns = {99, 100, 101};
    one.late_ns = {0, 7};
    one.simulated_spread_ns = 3;
    one.measured_share = {{"rail0", 0.75}, {"rail1", 0.25}};
    one.simulated_share = {{"rail0", 1}};
    const auto document = document_of({one, row(50, 1, 50)});
    const std::vector<Row> read = rows_of(document);
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(document_of(read), document);
    EXPECT_EQ(table_of(read), table_of({one, row(50, 1, 50)}));
    EXPECT_NE(table_of(read).find("NO"), std::string::npos);
}

// o_s + L + G (s - 1) + o_r, with ob1's 14 bytes; a rank that begins late is late.
TEST(Replay, AShortMessageTakesWhatTheModelSays)
{
    const Simulated short_one = simulated(one_message(987), {rail("rail0", 0)}, {{0, 0}});
    EXPECT_DOUBLE_EQ(short_one.makespan_ns, 18000);
    EXPECT_DOUBLE_EQ(short_one.spread_ns, 0);
    EXPECT_DOUBLE_EQ(simulated(one_message(987), {rail("rail0", 0)}, {{500, 0}}).makespan_ns, 18500);
    EXPECT_THROW(simulated(one_message(987), {rail("rail0", 0)}, {{0}}), std::out_of_range);
}

// Beyond the eager limit an answer is awaited: its way there is about 16 us longer.
TEST(Replay, ALongMessageAwaitsItsAnswer)
{
    const double whole = simulated(one_message(65536), {rail("rail0", 0)}, {{0, 0}}).makespan_ns;
    const double held = simulated(one_message(65537), {rail("rail0", 0)}, {{0, 0}}).makespan_ns;
    EXPECT_DOUBLE_EQ(whole, 16000 + 2.0 * (65536 + 13));
    EXPECT_GT(held, whole + 10000);
}

TEST(Replay, TimesScatterAsMuchAsTheTableSays)
{
    const Simulated one = simulated(one_message(30000), {rail("rail0", 0.05)}, {{0, 0}});
    EXPECT_GT(one.spread_ns, 0);
    EXPECT_GT(one.makespan_ns, 16000 + 2.0 * 30013);
    EXPECT_EQ(one.makespan_ns, simulated(one_message(30000), {rail("rail0", 0.05)}, {{0, 0}}).makespan_ns);
}
