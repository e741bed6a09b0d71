// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The report of a job: its sums, and three forms that are whole whatever
// is in it.

#include "around.hpp"
#include "jobs.hpp"

#include "test.hpp"
#include <nlohmann/json.hpp>

#include <clocale>

namespace
{

using nlohmann::json;

std::size_t count(const std::string &text, const std::string &part)
{
    std::size_t n = 0;
    for (std::size_t at = text.find(part); std::string::npos != at; at = text.find(part, at + part.size())) {
        ++n;
    }
    return n;
}

// Every element is closed in its turn, every attribute quoted, no & but of an entity. Returns what is wrong.
std::string html_fault(const std::string &page)
{
    std::vector<std::string> open;
    for (std::size_t at = 0; at < page.size();) {
        if ('<' != page[at]) {
            const std::size_t end = std::min(page.find('<', at), page.size());
            const std::string text = page.substr(at, end - at);
            at = end;
            if (!open.empty() && "style" == open.back()) {
                continue;
            }
            if (std::string::npos != text.find('>')) {
                return "an unescaped > in: " + text;
            }
            for (std::size_t amp = text.find('&'); std::string::npos != amp; amp = text.find('&', amp + 1)) {
                const std::size_t stop = text.find(';', amp);
                if (std::string::npos == stop || stop - amp > 6) {
                    return "an unescaped & in: " + text;
                }
            }
            continue;
        }
        std::size_t end = at + 1;
        for (bool quoted = false; end < page.size() && (quoted || '>' != page[end]); ++end) {
            quoted = ('"' == page[end]) != quoted;
            if ('<' == page[end]) {
                return "a < within a tag: " + page.substr(at, end - at);
            }
        }
        const std::string tag = page.substr(at + 1, end - at - 1);
        at = end + 1;
        const std::string name = tag.substr(0, tag.find(' '));
        if ('/' == name[0]) {
            if (open.empty() || open.back() != name.substr(1)) {
                return "closed out of turn: " + name;
            }
            open.pop_back();
        } else if ("!DOCTYPE" != name && "meta" != name) {
            open.push_back(name);
        }
        if (0 != count(tag, "\"") % 2) {
            return "a quote that is left open: " + tag;
        }
    }
    return open.empty() ? "" : "never closed: " + open.back();
}

bool is_utf8(const std::string &text)
{
    try {
        (void) json(text).dump(); // throws for anything else
        return true;
    } catch (const json::exception &) {
        return false;
    }
}

std::size_t widest(const std::string &text)
{
    std::size_t most = 0;
    std::size_t now = 0;
    for (const char c : text) {
        now = '\n' == c ? 0 : now + (0x80 != (static_cast<unsigned char>(c) & 0xC0) ? 1 : 0);
        most = std::max(most, now);
    }
    return most;
}

void expect_whole(Job &j)
{
    const std::string text = report(j.get(), FSBML_FORM_TEXT);
    const std::string page = report(j.get(), FSBML_FORM_HTML);
    EXPECT_LE(widest(text), 100u) << text;
    EXPECT_EQ(html_fault(page), "");
    EXPECT_NO_THROW((void) parsed(j).dump());
    for (const std::string &s : {text, page}) {
        EXPECT_TRUE(is_utf8(s));
        EXPECT_EQ(count(s, "nan"), 0u);
        EXPECT_EQ(count(s, "inf"), 0u) << s;
    }
    for (const char *const outside : {"http", "src=", "<script", "url(", "@import"}) {
        EXPECT_EQ(count(page, outside), 0u) << outside;
    }
}

} // namespace

// ----------------------------------------------------------------- forms

TEST(JobReport, SumsAgree)
{
    Job j = many_ranks();
    const json r = parsed(j);
    EXPECT_EQ(r["schema"], "fsbml-report-1");
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    for (const json &rail : r["rails"]) {
        std::uint64_t here = 0;
        std::uint64_t there = 0;
        for (const json &c : rail["by_size"]) {
            here += c["messages"].get<std::uint64_t>();
            there += c["bytes"].get<std::uint64_t>();
        }
        EXPECT_EQ(rail["messages"], here);
        EXPECT_EQ(rail["bytes"], there);
        messages += here;
        bytes += there;
        std::uint64_t arrivals = 0;
        for (const json &n : rail["observed_by_predicted"]["bins"]) {
            arrivals += n.get<std::uint64_t>();
        }
        EXPECT_EQ(rail["observed_by_predicted"]["arrivals"], arrivals);
    }
    EXPECT_EQ(r["messages"], messages);
    EXPECT_EQ(r["bytes"], bytes);
    EXPECT_EQ(r["rails"][0]["by_size"][8]["up_to_bytes"], json());
    EXPECT_EQ(r["rails"][0]["by_size"][7]["up_to_bytes"], 1048576);
    EXPECT_EQ(r["faults"].size(), 4u);
    EXPECT_EQ(r["peers"][1]["extra_ns"], 83000);
    EXPECT_EQ(r["slowest_ranks"].size(), 16u);
    EXPECT_EQ(r["slowest_ranks"][0]["per_1000_of_bytes"], json({920, 0, 80}));
    EXPECT_EQ(r["measurement"]["rails"][2]["parameters"]["G_ns_per_byte"], 80.0);
}

