// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// One line or two, and where the second begins.
#include "measure/samples/samples.hpp"

#include "test.hpp"

using namespace fsbml;

namespace
{

constexpr double kSizes[] = {4096, 5792, 8192, 11585, 16384, 23170, 32768, 46341, 65536, 92682};

// y = 5000 + 40 x up to `from`, beyond it another line; errors of 1 %.
std::vector<Measured> points(double from, double jump, double slope)
{
    std::vector<Measured> out;
    for (const double x : kSizes) {
        const double y = x < from ? 5e3 + 40.0 * x : 5e3 + 40.0 * from + jump + slope * (x - from);
        out.push_back({x, y, 0.01 * y});
    }
    return out;
}

} // namespace

TEST(WeightedMedian, ByHand)
{
    EXPECT_TRUE(std::isnan(weighted_median({})));
    EXPECT_TRUE(std::isnan(weighted_median({{1.0, 0.0}})));
    EXPECT_EQ(weighted_median({{7.0, 2.0}}), 7.0);
    EXPECT_EQ(weighted_median({{3.0, 1.0}, {1.0, 1.0}, {2.0, 1.0}}), 2.0);
    EXPECT_EQ(weighted_median({{4.0, 1.0}, {1.0, 1.0}, {3.0, 1.0}, {2.0, 1.0}}), 2.5);
    EXPECT_EQ(weighted_median({{1.0, 5.0}, {2.0, 1.0}, {3.0, 1.0}}), 1.0);
}

// A point that is wild does not move the line, nor does one that says itself that it is worth little.
TEST(WeightedTheilSen, Robust)
{
    std::vector<Measured> line = points(1e9, 0.0, 0.0);
    line[4].y *= 100.0;
    EXPECT_NEAR(theil_sen(line).slope, 40.0, 1e-9);
    EXPECT_NEAR(theil_sen(line).intercept, 5e3, 1e-6);
    const Line three =
        theil_sen(std::vector<Measured>{{0.0, 0.0, 1.0}, {10.0, 10.0, 1.0}, {11.0, 500.0, 1e4}});
    EXPECT_NEAR(three.slope, 1.0, 1e-12);
    EXPECT_FALSE(theil_sen(std::vector<Measured>{{1.0, 1.0, 1.0}, {1.0, 2.0, 1.0}}).valid);
    EXPECT_FALSE(theil_sen(std::vector<Measured>{}).valid);
}

// Of two points with an error of 1 that lie 10 apart the slope is known to sqrt(2)/10.
TEST(LineErrors, ByHand)
{
    const LineError e = error_of({{0.0, 0.0, 1.0}, {10.0, 1.0, 1.0}});
    EXPECT_NEAR(e.slope, std::sqrt(2.0) / 10.0, 1e-12);
    EXPECT_NEAR(e.intercept, 1.0, 1e-12);
    EXPECT_EQ(error_of({{5.0, 1.0, 1.0}}).slope, 0.0);
    EXPECT_EQ(error_of({}).intercept, 0.0);
}

TEST(Pieces, OneLineIsOne)
{
    const Pieces p = fit_pieces(points(1e9, 0.0, 0.0), {8192.0, 32768.0});
    EXPECT_FALSE(p.two);
    EXPECT_EQ(p.split, std::size(kSizes));
    EXPECT_NEAR(p.below.slope, 40.0, 1e-9);
}

// Wherever it is, with a jump or without, steeper or flatter.
TEST(Pieces, FindsABreak)
{
    for (const double jump : {0.0, 100e3}) {
        for (const double slope : {15.0, 90.0}) {
            for (const double from : {10e3, 20e3, 30e3}) {
                const Pieces p = fit_pieces(points(from, jump, slope), {});
                ASSERT_TRUE(p.two) << from << " " << jump << " " << slope;
                EXPECT_NEAR(p.below.slope, 40.0, 0.4);
                EXPECT_NEAR(p.above.slope, slope, 0.01 * slope);
                // Lines that meet say where; of others it is the first size that lies on the second one.
                EXPECT_LE(p.break_x, from * std::sqrt(2.0));
                EXPECT_GE(p.break_x, from / std::sqrt(2.0));
                if (0.0 == jump) {
                    EXPECT_NEAR(p.break_x, from, 1.0);
                }
            }
        }
    }
}

