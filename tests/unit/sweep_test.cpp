// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The fit of a rail from a sweep: what small messages and streams give, and whether it is still so.
#include "model.hpp"

#include "test.hpp"

namespace
{

fsbml_sweep_t sweep_of(double G)
{
    fsbml_sweep_t seen{};
    seen.bytes = 32;
    seen.packets = 16;
    seen.one_ns = 2 * (10000 + 2000 + 1500);
    seen.delay_ns = 50000;
    seen.delayed_ns = seen.one_ns + 15 * (50000 + 2000);
    seen.take_ns = 16 * 1500;
    seen.row_ns = seen.one_ns + 15 * (4000 + static_cast<std::uint64_t>(31 * G));
    seen.there.G_ns_per_byte = seen.there.low_ns_per_byte = seen.there.high_ns_per_byte = G;
    seen.there.steady = true;
    seen.there.stamps = 20;
    seen.back = seen.there;
    return seen;
}

} // namespace

TEST(Sweep, GivesTheParametersOfTheModel)
{
    const fsbml_sweep_t seen = sweep_of(40.0);
    fsbml_fit_t fit;
    fsbml_sweep_fit(&seen, &fit);
    ASSERT_TRUE(fit.valid);
    EXPECT_TRUE(fit.tight);
    EXPECT_DOUBLE_EQ(10000.0, fit.params.L_ns);
    EXPECT_DOUBLE_EQ(2000.0, fit.params.o_s_ns);
    EXPECT_DOUBLE_EQ(1500.0, fit.params.o_r_ns);
    EXPECT_DOUBLE_EQ(4000.0, fit.params.g_ns);
    EXPECT_DOUBLE_EQ(40.0, fit.params.G_ns_per_byte);
    EXPECT_DOUBLE_EQ(40.0, fit.back.G_ns_per_byte);
    EXPECT_EQ(0.0, fit.params.burst_ns);
}

// What passes at once shows a bucket that the stream did not; the larger of both counts.
TEST(Sweep, AMessageThatPassesAtOnceShowsABucket)
{
    fsbml_sweep_t seen = sweep_of(4.0);
    fsbml_fit_t fit;
    seen.at_once = 36864;
    fsbml_sweep_fit(&seen, &fit);
    EXPECT_DOUBLE_EQ(4.0 * 36864, fit.params.burst_ns);
    seen.there.burst_bytes = 50e3;
    fsbml_sweep_fit(&seen, &fit);
    EXPECT_DOUBLE_EQ(4.0 * 50e3, fit.params.burst_ns);
}

// Where small messages take no longer than their overhead, that is no gap.
TEST(Sweep, HasNoGapWhereTheOverheadHidesIt)
{
    fsbml_sweep_t seen = sweep_of(0.4);
    seen.row_ns = seen.one_ns + 15 * 2100;
    fsbml_fit_t fit;
    fsbml_sweep_fit(&seen, &fit);
    ASSERT_TRUE(fit.valid);
    EXPECT_EQ(0.0, fit.params.g_ns);
}

TEST(Sweep, OfWhatIsMissingTheRestStands)
{
    fsbml_sweep_t seen = sweep_of(40.0);
    seen.there = fsbml_rate_t{};
    seen.back.G_ns_per_byte = 44.0;
    seen.row_ns = seen.delayed_ns = seen.take_ns = 0;
    fsbml_fit_t fit;
    fsbml_sweep_fit(&seen, &fit);
    ASSERT_TRUE(fit.valid);
    EXPECT_FALSE(fit.tight);
    EXPECT_EQ(44.0, fit.params.G_ns_per_byte);
    EXPECT_EQ(seen.one_ns / 2.0, fit.params.L_ns);
    seen.back = fsbml_rate_t{};
    fsbml_sweep_fit(&seen, &fit);
    EXPECT_FALSE(fit.valid);
}

// A stream of which nothing but the whole time is known was disturbed: it tells how fast the rail is at
// least.
TEST(Sweep, OfTwoDisturbedStreamsTheFasterOneCounts)
{
    fsbml_sweep_t seen = sweep_of(40.0);
    seen.there.stamps = seen.back.stamps = 0;
    seen.there.steady = seen.back.steady = false;
    seen.there.G_ns_per_byte = 140.0;
    fsbml_fit_t fit;
    fsbml_sweep_fit(&seen, &fit);
    EXPECT_EQ(40.0, fit.params.G_ns_per_byte);
    seen.there.stamps = 5; // more is known of that one
    fsbml_sweep_fit(&seen, &fit);
    EXPECT_EQ(140.0, fit.params.G_ns_per_byte);
    seen.there.stamps = 0;
    seen.there.G_ns_per_byte = 30.0;
    fsbml_sweep_fit(&seen, &fit);
    EXPECT_EQ(30.0, fit.params.G_ns_per_byte);
}

