// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A rail whose gap changes its line at some size: what the fit makes of it.
#include "measure/fit/fit.hpp"
#include "probes.hpp"

#include "test.hpp"

using namespace fsbml;
using namespace probes;

namespace
{

// A rail that from 20000 bytes on works another way.
fsbml_loggp_t broken(double jump_ns, double G_above)
{
    fsbml_loggp_t p = gigabit().params;
    p.break_bytes = 20000.0;
    p.g_above_ns = p.g_ns + p.G_ns_per_byte * 19999.0 + jump_ns;
    p.G_above_ns_per_byte = G_above;
    return p;
}

Samples measure_broken(const fsbml_loggp_t &p)
{
    Samples samples;
    for (const Prtt &c : plan()) {
        const bool above = c.bytes >= p.break_bytes;
        const double gap = above ? p.g_above_ns + p.G_above_ns_per_byte * (c.bytes - p.break_bytes)
                                 : p.g_ns + p.G_ns_per_byte * (c.bytes - 1.0);
        const double one = p.o_s_ns + p.L_ns + p.o_r_ns + gap - p.g_ns;
        const double between = std::max(p.o_s_ns + static_cast<double>(c.delay_ns), gap);
        for (int i = 0; i < 5; ++i) {
            samples.add(c, 2.0 * one + (c.packets - 1.0) * between);
        }
    }
    return samples;
}

} // namespace

// Both pieces as they are, and the rest as on one line; where a limit is known, there.
TEST(Fit, TwoPieces)
{
    const fsbml_loggp_t truth = broken(40e3, 12.0);
    fsbml_fit_t fit = fit_rail(measure_broken(truth), Samples(), kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_NEAR(fit.params.G_ns_per_byte, truth.G_ns_per_byte, 1e-6);
    EXPECT_NEAR(fit.params.g_ns, truth.g_ns, 1.0);
    EXPECT_NEAR(fit.params.G_above_ns_per_byte, 12.0, 1e-6);
    EXPECT_EQ(fit.params.break_bytes, 20480.0) << "the first size that was seen to be another";
    EXPECT_NEAR(fit.params.g_above_ns, truth.g_above_ns + 12.0 * 480.0, 1.0);
    EXPECT_NEAR(fit.params.o_s_ns, truth.o_s_ns, 1.0);
    EXPECT_NEAR(fit.params.L_ns + fit.params.o_r_ns, truth.L_ns + truth.o_r_ns, 1.0);
    EXPECT_EQ(fit.params.burst_ns, 0.0);
    EXPECT_LT(fit.residual, 1e-9);
    EXPECT_STREQ(fit.reason, "");

    Known known;
    known.limit[2] = 19999;
    fit = fit_rail(measure_broken(truth), Samples(), kSmall, known);
    EXPECT_EQ(fit.params.break_bytes, 20000.0);
    EXPECT_NEAR(fit.params.g_above_ns, truth.g_above_ns, 1.0);
}

// Of one or two samples it is not known how far off they are: a break must be known to be possible.
TEST(Fit, FewSamplesMakeNoBreak)
{
    Samples few;
    const Samples all = measure_broken(broken(40e3, 12.0));
    for (const Samples::Cell &c : all.cells()) {
        few.add(c.prtt, c.times_ns[0]);
        few.add(c.prtt, c.times_ns[1]);
    }
    EXPECT_EQ(fit_rail(few, Samples(), kSmall).params.break_bytes, 0.0);
    Known known;
    known.limit[0] = 19999;
    EXPECT_EQ(fit_rail(few, Samples(), kSmall, known).params.break_bytes, 20000.0);
}

// Where the second piece begins the gap is no less than half of that before.
TEST(Fit, GapAboveIsBounded)
{
    const fsbml_loggp_t truth = broken(-120e3, 8.0);
    const fsbml_fit_t fit = fit_rail(measure_broken(truth), Samples(), kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    ASSERT_EQ(fit.params.break_bytes, 20480.0);
    EXPECT_NEAR(fit.params.g_above_ns, (truth.g_ns + truth.G_ns_per_byte * 20479.0) / 2.0, 100.0);
    EXPECT_NE(std::string(fit.reason).find("gap at 20480 B set to"), std::string::npos) << fit.reason;
}
