// What is made of FSBML's reports: figures over several calibrations, predictions, tables, plots, the
// document.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/calibrate/calibrate.hpp"

#include "model/model.hpp"
#include "records/records.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace fsbml::bench;

const double tolerance = 1e-9;

fsbml_loggp_t rail_of(double ns_per_byte)
{
    fsbml_loggp_t p{};
    p.L_ns = 20e3;
    p.o_s_ns = 2e3;
    p.o_r_ns = 1e3;
    p.g_ns = 3e3;
    p.G_ns_per_byte = ns_per_byte;
    return p;
}

// A report of FSBML's own writing: two rails, samples as the model says, the first with a remark.
std::string report_of(double factor = 1, bool valid = true)
{
    fsbml_table_t table{};
    table.n_rails = 2;
    table.pair[1] = 3;
    table.duration_ns = static_cast<std::uint64_t>(250e6 * factor);
    std::vector<fsbml_sample_t> samples, holdout;
    for (std::uint32_t i = 0; i < 2; ++i) {
        fsbml_table_rail_t &rail = table.rail[i];
        std::snprintf(rail.name, sizeof rail.name, "rail%u", i);
        std::snprintf(rail.key, sizeof rail.key, "tcp:10.0.%u.0/24", i);
        rail.fit.valid = valid || i == 0;
        rail.fit.params = rail_of(factor * (i == 0 ? 40 : 400));
        rail.fit.low = rail_of(factor * (i == 0 ? 39 : 390));
        rail.fit.high = rail_of(factor * (i == 0 ? 41 : 410));
        rail.fit.residual = 0.01;
        rail.fit.probes = 12;
        rail.fit.duplex = i == 0 ? 1.5 : 0;
        std::snprintf(rail.fit.reason, sizeof rail.fit.reason, "%s",
                      i == 0  ? "few samples"
                      : valid ? ""
                              : "no answer");
        for (std::uint32_t bytes : {32U, 1024U, 4096U, 16384U}) {
            for (std::uint32_t packets : {1U, 2U, 8U}) {
                for (int k = 0; k < 3; ++k) {
                    fsbml_sample_t s{};
                    s.probe.rail = i;
                    s.probe.packets = packets;
                    s.probe.bytes = bytes;
                    s.time_ns = static_cast<std::uint64_t>(
                                    fsbml::predict_prtt(rail.fit, FSBML_PROBE_THERE, packets, 0, bytes))
                                + 100U * k;
                    samples.push_back(s);
                }
            }
        }
        fsbml_sample_t s{};
        s.probe.rail = i;
        s.probe.packets = 3;
        s.probe.bytes = 5000;
        s.time_ns =
            static_cast<std::uint64_t>(fsbml::predict_prtt(rail.fit, FSBML_PROBE_THERE, 3, 0, 5000) * 1.25);
        holdout.push_back(s);
    }
    const fsbml_measurement_t report{&table,         "4.1.4",        {"node0", "node1"}, 1,
                                     samples.data(), samples.size(), holdout.data(),     holdout.size()};
    return fsbml::measurement_text(report);
}

Run run_of(const std::string &text)
{
    std::istringstream stream(text);
    return read_run(stream);
}

Findings findings_of_factors(const std::vector<double> &factors,
                             const std::map<std::string, Setting> &set = {})
{
    std::vector<Run> runs;
    for (double factor : factors) {
        runs.push_back(run_of(report_of(factor)));
    }
    return findings_of("a \"quoted\" place", std::move(runs), set);
}

const Estimate &gap_of(const RailFindings &rail)
{
    return rail.value[4];
}

TEST(Run, IsWhatFsbmlReported)
{
    const auto run = run_of(report_of());
    ASSERT_EQ(run.table.n_rails, 2u);
    EXPECT_STREQ(run.table.rail[1].name, "rail1");
    EXPECT_STREQ(run.table.rail[0].fit.reason, "few samples");
    EXPECT_DOUBLE_EQ(run.table.rail[1].fit.params.G_ns_per_byte, 400);
    EXPECT_DOUBLE_EQ(run.table.rail[1].fit.high.G_ns_per_byte, 410);
    EXPECT_DOUBLE_EQ(run.table.rail[0].fit.duplex, 1.5);
    EXPECT_DOUBLE_EQ(run.table.rail[1].fit.duplex, 0);
    EXPECT_EQ(run.table.pair[1], 3u);
    EXPECT_EQ(run.nodes[1], "node1");
    EXPECT_EQ(run.samples.size(), 2u * 4 * 3 * 3);
    EXPECT_EQ(run.cost[0].probes, 36);
    ASSERT_EQ(run.holdout.size(), 2u);
    EXPECT_NEAR(static_cast<double>(run.holdout[0].predicted_ns),
                static_cast<double>(run.holdout[0].time_ns) / 1.25, 2);
}

