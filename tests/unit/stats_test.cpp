// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The statistics against values worked out by hand.
#include "model/model.hpp"

#include "test.hpp"

using namespace fsbml;

// Nothing has no median; one value is its own; of an even number the mean of the two in the middle.
TEST(Median, OfNoneOneEvenOdd)
{
    EXPECT_TRUE(std::isnan(median({})));
    EXPECT_EQ(median({7.5}), 7.5);
    EXPECT_EQ(median({4.0, 1.0}), 2.5);
    EXPECT_EQ(median({9.0, 1.0, 5.0}), 5.0);
    EXPECT_EQ(median({4.0, 1.0, 3.0, 2.0}), 2.5);
}

// Ties around the middle do not shift it.
TEST(Median, OfTies)
{
    EXPECT_EQ(median({2.0, 2.0, 2.0, 2.0}), 2.0);
    EXPECT_EQ(median({1.0, 2.0, 2.0, 2.0, 100.0}), 2.0);
    EXPECT_EQ(median({1.0, 1.0, 3.0, 3.0}), 2.0);
}

// The mean of the two middle values does not overflow.
TEST(Median, OfHugeValues)
{
    EXPECT_EQ(median({1.5e308, 1.7e308}), 1.6e308);
}

// Counting starts at 0; past the end there is nothing.
TEST(OrderStatistic, FirstLastBeyond)
{
    EXPECT_EQ(order_statistic({3.0, 1.0, 2.0}, 0), 1.0);
    EXPECT_EQ(order_statistic({3.0, 1.0, 2.0}, 2), 3.0);
    EXPECT_TRUE(std::isnan(order_statistic({3.0}, 1)));
    EXPECT_TRUE(std::isnan(order_statistic({}, 0)));
}

// No line goes through nothing, one point, or points above each other.
TEST(Lines, NeedTwoDifferentX)
{
    for (const auto fit : {least_squares, theil_sen}) {
        EXPECT_FALSE(fit({}).valid);
        EXPECT_FALSE(fit({{1.0, 1.0}}).valid);
        EXPECT_FALSE(fit({{1.0, 1.0}, {1.0, 2.0}}).valid);
        EXPECT_TRUE(fit({{1.0, 1.0}, {2.0, 2.0}}).valid);
    }
}

// Points on a line give that line, both ways.
TEST(Lines, ExactPoints)
{
    const std::vector<Point> points{{0.0, 3.0}, {10.0, 8.0}, {20.0, 13.0}, {40.0, 23.0}};
    for (const auto fit : {least_squares, theil_sen}) {
        const Line line = fit(points);
        EXPECT_DOUBLE_EQ(line.slope, 0.5);
        EXPECT_DOUBLE_EQ(line.intercept, 3.0);
        EXPECT_DOUBLE_EQ(line.at(100.0), 53.0);
    }
}

// A textbook example: (1,1), (2,3), (3,2) has the least-squares line 0.5 x + 1.
TEST(Lines, LeastSquaresByHand)
{
    const Line line = least_squares({{1.0, 1.0}, {2.0, 3.0}, {3.0, 2.0}});
    EXPECT_DOUBLE_EQ(line.slope, 0.5);
    EXPECT_DOUBLE_EQ(line.intercept, 1.0);
}

// One wild point of six ruins least squares and leaves Theil-Sen where it was.
TEST(Lines, TheilSenStandsUpToAnOutlier)
{
    std::vector<Point> points;
    for (double x = 1.0; x <= 6.0; ++x) {
        points.push_back({x, 2.0 * x + 1.0});
    }
    points[5].y += 100.0;
    EXPECT_NEAR(theil_sen(points).slope, 2.0, 1e-12);
    EXPECT_NEAR(theil_sen(points).intercept, 1.0, 1e-12);
    EXPECT_GT(least_squares(points).slope, 10.0);
}
