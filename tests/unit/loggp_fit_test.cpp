// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// From PRTT samples to parameters: exact, noisy, disturbed, and too few samples.
#include "measure/fit/fit.hpp"
#include "model.hpp"

#include "test.hpp"

using namespace fsbml;

namespace
{

constexpr std::uint32_t kSmall = 1;
const std::vector<std::uint32_t> kSizes{4096, 8192, 16384, 24576, 32768, 49152, 65536};

// The formulas of the thesis (3.2.2), its max() included.
double prtt(const fsbml_loggp_t &p, const Prtt &c)
{
    const double steps = p.G_ns_per_byte * (c.bytes - 1.0);
    const double between = std::max(p.o_s_ns + static_cast<double>(c.delay_ns), p.g_ns + steps);
    return 2.0 * (p.o_s_ns + p.L_ns + p.o_r_ns + steps) + (c.packets - 1.0) * between;
}

std::vector<Prtt> full_plan(std::uint64_t delay)
{
    std::vector<Prtt> cells{{1, 0, kSmall}, {16, 0, kSmall}, {16, delay, kSmall}};
    for (const std::uint32_t s : kSizes) {
        cells.push_back({1, 0, s});
        cells.push_back({16, 0, s});
    }
    return cells;
}

template <class Disturb>
Samples measure(const fsbml_loggp_t &p, int repeat, Disturb disturb)
{
    Samples samples;
    for (int i = 0; i < repeat; ++i) {
        for (const Prtt &c : full_plan(100000)) {
            samples.add(c, disturb(prtt(p, c)));
        }
    }
    return samples;
}

const fsbml_loggp_t kRails[] = {
    loggp(3e3, 1.4e3, 1.4e3, 1.5e3, 1.03),  // InfiniBand of the thesis, table 3.5.3.1
    loggp(65e3, 6.1e3, 6.1e3, 7e3, 8.49),   // Gigabit Ethernet, TCP
    loggp(15e3, 2e3, 2e3, 3e3, 400.0),      // 20 Mbit/s
    loggp(1e3, 0.3e3, 0.3e3, 0.4e3, 0.04),  // 200 Gbit/s
    loggp(5e6, 5e3, 5e3, 5e3, 8.0),         // far away
    loggp(200e3, 20e3, 20e3, 25e3, 8000.0), // 1 Mbit/s
};

} // namespace

// Samples that follow the formulas give the parameters back.
TEST(Fit, ExactSamples)
{
    for (const fsbml_loggp_t &truth : kRails) {
        const fsbml_fit_t fit = fit_rail(measure(truth, 1, [](double t) { return t; }), Samples(), kSmall);
        ASSERT_TRUE(fit.valid) << fit.reason;
        EXPECT_NEAR(fit.params.G_ns_per_byte, truth.G_ns_per_byte, 1e-9 * truth.G_ns_per_byte);
        EXPECT_NEAR(fit.params.g_ns, truth.g_ns, 1e-4 * truth.g_ns + 1e-3);
        EXPECT_NEAR(fit.params.o_s_ns, truth.o_s_ns, 1e-6 * truth.o_s_ns);
        EXPECT_EQ(fit.params.o_r_ns, fit.params.o_s_ns);
        EXPECT_NEAR(fit.params.L_ns, truth.L_ns, 1e-6 * truth.L_ns);
        EXPECT_LT(fit.residual, 1e-9);
        EXPECT_EQ(fit.probes, 3U + 2U * kSizes.size());
    }
}

// Delays of a tenth of L on every probe: the lower quartiles of nine bring G within 1 %, o within a
// microsecond.
TEST(Fit, NoisySamples)
{
    const std::uint64_t seed = 20261121;
    RecordProperty("seed", std::to_string(seed));
    std::mt19937_64 random(seed);
    for (const fsbml_loggp_t &truth : {kRails[1], kRails[2]}) {
        std::exponential_distribution<double> delay(10.0 / truth.L_ns);
        const fsbml_fit_t fit =
            fit_rail(measure(truth, 9, [&](double t) { return t + delay(random); }), Samples(), kSmall);
        ASSERT_TRUE(fit.valid) << fit.reason;
        EXPECT_NEAR(fit.params.G_ns_per_byte, truth.G_ns_per_byte, 0.01 * truth.G_ns_per_byte)
            << "seed " << seed;
        EXPECT_NEAR(fit.params.o_s_ns, truth.o_s_ns, 1e3) << "seed " << seed;
        EXPECT_NEAR(fit.params.L_ns, truth.L_ns, 0.15 * truth.L_ns) << "seed " << seed;
        EXPECT_LT(fit.residual, 0.05);
    }
}

