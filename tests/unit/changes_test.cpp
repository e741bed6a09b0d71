// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Rates that change while a job runs: the list of one process, that of many, and what the report says of it.
#include "jobs.hpp"
#include "summaries.hpp"

#include "test.hpp"

namespace
{

constexpr std::uint64_t kSecond = 1000000000;

fsbml_change_t change(std::uint32_t rail, const std::string &node, double seconds, double before,
                      double after)
{
    fsbml_change_t c{};
    c.rail = rail;
    put(c.name, "rail" + std::to_string(rail));
    put(c.node, node);
    c.ns = static_cast<std::uint64_t>(seconds * 1e9);
    c.before_mbps = before;
    c.after_mbps = after;
    return c;
}

void add(fsbml_changes_t &to, const fsbml_change_t &c)
{
    fsbml_changes_add(&to, &c);
}

// "rail0 node0 3000 190>20", a line each; times in ms.
std::vector<std::string> listed(const fsbml_changes_t &all)
{
    std::vector<std::string> lines;
    for (std::uint32_t i = 0; i < all.n; ++i) {
        const fsbml_change_t &c = all.change[i];
        std::ostringstream line;
        line << c.name << ' ' << c.node << ' ' << c.ns / 1000000 << ' ' << c.before_mbps << '>'
             << c.after_mbps;
        lines.push_back(line.str());
    }
    return lines;
}

using Lines = std::vector<std::string>;

} // namespace

// ------------------------------------------------------------- of a process

TEST(Changes, AreInTheOrderOfTime)
{
    fsbml_changes_t all{};
    add(all, change(0, "a", 3, 190, 20));
    add(all, change(1, "a", 1, 95, 40));
    add(all, change(0, "a", 3, 20, 190));
    EXPECT_EQ(listed(all), (Lines{"rail1 a 1000 95>40", "rail0 a 3000 190>20", "rail0 a 3000 20>190"}));
    EXPECT_EQ(all.more, 0U);
}

TEST(Changes, OfTooManyTheLargestStay)
{
    fsbml_changes_t all{};
    for (int i = 0; i < 1000; ++i) {
        const double size = 2.0 + i * 37 % 1000; // each once
        add(all, change(0, "a", i, i % 2 == 0 ? 100 * size : 100, i % 2 == 0 ? 100 : 100 * size));
    }
    ASSERT_EQ(all.n, static_cast<std::uint32_t>(FSBML_MOST_CHANGES));
    EXPECT_EQ(all.more, 1000U - FSBML_MOST_CHANGES);
    for (std::uint32_t i = 0; i < all.n; ++i) {
        const fsbml_change_t &c = all.change[i];
        EXPECT_GE(std::max(c.before_mbps, c.after_mbps), 100.0 * (1002 - FSBML_MOST_CHANGES)) << i;
        EXPECT_TRUE(0 == i || all.change[i - 1].ns < c.ns);
    }
}

TEST(Changes, WhatHasNoRateIsLeftOut)
{
    fsbml_changes_t all{};
    for (const double none : {0.0, -1.0, 1e300, std::nan(""), static_cast<double>(INFINITY)}) {
        add(all, change(0, "a", 1, none, 100));
        add(all, change(0, "a", 1, 100, none));
    }
    EXPECT_EQ(all.n, 0U);
    EXPECT_EQ(all.more, 0U);
}

// ---------------------------------------------------------------- of many

TEST(Changes, RanksOfANodeTellOfOne)
{
    const SummaryPtr a = summary({"x", "y"}), b = summary({"y", "x"});
    add(a->changes, change(0, "node0", 3.4, 190, 21));
    add(a->changes, change(0, "node0", 6.0, 21, 180));
    add(b->changes, change(1, "node0", 3.0, 200, 20));   // the same, noticed earlier
    add(b->changes, change(1, "node0", 7.5, 20, 195));   // rose again, but too late to be the same
    add(b->changes, change(0, "node0", 3.1, 190, 21));   // another rail
    add(b->changes, change(1, "node1", 3.2, 190, 21));   // another node
    add(b->changes, change(1, "node0", 3.3, 100, 21));   // from another rate on
    add(b->changes, change(1, "node0", 3.35, 190, 400)); // the other way
    fsbml_summary_merge(a.get(), b.get());
    EXPECT_EQ(listed(a->changes),
              (Lines{"rail0 node0 3000 190>21", "rail0 node0 3100 190>21", "rail1 node1 3200 190>21",
                     "rail1 node0 3300 100>21", "rail1 node0 3350 190>400", "rail0 node0 6000 21>180",
                     "rail1 node0 7500 20>195"}));
    EXPECT_EQ(a->changes.change[1].rail, 1U); // by the places in the first summary
    EXPECT_EQ(a->changes.change[2].rail, 0U);
    EXPECT_EQ(a->changes.more, 0U);
}

