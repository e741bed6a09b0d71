// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/formats.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace
{

using namespace fsbml;

TEST(Text, HasSoManyDigits)
{
    EXPECT_EQ((Text(9) << "G=" << 12.5 << ' ' << 1.0 / 3.0 << ' ' << 0.0).str(), "G=12.5 0.333333333 0");
    EXPECT_EQ((Text(10) << 1e12 << ' ' << 1e-7).str(), "1e+12 1e-07");
    EXPECT_EQ(number_text(0.1, 17), "0.10000000000000001");
}

TEST(Text, TakesWholeNumbersWhole)
{
    EXPECT_EQ((Text() << std::numeric_limits<std::uint64_t>::max() << '/' << -7).str(),
              "18446744073709551615/-7");
}

TEST(Text, HasFixedDigits)
{
    EXPECT_EQ(fixed_text(2.675, 2), "2.67");
    EXPECT_EQ(fixed_text(-0.5, 0), "-0");
    EXPECT_EQ(fixed_text(1e300, 1).size(), 303U);
}

TEST(Text, ReadsANumberOfWhichNothingIsLeftOver)
{
    double value = 0.0;
    EXPECT_TRUE(read_number("12.5e-3", value));
    EXPECT_EQ(value, 0.0125);
    EXPECT_TRUE(read_number("-4", value));
    EXPECT_EQ(value, -4.0);
    for (const char *const bad :
         {"", " 1", "1 ", "1x", "0x10", "inf", "nan", "1,5", "1e999", "-", ".", "1e", "1.2.3"}) {
        EXPECT_FALSE(read_number(bad, value)) << bad;
    }
}

TEST(Text, ReadsWhatItHasWritten)
{
    for (const double value : {1.0 / 3.0, 6.02e23, 4.9e-324, 1.7976931348623157e308}) {
        double back = 0.0;
        ASSERT_TRUE(read_number(number_text(value, 17), back));
        EXPECT_EQ(back, value);
    }
}

TEST(Text, SplitsWords)
{
    Words words("  rail tcp:10.0.0.0/24\t\r eth1 ");
    std::string word;
    EXPECT_TRUE(words.next(word));
    EXPECT_EQ(word, "rail");
    EXPECT_TRUE(words.next(word));
    EXPECT_TRUE(words.next(word));
    EXPECT_EQ(word, "eth1");
    EXPECT_FALSE(words.next(word));
    EXPECT_EQ(word, "");
    EXPECT_FALSE(words.next(word));
}

} // namespace