TEST(JobReport, QuantilesLieWhereTheArrivalsAre)
{
    Job j = two_rails();
    std::fill(std::begin(j.rail(0).ratio), std::end(j.rail(0).ratio), 0);
    j.rail(0).ratio[32] = 100; // 1 to 1.09
    j.rail(0).ratio[0] = 5;    // the first bin begins at 1/16
    const json q = parsed(j)["rails"][0]["observed_by_predicted"];
    EXPECT_GT(q["p10"], 1.0);
    EXPECT_NEAR(q["p50"], 1.04, 0.01);
    EXPECT_LE(q["p90"], 1.0906);
    j.rail(0).ratio[0] = 100000;
    EXPECT_NEAR(parsed(j)["rails"][0]["observed_by_predicted"]["p50"], 0.065, 0.003);
}

TEST(JobReport, AllFormsSayTheSame)
{
    Job j = many_ranks();
    expect_whole(j);
    std::string text = report(j.get(), FSBML_FORM_TEXT);
    std::string page = report(j.get(), FSBML_FORM_HTML);
    for (std::size_t at = page.find("&#160;"); std::string::npos != at; at = page.find("&#160;")) {
        page.replace(at, 6, " ");
    }
    for (std::size_t at = page.find("&#39;"); std::string::npos != at; at = page.find("&#39;")) {
        page.replace(at, 5, "'");
    }
    for (std::size_t at = text.find("\n  "); std::string::npos != at; at = text.find("\n  ")) {
        text.replace(at, 3, " ");
    }
    for (const std::string &s : sentences(j)) {
        EXPECT_EQ(count(text, s), 1u) << s;
        EXPECT_EQ(count(page, s), 1u) << s;
    }
}

TEST(JobReport, TakesAnyName)
{
    const std::vector<std::string> names = {"<script>alert('x')</script>",
                                            "a&b \"c\"",
                                            "\xff\xfe broken \xc3",
                                            "",
                                            "tab\tand\nline",
                                            std::string(FSBML_NAME_MAX, 'w'),
                                            "\xc3\xa9th\xe2\x82\xac"};
    for (const std::string &name : names) {
        Job j = many_ranks();
        put(j.rail(1).name, name);
        put(j.rail(1).about, name + name);
        put(j.table->rail[1].name, name);
        put(j.table->rail[1].fit.reason, name);
        put(j.s().peer[0].rail, name);
        put(j.s().rank[0].node, name);
        j.fault(name, name, name, name);
        j.get();
        j.job.program = name.c_str();
        for (const fsbml_form_t form : {FSBML_FORM_TEXT, FSBML_FORM_JSON, FSBML_FORM_HTML}) {
            const std::string s = report(j.job, form);
            EXPECT_TRUE(is_utf8(s)) << name;
            EXPECT_EQ(count(s, "<script"), FSBML_FORM_HTML == form ? 0u : count(s, "<script"));
        }
        EXPECT_EQ(html_fault(report(j.job, FSBML_FORM_HTML)), "") << name;
        EXPECT_LE(widest(report(j.job, FSBML_FORM_TEXT)), 100u) << name;
        EXPECT_NO_THROW((void) json::parse(report(j.job, FSBML_FORM_JSON)).dump());
    }
}

