// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The other direction, and both at once.
#include "measure/fit/fit.hpp"
#include "probes.hpp"

#include "test.hpp"

using namespace fsbml;
using namespace probes;

namespace
{

const Prtt kBoth{16, 0, 20480, FSBML_PROBE_BOTH};

// Back it is slower.
fsbml_fit_t uneven()
{
    fsbml_fit_t fit = gigabit();
    fit.back.o_s_ns = 7e3;
    fit.back.g_ns = 9e3;
    fit.back.G_ns_per_byte = 12.0;
    return fit;
}

Samples both_ways(const fsbml_fit_t &fit)
{
    Samples samples = measured(fit);
    add(samples, fit, plan(FSBML_PROBE_BACK));
    return samples;
}

bool says(const fsbml_fit_t &fit, const char *text)
{
    return std::string(fit.reason).find(text) != std::string::npos;
}

} // namespace

TEST(Back, NothingWithoutSamples)
{
    const fsbml_fit_t fit = fit_rail(measured(gigabit()), {}, kSmall);
    EXPECT_EQ(fit.back.G_ns_per_byte, 0.0);
    EXPECT_EQ(fit.back.g_ns, 0.0);
    EXPECT_EQ(fit.back.o_s_ns, 0.0);
    EXPECT_EQ(fit.duplex, 0.0);
}

TEST(Back, ItsOwnLine)
{
    const fsbml_fit_t fit = fit_rail(both_ways(uneven()), {}, kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_NEAR(fit.back.G_ns_per_byte, 12.0, 0.01);
    EXPECT_NEAR(fit.back.g_ns, 9e3, 10.0);
    EXPECT_NEAR(fit.back.o_s_ns, 7e3, 1.0);
    EXPECT_NEAR(fit.params.G_ns_per_byte, 8.0, 0.01);
    // The answers come at its pace: that is no overhead of sending or of taking in.
    EXPECT_EQ(fit.params.O_s_ns_per_byte, 0.0);
    EXPECT_EQ(fit.params.burst_ns, 0.0);
    EXPECT_STREQ(fit.reason, "");
}

// Without its delayed PRTT o is taken to be as there, and n = 1 may be missing.
TEST(Back, FewProbes)
{
    Samples samples = measured(uneven());
    for (const std::uint32_t s : {kSmall, 8192U, 32768U}) {
        add(samples, uneven(), {{4, 0, s, FSBML_PROBE_BACK}, {12, 0, s, FSBML_PROBE_BACK}});
    }
    const fsbml_fit_t fit = fit_rail(samples, {}, kSmall);
    EXPECT_NEAR(fit.back.G_ns_per_byte, 12.0, 0.01);
    EXPECT_NEAR(fit.back.o_s_ns, fit.params.o_s_ns, 1e-9);
}

// One size beside the small one, which has far fewer samples: still two points.
TEST(Back, FewSamplesOfTheSmallSize)
{
    Samples samples = measured(uneven());
    const std::vector<Prtt> large{{1, 0, 8192, FSBML_PROBE_BACK}, {2, 0, 8192, FSBML_PROBE_BACK}};
    add(samples, uneven(), large);
    for (const Prtt &c : {Prtt{1, 0, kSmall, FSBML_PROBE_BACK}, Prtt{16, 0, kSmall, FSBML_PROBE_BACK}}) {
        samples.add(c, exact(uneven(), c));
        samples.add(c, exact(uneven(), c));
    }
    EXPECT_NEAR(fit_rail(samples, {}, kSmall).back.G_ns_per_byte, 12.0, 0.01);
}

// A line that falls is none; o out of bounds is set to the bound.
TEST(Back, Bounds)
{
    Samples falling = measured(gigabit());
    for (const std::uint32_t s : {4096U, 8192U, 16384U}) {
        falling.add({1, 0, s, FSBML_PROBE_BACK}, 100e3);
        falling.add({2, 0, s, FSBML_PROBE_BACK}, 200e3 - s);
    }
    fsbml_fit_t fit = fit_rail(falling, {}, kSmall);
    ASSERT_TRUE(fit.valid);
    EXPECT_EQ(fit.back.G_ns_per_byte, 0.0);
    EXPECT_EQ(fit.back.o_s_ns, 0.0);
    EXPECT_TRUE(says(fit, "way back is not known")) << fit.reason;

    const Prtt delayed{16, kDelay, kSmall, FSBML_PROBE_BACK};
    for (const double off : {-20e3, 90e3}) {
        const double time = exact(uneven(), delayed) + 15.0 * off;
        fit = fit_rail(with(both_ways(uneven()), delayed, time), {}, kSmall);
        EXPECT_NEAR(fit.back.o_s_ns, off < 0.0 ? 0.0 : 51e3, 1.0);
        EXPECT_TRUE(says(fit, "o of the way back set to")) << fit.reason;
    }
}

TEST(Duplex, FullAndHalf)
{
    for (const double duplex : {1.0, 1.3, 2.0}) {
        for (fsbml_fit_t truth : {gigabit(), uneven()}) {
            truth.duplex = duplex;
            Samples samples = truth.back.G_ns_per_byte > 0.0 ? both_ways(truth) : measured(truth);
            add(samples, truth, {kBoth});
            fsbml_fit_t fit = fit_rail(samples, {}, kSmall);
            EXPECT_NEAR(fit.duplex, duplex, 0.01);
            EXPECT_STREQ(fit.reason, "");
        }
    }
}

// Against what the fit says where the same n and s were not measured in one direction.
TEST(Duplex, OfAnotherSize)
{
    fsbml_fit_t truth = gigabit();
    truth.duplex = 1.5;
    Samples samples = measured(truth);
    add(samples, truth, {{5, 0, 11111, FSBML_PROBE_BOTH}});
    EXPECT_NEAR(fit_rail(samples, {}, kSmall).duplex, 1.5, 0.01);
}

TEST(Duplex, Bounds)
{
    Samples samples = measured(gigabit());
    add(samples, gigabit(), {kBoth});
    fsbml_fit_t fit = fit_rail(with(samples, kBoth, exact(gigabit(), kBoth) * 0.5), {}, kSmall);
    EXPECT_EQ(fit.duplex, 1.0);
    EXPECT_TRUE(says(fit, "both ways at once set to 1")) << fit.reason;
    fit = fit_rail(with(samples, kBoth, exact(gigabit(), kBoth) * 0.97), {}, kSmall);
    EXPECT_EQ(fit.duplex, 1.0);
    EXPECT_STREQ(fit.reason, "");
    fit = fit_rail(with(samples, kBoth, exact(gigabit(), kBoth) * 70.0), {}, kSmall);
    EXPECT_EQ(fit.duplex, 4.0);
    EXPECT_TRUE(says(fit, "both ways at once set to 4")) << fit.reason;
}
