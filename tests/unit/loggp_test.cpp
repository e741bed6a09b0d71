// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The model's range and the quantum that follows from it.
#include "api/fsbml_core.h"
#include "model.hpp"
#include "model/model.hpp"

#include "test.hpp"

namespace
{
constexpr fsbml_loggp_t kRail = loggp(30e3, 3e3, 3e3, 5e3, 8.0); // a gigabit
constexpr fsbml_loggp_t kBent = broken(kRail, 32769, 300e3, 4.0);
} // namespace

// Each member's bounds, and what is not a number.
TEST(Model, RangeIsChecked)
{
    EXPECT_TRUE(fsbml_loggp_valid(&kRail));
    EXPECT_FALSE(fsbml_loggp_valid(nullptr));
    const double bad[] = {-1.0, 1.1e12, std::nan(""), std::numeric_limits<double>::infinity()};
    double fsbml_loggp_t::*const times[] = {&fsbml_loggp_t::L_ns, &fsbml_loggp_t::o_s_ns,
                                            &fsbml_loggp_t::o_r_ns, &fsbml_loggp_t::g_ns,
                                            &fsbml_loggp_t::burst_ns};
    for (const auto member : times) {
        fsbml_loggp_t p = kRail;
        p.*member = 0.0;
        EXPECT_TRUE(fsbml_loggp_valid(&p));
        for (const double b : bad) {
            p.*member = b;
            EXPECT_FALSE(fsbml_loggp_valid(&p)) << b;
        }
    }
    fsbml_loggp_t p = kRail;
    for (const double good : {0.001, 1e6}) {
        p.G_ns_per_byte = good;
        EXPECT_TRUE(fsbml_loggp_valid(&p)) << good;
    }
    for (const double b :
         {0.0, -8.0, 0.00099, 1.01e6, std::nan(""), std::numeric_limits<double>::infinity()}) {
        p.G_ns_per_byte = b;
        EXPECT_FALSE(fsbml_loggp_valid(&p)) << b;
    }
}

// The parameters that came later: overheads by size, and the second line with its break.
TEST(Model, RangeOfPiecesIsChecked)
{
    const double never[] = {-1.0, 1e13, std::nan(""), std::numeric_limits<double>::infinity()};
    for (const auto member :
         {&fsbml_loggp_t::O_s_ns_per_byte, &fsbml_loggp_t::O_r_ns_per_byte, &fsbml_loggp_t::break_bytes,
          &fsbml_loggp_t::g_above_ns, &fsbml_loggp_t::G_above_ns_per_byte}) {
        for (const fsbml_loggp_t &good : {kRail, kBent}) {
            for (const double bad : never) {
                fsbml_loggp_t p = good;
                p.*member = bad;
                EXPECT_FALSE(fsbml_loggp_valid(&p)) << bad;
            }
        }
    }
    const auto with = [](double fsbml_loggp_t::*member, double value) {
        fsbml_loggp_t p = kBent;
        p.*member = value;
        return fsbml_loggp_valid(&p);
    };
    EXPECT_TRUE(fsbml_loggp_valid(&kBent));
    EXPECT_TRUE(with(&fsbml_loggp_t::O_s_ns_per_byte, 1e3));
    EXPECT_FALSE(with(&fsbml_loggp_t::O_r_ns_per_byte, 1001.0));
    EXPECT_TRUE(with(&fsbml_loggp_t::break_bytes, 2.0));
    EXPECT_FALSE(with(&fsbml_loggp_t::break_bytes, 1.9));
    EXPECT_FALSE(with(&fsbml_loggp_t::break_bytes, 4294967297.0));
    EXPECT_FALSE(with(&fsbml_loggp_t::G_above_ns_per_byte, 0.0));
    EXPECT_FALSE(with(&fsbml_loggp_t::G_above_ns_per_byte, 1.01e6));
    // The line below has 267144 ns at the break. Half of it is the least.
    EXPECT_TRUE(with(&fsbml_loggp_t::g_above_ns, 133573.0));
    EXPECT_FALSE(with(&fsbml_loggp_t::g_above_ns, 133571.0));
    EXPECT_TRUE(with(&fsbml_loggp_t::g_above_ns, 1e12));
}