TEST(Run, IsNothingElse)
{
    std::string other = report_of();
    other.replace(other.find("measurement-1"), 13, "measurement-2");
    for (const std::string &text : {std::string(), std::string("{}"), std::string("hello"),
                                    std::string("[1]"), other, report_of().substr(0, 500)}) {
        EXPECT_THROW(run_of(text), std::runtime_error) << text.substr(0, 40);
    }
}

TEST(Findings, MediansOverCalibrations)
{
    const Findings f = findings_of_factors({1, 1.1, 0.9, 1, 1.3});
    ASSERT_EQ(f.rails.size(), 2u);
    const Estimate &gap = gap_of(f.rails[0]);
    EXPECT_EQ(gap.runs.size(), 5u);
    EXPECT_NEAR(gap.median, 40, tolerance);
    EXPECT_NEAR(gap.spread, 2, tolerance);
    EXPECT_NEAR(gap.most, 12, tolerance);
    EXPECT_NEAR(*gap.low, 39, tolerance);
    EXPECT_NEAR(*gap.high, 41, tolerance);
    EXPECT_FALSE(gap.set);
    EXPECT_NEAR(f.rails[0].typical.params.G_ns_per_byte, 40, tolerance);
    EXPECT_EQ(f.rails[0].notes, std::vector<std::string>{"few samples"}) << "once";
    EXPECT_NEAR(f.duration_ns.median, 250e6, 1);
    EXPECT_FALSE(f.rails[1].duplex);
    EXPECT_NEAR(f.rails[0].duplex->median, 1.5, tolerance);
    ASSERT_EQ(f.rails[0].holdout.size(), 5u);
    EXPECT_NEAR(error_of(f.rails[0].holdout[0]), 0.2, 1e-4);
}

// Parameters that belong together: not the break of one calibration with the gap of another.
TEST(Findings, TypicalIsARun)
{
    const Findings f = findings_of_factors({1, 1.2});
    const double gap = f.rails[0].typical.params.G_ns_per_byte;
    EXPECT_NEAR(gap_of(f.rails[0]).median, 44, tolerance);
    EXPECT_TRUE(std::abs(gap - 40) < tolerance || std::abs(gap - 48) < tolerance) << gap;
    const fsbml_table_t table = table_of(f);
    EXPECT_EQ(table.rail[0].fit.params.G_ns_per_byte, gap);
    fsbml_table_t read{};
    std::string why;
    EXPECT_EQ(fsbml::table_from_file(read, fsbml::table_to_file(table, "x"), nullptr, why), 0) << why;
    EXPECT_NEAR(read.rail[1].fit.params.L_ns, 20e3, 1e-3);
}

TEST(Findings, ARailThatWasNotMeasured)
{
    const Findings f = findings_of("x", {run_of(report_of(1, true)), run_of(report_of(1, false))}, {});
    EXPECT_TRUE(f.rails[0].valid);
    EXPECT_FALSE(f.rails[1].valid);
    EXPECT_EQ(gap_of(f.rails[1]).runs.size(), 1u);
    EXPECT_EQ(f.rails[1].notes, std::vector<std::string>{"no answer"});
    EXPECT_EQ(f.rails[1].failure, "no answer");
    const Findings none = findings_of("x", {run_of(report_of(1, false))}, {});
    EXPECT_NE(parameters_table(none).find("rail1  not measured"), std::string::npos);
    EXPECT_EQ(notes_text(none), "rail0: few samples\nrail1: no answer\n");
    EXPECT_NO_THROW(record_of(none).dump());
    EXPECT_FALSE(figures_of(none).empty());
}

TEST(Setting, IsARateAndADelay)
{
    // 1514 bytes of frame for 1448 of data.
    EXPECT_NEAR(setting_of("200mbit").ns_per_byte.value(), 40 * 1514.0 / 1448, tolerance);
    EXPECT_FALSE(setting_of("none,offload=on").ns_per_byte);
    EXPECT_NEAR(setting_of("1gbit,jitter=1us,delay=1.5ms,loss=1%").latency_ns, 1.5e6, tolerance);
    EXPECT_EQ(setting_of("20mbit").latency_ns, 0);
    for (const char *bad : {"", "200", "mbit", "200mb", "-1mbit", "20mbit,delay=x", "20mbit,delay=5"}) {
        EXPECT_THROW(setting_of(bad), std::invalid_argument) << bad;
    }
}