// Beside other programs a rail may seem two times slower one way, but four times it is.
TEST(Sweep, ADirectionThatIsFarSlowerIsKnownInAnyCase)
{
    fsbml_sweep_t seen = sweep_of(40.0);
    seen.back.stamps = 0;
    seen.back.steady = false;
    fsbml_fit_t fit;
    seen.back.G_ns_per_byte = 80.0;
    fsbml_sweep_fit(&seen, &fit);
    EXPECT_EQ(0.0, fit.back.G_ns_per_byte);
    seen.back.G_ns_per_byte = 160.0;
    fsbml_sweep_fit(&seen, &fit);
    EXPECT_EQ(40.0, fit.params.G_ns_per_byte);
    EXPECT_EQ(160.0, fit.back.G_ns_per_byte);
}

TEST(Sweep, LevelsWhatItCannotTellApart)
{
    const auto fit_of = [](double L, double G, double back) {
        fsbml_fit_t fit{};
        fit.valid = true;
        fit.params.L_ns = L;
        fit.params.o_s_ns = fit.params.o_r_ns = 2000.0;
        fit.params.g_ns = 6000.0;
        fit.params.G_ns_per_byte = G;
        fit.back = fit.params;
        fit.back.G_ns_per_byte = back;
        return fit;
    };
    fsbml_fit_t fits[4] = {
        fit_of(2000.0, 0.40, 0.41), fit_of(2300.0, 0.41, 0.41), fit_of(9000.0, 0.5, 0.4), {}};
    fits[1].params.o_s_ns = 2200.0;
    fits[1].params.o_r_ns = 1900.0;
    fits[1].params.g_ns = 6600.0;
    fits[2].params.g_ns = 9000.0;
    fsbml_sweep_level(fits, 4);
    for (const std::size_t i : {0U, 1U}) {
        EXPECT_DOUBLE_EQ(2150.0, fits[i].params.L_ns);
        EXPECT_DOUBLE_EQ(2100.0, fits[i].params.o_s_ns);
        EXPECT_DOUBLE_EQ(1950.0, fits[i].params.o_r_ns);
        EXPECT_DOUBLE_EQ(6300.0, fits[i].params.g_ns);
        EXPECT_DOUBLE_EQ(2100.0, fits[i].back.o_s_ns);
        EXPECT_DOUBLE_EQ(6300.0, fits[i].back.g_ns);
    }
    EXPECT_DOUBLE_EQ(9000.0, fits[2].params.g_ns);
    EXPECT_DOUBLE_EQ(0.405, fits[0].params.G_ns_per_byte);
    EXPECT_DOUBLE_EQ(0.405, fits[1].back.G_ns_per_byte); // as there
    EXPECT_DOUBLE_EQ(9000.0, fits[2].params.L_ns);
    EXPECT_DOUBLE_EQ(0.5, fits[2].params.G_ns_per_byte);
    EXPECT_DOUBLE_EQ(0.4, fits[2].back.G_ns_per_byte); // another direction
    EXPECT_FALSE(fits[3].valid);
}

TEST(Sweep, ConfirmsWhatIsStillSo)
{
    const fsbml_sweep_t seen = sweep_of(40.0);
    fsbml_fit_t fit;
    fsbml_sweep_fit(&seen, &fit);
    EXPECT_TRUE(fsbml_sweep_confirms(&seen, &fit));
    const fsbml_sweep_t slower = sweep_of(50.0);
    EXPECT_FALSE(fsbml_sweep_confirms(&slower, &fit));
    fsbml_sweep_t farther = sweep_of(40.0);
    farther.one_ns = 200000;
    EXPECT_FALSE(fsbml_sweep_confirms(&farther, &fit));
    fit.valid = false;
    EXPECT_FALSE(fsbml_sweep_confirms(&seen, &fit));
    EXPECT_FALSE(fsbml_sweep_confirms(&seen, nullptr));
}

