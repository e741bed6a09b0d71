// What a matrix makes of benchmarks and of starts.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "bench/matrix/matrix.hpp"

#include "../unit/test.hpp"

using namespace fsbml::matrix;

namespace
{

nlohmann::json benchmark(const std::vector<double> &fsbml, const std::vector<double> &r2,
                         const std::vector<double> &rail)
{
    nlohmann::json point = {{"operation", "exchange"}, {"messages", 32}, {"bytes", 65536}};
    point["arms"]["fsbml"]["launches"] = fsbml;
    point["arms"]["fsbml:single"]["launches"] = std::vector<double>{1.0};
    point["arms"]["r2"]["launches"] = r2;
    point["arms"]["rail0"]["launches"] = rail;
    return {{"points", nlohmann::json::array({point})}};
}

const char *const kTables =
    R"([node0:1] fsbml: rail   key                    L us   o_s us   o_r us     g us     G ns/B       MB/s  burst B probes residual        until
[node0:1] fsbml: rail0  tcp:10.71.0.0/24       2.01     2.87     0.86     5.31      42.00      23.83        0     57   1.30 %        tight
[node0:1] fsbml: rail1  tcp:10.71.1.0/24       2.01     2.83     0.82     9.47      320.0      2.349        0     34   1.28 %    disturbed
[node0:1] fsbml: rail1: the other way o_s 2.83 us, g 9.47 us, G 430 ns/B
[node0:1] fsbml: rail   key                    L us   o_s us   o_r us     g us     G ns/B       MB/s  burst B probes residual        until
[node0:1] fsbml: rail0  tcp:10.71.0.0/24       2.01     2.87     0.86     5.31      84.00      23.83        0     57   1.30 %        tight
[node0:1] fsbml: rail1  tcp:10.71.1.0/24          -        -        -        -          -          -        -     34        -
)";

} // namespace

TEST(MatrixCells, AreAgainstTheBestOfAllOthers)
{
    const std::vector<Cell> cells = cells_of("fast", benchmark({10, 11, 12}, {30, 30, 30}, {20, 20, 20}));
    ASSERT_EQ(1U, cells.size());
    EXPECT_EQ("fast", cells[0].regime);
    EXPECT_EQ("rail0", cells[0].best);
    EXPECT_EQ(11.0, cells[0].fsbml_us);
    EXPECT_EQ(20.0, cells[0].best_us);
    EXPECT_DOUBLE_EQ(0.55, cells[0].ratio);
    EXPECT_DOUBLE_EQ(0.5, cells[0].low);
    EXPECT_DOUBLE_EQ(0.6, cells[0].high);
    EXPECT_NEAR(11.0 / 30.0, cells[0].r2, 1e-12);
    EXPECT_EQ(Verdict::faster, cells[0].verdict);
}

TEST(MatrixCells, AreSlowerOnlyBeyondTheNoise)
{
    EXPECT_EQ(Verdict::slower, verdict_of(1.01, 1.05, 1.2));
    EXPECT_EQ(Verdict::unclear, verdict_of(0.99, 1.05, 1.2));
    EXPECT_EQ(Verdict::same, verdict_of(0.98, 1.0, 1.02));
    EXPECT_EQ(Verdict::same, verdict_of(1.01, 1.02, 1.02));
    EXPECT_EQ(Verdict::unclear, verdict_of(0.9, 1.0, 1.02));
    EXPECT_EQ(Verdict::faster, verdict_of(0.8, 0.9, 0.96));
}

TEST(MatrixCells, NeedABenchmark)
{
    EXPECT_THROW(cells_of("fast", nlohmann::json::parse("{}")), std::runtime_error);
    nlohmann::json alone = benchmark({1}, {1}, {1});
    alone["points"][0]["arms"].erase("r2");
    alone["points"][0]["arms"].erase("rail0");
    EXPECT_THROW(cells_of("fast", alone), std::runtime_error);
}

TEST(MatrixStarts, CountRails)
{
    const Starts s = starts_of("unlike", kTables, {42.0, 418.0});
    EXPECT_EQ(2U, s.starts);
    EXPECT_EQ(4U, s.rails);
    EXPECT_EQ(1U, s.without);
    EXPECT_EQ(1U, s.disturbed);
    EXPECT_EQ(2U, s.off);
    EXPECT_EQ(1U, s.far_off);
    EXPECT_DOUBLE_EQ(2.0, s.worst);
}

TEST(MatrixStarts, OfUnknownRatesAreOnlyCounted)
{
    const Starts s = starts_of("unshaped", kTables, {0.0, 0.0});
    EXPECT_EQ(4U, s.rails);
    EXPECT_EQ(0U, s.off);
}

// Bars are of the rail that is best, not of the worst one.
TEST(Matrix, IsHandedRound)
{
    nlohmann::json document = benchmark({10, 11, 12}, {80, 80, 80}, {20, 20, 20});
    document["points"][0]["messages"] = 32;
    document["points"][0]["bytes"] = 16384;
    Matrix matrix;
    matrix.setting = "here";
    matrix.cells = cells_of("fast", document);
    EXPECT_EQ(std::string::npos,
              leaflet_of(matrix).find("class=\"own\" style")); // nothing is known of its rails
    matrix.about = {{"fast", "2 and 1 Gbit/s"}};
    const std::string page = leaflet_of(matrix);
    EXPECT_NE(std::string::npos, page.find("<h2>2 and 1 Gbit/s</h2>"));
    EXPECT_NE(std::string::npos, page.find("32 messages of 16 KiB there and back"));
    EXPECT_NE(std::string::npos, page.find("class=\"own\" style=\"width: 13.75%\"></b></span><span>11 us"));
}

TEST(Matrix, IsShownThreeWays)
{
    Matrix matrix;
    matrix.setting = "here";
    matrix.cells = cells_of("fast", benchmark({30, 30, 30}, {30, 30, 30}, {20, 20, 20}));
    matrix.starts = {starts_of("fast", kTables, {42.0, 418.0})};
    EXPECT_NE(std::string::npos, text_of(matrix).find("SLOWER"));
    EXPECT_NE(std::string::npos, text_of(matrix).find("rail0"));
    matrix.cells[0].best = "r2:btl_tcp_bandwidth_rail0=2000";
    EXPECT_NE(std::string::npos, text_of(matrix).find("r2 told"));
    EXPECT_NE(std::string::npos, text_of(matrix).find("slower at 1;"));
    EXPECT_NE(std::string::npos, page_of(matrix).find("<tr class=\"SLOWER\">"));
    const nlohmann::json document = document_of(matrix);
    EXPECT_EQ("SLOWER", document["cells"][0]["verdict"]);
    EXPECT_EQ(2, document["starts"][0]["starts"]);
}
