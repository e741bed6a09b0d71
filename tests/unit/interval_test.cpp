// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Intervals of a fit, compared with the true scatter of its parameters.
#include "measure/fit/fit.hpp"
#include "model.hpp"

#include "test.hpp"

using namespace fsbml;

namespace
{

constexpr std::uint32_t kSmall = 1;
constexpr fsbml_loggp_t kTruth = loggp(15e3, 2e3, 2e3, 3e3, 40.0, 0.0);

double prtt(const Prtt &c)
{
    const double steps = kTruth.G_ns_per_byte * (c.bytes - 1.0);
    const double between = std::max(kTruth.o_s_ns + static_cast<double>(c.delay_ns), kTruth.g_ns + steps);
    return 2.0 * (kTruth.o_s_ns + kTruth.L_ns + kTruth.o_r_ns + steps) + (c.packets - 1.0) * between;
}

// Samples that are late by an exponential time of that mean.
Samples measure(int repeat, double late_ns, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> late(1.0);
    std::vector<Prtt> cells{{1, 0, kSmall}, {16, 0, kSmall}, {16, 100000, kSmall}};
    for (const std::uint32_t s : {4096U, 8192U, 16384U, 32768U}) {
        cells.push_back({1, 0, s});
        cells.push_back({16, 0, s});
    }
    Samples samples;
    for (int i = 0; i < repeat; ++i) {
        for (const Prtt &c : cells) {
            samples.add(c, prtt(c) + late_ns * late(random));
        }
    }
    return samples;
}

fsbml_fit_t fit_of(const Samples &samples, std::uint64_t seed = 1)
{
    fsbml_fit_t fit = fit_rail(samples, {}, kSmall);
    find_interval(fit, samples, {}, kSmall, seed);
    return fit;
}

} // namespace

TEST(Interval, ExactSamplesLeaveNoDoubt)
{
    const fsbml_fit_t fit = fit_of(measure(5, 0.0, 1));
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_EQ(fit.low.G_ns_per_byte, fit.params.G_ns_per_byte);
    EXPECT_EQ(fit.high.G_ns_per_byte, fit.params.G_ns_per_byte);
    EXPECT_EQ(fit.low.L_ns, fit.high.L_ns);
}

// Nine of ten intervals should hold the true G; with nine samples a PRTT, and a quantile instead of a mean,
// it is some less.
TEST(Interval, HoldsTheTruth)
{
    constexpr int kSeeds = 300;
    int inside = 0;
    for (int seed = 1; seed <= kSeeds; ++seed) {
        const fsbml_fit_t fit = fit_of(measure(9, 5e3, static_cast<std::uint64_t>(seed)));
        ASSERT_TRUE(fit.valid) << fit.reason << ", seed " << seed;
        ASSERT_LE(fit.low.G_ns_per_byte, fit.high.G_ns_per_byte);
        inside +=
            fit.low.G_ns_per_byte <= kTruth.G_ns_per_byte && kTruth.G_ns_per_byte <= fit.high.G_ns_per_byte;
    }
    EXPECT_GE(inside, kSeeds * 75 / 100);
    EXPECT_LT(inside, kSeeds) << "an interval that always holds it says nothing";
}

TEST(Interval, NarrowsWithSamplesAndWidensWithNoise)
{
    double few = 0.0;
    double many = 0.0;
    double noisy = 0.0;
    const auto width = [](const fsbml_fit_t &fit) { return fit.high.G_ns_per_byte - fit.low.G_ns_per_byte; };
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        few += width(fit_of(measure(6, 5e3, seed)));
        many += width(fit_of(measure(60, 5e3, seed)));
        noisy += width(fit_of(measure(60, 50e3, seed)));
    }
    EXPECT_LT(many, few / 2.0);
    EXPECT_GT(noisy, 5.0 * many);
}

