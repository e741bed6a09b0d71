// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Predicted PRTTs against the formulas, worked out by hand.
#include "model.hpp"

#include "model/model.hpp"

#include "test.hpp"

using namespace fsbml;

namespace
{

fsbml_fit_t a_fit()
{
    fsbml_fit_t fit{};
    fit.valid = true;
    fsbml_loggp_t &p = fit.params;
    p.L_ns = 20e3;
    p.o_s_ns = 2e3;
    p.o_r_ns = 3e3;
    p.g_ns = 4e3;
    p.G_ns_per_byte = 10.0;
    return fit;
}

double prtt(const fsbml_fit_t &fit, fsbml_probe_kind_t kind, uint32_t n, uint64_t d, uint32_t s)
{
    return fsbml_fit_prtt(&fit, kind, n, d, s);
}

} // namespace

// The thesis' equations 3.2.2.1 and 3.2.2.2.
TEST(Predict, There)
{
    const fsbml_fit_t fit = a_fit();
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 1, 0, 1), 50e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 1, 0, 1001), 70e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 5, 0, 1001), 70e3 + 4 * 14e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 5, 50000, 1001), 70e3 + 4 * 52e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 5, 12000, 1001), 70e3 + 4 * 14e3) << "the delay is hidden";
}

TEST(Predict, OverheadsGrow)
{
    fsbml_fit_t fit = a_fit();
    fit.params.O_s_ns_per_byte = 1.0;
    fit.params.O_r_ns_per_byte = 2.0;
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 1, 0, 1001), 70e3 + 2 * 3e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 2, 50000, 1001), 70e3 + 2 * 3e3 + 53e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_TAKE, 4, 99, 1001), 4 * 5e3);
}

TEST(Predict, SecondPiece)
{
    fsbml_fit_t fit = a_fit();
    fit.params.break_bytes = 1001.0;
    fit.params.g_above_ns = 30e3;
    fit.params.G_above_ns_per_byte = 5.0;
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 3, 0, 1000), 50e3 + 2 * 9990.0 + 2 * 13990.0);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 3, 0, 1001), 50e3 + 2 * 26e3 + 2 * 30e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 3, 0, 1101), 50e3 + 2 * 26.5e3 + 2 * 30.5e3);
}

// A bucket hides the gap of a single message on both ways, of many as much as it holds, and never what is the
// processor's.
TEST(Predict, Bucket)
{
    fsbml_fit_t fit = a_fit();
    fit.params.burst_ns = 15e3;
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 1, 0, 1), 50e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 1, 0, 1001), 50e3) << "10 us each way, all hidden";
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 1, 0, 3001), 50e3 + 2 * (30e3 - 15e3));
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 2, 0, 1001), 50e3 + 10e3 + 14e3 - 15e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 9, 0, 3001), 50e3 + 30e3 - 15e3 + 8 * 34e3 + 30e3 - 15e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 9, 100000, 1001), 50e3 + 8 * 102e3)
        << "it fills again between";
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 4, 0, 1), 50e3 + 3 * 2e3) << "g is a header's time: hidden";
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 9, 0, 1), 50e3 + 8 * 4e3 - 15e3) << "until it is empty";
}

TEST(Predict, OtherDirection)
{
    fsbml_fit_t fit = a_fit();
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_BACK, 3, 0, 1001), 25e3 + 35e3 + 2 * 14e3) << "as there";
    fit.back.o_s_ns = 5e3;
    fit.back.g_ns = 6e3;
    fit.back.G_ns_per_byte = 20.0;
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_BACK, 3, 0, 1001), 25e3 + 28e3 + 20e3 + 2 * 26e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_BACK, 3, 100000, 1001), 25e3 + 28e3 + 20e3 + 2 * 105e3);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_THERE, 1, 0, 1001), 50e3 + 10e3 + 20e3)
        << "its pace for the answer";
}

TEST(Predict, BothWays)
{
    fsbml_fit_t fit = a_fit();
    const double alone = 35e3 + 2 * 14e3;
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_BOTH, 3, 0, 1001), 25e3 + alone);
    fit.duplex = 1.5;
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_BOTH, 3, 0, 1001), 25e3 + 1.5 * alone);
    fit.back = loggp(0, 2e3, 0, 4e3, 40.0);
    EXPECT_DOUBLE_EQ(prtt(fit, FSBML_PROBE_BOTH, 3, 0, 1001), 25e3 + 1.5 * (65e3 + 2 * 44e3))
        << "the slower one";
}

TEST(Predict, NothingOfNothing)
{
    fsbml_fit_t fit = a_fit();
    EXPECT_EQ(fsbml_fit_prtt(nullptr, FSBML_PROBE_THERE, 1, 0, 1), 0.0);
    EXPECT_EQ(prtt(fit, FSBML_PROBE_THERE, 0, 0, 1), 0.0);
    EXPECT_EQ(prtt(fit, FSBML_PROBE_THERE, 1, 0, 0), 0.0);
    EXPECT_GT(prtt(fit, FSBML_PROBE_THERE, ~0U, ~0ULL, ~0U), 0.0) << "no loop over n";
    fit.valid = false;
    EXPECT_EQ(prtt(fit, FSBML_PROBE_THERE, 1, 0, 1), 0.0);
}

// A process that sends the other way has that direction's pace, if it is another one.
TEST(Reverse, OnlyWhatDiffers)
{
    fsbml_fit_t fit = a_fit();
    fit.params.break_bytes = 1001.0;
    fit.params.g_above_ns = 30e3;
    fit.params.G_above_ns_per_byte = 5.0;
    EXPECT_EQ(fsbml_fit_reverse(&fit).G_ns_per_byte, 10.0) << "it was not measured";
    fit.back.o_s_ns = 1e3;
    fit.back.g_ns = 2e3;
    fit.back.G_ns_per_byte = 10.9;
    EXPECT_EQ(fsbml_fit_reverse(&fit).G_ns_per_byte, 10.0);
    EXPECT_EQ(fsbml_fit_reverse(&fit).g_ns, 4e3);
    fit.back.G_ns_per_byte = 40.0;
    const fsbml_loggp_t p = fsbml_fit_reverse(&fit);
    EXPECT_EQ(p.G_ns_per_byte, 40.0);
    EXPECT_EQ(p.g_ns, 2e3);
    EXPECT_EQ(p.o_s_ns, 1e3);
    EXPECT_EQ(p.L_ns, 20e3);
    EXPECT_EQ(p.o_r_ns, 3e3);
    EXPECT_EQ(p.break_bytes, 0.0) << "the break is that of the first direction";
    fit.valid = false;
    EXPECT_EQ(fsbml_fit_reverse(&fit).G_ns_per_byte, 10.0);
    EXPECT_EQ(fsbml_fit_reverse(nullptr).G_ns_per_byte, 0.0);
}

// A rail that shares a link with others does so both ways; what was measured alone is compared.
TEST(Reverse, BesideOtherRails)
{
    fsbml_fit_t fit = a_fit();
    fit.together = 1.5;
    fit.params.G_ns_per_byte = 15.0; // 10 alone
    fit.back.G_ns_per_byte = 10.0;
    EXPECT_EQ(fsbml_fit_reverse(&fit).G_ns_per_byte, 15.0);
    fit.back.G_ns_per_byte = 20.0;
    EXPECT_DOUBLE_EQ(fsbml_fit_reverse(&fit).G_ns_per_byte, 30.0);
}