// What is not known is not drawn, and not told as 0.
TEST(JobReport, HasNoTimesWherePredictionsAreMissing)
{
    Job j = two_rails();
    EXPECT_EQ(count(report(j.get(), FSBML_FORM_HTML), "All ranks waited about equally long"), 1u);
    EXPECT_EQ(count(report(j.get(), FSBML_FORM_HTML), "rank 1 on node1"), 2u); // written, and read aloud
    EXPECT_EQ(count(report(j.get(), FSBML_FORM_TEXT), "under way longest (the mean of all is 1.7 s)"), 1u);
    j.rail(0).busy_ns = 82;
    EXPECT_EQ(count(report(j.get(), FSBML_FORM_HTML), "82 ns"), 1u);
    EXPECT_EQ(count(report(j.get(), FSBML_FORM_TEXT), "82 ns"), 1u);
    j.took(0, {0.0, 0.0}, 0.0).s().chose = 0;
    j.s().rank[0].time_ns = j.s().rank[1].time_ns = 0;
    for (const fsbml_form_t form : {FSBML_FORM_TEXT, FSBML_FORM_HTML}) {
        const std::string s = report(j.get(), form);
        EXPECT_EQ(count(s, "82 ns"), 0u);
        EXPECT_EQ(count(s, "under way"), 0u);
        EXPECT_EQ(count(s, "waited"), 0u);
    }
    expect_whole(j);
}

TEST(JobReport, SaysWhichRanksWaitedLonger)
{
    Job j = many_ranks();
    const std::string page = report(j.get(), FSBML_FORM_HTML);
    EXPECT_EQ(count(page, "Rank 24 waited 1.5 times as long as the mean of all ranks"), 1u);
    EXPECT_EQ(count(page, "the mean of all ranks, 14.1 s. These 16 of 64 ranks waited longest."), 1u);
}

TEST(JobReport, BreaksNoNumber)
{
    Job j = two_rails();
    for (std::uint32_t blanks = 0; blanks < 20; ++blanks) {
        put(j.rail(0).about, std::string(20 + blanks, 'x'));
        j.rail(0).retransmitted = 36159;
        EXPECT_EQ(count(report(j.get(), FSBML_FORM_TEXT), "36 159 packets")
                      + count(report(j.get(), FSBML_FORM_TEXT), "36 159\n"),
                  1u);
    }
    EXPECT_EQ(count(report(j.get(), FSBML_FORM_HTML), "36&#160;159 sent again"), 1u);
    // A number that another follows is not one of thousands.
    put(j.rail(0).about, "MTU 1500 2 of 3");
    EXPECT_EQ(count(report(j.get(), FSBML_FORM_HTML), "MTU 1500 2 of 3"), 1u);
}

// A sum over fewer ranks is shorter by that alone.
TEST(JobReport, DrawsNoBarForWhatOnlySomeCouldHaveDone)
{
    Job j = many_ranks();
    const std::string page = report(j.get(), FSBML_FORM_HTML);
    const std::size_t at = page.find("aria-label=\"eth1 alone:");
    ASSERT_NE(at, std::string::npos);
    const std::string row = page.substr(at, page.find("</div>", at) - at);
    EXPECT_EQ(count(row, " in 56 of 64 ranks"), 3u) << row; // aloud, as a title, written
    EXPECT_EQ(count(row, "width=\"0.00%\""), 1u) << row;
    EXPECT_EQ(count(page, "Nothing that all ranks could have done would have been faster"), 1u);
}

// A few arrivals are shown, but no title is made of them.
TEST(JobReport, JudgesByEnoughArrivals)
{
    Job j(2, 2, {25.0, 2.5});
    j.sent(0, 10000, 4096).took(1000000, {1.1, 9.0}, 2.0).sent(1, 500, 4096, 3.0);
    EXPECT_EQ(count(report(j.get(), FSBML_FORM_HTML), "<h2>Messages on eth1 took "), 1u);
    std::fill(std::begin(j.rail(1).ratio), std::end(j.rail(1).ratio), 0);
    j.rail(1).ratio[50] = 19;
    std::string page = report(j.get(), FSBML_FORM_HTML);
    EXPECT_EQ(count(page, "<h2>Messages arrived about when they were predicted to"), 1u);
    EXPECT_EQ(count(page, ", median of 19<"), 1u);
    std::fill(std::begin(j.rail(0).ratio), std::end(j.rail(0).ratio), 0);
    EXPECT_EQ(count(report(j.get(), FSBML_FORM_HTML), "too few were seen to judge by"), 1u);
}

TEST(JobReport, TellsAFaultOfBothWaysOnce)
{
    Job j = two_rails();
    j.fault("eth1", "node0", "node1", "no carrier").fault("eth1", "node1", "node0", "no carrier");
    j.fault("eth1", "node0", "node2", "no carrier").fault("eth1", "node2", "node0", "no answer");
    const std::string text = report(j.get(), FSBML_FORM_TEXT);
    EXPECT_EQ(count(text, "  eth1, node0 to node1 and back: no carrier\n"), 1u) << text;
    EXPECT_EQ(count(text, "node1 to node0"), 0u);
    EXPECT_EQ(count(text, "  eth1, node0 to node2: no carrier\n  eth1, node2 to node0: no answer\n"), 1u)
        << text;
}