// Two sizes are no piece: a line goes through any two.
TEST(Pieces, NeedThreePoints)
{
    EXPECT_FALSE(fit_pieces(points(60e3, 4e6, 40.0), {60e3}).two) << "two sizes above";
    EXPECT_TRUE(fit_pieces(points(40e3, 4e6, 40.0), {40e3}).two) << "three";
    std::vector<Measured> few = points(10e3, 4e6, 40.0);
    few.resize(5);
    EXPECT_FALSE(fit_pieces(few, {10e3}).two) << "three below, two above";
}

// A limit that explains it is where it is, though the lines meet elsewhere; one that does not is passed over.
TEST(Pieces, LimitsComeFirst)
{
    const Pieces known = fit_pieces(points(20e3, 100e3, 60.0), {8192.0, 18000.0});
    ASSERT_TRUE(known.two);
    EXPECT_EQ(known.break_x, 18000.0);
    const Pieces other = fit_pieces(points(20e3, 100e3, 60.0), {10e3});
    ASSERT_TRUE(other.two);
    EXPECT_EQ(other.break_x, 23170.0);
    EXPECT_FALSE(fit_pieces(points(20e3, 100e3, 60.0), {}, true).two) << "no break but a known one";
    EXPECT_TRUE(fit_pieces(points(20e3, 100e3, 60.0), {18000.0}, true).two);
}

// What is within the errors, or too little to matter, is no second piece; neither is one that falls.
TEST(Pieces, NotForLittle)
{
    EXPECT_FALSE(fit_pieces(points(20e3, 0.0, 41.0), {20e3}).two) << "2 % of G";
    std::vector<Measured> sure = points(20e3, 0.0, 40.4);
    std::vector<Measured> unsure = points(20e3, 100e3, 60.0);
    for (std::size_t i = 0; i < sure.size(); ++i) {
        sure[i].sigma = 1e-3;
        unsure[i].sigma *= 30.0;
    }
    EXPECT_FALSE(fit_pieces(sure, {20e3}).two) << "known exactly, but too little to matter";
    EXPECT_FALSE(fit_pieces(unsure, {20e3}).two) << "errors of 30 %";
    EXPECT_FALSE(fit_pieces(points(20e3, 500e3, -5.0), {20e3}, true).two) << "larger ones faster";
}

// Two sizes that are wild altogether are not a piece, wherever they are.
TEST(Pieces, WildPointsAreNone)
{
    for (const std::size_t at : {0U, 3U, 8U}) {
        std::vector<Measured> line = points(1e9, 0.0, 0.0);
        line[at].y *= 3.0;
        line[at + 1].y *= 5.0;
        const Pieces p = fit_pieces(line, {});
        EXPECT_FALSE(p.two) << at;
        EXPECT_NEAR(p.below.slope, 40.0, 0 == at ? 8.0 : 1.0) << at;
    }
}

// Where the errors are larger than the points know, what tells is how far each is from its neighbours' line.
TEST(Pieces, ErrorsThatAreTooSmall)
{
    int breaks = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        std::mt19937_64 random(seed);
        std::normal_distribution<double> error(0.0, 0.05);
        std::vector<Measured> line = points(1e9, 0.0, 0.0);
        for (Measured &m : line) {
            m.y *= 1.0 + error(random); // five times what they say
        }
        breaks += fit_pieces(line, {}).two;
    }
    EXPECT_LE(breaks, 9) << "of 300, seeds 1 to 300";
}