// It looks slower and farther then, but not faster.
TEST(Sweep, ThatWasDisturbedRefutesOnlyWhatIsBetter)
{
    fsbml_sweep_t seen = sweep_of(40.0);
    fsbml_fit_t fit;
    fsbml_sweep_fit(&seen, &fit);
    const auto confirms = [&](double G, std::uint64_t one_ns) {
        seen = sweep_of(G);
        seen.there.steady = false;
        seen.one_ns = one_ns;
        return fsbml_sweep_confirms(&seen, &fit);
    };
    const std::uint64_t usual = seen.one_ns;
    EXPECT_TRUE(confirms(40.0, usual));
    EXPECT_TRUE(confirms(110.0, 20 * usual));
    EXPECT_FALSE(confirms(130.0, usual));
    EXPECT_FALSE(confirms(32.0, usual));
}

// Twice the latency is another rail, some us more are not.
TEST(Sweep, ConfirmsALatencyByAFactorAndSomeMicroseconds)
{
    fsbml_fit_t fit{};
    fit.valid = true;
    fsbml_sweep_t seen = sweep_of(10.0);
    const auto confirms = [&](std::uint32_t bytes, std::uint64_t one_ns) {
        seen.bytes = bytes;
        seen.one_ns = one_ns;
        return fsbml_sweep_confirms(&seen, &fit);
    };
    fit.params = loggp(200e3, 10e3, 10e3, 3e3, 10.0, 0.0); // 440 us, and 10 us for the bytes, both ways
    EXPECT_TRUE(confirms(501, 450000));
    EXPECT_TRUE(confirms(501, 690000));
    EXPECT_FALSE(confirms(501, 700000));
    EXPECT_TRUE(confirms(501, 285000));
    EXPECT_FALSE(confirms(501, 275000));
    EXPECT_FALSE(confirms(0, 450000));
    fit.params = loggp(0.0, 5e3, 5e3, 3e3, 10.0, 0.0); // so short that it is mostly noise
    EXPECT_TRUE(confirms(1, 45000));
    EXPECT_FALSE(confirms(1, 60000));
}

TEST(Fits, AreAlikeByLargeMessages)
{
    fsbml_fit_t one{}, two{};
    fsbml_sweep_t seen = sweep_of(40.0);
    fsbml_sweep_fit(&seen, &one);
    seen = sweep_of(44.0);
    fsbml_sweep_fit(&seen, &two);
    EXPECT_TRUE(fsbml_fit_is_like(&one, &two));
    seen = sweep_of(60.0);
    fsbml_sweep_fit(&seen, &two);
    EXPECT_FALSE(fsbml_fit_is_like(&one, &two));
    two.valid = false;
    EXPECT_FALSE(fsbml_fit_is_like(&one, &two));
}

// A stream that was disturbed is repeated: what the better one says counts, but the first has emptied the
// bucket.
TEST(Rate, OfTwoStreamsTheBetterOneWithTheBucketOfEither)
{
    fsbml_rate_t first = sweep_of(42.0).there;
    fsbml_rate_t second = sweep_of(40.0).there;
    first.steady = false;
    first.burst_bytes = 2e6;
    EXPECT_EQ(40.0, fsbml_rate_better(first, second).G_ns_per_byte);
    EXPECT_EQ(2e6, fsbml_rate_better(first, second).burst_bytes);
    EXPECT_EQ(40.0, fsbml_rate_better(second, first).G_ns_per_byte);
    // Of another rate, it may have been anything.
    first.G_ns_per_byte = 60.0;
    EXPECT_EQ(40.0, fsbml_rate_better(first, second).G_ns_per_byte);
    EXPECT_EQ(0.0, fsbml_rate_better(first, second).burst_bytes);
}

TEST(Rate, OfTwoDisturbedStreamsTheOneThatVariesLess)
{
    fsbml_rate_t one = sweep_of(40.0).there;
    fsbml_rate_t two = sweep_of(44.0).there;
    one.steady = two.steady = false;
    one.high_ns_per_byte = 60.0;
    two.high_ns_per_byte = 50.0;
    EXPECT_EQ(44.0, fsbml_rate_better(one, two).G_ns_per_byte);
    EXPECT_EQ(44.0, fsbml_rate_better(two, one).G_ns_per_byte);
    one.stamps = two.stamps = 0; // times with all pauses
    EXPECT_EQ(40.0, fsbml_rate_better(one, two).G_ns_per_byte);
    EXPECT_EQ(40.0, fsbml_rate_better(two, one).G_ns_per_byte);
    const fsbml_rate_t none{};
    EXPECT_EQ(40.0, fsbml_rate_better(none, one).G_ns_per_byte);
    EXPECT_EQ(40.0, fsbml_rate_better(one, none).G_ns_per_byte);
}
