// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The report of a calibration: read back by another's parser, whatever the names, numbers and locale are.

#include "api/fsbml_core.h"
#include "around.hpp"
#include "formats/formats.hpp"
#include "records.hpp"
#include "records/records.hpp"

#include "test.hpp"
#include <nlohmann/json.hpp>

#include <sys/stat.h>
#include <unistd.h>

namespace
{

using nlohmann::json;

struct Case {
    fsbml_table_t table = table_of(2);
    std::vector<fsbml_sample_t> samples;
    std::vector<fsbml_sample_t> holdout;
    fsbml_measurement_t report{};

    const fsbml_measurement_t &all()
    {
        report = {&table,         "4.1.4",        {"node0", "node7"}, 2,
                  samples.data(), samples.size(), holdout.data(),     holdout.size()};
        return report;
    }
    json parsed() { return json::parse(fsbml::measurement_text(all())); }
};

fsbml_sample_t sample(std::uint32_t rail, std::uint32_t packets, std::uint32_t bytes, std::uint64_t time_ns,
                      fsbml_probe_kind_t kind = FSBML_PROBE_THERE, bool warm_up = false)
{
    fsbml_sample_t s{};
    s.probe.kind = kind;
    s.probe.rail = rail;
    s.probe.packets = packets;
    s.probe.bytes = bytes;
    s.probe.warm_up = warm_up;
    s.time_ns = time_ns;
    return s;
}

} // namespace

TEST(Report, HasAllOfATable)
{
    Case c;
    fsbml_fit_t &fit = c.table.rail[1].fit;
    fit.low = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    fit.high = {1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5};
    fit.back.G_ns_per_byte = 40.25;
    fit.duplex = 1.25;
    fit.tight = fit.in_turn = true;
    const json r = c.parsed();
    EXPECT_EQ(r["schema"], "fsbml-measurement-1");
    EXPECT_EQ(r["openmpi"], "4.1.4");
    EXPECT_EQ(r["nodes"], json({"node0", "node7"}));
    EXPECT_EQ(r["ranks"], json({0, 7}));
    EXPECT_EQ(r["duration_ns"], 123456789012345ULL);
    EXPECT_EQ(r["attempts"], 2);
    EXPECT_EQ(r["reason"], "");
    ASSERT_EQ(r["rails"].size(), 2u);
    const json &rail = r["rails"][1];
    EXPECT_EQ(rail["name"], "eth1");
    EXPECT_EQ(rail["key"], "tcp:10.71.2.0/24");
    EXPECT_EQ(rail["valid"], true);
    EXPECT_EQ(rail["parameters"]["L_ns"], 20000.125);
    EXPECT_EQ(rail["parameters"]["G_ns_per_byte"], 80.0);
    EXPECT_EQ(rail["parameters"].size(), 11u);
    EXPECT_EQ(rail["low"]["L_ns"], 1);
    EXPECT_EQ(rail["low"]["G_above_ns_per_byte"], 11);
    EXPECT_EQ(rail["high"]["break_bytes"], 9.5);
    EXPECT_EQ(rail["back"]["G_ns_per_byte"], 40.25);
    EXPECT_EQ(rail["duplex"], 1.25);
    EXPECT_EQ(rail["tight"], true);
    EXPECT_EQ(rail["in_turn"], true);
    EXPECT_EQ(rail["residual"], 0.0125);
    EXPECT_EQ(rail["probes"], 101);
}

// 0 would be taken for a figure.
TEST(Report, WhatIsNotKnownIsNull)
{
    const json rail = Case().parsed()["rails"][0];
    for (const char *name : {"low", "high", "back", "duplex", "together"}) {
        ASSERT_TRUE(rail.contains(name)) << name;
        EXPECT_TRUE(rail[name].is_null()) << name;
    }
    EXPECT_TRUE(rail["samples"].empty());
}

TEST(Report, HasEachSampleOfARailAndWhatItCost)
{
    Case c;
    c.samples = {sample(0, 1, 32, 900, FSBML_PROBE_THERE, true), sample(0, 16, 100, 5000),
                 sample(1, 4, 2048, 70000, FSBML_PROBE_BACK), sample(1, 4, 1000, 90000, FSBML_PROBE_BOTH),
                 sample(1, 8, 32, 4000, FSBML_PROBE_TAKE)};
    c.samples[1].probe.delay_ns = 777;
    c.holdout = {sample(1, 3, 500, 1234)};
    c.holdout[0].predicted_ns = 1200;
    const json r = c.parsed()["rails"];
    EXPECT_EQ(r[0]["samples"],
              json::parse(R"([{"kind": "there", "n": 16, "d_ns": 777, "s_bytes": 100, "time_ns": 5000}])"));
    EXPECT_EQ(r[0]["cost"], json::parse(R"({"probes": 2, "bytes": 1764, "time_ns": 5900})"));
    ASSERT_EQ(r[1]["samples"].size(), 3u);
    EXPECT_EQ(r[1]["samples"][0]["kind"], "back");
    EXPECT_EQ(r[1]["samples"][1]["kind"], "both");
    EXPECT_EQ(r[1]["samples"][2]["kind"], "take");
    EXPECT_EQ(r[1]["cost"]["bytes"], 4 * 2048 + 2 * 4 * 1000 + 8 * 32);
    EXPECT_TRUE(r[0]["holdout"].empty());
    EXPECT_EQ(r[1]["holdout"][0]["predicted_ns"], 1200);
}