// With two pieces their parameters have bounds as well, and they hold the truth.
TEST(Interval, OfTwoPieces)
{
    fsbml_loggp_t truth = kTruth;
    truth.break_bytes = 20000.0;
    truth.g_above_ns = 900e3;
    truth.G_above_ns_per_byte = 20.0;
    const std::uint64_t seed = 11;
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> late(1.0);
    Samples samples;
    for (int i = 0; i < 9; ++i) {
        for (const Prtt &c : {Prtt{1, 0, kSmall}, Prtt{16, 0, kSmall}, Prtt{16, 100000, kSmall}}) {
            samples.add(c, prtt(c) + 5e3 * late(random));
        }
        for (const std::uint32_t s : {4096U, 6144U, 8192U, 16384U, 24576U, 32768U, 49152U, 65536U}) {
            const double gap = s < truth.break_bytes
                                   ? truth.g_ns + truth.G_ns_per_byte * (s - 1.0)
                                   : truth.g_above_ns + truth.G_above_ns_per_byte * (s - truth.break_bytes);
            const double one = 2.0 * (truth.o_s_ns + truth.L_ns + truth.o_r_ns + gap - truth.g_ns);
            samples.add({1, 0, s}, one + 5e3 * late(random));
            samples.add({16, 0, s}, one + 15.0 * gap + 5e3 * late(random));
        }
    }
    const fsbml_fit_t fit = fit_of(samples);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_GT(fit.params.break_bytes, 16384.0);
    EXPECT_LE(fit.params.break_bytes, 24576.0);
    EXPECT_LE(fit.low.break_bytes, fit.params.break_bytes);
    EXPECT_GE(fit.high.break_bytes, fit.params.break_bytes);
    EXPECT_GT(fit.low.G_above_ns_per_byte, 19.0) << "seed " << seed;
    EXPECT_LT(fit.high.G_above_ns_per_byte, 21.0) << "seed " << seed;
    EXPECT_LT(fit.low.g_above_ns, fit.high.g_above_ns);
}

TEST(Interval, IsRepeatable)
{
    const Samples samples = measure(9, 5e3, 7);
    const fsbml_fit_t one = fit_of(samples, 3);
    const fsbml_fit_t same = fit_of(samples, 3);
    EXPECT_EQ(one.low.G_ns_per_byte, same.low.G_ns_per_byte);
    EXPECT_EQ(one.high.L_ns, same.high.L_ns);
}

TEST(Interval, NothingOfAnInvalidFit)
{
    Samples samples;
    samples.add({1, 0, kSmall}, 1e5);
    const fsbml_fit_t fit = fit_of(samples);
    EXPECT_FALSE(fit.valid);
    EXPECT_EQ(fit.high.G_ns_per_byte, 0.0);
}

// Of a calibration, and of nothing that is none.
TEST(Interval, OfACalibration)
{
    fsbml_calib_config_t config{16, 2048, 1, 3, 300000000, 1, 0};
    const fsbml_calib_rail_t most{65536, {}};
    fsbml_calib_t *calib = fsbml_calib_create(&config, 1, &most);
    ASSERT_NE(calib, nullptr);
    std::mt19937_64 random(5);
    std::uint64_t now = 0;
    fsbml_probe_t probe;
    while (1 == fsbml_calib_next(calib, now, &probe)) {
        const auto time =
            static_cast<std::uint64_t>(prtt({probe.packets, probe.delay_ns, probe.bytes})) + random() % 3000;
        now += time;
        ASSERT_EQ(fsbml_calib_report(calib, &probe, time), 0);
    }
    fsbml_fit_t fit;
    ASSERT_EQ(fsbml_calib_fit(calib, 0, &fit), 0);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_EQ(fit.high.G_ns_per_byte, 0.0) << "not asked for yet";
    ASSERT_EQ(fsbml_calib_interval(calib, 0, &fit), 0);
    EXPECT_GT(fit.low.G_ns_per_byte, 0.9 * kTruth.G_ns_per_byte);
    EXPECT_LT(fit.low.G_ns_per_byte, fit.high.G_ns_per_byte);
    EXPECT_LT(fit.high.G_ns_per_byte, 1.1 * kTruth.G_ns_per_byte);
    EXPECT_EQ(fsbml_calib_interval(calib, 1, &fit), -EINVAL);
    EXPECT_EQ(fsbml_calib_interval(nullptr, 0, &fit), -EINVAL);
    EXPECT_EQ(fsbml_calib_interval(calib, 0, nullptr), -EINVAL);
    fsbml_calib_destroy(calib);
}