// Each of another process' changes is the same as one at most: a rail that flaps is not made to rest.
TEST(Changes, OfARailThatFlapsAllAreTold)
{
    const SummaryPtr a = summary({"x"}), b = summary({"x"});
    for (int i = 0; i < 4; ++i) {
        add(a->changes, change(0, "n", 1 + 0.8 * i, i % 2 == 0 ? 200 : 20, i % 2 == 0 ? 20 : 200));
        add(b->changes, change(0, "n", 1.1 + 0.8 * i, i % 2 == 0 ? 200 : 20, i % 2 == 0 ? 20 : 200));
    }
    fsbml_summary_merge(a.get(), b.get());
    EXPECT_EQ(listed(a->changes), (Lines{"rail0 n 1000 200>20", "rail0 n 1800 20>200", "rail0 n 2600 200>20",
                                         "rail0 n 3400 20>200"}));
}

// Rails that the summary has no room for are told of no more, but counted.
TEST(Changes, AreCountedWhereTheRailHasNoRoom)
{
    std::vector<std::string> names;
    std::vector<const char *> keys;
    for (int i = 0; i < FSBML_MAX_RAILS; ++i) {
        names.push_back("k" + std::to_string(i));
    }
    for (const std::string &name : names) {
        keys.push_back(name.c_str());
    }
    const SummaryPtr a = summary(keys), b = summary({"one too many", "k3"});
    add(b->changes, change(0, "n", 1, 100, 10));
    add(b->changes, change(1, "n", 2, 100, 10));
    b->changes.more = 5;
    fsbml_summary_merge(a.get(), b.get());
    EXPECT_EQ(a->changes.more, 6U);
    ASSERT_EQ(a->changes.n, 1U);
    EXPECT_EQ(a->changes.change[0].rail, 3U);
}

// 10,000 ranks that each tell of something: bounded, in order, nothing lost without being counted.
TEST(Changes, OfManyRanksStayBounded)
{
    const SummaryPtr all = summary({"x"});
    for (std::uint32_t r = 0; r < 10000; ++r) {
        const SummaryPtr one = summary({"x"});
        add(one->changes, change(0, "node" + std::to_string(r), r % 50, 200, 1 + r % 97));
        fsbml_summary_merge(all.get(), one.get());
    }
    ASSERT_EQ(all->changes.n, static_cast<std::uint32_t>(FSBML_MOST_CHANGES));
    EXPECT_EQ(all->changes.n + all->changes.more, 10000U);
    for (std::uint32_t i = 1; i < all->changes.n; ++i) {
        EXPECT_LE(all->changes.change[i - 1].ns, all->changes.change[i].ns);
    }
}

// ---------------------------------------------------------------- the report

TEST(RatesReport, ARailThatBecameSlowIsBlamed)
{
    Job j = two_rails();
    j.changed(0, "node0", 3.02, 190.4, 20.1);
    EXPECT_EQ(headline(j), "rail0 changed its rate on node0: from 190 to 20.1 Mbit/s, 3.02 s into the job.");
    EXPECT_EQ(parsed(j)["blames_a_rail"], true);
    j.changed(0, "node0", 6.1, 20.1, 188);
    EXPECT_EQ(headline(j),
              "rail0 changed its rate on node0: from 190 to 20.1 Mbit/s, 3.02 s into the job, and "
              "to 188 after 6.1 s.");
    j.changed(0, "node0", 8, 188, 40);
    EXPECT_EQ(headline(j),
              "rail0 changed its rate on node0 3 times, between 20.1 and 190 Mbit/s; first from 190 "
              "to 20.1 Mbit/s, 3.02 s into the job.");
    EXPECT_EQ(sentences(j).size(), 3U);
}