// However long the word on a fit is, the figures beside it can be seen.
TEST(JobReport, KeepsNotesOutOfTheTable)
{
    Job j = two_rails();
    put(j.table->rail[0].fit.reason, "a remark on this fit");
    const std::string page = report(j.get(), FSBML_FORM_HTML);
    EXPECT_EQ(count(page, "<li>eth0: 100 probes; a remark on this fit</li>"), 1u);
    EXPECT_EQ(count(page, "a remark on this fit"), 1u);
    // One that had no room is not told by halves.
    std::string remarks = "first; second; ";
    remarks.resize(FSBML_REASON_MAX - 1, 'x');
    put(j.table->rail[0].fit.reason, remarks);
    EXPECT_EQ(count(report(j.get(), FSBML_FORM_HTML), "100 probes; first; second; ...<"), 1u);
}

// A rail without a name has its key, and two of one name are told apart by it.
TEST(JobReport, NamesEveryRail)
{
    Job j = two_rails();
    put(j.rail(0).name, "");
    EXPECT_EQ(parsed(j)["rails"][0]["name"], "tcp:10.71.1.0/24");
    put(j.rail(0).name, "eth1");
    EXPECT_EQ(parsed(j)["rails"][0]["name"], "eth1 (tcp:10.71.1.0/24)");
    EXPECT_EQ(parsed(j)["rails"][1]["name"], "eth1 (tcp:10.71.2.0/24)");
}

TEST(JobReport, IsWholeWithNothingInIt)
{
    Job empty(0, 0, {});
    empty.s() = {};
    expect_whole(empty);
    Job zeros(2, 2, {});
    zeros.s().n_rails = 3;
    *zeros.table = {};
    zeros.table->n_rails = 3;
    zeros.table->rail[1].fit.valid = true; // with a G of 0
    zeros.s().n_ranks = FSBML_MOST_RANKS;
    zeros.s().n_faults = FSBML_MOST_FAULTS;
    zeros.s().n_peers = FSBML_MOST_PEERS;
    expect_whole(zeros);
    zeros.s().rail[1].messages = 5; // of 0 bytes
    zeros.s().rail[1].by_size[0].messages = 5;
    expect_whole(zeros);
    zeros.get();
    zeros.job = {zeros.summary.get(), nullptr, nullptr, nullptr, nullptr, nullptr};
    EXPECT_TRUE(json::parse(report(zeros.job, FSBML_FORM_JSON))["measurement"].is_null());
    EXPECT_EQ(html_fault(report(zeros.job, FSBML_FORM_HTML)), "");
    EXPECT_FALSE(report(zeros.job, FSBML_FORM_TEXT).empty());
}

TEST(JobReport, IsWholeWithAllThatThereCanBe)
{
    Job j(UINT32_MAX, UINT32_MAX, {});
    // Every number is as large as it can be.
    std::memset(&j.s(), 0xff, sizeof j.s());
    std::memset(j.table.get(), 0x7f, sizeof *j.table);
    for (auto &rail : j.table->rail) {
        rail.fit.valid = rail.fit.tight = rail.fit.in_turn = false;
    }
    expect_whole(j);
    std::memset(&j.s(), 0x7f, sizeof j.s());
    expect_whole(j);

    Job wide(128, 16, {32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17,
                       16, 15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1});
    for (std::uint32_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        wide.sent(i, 100000 / (i + 1), 1U << (i % 22));
        wide.rail(i).alone_ns = 1000000 * (i + 2);
    }
    wide.s().time_ns = 1000000;
    wide.changed(31, std::string(FSBML_NAME_MAX, 'n'), 1e6, 1e9, 1e-6).changed(0, "", 0, 1, 2);
    expect_whole(wide);
    EXPECT_TRUE(says(wide, "The other 31 rails carried "));
    EXPECT_EQ(parsed(wide)["rails"].size(), 32u);
}

TEST(JobReport, IsTheSameInAnyLocale)
{
    Job j = many_ranks();
    std::vector<std::string> before;
    for (const fsbml_form_t form : {FSBML_FORM_TEXT, FSBML_FORM_JSON, FSBML_FORM_HTML}) {
        before.push_back(report(j.get(), form));
    }
    const CommaLocale comma;
    for (const fsbml_form_t form : {FSBML_FORM_TEXT, FSBML_FORM_JSON, FSBML_FORM_HTML}) {
        EXPECT_EQ(report(j.get(), form), before[form]);
    }
}

// -------------------------------------------------------------- boundary