// Every third probe is late by 4 ms: nothing moves, for the lower quartile of each PRTT stays.
TEST(Fit, OutliersInEveryCell)
{
    const std::uint64_t seed = 77;
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> chance(0.0, 1.0);
    for (const fsbml_loggp_t &truth : kRails) {
        const fsbml_fit_t fit =
            fit_rail(measure(truth, 15, [&](double t) { return chance(random) < 1.0 / 3.0 ? t + 4e6 : t; }),
                     Samples(), kSmall);
        ASSERT_TRUE(fit.valid) << fit.reason;
        EXPECT_NEAR(fit.params.G_ns_per_byte, truth.G_ns_per_byte, 0.01 * truth.G_ns_per_byte)
            << "seed " << seed;
    }
}

// One size that is wrong altogether does not bend the line (Theil-Sen), and the table says that something is
// off.
TEST(Fit, OneWildSize)
{
    const fsbml_loggp_t truth = kRails[1];
    Samples samples = measure(truth, 3, [](double t) { return t; });
    Samples bent;
    for (const Samples::Cell &c : samples.cells()) {
        for (const double t : c.times_ns) {
            bent.add(c.prtt, t + (65536 == c.prtt.bytes && 16 == c.prtt.packets ? 20e6 : 0.0));
        }
    }
    const fsbml_fit_t fit = fit_rail(bent, Samples(), kSmall);
    ASSERT_TRUE(fit.valid);
    EXPECT_NEAR(fit.params.G_ns_per_byte, truth.G_ns_per_byte, 0.01 * truth.G_ns_per_byte);
    EXPECT_NE(std::string(fit.reason).find("not one line"), std::string::npos) << fit.reason;
}

// A bucket takes the same time off every message after a pause, whatever its size, on both ways. A rail
// without one has none, and neither has one whose messages gain with their size.
TEST(Fit, Burst)
{
    for (const double bucket : {0.0, 3e3, 120e3, 1300e3}) {
        const fsbml_loggp_t truth = kRails[2];
        Samples samples;
        Samples growing;
        for (const Prtt &c : full_plan(100000)) {
            const double hidden = c.bytes > kSmall ? 2.0 * bucket : 0.0;
            samples.add(c, prtt(truth, c) - hidden);
            growing.add(c, prtt(truth, c) - hidden * (c.bytes - 4096.0) / 65536.0);
        }
        const fsbml_fit_t fit = fit_rail(samples, Samples(), kSmall);
        ASSERT_TRUE(fit.valid);
        // 3 us are less than the message's own overheads, and may be noise
        EXPECT_NEAR(fit.params.burst_ns, bucket > 20e3 ? bucket : 0.0, 1e3) << bucket;
        EXPECT_EQ(fit_rail(growing, Samples(), kSmall).params.burst_ns, 0.0) << bucket;
    }
}

// What a burst hides below 4 KiB does not touch G as long as there are larger sizes.
TEST(Fit, SmallSizesDoNotCountForG)
{
    const fsbml_loggp_t truth = kRails[2];
    Samples samples = measure(truth, 3, [](double t) { return t; });
    for (int i = 0; i < 3; ++i) {
        samples.add({1, 0, 2048}, 40e3);
        samples.add({16, 0, 2048}, 60e3);
    }
    const fsbml_fit_t fit = fit_rail(samples, Samples(), kSmall);
    EXPECT_NEAR(fit.params.G_ns_per_byte, truth.G_ns_per_byte, 1e-6 * truth.G_ns_per_byte);
}