TEST(Report, EscapesWhatNamesMayHold)
{
    EXPECT_EQ(fsbml::json_string("a\"b\\c/d\n\t\x01"), R"("a\"b\\c/d\u000a\u0009\u0001")");
    // Valid: two, three, four bytes. Not: a lone one, a cut one, overlong ones, a surrogate, too high.
    EXPECT_EQ(fsbml::json_string("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"),
              "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
    for (const char *bad : {"\xff", "\xc3", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                            "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\x80"}) {
        const std::string text = fsbml::json_string(std::string(bad) + "x");
        EXPECT_EQ(text.substr(0, 7), "\"\\ufffd") << text;
        EXPECT_EQ(text.substr(text.size() - 2), "x\"");
        EXPECT_NO_THROW((void) json::parse(text).dump()) << text;
    }
    for (int first = 1; first < 256; ++first) {
        for (int second = 1; second < 256; ++second) {
            const std::string text{static_cast<char>(first), static_cast<char>(second), 'z'};
            EXPECT_NO_THROW((void) json::parse(fsbml::json_string(text)).dump()) << first << " " << second;
        }
    }
    Case c;
    std::snprintf(c.table.rail[0].name, sizeof c.table.rail[0].name, "my \"%s", std::string(99, 'x').c_str());
    std::memset(c.table.rail[0].key, '\\', sizeof c.table.rail[0].key); // no 0 at its end
    std::snprintf(c.table.reason, sizeof c.table.reason, "line\nline");
    const json r = c.parsed();
    EXPECT_EQ(r["rails"][0]["name"], c.table.rail[0].name);
    EXPECT_EQ(r["rails"][0]["key"], std::string(FSBML_NAME_MAX, '\\'));
    EXPECT_EQ(r["reason"], "line\nline");
}

TEST(Report, NumbersThatJsonLacks)
{
    Case c;
    c.table.rail[0].fit.params.L_ns = std::numeric_limits<double>::infinity();
    c.table.rail[0].fit.residual = std::nan("");
    c.table.rail[0].fit.params.g_ns = 1e-300;
    c.table.rail[0].fit.params.o_s_ns = 123456789.5;
    const json rail = c.parsed()["rails"][0];
    EXPECT_TRUE(rail["parameters"]["L_ns"].is_null());
    EXPECT_TRUE(rail["residual"].is_null());
    EXPECT_EQ(rail["parameters"]["g_ns"], 1e-300);
    EXPECT_EQ(rail["parameters"]["o_s_ns"], 123456789.5);
}

TEST(Report, KnowsNoLocale)
{
    Case c;
    c.samples = {sample(0, 16, 65536, 123456789)};
    const std::string text = fsbml::measurement_text(c.all());
    const CommaLocale comma;
    EXPECT_EQ(fsbml::measurement_text(c.all()), text);
}

struct ReportFile : FolderTest {
    ReportFile() : FolderTest("a/report.json") {}
};

TEST_F(ReportFile, IsStoredAsAWholeOrNotAtAll)
{
    char reason[FSBML_REASON_MAX] = "x";
    Case c;
    ASSERT_EQ(fsbml_measurement_store(path.c_str(), &c.all(), reason), 0) << reason;
    EXPECT_STREQ(reason, "");
    EXPECT_EQ(json::parse(std::ifstream(path))["rails"].size(), 2u);
    EXPECT_EQ(fsbml_measurement_store((path + "/b").c_str(), &c.all(), reason), -ENOTDIR);
    EXPECT_STRNE(reason, "");
    EXPECT_EQ(fsbml_measurement_store(nullptr, &c.all(), reason), -EINVAL);
    EXPECT_EQ(fsbml_measurement_store(path.c_str(), nullptr, reason), -EINVAL);
    c.all();
    c.report.sample = nullptr;
    c.report.n_samples = 1;
    EXPECT_EQ(fsbml_measurement_store(path.c_str(), &c.report, reason), -EINVAL);
}

// ---- the samples come from the calibration

TEST(CalibrationSamples, AreThoseThatWereReported)
{
    const fsbml_calib_config_t config{4, 2048, 1, 2, 1000000000, 1, 0};
    const fsbml_calib_rail_t known[2] = {{16384, {}}, {16384, {}}};
    fsbml_calib_t *calib = fsbml_calib_create(&config, 2, known);
    ASSERT_NE(calib, nullptr);
    std::size_t n = 1;
    (void) fsbml_calib_samples(calib, &n);
    EXPECT_EQ(n, 0u);
    fsbml_probe_t probe;
    std::uint64_t now = 0;
    std::vector<fsbml_probe_t> run;
    while (1 == fsbml_calib_next(calib, now, &probe) && run.size() < 200) {
        const std::uint64_t took = 50000 + 40 * probe.packets * probe.bytes + run.size();
        EXPECT_EQ(fsbml_calib_report(calib, &probe, took), 0);
        EXPECT_EQ(fsbml_calib_report(calib, &probe, took), -EINVAL) << "a second time";
        now += took;
        run.push_back(probe);
    }
    const fsbml_sample_t *sample = fsbml_calib_samples(calib, &n);
    ASSERT_EQ(n, run.size());
    ASSERT_GT(n, 10u);
    for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(sample[i].probe.id, run[i].id);
        EXPECT_EQ(sample[i].time_ns, 50000 + 40 * run[i].packets * run[i].bytes + i);
    }
    fsbml_calib_destroy(calib);
    EXPECT_EQ(fsbml_calib_samples(nullptr, &n), nullptr);
}