TEST(Show, SetValuesStandBesideTheMeasured)
{
    const std::string once = parameters_table(findings_of_factors({1}));
    EXPECT_EQ(once.find("off by"), std::string::npos);
    EXPECT_EQ(once.find("spread"), std::string::npos);
    EXPECT_EQ(once.find("burst"), std::string::npos) << "there is none";
    const std::string text =
        parameters_table(findings_of_factors({1, 1.1, 0.9}, {{"rail0", {50, 10e3}}, {"rail1", {400, 0}}}));
    EXPECT_NE(text.find("± spread"), std::string::npos) << text;
    // of rail0, L: 10 us set; G: 50 ns/B set, 40 measured. Of rail1, L: 0 set.
    std::istringstream lines(text);
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("latency") != std::string::npos || line.find("gap per byte") != std::string::npos) {
            found.push_back(line);
        }
    }
    ASSERT_EQ(found.size(), 4u);
    EXPECT_NE(found[0].find("+100.0 %"), std::string::npos) << found[0];
    EXPECT_NE(found[1].find("-20.0 %"), std::string::npos) << found[1];
    EXPECT_NE(text.find("+20.00 us"), std::string::npos) << text;
    EXPECT_NE(found[3].find("+0.00 %"), std::string::npos) << found[3];
}

TEST(Show, QualityAndTests)
{
    const Findings f = findings_of_factors({1});
    EXPECT_NE(quality_table(f).find("both ways"), std::string::npos);
    EXPECT_EQ(quality_table(f).find("beside others"), std::string::npos) << "that was not measured";
    EXPECT_NE(holdout_table(f).find("20.0 %"), std::string::npos) << holdout_table(f);
    Findings none = f;
    none.rails[0].holdout.clear();
    none.rails[1].holdout.clear();
    EXPECT_EQ(holdout_table(none), "");
}

TEST(Figures, ARailHasTwoAndTheTestsOne)
{
    Findings f = findings_of_factors({1, 1});
    std::vector<std::string> names;
    for (const Plot &plot : figures_of(f)) {
        names.push_back(plot.name);
        EXPECT_NE(plot.script.find("plot "), std::string::npos);
        EXPECT_EQ(plot.script.find("nan"), std::string::npos) << plot.script;
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"gap-rail0", "prtt-rail0", "gap-rail1", "prtt-rail1", "holdout"}));
    const std::vector<Measured> gaps = gaps_of(f, "tcp:10.0.0.0/24");
    ASSERT_EQ(gaps.size(), 4u) << "one a size, of the largest n";
    EXPECT_EQ(gaps[3].bytes, 16384);
    EXPECT_NEAR(gaps[3].us, (3e3 + 40.0 * 16383) / 1e3, 0.01);
    EXPECT_EQ(singles_of(f, "tcp:10.0.1.0/24").size(), 4u);
    EXPECT_TRUE(singles_of(f, "tcp:10.0.9.0/24").empty());
    f.rails[0].typical.params.break_bytes = 4096;
    f.rails[0].typical.params.g_above_ns = 200e3;
    f.rails[0].typical.params.G_above_ns_per_byte = 44;
    EXPECT_NE(figures_of(f)[0].script.find("$below with lines"), std::string::npos);
    EXPECT_NE(figures_of(f)[0].script.find("$above with lines"), std::string::npos);
    f.rails[0].typical.params.break_bytes = 1e6; // beyond what was measured
    EXPECT_EQ(figures_of(f)[0].script.find("$above"), std::string::npos);
}

TEST(Record, HasTheReports)
{
    const nlohmann::json d = record_of(findings_of_factors({1, 1.1}, {{"rail0", {50, 10e3}}}));
    EXPECT_EQ(d["schema"], "fsbml-calibrate-1");
    EXPECT_EQ(d["reports"].size(), 2u);
    EXPECT_EQ(d["rails"][0]["parameters"]["G_ns_per_byte"]["set"], 50);
    EXPECT_EQ(d["rails"][0]["parameters"]["G_ns_per_byte"]["runs"].size(), 2u);
    EXPECT_FALSE(d["rails"][1]["parameters"]["G_ns_per_byte"].contains("set"));
    EXPECT_NEAR(d["rails"][0]["holdout"]["p95_error"].get<double>(), 0.2, 1e-4);
}

TEST(Calibrations, WhyThereIsNoReport)
{
    const auto why = [](const std::string &text) {
        std::istringstream log(text);
        return why_nothing(log);
    };
    EXPECT_EQ(why(""), "FSBML did not run in this job");
    EXPECT_NE(why("[node0:1] fsbml: one rail\n").find("at least two"), std::string::npos);
    EXPECT_NE(why("[node0:1] fsbml: x\nThe report of the measurement cannot be written. This\n")
                  .find("could not write"),
              std::string::npos);
}

} // namespace