// Both lines, and the sizes that they meet at.
TEST(Model, GapOfTwoLines)
{
    EXPECT_EQ(fsbml::gap_ns(kBent, 0), 5e3);
    EXPECT_EQ(fsbml::gap_ns(kBent, 1), 5e3);
    EXPECT_EQ(fsbml::gap_ns(kBent, 32768), 5e3 + 8.0 * 32767);
    EXPECT_EQ(fsbml::gap_ns(kBent, 32769), 300e3);
    EXPECT_EQ(fsbml::gap_ns(kBent, 32770), 300004.0);
}

// The promise itself: g + o costs at most `loss` of the bytes' time, and half the size would break it.
TEST(Quantum, IsTheSmallestThatKeepsThePromise)
{
    const std::size_t q = fsbml_quantum(&kRail, 1, 0.02, 1024, 1 << 24);
    EXPECT_EQ(q, 65536U); // (5000 + 3000) / (0.02 * 8) = 50000
    EXPECT_LE((kRail.g_ns + kRail.o_s_ns) / (kRail.G_ns_per_byte * static_cast<double>(q - 1)), 0.02);
    EXPECT_GT((kRail.g_ns + kRail.o_s_ns) / (kRail.G_ns_per_byte * static_cast<double>(q / 2 - 1)), 0.02);
}

// Several rails: the one that needs most decides; one that was not measured does not.
TEST(Quantum, OfSeveralRails)
{
    fsbml_loggp_t rails[] = {kRail, kRail, {}};
    rails[1].G_ns_per_byte = 0.8;
    EXPECT_EQ(fsbml_quantum(rails, 3, 0.02, 1024, 1 << 24), 524288U); // of 500001
    EXPECT_EQ(fsbml_quantum(rails, 1, 0.02, 1024, 1 << 24), 65536U);
}

// Above a break from which on bytes are cheaper, fragments reach it; the fixed cost there is that of the
// second line.
TEST(Quantum, UsesTheCheaperLine)
{
    const auto of = [](const fsbml_loggp_t &p, std::size_t max = 1 << 24) {
        return fsbml_quantum(&p, 1, 0.02, 1024, max);
    };
    EXPECT_EQ(of(kBent), 4194304U);                           // 300000 - 4 * 32768 + 3000 ns at 4 ns/B: 2.1e6
    EXPECT_EQ(of(broken(kRail, 32769, 140e3, 4.0)), 262144U); // 8928 + 3000 ns: 149000
    EXPECT_EQ(of(broken(kRail, 1 << 20, 8.4e6, 4.0), 1 << 17), 65536U) << "as if it had no break";
    EXPECT_EQ(of(broken(kRail, 1 << 20, 8.4e6, 16.0)), 65536U) << "below it, bytes are cheaper";
    EXPECT_EQ(of(broken(kRail, 32769, 300e3, 16.0)), 65536U) << "below it, no fragment is large enough";
    fsbml_loggp_t sized = kRail;
    sized.O_s_ns_per_byte = 1.0; // the same of every byte, however it is cut
    EXPECT_EQ(of(sized), of(kRail));
}

// Limits: never outside of [min, max], and a power of two where one lies inside.
TEST(Quantum, Limits)
{
    EXPECT_EQ(fsbml_quantum(&kRail, 1, 0.02, 1024, 32768), 32768U);
    EXPECT_EQ(fsbml_quantum(&kRail, 1, 0.02, 1024, 40000), 32768U);
    EXPECT_EQ(fsbml_quantum(&kRail, 1, 0.02, 100000, 200000), 131072U);
    EXPECT_EQ(fsbml_quantum(&kRail, 1, 0.02, 33000, 40000), 40000U); // none inside
    EXPECT_EQ(fsbml_quantum(&kRail, 1, 0.02, 0, 1), 1U);
    EXPECT_EQ(fsbml_quantum(&kRail, 1, 1e-30, 0, ~std::size_t{0}), std::size_t{1} << 63);
}

// Without a model, or with a senseless loss, nothing is cut smaller than the rail takes.
TEST(Quantum, WithoutAModel)
{
    const fsbml_loggp_t none{};
    EXPECT_EQ(fsbml_quantum(nullptr, 0, 0.02, 1024, 65536), 65536U);
    EXPECT_EQ(fsbml_quantum(&none, 1, 0.02, 1024, 65536), 65536U);
    for (const double loss : {0.0, -1.0, std::nan("")}) {
        EXPECT_EQ(fsbml_quantum(&kRail, 1, loss, 1024, 65535), 65535U);
    }
}