TEST(Holdout, IsNothingThatWasMeasured)
{
    fsbml_fit_t fit{};
    fit.valid = true;
    fit.params = {20e3, 2e3, 2e3, 3e3, 40.0, 0, 0, 0, 0, 0, 0};
    std::vector<fsbml_sample_t> samples;
    for (std::uint32_t bytes : {32U, 64U, 4096U, 65536U}) {
        samples.push_back(sample(1, 1, bytes, 1));
        samples.push_back(sample(1, 16, bytes, 1));
    }
    samples.push_back(sample(0, 1, 1, 1));                                // another rail's
    samples.push_back(sample(1, 1, 1000000, 1, FSBML_PROBE_THERE, true)); // a warm-up
    std::set<std::uint32_t> sizes;
    std::set<std::uint32_t> packets;
    for (std::uint64_t turn = 0; turn < 500; ++turn) {
        fsbml_probe_t p{};
        ASSERT_EQ(fsbml_holdout_probe(&fit, samples.data(), samples.size(), 1, turn, 10000000, &p), 0);
        EXPECT_EQ(p.rail, 1u);
        EXPECT_TRUE(p.bytes > 32 && p.bytes < 65536) << p.bytes;
        EXPECT_TRUE(p.bytes != 64 && p.bytes != 4096 && p.packets != 16) << p.packets << " x " << p.bytes;
        EXPECT_TRUE(p.packets == 1 || p.packets * (3e3 + 40.0 * (p.bytes - 1)) <= 10e6) << p.packets;
        sizes.insert(p.bytes);
        packets.insert(p.packets);
        fsbml_probe_t again{};
        ASSERT_EQ(fsbml_holdout_probe(&fit, samples.data(), samples.size(), 1, turn, 10000000, &again), 0);
        EXPECT_TRUE(p.bytes == again.bytes && p.packets == again.packets);
    }
    EXPECT_GT(sizes.size(), 300u);
    EXPECT_GT(packets.size(), 15u);
    EXPECT_LT(*sizes.begin(), 64u);
    EXPECT_GT(*sizes.rbegin(), 32768u);
}

TEST(Holdout, WhereThereIsNone)
{
    fsbml_fit_t fit{};
    fsbml_probe_t p{};
    const fsbml_sample_t two[] = {sample(0, 1, 32, 1), sample(0, 1, 33, 1)};
    EXPECT_EQ(fsbml_holdout_probe(&fit, two, 2, 0, 0, 1000, &p), -EINVAL) << "not valid";
    fit.valid = true;
    fit.params = {20e3, 2e3, 2e3, 3e3, 40.0, 0, 0, 0, 0, 0, 0};
    EXPECT_EQ(fsbml_holdout_probe(&fit, two, 2, 0, 0, 1000, &p), -ENOENT) << "nothing in between";
    EXPECT_EQ(fsbml_holdout_probe(&fit, two, 2, 1, 0, 1000, &p), -ENOENT) << "another rail's";
    EXPECT_EQ(fsbml_holdout_probe(&fit, nullptr, 2, 0, 0, 1000, &p), -EINVAL);
    EXPECT_EQ(fsbml_holdout_probe(&fit, two, 2, 0, 0, 1000, nullptr), -EINVAL);
}
