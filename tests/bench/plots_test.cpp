// What is drawn, and what the document says.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "bench/harness/harness.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace fsbml::bench;

std::string line(const std::string &operation, const std::string &arm, int bytes, const std::string &unit,
                 double value)
{
    std::ostringstream text;
    text << R"({"bench":"b","operation":")" << operation << R"(","variant":"","arm":")" << arm
         << R"(","messages":1,"bytes":)" << bytes << R"(,"unit":")" << unit
         << R"(","mean":0,"traffic":{"eth0":90,"eth1":10},"samples":[)" << value << "]}\n";
    return text.str();
}

Report report_of(const std::string &lines)
{
    Report report;
    report.bench = "b";
    report.setting = "a \"quoted\" place";
    report.arms = make_arms({"rails", "r2", "fsbml"}, {"eth0", "eth1"}, RailKind::network);
    std::istringstream stream(lines);
    report.results.read(stream);
    report.rails.rails.push_back({"eth0", "tcp:x", 1, 2, 3, 4, 50});
    report.conclusion = conclude(report.results, report.arms);
    return report;
}

std::vector<std::string> names(const std::vector<Plot> &plots)
{
    std::vector<std::string> list;
    for (const Plot &plot : plots) {
        list.push_back(plot.name);
    }
    std::sort(list.begin(), list.end());
    return list;
}

std::string sizes(const std::string &operation, const std::string &unit)
{
    std::string lines;
    for (int bytes : {0, 1024, 4096}) {
        for (const char *arm : {"eth0", "eth1", "r2", "fsbml"}) {
            lines += line(operation, arm, bytes, unit, bytes + 1);
        }
    }
    return lines;
}

TEST(Plots, AreTimeAndBandwidthOverSize)
{
    const std::vector<Plot> plots = plots_of(report_of(sizes("latency", "us")));
    EXPECT_EQ(names(plots),
              (std::vector<std::string>{"latency-bandwidth", "latency-time", "share-fsbml", "share-r2"}));
}

TEST(Plots, OfRatesAreOne)
{
    const std::vector<std::string> found = names(plots_of(report_of(sizes("bandwidth", "MB/s"))));
    EXPECT_TRUE(std::find(found.begin(), found.end(), "bandwidth-rate") != found.end());
    EXPECT_TRUE(std::find(found.begin(), found.end(), "bandwidth-time") == found.end());
}

TEST(Plots, WithoutSizesAreBars)
{
    const std::vector<Plot> plots =
        plots_of(report_of(line("run", "fsbml", 7, "s", 2) + line("sort", "fsbml", 8, "s", 3)
                           + line("sort", "fsbml", 9, "s", 4)));
    const auto found =
        std::find_if(plots.begin(), plots.end(), [](const Plot &plot) { return plot.name == "all-in-s"; });
    ASSERT_TRUE(found != plots.end());
    for (const char *label : {"\"run\" ", "\"sort 8 B\" ", "\"sort 9 B\" "}) {
        EXPECT_NE(found->script.find(label), std::string::npos) << label;
    }
}

TEST(Plots, AreDrawnByGnuplotAndNamedIfItCannot)
{
    EXPECT_THROW(draw({{"wrong", "this is no command of gnuplot\n"}}, testing::TempDir() + "/fsbml-plots"),
                 std::runtime_error);
}

TEST(Document, HasEverything)
{
    const nlohmann::json document = document_of(report_of(sizes("latency", "us")));
    EXPECT_EQ(document.at("schema"), "fsbml-bench-1");
    EXPECT_EQ(document.at("arms").size(), 4u);
    EXPECT_EQ(document.at("points").size(), 3u);
    EXPECT_EQ(document.at("points")[1].at("ratios").at("fsbml/best").at("median"), 1.0);
    EXPECT_EQ(document.at("points")[1].at("verdict"), "unclear");
    EXPECT_EQ(document.at("points")[1].at("arms").at("r2").at("traffic").at("eth1"), 10);
    EXPECT_EQ(document.at("rails")[0].at("G_ns_per_byte"), 50);
    EXPECT_EQ(document.at("conclusion").at("conclusive"), false);
    EXPECT_EQ(document.at("launches").size(), 12u);
}

} // namespace
