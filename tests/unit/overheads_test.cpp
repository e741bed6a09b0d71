// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// o_s, o_r and what each byte adds to them: measured, unknown, and out of bounds.
#include "measure/fit/fit.hpp"
#include "probes.hpp"

#include "test.hpp"

using namespace fsbml;
using namespace probes;

namespace
{

const Prtt kOne{1, 0, kSmall};
const Prtt kDelayed{16, kDelay, kSmall};

Prtt take(std::uint32_t n, std::uint32_t s)
{
    return {n, kDelay, s, FSBML_PROBE_TAKE};
}

bool says(const fsbml_fit_t &fit, const char *text)
{
    return std::string(fit.reason).find(text) != std::string::npos;
}

// A rail whose overheads grow by a tenth and a fifth of G.
fsbml_fit_t growing()
{
    fsbml_fit_t fit = gigabit();
    fit.params.O_s_ns_per_byte = 0.8;
    fit.params.O_r_ns_per_byte = 1.6;
    return fit;
}

} // namespace

// With probes of both, o_s and o_r are told apart, and L is what is left.
TEST(Overheads, Apart)
{
    Samples samples = measured(gigabit());
    add(samples, gigabit(), {take(1, kSmall), take(3, kSmall), take(8, kSmall)});
    const fsbml_fit_t fit = fit_rail(samples, {}, kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_NEAR(fit.params.o_s_ns, 5e3, 1.0);
    EXPECT_NEAR(fit.params.o_r_ns, 6e3, 1.0);
    EXPECT_NEAR(fit.params.L_ns, 40e3, 1.0);
    EXPECT_EQ(fit.params.O_s_ns_per_byte, 0.0);
    EXPECT_EQ(fit.params.O_r_ns_per_byte, 0.0);
    EXPECT_STREQ(fit.reason, "");
}

// What all n have in common goes away between the least and the greatest; of one n nothing can be told.
TEST(Overheads, TakeNeedsTwo)
{
    Samples samples;
    Value v;
    samples.add(take(2, kSmall), 10e3 + 2 * 6e3);
    EXPECT_FALSE(take_overhead(samples, kSmall, v));
    samples.add(take(5, kSmall), 1e9);
    samples.add({12, 5 * kDelay, kSmall, FSBML_PROBE_TAKE}, 10e3 + 12 * 6e3); // more take longer to come
    ASSERT_TRUE(take_overhead(samples, kSmall, v));
    EXPECT_DOUBLE_EQ(v.ns, 6e3);
    EXPECT_FALSE(take_overhead(samples, 4096, v));
}

TEST(Overheads, TakeIsBounded)
{
    for (const double o_r : {-3e3, 200e3}) {
        Samples samples = measured(gigabit());
        samples.add(take(1, kSmall), 300e3);
        samples.add(take(11, kSmall), 300e3 + 10 * o_r);
        const fsbml_fit_t fit = fit_rail(samples, {}, kSmall);
        ASSERT_TRUE(fit.valid);
        EXPECT_NEAR(fit.params.o_r_ns, o_r < 0.0 ? 0.0 : 46e3, 1.0); // one way is 51 us
        EXPECT_GE(fit.params.L_ns, 0.0);
        EXPECT_TRUE(says(fit, "o_r set to")) << fit.reason;
    }
}

// A delay that is shorter than the gap shows the gap, not the overhead.
TEST(Overheads, ShortDelayTellsNothing)
{
    Samples samples;
    for (const Prtt &c : plan()) {
        if (0 == c.delay_ns) {
            samples.add(c, exact(gigabit(), c));
        }
    }
    const Prtt brief{16, 1000, kSmall};
    samples.add(brief, exact(gigabit(), brief));
    const fsbml_fit_t fit = fit_rail(samples, {}, kSmall);
    EXPECT_EQ(fit.params.o_s_ns, 0.0);
    EXPECT_TRUE(says(fit, "o not measured")) << fit.reason;
    const Prtt enough{16, 9000, kSmall};
    samples.add(enough, exact(gigabit(), enough));
    EXPECT_NEAR(fit_rail(samples, {}, kSmall).params.o_s_ns, 5e3, 1.0);
}

// The clock that the delay loop and the PRTT itself look at.
TEST(Overheads, WithoutTheClock)
{
    constexpr double kTimer = 200.0;
    Samples samples;
    for (const Prtt &c : plan()) {
        const double looks = 0 != c.delay_ns ? 15.0 * kLooksOfDelay : 0.0;
        samples.add(c, exact(gigabit(), c) + kTimer * (1.0 + looks));
    }
    Known known;
    known.timer_ns = kTimer;
    const fsbml_fit_t fit = fit_rail(samples, {}, kSmall, known);
    EXPECT_NEAR(fit.params.o_s_ns, 5e3, 1.0);
    EXPECT_NEAR(fit.params.L_ns + fit.params.o_r_ns, 46e3, 1.0);
    EXPECT_NEAR(fit.params.g_ns, 8e3, 1.0);
    EXPECT_NEAR(fit_rail(samples, {}, kSmall).params.o_s_ns, 5300.0, 1.0);
}

// A second size tells what each byte adds.
TEST(Overheads, BySize)
{
    Samples samples = measured(growing());
    add(samples, growing(),
        {{16, kDelay, 9216}, take(1, kSmall), take(8, kSmall), take(1, 4096), take(8, 4096)});
    const fsbml_fit_t fit = fit_rail(samples, {}, kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_NEAR(fit.params.O_s_ns_per_byte, 0.8, 0.01);
    EXPECT_NEAR(fit.params.O_r_ns_per_byte, 1.6, 0.01);
    EXPECT_NEAR(fit.params.L_ns, 40e3, 1.0);
    EXPECT_EQ(fit.params.burst_ns, 0.0);
    EXPECT_STREQ(fit.reason, "");
}

// Without one, single messages that take longer than their gaps say tell both together; of one that is known,
// the other.
TEST(Overheads, ByWhatIsLeft)
{
    Samples samples = measured(growing());
    fsbml_fit_t fit = fit_rail(samples, {}, kSmall);
    EXPECT_NEAR(fit.params.O_s_ns_per_byte, 1.2, 0.01);
    EXPECT_NEAR(fit.params.O_r_ns_per_byte, 1.2, 0.01);
    add(samples, growing(), {{16, kDelay, 9216}});
    fit = fit_rail(samples, {}, kSmall);
    EXPECT_NEAR(fit.params.O_s_ns_per_byte, 0.8, 0.01);
    EXPECT_NEAR(fit.params.O_r_ns_per_byte, 1.6, 0.01);

    fsbml_fit_t little = gigabit(); // 1 % of G cannot be told apart
    little.params.O_s_ns_per_byte = 0.08;
    EXPECT_EQ(fit_rail(measured(little), {}, kSmall).params.O_s_ns_per_byte, 0.0);
}

// More than single messages leave is cut back to that, in proportion; what is less than nothing is nothing.
TEST(Overheads, BySizeIsBounded)
{
    const Samples samples = measured(growing());
    Samples more = samples;
    const Prtt large{16, kDelay, 9216};
    add(more, growing(), {large, take(1, kSmall), take(8, kSmall), take(1, 4096), take(8, 4096)});
    const double steps = 15.0 * 9215.0;
    fsbml_fit_t fit = fit_rail(with(more, large, exact(growing(), large) + 4.0 * steps), {}, kSmall);
    EXPECT_LT(fit.params.O_s_ns_per_byte + fit.params.O_r_ns_per_byte, 3.0);
    EXPECT_NEAR(fit.params.O_s_ns_per_byte / fit.params.O_r_ns_per_byte, 4.8 / 1.6, 0.05);
    EXPECT_TRUE(says(fit, "O_s + O_r set to")) << fit.reason;

    fit = fit_rail(with(more, large, exact(growing(), large) - 4.0 * steps), {}, kSmall);
    EXPECT_EQ(fit.params.O_s_ns_per_byte, 0.0);
    EXPECT_NEAR(fit.params.O_r_ns_per_byte, 1.6, 0.01);
}

// Never more than G, where no single messages tell.
TEST(Overheads, NoMoreThanTheGap)
{
    Samples samples;
    for (const std::uint32_t s : {kSmall, 4096U, 16384U}) {
        const double gap = 8e3 + 8.0 * (s - 1.0);
        samples.add({1, 0, s}, 102e3 + 16.0 * (s - 1.0));
        samples.add({16, 0, s}, 102e3 + 16.0 * (s - 1.0) + 15.0 * gap);
        samples.add({16, kDelay, s}, 102e3 + 16.0 * (s - 1.0) + 15.0 * (5e3 + 40.0 * (s - 1.0) + kDelay));
    }
    const fsbml_fit_t fit = fit_rail(samples, {}, kSmall);
    ASSERT_TRUE(fit.valid) << fit.reason;
    EXPECT_NEAR(fit.params.O_s_ns_per_byte, 8.0, 0.01);
    EXPECT_TRUE(says(fit, "O_s + O_r set to")) << fit.reason;
}
