// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// The model's range and the quantum that follows from it.
#include "fsbml_core.h"
#include "loggp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace
{
constexpr fsbml_loggp_t kRail{30e3, 3e3, 3e3, 5e3, 8.0}; // a gigabit
}

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