// ------------------------------------------------ what a job learns of a rail

namespace
{

constexpr std::size_t kFragment = 65536;

fsbml_fit_t fit_of(const fsbml_loggp_t &p)
{
    fsbml_fit_t fit{};
    fit.valid = true;
    fit.params = p;
    fit.back = loggp(1e4, 1e3, 1e3, 2e3, 44.0);
    return fit;
}

double per_byte(const fsbml_fit_t &fit)
{
    return fsbml::gap_ns(fit.params, kFragment) / kFragment;
}

} // namespace

TEST(FitLearn, TakesAnotherRate)
{
    for (const double factor : {0.05, 0.5, 0.9, 1.12, 3.0, 40.0}) {
        for (const bool in_pieces : {false, true}) {
            fsbml_loggp_t p = loggp(1e4, 1e3, 1e3, 2e3, 40.0, 1e6);
            p = in_pieces ? broken(p, 8192, 5e5, 60.0) : p;
            fsbml_fit_t fit = fit_of(p);
            ASSERT_TRUE(fsbml_fit_learn(&fit, factor * per_byte(fit), kFragment)) << factor;
            EXPECT_NEAR(fit.params.G_ns_per_byte, factor * 40.0, 1e-9 * factor);
            EXPECT_NEAR(fit.params.G_above_ns_per_byte, in_pieces ? factor * 60.0 : 0.0, 1e-9 * factor);
            EXPECT_NEAR(fit.params.burst_ns / fit.params.G_ns_per_byte, 1e6 / 40.0, 1e-6); // bytes
            EXPECT_DOUBLE_EQ(fit.params.L_ns, 1e4);
            EXPECT_DOUBLE_EQ(fit.params.o_s_ns, 1e3);
            EXPECT_DOUBLE_EQ(fit.back.G_ns_per_byte, 44.0); // nothing is known of the other direction
            EXPECT_TRUE(fsbml_loggp_valid(&fit.params));
        }
    }
}

TEST(FitLearn, StaysWhereNothingWasLearnt)
{
    fsbml_fit_t before = fit_of(loggp(1e4, 1e3, 1e3, 2e3, 40.0, 1e6));
    before.tight = true;
    const auto learns = [&](double gap, std::size_t quantum = kFragment) {
        fsbml_fit_t fit = before;
        const bool changed = fsbml_fit_learn(&fit, gap, quantum);
        EXPECT_EQ(changed, 0 != std::memcmp(&fit, &before, sizeof fit)) << gap;
        return changed;
    };
    const double is = per_byte(before);
    EXPECT_TRUE(learns(1.11 * is));
    for (const double same : {0.92, 1.0, 1.09}) {
        EXPECT_FALSE(learns(same * is)) << same;
    }
    // What cannot be, or no model can have.
    for (const double none : {0.0, -1.0, std::nan(""), static_cast<double>(INFINITY), 1e-9, 1e9}) {
        EXPECT_FALSE(learns(none)) << none;
    }
    EXPECT_FALSE(learns(3 * is, 0));
    fsbml_fit_t invalid = before;
    invalid.valid = false;
    EXPECT_FALSE(fsbml_fit_learn(&invalid, 3 * is, kFragment));
    EXPECT_FALSE(fsbml_fit_learn(nullptr, 3 * is, kFragment));
}

TEST(FitLearn, MakesADisturbedFitSure)
{
    for (const double factor : {0.5, 3.0}) {
        fsbml_fit_t fit = fit_of(loggp(1e4, 1e3, 1e3, 2e3, 40.0, 1e6));
        EXPECT_FALSE(fsbml_fit_learn(&fit, per_byte(fit), kFragment)); // it may be what was not used
        EXPECT_FALSE(fit.tight);
        ASSERT_TRUE(fsbml_fit_learn(&fit, factor * per_byte(fit), kFragment)) << factor;
        EXPECT_TRUE(fit.tight);
        EXPECT_NEAR(fit.params.G_ns_per_byte, factor * 40.0, 1e-9);
        EXPECT_FALSE(fsbml_fit_learn(&fit, per_byte(fit), kFragment));
        fit.tight = false;
        EXPECT_FALSE(fsbml_fit_learn(&fit, 0.0, kFragment));
        EXPECT_FALSE(fit.tight);
    }
}
