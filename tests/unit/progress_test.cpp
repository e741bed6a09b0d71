// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// After a round: which parameters are sure, and where a size is missing.
#include "measure/prtt/prtt.hpp"

#include "test.hpp"

using namespace fsbml;

namespace
{

using GapOf = std::function<double(double)>;

// Three samples of PRTT(1,0,s) and PRTT(5,0,s), that scatter by some ns.
Samples samples_of(const std::vector<std::uint32_t> &sizes, const GapOf &gap, double scatter = 0.0)
{
    Samples samples;
    for (const std::uint32_t bytes : sizes) {
        for (int i = 0; i < 3; ++i) {
            samples.add(Prtt{1, 0, bytes}, 40e3 + gap(bytes) + scatter * i);
            samples.add(Prtt{5, 0, bytes}, 40e3 + 5.0 * gap(bytes) + scatter * i);
        }
    }
    return samples;
}

const std::vector<std::uint32_t> kSizes{1, 4096, 8192, 16384, 24576, 32768, 65536};

double line(double bytes)
{
    return 1e3 + 2.0 * bytes;
}

} // namespace

TEST(Progress, FewestSamples)
{
    Plan plan;
    plan.cells = {{Prtt{1, 0, 1}, 1}, {Prtt{5, 0, 1}, 1}};
    Samples samples;
    EXPECT_EQ(fewest_samples(plan, samples), 0U);
    samples.add(Prtt{1, 0, 1}, 1.0);
    samples.add(Prtt{1, 0, 1}, 1.0);
    EXPECT_EQ(fewest_samples(plan, samples), 0U);
    samples.add(Prtt{5, 0, 1}, 1.0);
    EXPECT_EQ(fewest_samples(plan, samples), 1U);
}

TEST(Progress, OneLineLacksNothing)
{
    EXPECT_EQ(missing_size(samples_of(kSizes, line), 1), 0U);
    // What the processors take hides the bytes below 20 KiB: no break.
    EXPECT_EQ(missing_size(samples_of(kSizes, [](double s) { return std::max(41e3, line(s)); }), 1), 0U);
    EXPECT_EQ(missing_size(Samples{}, 1), 0U);
    EXPECT_EQ(missing_size(samples_of({1, 4096, 65536}, [](double s) { return s * s; }), 1), 0U); // too few
}

// A step between two sizes far apart asks for one in between, until they are close.
TEST(Progress, StepIsNarrowedDown)
{
    const auto step = [](double s) { return line(s) + (s > 20000.0 ? 30e3 : 0.0); };
    std::vector<std::uint32_t> sizes = kSizes;
    std::uint32_t missing = 0;
    int rounds = 0;
    while (0 != (missing = missing_size(samples_of(sizes, step), 1)) && ++rounds < 10) {
        EXPECT_GT(missing, 16384U);
        EXPECT_LT(missing, 24576U);
        sizes.push_back(missing);
    }
    EXPECT_GE(rounds, 1);
    EXPECT_LE(rounds, 3);
}

// A piece of two sizes gets a third.
TEST(Progress, ThinPieceGetsASize)
{
    const auto high = [](double s) { return line(s) + (s > 30000.0 ? 60e3 : 0.0); };
    const std::uint32_t above = missing_size(samples_of(kSizes, high), 1);
    EXPECT_GT(above, 32768U);
    EXPECT_LT(above, 65536U);
    const auto low = [](double s) { return line(s) + (s > 10000.0 ? 60e3 : 0.0); };
    const std::uint32_t below = missing_size(samples_of(kSizes, low), 1);
    EXPECT_GT(below, 4096U);
    EXPECT_LT(below, 8192U);
}

// Samples that scatter as much as the gaps jump say nothing of a break.
TEST(Progress, NoiseIsNoBreak)
{
    const auto jump = [](double s) { return line(s) + (s > 20000.0 ? 8e3 : 0.0); };
    EXPECT_NE(missing_size(samples_of(kSizes, jump, 100.0), 1), 0U);
    EXPECT_EQ(missing_size(samples_of(kSizes, jump, 200e3), 1), 0U);
}

// Bounds within 2 % of G, 3 % of the gap of 8 KiB, 5 % of one way or 2 us are tight, wider ones are not; of
// two samples they have to be narrower.
TEST(Progress, Loose)
{
    fsbml_fit_t fit{};
    fit.valid = true;
    fsbml_loggp_t &p = fit.params;
    p.L_ns = 100e3;
    p.o_s_ns = p.o_r_ns = 2e3;
    p.g_ns = 5e3;
    p.G_ns_per_byte = 10.0;
    fit.low = fit.high = p;
    EXPECT_FALSE(find_loose(fit, 9).any());
    EXPECT_TRUE(find_loose(fit, 0).any());

    const auto loose = [&](double fsbml_loggp_t::*parameter, double by, std::uint32_t fewest) {
        fsbml_fit_t wide = fit;
        wide.low.*parameter -= by;
        wide.high.*parameter += by;
        return find_loose(wide, fewest);
    };
    EXPECT_FALSE(loose(&fsbml_loggp_t::G_ns_per_byte, 0.17, 9).any());
    EXPECT_TRUE(loose(&fsbml_loggp_t::G_ns_per_byte, 0.17, 2).line);
    EXPECT_FALSE(loose(&fsbml_loggp_t::G_ns_per_byte, 0.17, 2).way);
    EXPECT_TRUE(loose(&fsbml_loggp_t::G_ns_per_byte, 0.21, 9).line);
    EXPECT_FALSE(loose(&fsbml_loggp_t::g_ns, 2.2e3, 9).any());
    EXPECT_TRUE(loose(&fsbml_loggp_t::g_ns, 2.7e3, 9).line);
    EXPECT_FALSE(loose(&fsbml_loggp_t::L_ns, 5e3, 2).any());
    EXPECT_TRUE(loose(&fsbml_loggp_t::L_ns, 5.5e3, 9).way);
    EXPECT_FALSE(loose(&fsbml_loggp_t::L_ns, 5.5e3, 9).line);
    EXPECT_TRUE(loose(&fsbml_loggp_t::o_s_ns, 5.5e3, 9).way);
    EXPECT_TRUE(loose(&fsbml_loggp_t::o_r_ns, 5.5e3, 9).way);

    // A second piece counts if there is one.
    EXPECT_FALSE(loose(&fsbml_loggp_t::G_above_ns_per_byte, 5.0, 9).any());
    p.break_bytes = fit.low.break_bytes = fit.high.break_bytes = 30000.0;
    p.G_above_ns_per_byte = fit.low.G_above_ns_per_byte = fit.high.G_above_ns_per_byte = 5.0;
    p.g_above_ns = fit.low.g_above_ns = fit.high.g_above_ns = 300e3;
    EXPECT_FALSE(find_loose(fit, 9).any());
    EXPECT_TRUE(loose(&fsbml_loggp_t::G_above_ns_per_byte, 0.2, 9).line);
    EXPECT_TRUE(loose(&fsbml_loggp_t::g_above_ns, 20e3, 9).line);

    fit.valid = false;
    EXPECT_TRUE(find_loose(fit, 9).any());
    fit.valid = true;
    fit.low = fit.high = fsbml_loggp_t{}; // not known
    EXPECT_TRUE(find_loose(fit, 9).any());
}
