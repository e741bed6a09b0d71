// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Small messages beyond a shaper's bucket: their gap is found although the bucket hides most of it.
#include "measure/fit/fit.hpp"
#include "probes.hpp"

#include "test.hpp"

using namespace fsbml;

namespace
{

constexpr Prtt kMany{16, 0, 320};
constexpr double kOneWay = 30e3;

// 20 Mbit/s with frames of 66 bytes more: g 26.4 us, a bucket of 3000 bytes.
fsbml_fit_t shaped()
{
    fsbml_fit_t fit{};
    fit.valid = true;
    fit.params.L_ns = 20e3;
    fit.params.o_s_ns = 5e3;
    fit.params.o_r_ns = 5e3;
    fit.params.g_ns = 26.4e3;
    fit.params.G_ns_per_byte = 400.0;
    fit.params.burst_ns = 1200e3;
    return fit;
}

GapLine line_of(const fsbml_fit_t &fit)
{
    GapLine line;
    line.pieces.below = Line{fit.params.g_ns, fit.params.G_ns_per_byte, true};
    line.g_ns = fit.params.g_ns;
    return line;
}

std::vector<GapPoint> found(const fsbml_fit_t &fit, const Samples &samples)
{
    return gaps_beyond_burst(fit, samples, line_of(fit), probes::kSmall, kOneWay);
}

Samples measured(const fsbml_fit_t &truth, const std::vector<Prtt> &more)
{
    Samples samples = probes::measured(truth);
    probes::add(samples, truth, more);
    return samples;
}

} // namespace

TEST(Bucket, GapBeyondIt)
{
    const fsbml_fit_t truth = shaped();
    const std::vector<GapPoint> points = found(truth, measured(truth, {kMany}));
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].bytes, 320.0);
    EXPECT_NEAR(points[0].gap_ns, 26.4e3 + 319 * 400.0, 1.0);
    EXPECT_EQ(points[0].samples, 5U);
    EXPECT_TRUE(points[0].outruns);
}

// Of a line that is off where there are no sizes, gap(1) and the bucket found with it are off by as much, one
// the other way than the other: the gap beyond is not.
TEST(Bucket, LineNeedNotBeRightBelow)
{
    const fsbml_fit_t truth = shaped();
    const Samples samples = measured(truth, {kMany});
    fsbml_fit_t wrong = truth;
    wrong.params.g_ns -= 20e3;
    wrong.params.burst_ns += 20e3;
    const std::vector<GapPoint> points = found(wrong, samples);
    ASSERT_EQ(points.size(), 1U);
    EXPECT_NEAR(points[0].gap_ns, 26.4e3 + 319 * 400.0, 1.0);
}

// Nothing is to be had of messages that the bucket holds, or that a processor is busy with for longer; where
// there is no bucket; of a size that gap_points has already.
TEST(Bucket, NothingToBeSeen)
{
    const fsbml_fit_t truth = shaped();
    EXPECT_TRUE(found(truth, measured(truth, {{4, 0, 320}})).empty());
    fsbml_fit_t slow = truth;
    slow.params.o_s_ns = 200e3;
    EXPECT_TRUE(found(slow, measured(slow, {kMany})).empty());
    fsbml_fit_t none = truth;
    none.params.burst_ns = 0.0;
    EXPECT_TRUE(found(none, measured(none, {kMany})).empty());
    EXPECT_TRUE(found(truth, measured(truth, {kMany, {1, 0, 320}})).empty());
    EXPECT_TRUE(found(truth, measured(truth, {{16, 100000, 320}, {16, 0, 320, FSBML_PROBE_BACK}})).empty());
}

// Beyond the bucket a small message takes its header's time, within it the processor's: g is the former, and
// what is predicted holds for both.
TEST(Bucket, GapIsThatBeyond)
{
    fsbml_fit_t truth = shaped();
    Samples samples = measured(truth, {});
    truth.params.g_ns += 30e3; // what sizes from 4 KiB on do not show
    truth.params.burst_ns -= 30e3;
    probes::add(samples, truth, {kMany});
    const fsbml_fit_t fit = fit_rail(samples, {}, probes::kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_EQ(fit.params.break_bytes, 0.0);
    EXPECT_NEAR(fit.params.G_ns_per_byte, 400.0, 2.0);
    for (const Prtt &c : {kMany, Prtt{16, 0, 1}, Prtt{16, 0, 8192}, Prtt{24, 0, 500}}) {
        const double exact = probes::exact(truth, c);
        EXPECT_NEAR(probes::exact(fit, c), exact, 0.05 * exact) << c.packets << " x " << c.bytes;
    }
}

// Where nothing is hidden, such a PRTT changes nothing.
TEST(Bucket, NoBucketNoChange)
{
    const fsbml_fit_t truth = probes::gigabit();
    const fsbml_fit_t without = fit_rail(probes::measured(truth), {}, probes::kSmall);
    const fsbml_fit_t with = fit_rail(measured(truth, {kMany}), {}, probes::kSmall);
    EXPECT_EQ(with.params.g_ns, without.params.g_ns);
    EXPECT_EQ(with.params.G_ns_per_byte, without.params.G_ns_per_byte);
    EXPECT_EQ(with.params.burst_ns, 0.0);
}