// That a rail is faster than it was when it was measured is told, but no alarm.
TEST(RatesReport, ARailThatBecameFasterIsNot)
{
    Job j = two_rails();
    j.changed(1, "node1", 2, 20, 100);
    EXPECT_EQ(headline(j).find("eth1 carried"), 0U);
    EXPECT_EQ(sentences(j).back(),
              "rail1 changed its rate on node1: from 20 to 100 Mbit/s, 2 s into the job.");
    EXPECT_EQ(parsed(j)["blames_a_rail"], false);
}

TEST(RatesReport, ManyNodesAreNotAllInTheHeadlines)
{
    Job j = two_rails();
    for (int i = 0; i < 9; ++i) {
        j.changed(0, "node" + std::to_string(i), 1 + i, 190, 20);
    }
    EXPECT_TRUE(says(j, "rail0 changed its rate on node3"));
    EXPECT_FALSE(says(j, "rail0 changed its rate on node4"));
    EXPECT_TRUE(says(j, "There are 5 more findings of this kind, see below."));
    EXPECT_NE(report(j.get(), FSBML_FORM_TEXT).find("\n  rail0 on node8: 190, 20 from 9 s on\n"),
              std::string::npos);
}

TEST(RatesReport, AllFormsHaveTheRates)
{
    Job j = two_rails();
    const std::string before = report(j.get(), FSBML_FORM_TEXT) + report(j.get(), FSBML_FORM_HTML);
    EXPECT_EQ(before.find("over time"), std::string::npos);
    EXPECT_EQ(before.find("changed its rate"), std::string::npos);
    EXPECT_EQ(parsed(j)["changes"], nlohmann::json::array());
    j.s().duration_ns = 10 * kSecond;
    j.changed(1, "node0", 2.5, 100, 25);
    j.changed(1, "node0", 5, 25, 50);
    j.s().changes.more = 7;
    EXPECT_NE(report(j.get(), FSBML_FORM_TEXT)
                  .find("\nRates over time, in Mbit/s, as noticed\n"
                        "  rail1 on node0: 100, 25 from 2.5 s on, 50 from 5 s on\n  and 7 smaller changes\n"),
              std::string::npos)
        << report(j.get(), FSBML_FORM_TEXT);
    const nlohmann::json json = parsed(j);
    EXPECT_EQ(json["more_changes"], 7);
    ASSERT_EQ(json["changes"].size(), 2U);
    EXPECT_EQ(json["changes"][1],
              nlohmann::json::parse(R"({"rail": "rail1", "node": "node0", "ns": 5000000000,
                                                           "before_mbps": 25.0, "after_mbps": 50.0})"));
    // Three pieces of a quarter, a quarter and a half of the time; the first is the highest, in the rail's
    // colour.
    const std::string page = report(j.get(), FSBML_FORM_HTML);
    EXPECT_NE(page.find("<h2>rail1 on node0 changed its rate</h2>"), std::string::npos);
    for (
        const char *const piece :
        {"<rect x=\"0.00%\" y=\"4\" width=\"25.00%\" height=\"40\" class=\"c1\"><title>100 Mbit/s from 0 to 2.5 s<",
         "<rect x=\"25.00%\" y=\"34\" width=\"25.00%\" height=\"10\" class=\"c1\"><title>25 Mbit/s from 2.5 s to 5 s<",
         "<rect x=\"50.00%\" y=\"24\" width=\"50.00%\" height=\"20\" class=\"c1\"><title>50 Mbit/s from 5 s to 10 s<"}) {
        EXPECT_NE(page.find(piece), std::string::npos) << piece;
    }
}

// Whatever a summary holds that did not come by a record.
TEST(RatesReport, TakesWhatIsNoChangeForNone)
{
    Job j = two_rails();
    j.changed(0, "node0", 1, 100, 10);
    j.s().changes.n = 3;
    j.s().changes.change[1] = change(7, "node0", 2, 100, 10); // there are two rails
    j.s().changes.change[2] = change(0, "node0", 3, std::nan(""), 10);
    EXPECT_NE(report(j.get(), FSBML_FORM_TEXT).find("\n  rail0 on node0: 100, 10 from 1 s on\n"),
              std::string::npos);
    for (const std::string &name :
         {std::string("<script>&'\""), std::string("\xff\xfe"), std::string(FSBML_NAME_MAX, 'w')}) {
        put(j.s().changes.change[0].name, name);
        put(j.s().changes.change[0].node, name);
        EXPECT_EQ(report(j.get(), FSBML_FORM_HTML).find("<script"), std::string::npos);
        EXPECT_NO_THROW((void) parsed(j).dump());
    }
}