// An intercept below zero is no gap: g is then what small messages take, and the reason names the intercept.
TEST(Fit, NegativeIntercept)
{
    Samples samples;
    const auto add = [&](std::uint32_t n, std::uint32_t s, double t) {
        for (int i = 0; i < 3; ++i) {
            samples.add({n, 0, s}, t);
        }
    };
    add(1, 1, 40e3);
    add(16, 1, 40e3 + 15 * 2e3);
    for (const std::uint32_t s : {4096U, 8192U, 12288U}) {
        add(1, s, 40e3);
        add(16, s, 40e3 + 15.0 * (400.0 * s - 100e3));
    }
    const fsbml_fit_t fit = fit_rail(samples, Samples(), kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_NEAR(fit.params.G_ns_per_byte, 400.0, 1e-6);
    EXPECT_NEAR(fit.params.g_ns, 2e3, 1.0);
    EXPECT_NE(std::string(fit.reason).find("g is that of small messages"), std::string::npos) << fit.reason;
}

// A sender that is slower than the receiver: o_s is as measured, o_r what the round trip leaves, L not
// negative.
TEST(Fit, OverheadOfTheSenderAlone)
{
    Samples samples;
    for (const Prtt &c : full_plan(100000)) {
        samples.add(c, prtt(loggp(0.0, 7e3, 2e3, 8e3, 8.0), c));
    }
    const fsbml_fit_t fit = fit_rail(samples, Samples(), kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_NEAR(fit.params.o_s_ns, 7e3, 1.0);
    EXPECT_NEAR(fit.params.o_r_ns, 2e3, 1.0);
    EXPECT_NEAR(fit.params.L_ns, 0.0, 1.0);
    EXPECT_STREQ(fit.reason, "only 1 sample of some sizes");
}

// o below zero or beyond what the round trip holds is replaced by the bound, with a remark; L is then not
// negative.
TEST(Fit, AbsurdOverhead)
{
    const fsbml_loggp_t truth = kRails[1];
    for (const double off : {-200e3 * 15, 200e3 * 15}) {
        Samples samples;
        for (const Prtt &c : full_plan(100000)) {
            samples.add(c, prtt(truth, c) + (0 != c.delay_ns ? off : 0.0));
        }
        const fsbml_fit_t fit = fit_rail(samples, Samples(), kSmall);
        ASSERT_TRUE(fit.valid) << fit.reason;
        EXPECT_GE(fit.params.o_s_ns, 0.0);
        EXPECT_LE(fit.params.o_s_ns + fit.params.o_r_ns, prtt(truth, {1, 0, kSmall}) / 2.0 + 1e-6);
        EXPECT_GE(fit.params.L_ns, 0.0);
        EXPECT_NE(std::string(fit.reason).find("o set to"), std::string::npos) << fit.reason;
    }
}

// No samples, no line, a falling line: not valid, all parameters zero, and a sentence why.
TEST(Fit, WhatCannotBeFitted)
{
    fsbml_fit_t fit = fit_rail(Samples(), Samples(), kSmall);
    EXPECT_FALSE(fit.valid);
    EXPECT_STREQ(fit.reason, "nothing measured within the budget");

    Samples one_size;
    one_size.add({1, 0, 1}, 40e3);
    one_size.add({16, 0, 1}, 60e3);
    fit = fit_rail(one_size, Samples(), kSmall);
    EXPECT_FALSE(fit.valid);
    EXPECT_NE(std::string(fit.reason).find("1 size measured"), std::string::npos) << fit.reason;

    Samples falling = one_size;
    for (const std::uint32_t s : {4096U, 8192U, 12288U}) {
        falling.add({1, 0, s}, 50e3);
        falling.add({16, 0, s}, 1e6 - s);
    }
    fit = fit_rail(falling, Samples(), kSmall);
    EXPECT_FALSE(fit.valid);
    EXPECT_NE(std::string(fit.reason).find("no usable G"), std::string::npos) << fit.reason;
    EXPECT_EQ(fit.params.G_ns_per_byte, 0.0);
    EXPECT_EQ(fit.params.L_ns, 0.0);
}

// The pilot's pair serves when nothing better is there, and only then.
TEST(Fit, RoughSamplesAreTheLastResort)
{
    Samples small;
    small.add({1, 0, 1}, 40e3);
    small.add({16, 0, 1}, 70e3);
    Samples rough;
    rough.add({1, 0, 2048}, 20e6);
    rough.add({2, 0, 2048}, 20e6 + 8000.0 * 2047 + 2e3);
    const fsbml_fit_t fit = fit_rail(small, rough, kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_NEAR(fit.params.G_ns_per_byte, 8000.0, 1.0);
    EXPECT_NE(std::string(fit.reason).find("o not measured"), std::string::npos) << fit.reason;

    const fsbml_loggp_t truth = kRails[1];
    const fsbml_fit_t better = fit_rail(measure(truth, 3, [](double t) { return t; }), rough, kSmall);
    EXPECT_NEAR(better.params.G_ns_per_byte, truth.G_ns_per_byte, 1e-6);
}

// A reason longer than its array is cut, never overrun.
TEST(Fit, ReasonsAreCut)
{
    Samples samples;
    samples.add({1, 0, 1}, 40e3);
    samples.add({16, 0, 1}, 60e3);
    samples.add({2, 500000, 1}, 1.0);
    samples.add({1, 0, 2048}, 50e3);
    samples.add({2, 0, 2048}, 50e3 + 123456.0);
    samples.add({1, 0, 3072}, 50e3);
    samples.add({2, 0, 3072}, 50e3 + 400e3);
    samples.add({1, 0, 1024}, 50e3);
    samples.add({2, 0, 1024}, 50e3 + 1.0);
    const fsbml_fit_t fit = fit_rail(samples, Samples(), kSmall);
    EXPECT_LT(std::string(fit.reason).size(), static_cast<std::size_t>(FSBML_REASON_MAX));
    EXPECT_GT(std::string(fit.reason).size(), 100U) << fit.reason;
}

// Where the processor is slower than the rail, small messages show o: that is neither g nor a piece of its
// own.
TEST(Fit, OverheadBeyondTheGap)
{
    const fsbml_loggp_t truth = loggp(15e3, 40e3, 10e3, 3e3, 2.0); // gap(18501) = o_s
    const fsbml_fit_t fit = fit_rail(measure(truth, 5, [](double t) { return t; }), Samples(), kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_NEAR(fit.params.G_ns_per_byte, 2.0, 1e-6);
    EXPECT_NEAR(fit.params.g_ns, 3e3, 1.0);
    EXPECT_NEAR(fit.params.o_s_ns, 40e3, 1.0);
    EXPECT_EQ(fit.params.break_bytes, 0.0);
}

// A round trip that is shorter than its overheads and bytes leaves no L; that is said.
TEST(Fit, NoRoomForLatency)
{
    Samples samples;
    for (const Prtt &c : full_plan(100000)) {
        Prtt larger = c;
        larger.bytes += 1000; // "small" has 1000 bytes that are gone in one PRTT
        const double hidden = 1 == c.packets && kSmall == c.bytes ? 90e3 : 0.0;
        samples.add(larger, prtt(loggp(0.0, 10e3, 10e3, 11e3, 50.0), larger) - hidden);
    }
    const fsbml_fit_t fit = fit_rail(samples, Samples(), 1001);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_EQ(fit.params.L_ns, 0.0);
    EXPECT_NE(std::string(fit.reason).find("L set to 0"), std::string::npos) << fit.reason;
}

// Samples of single small messages that were all disturbed: larger ones were answered sooner.
TEST(Fit, LargerMessagesBoundTheSmall)
{
    Samples samples;
    for (const Prtt &c : full_plan(100000)) {
        for (int i = 0; i < 3; ++i) {
            samples.add(c, prtt(kRails[1], c) * (1 == c.packets && kSmall == c.bytes ? 50.0 : 1.0));
        }
    }
    const fsbml_fit_t fit = fit_rail(samples, Samples(), kSmall);
    EXPECT_LT(fit.params.L_ns, 3.0 * kRails[1].L_ns);
    EXPECT_NEAR(fit.params.G_ns_per_byte, kRails[1].G_ns_per_byte, 0.01 * kRails[1].G_ns_per_byte);
}

// G is raised to what a model can hold.
TEST(Fit, LeastG)
{
    const fsbml_fit_t fit = fit_rail(
        measure(loggp(1e3, 100.0, 100.0, 200.0, 5e-4), 5, [](double t) { return t; }), Samples(), kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_EQ(fit.params.G_ns_per_byte, 1e-3);
    EXPECT_NE(std::string(fit.reason).find("G raised"), std::string::npos) << fit.reason;
}
