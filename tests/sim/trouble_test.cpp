// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The calibration against rails, clocks and callers that misbehave: it ends, and what it says is right.
#include "calibration.hpp"

#include "../unit/test.hpp"

using namespace sim;

namespace
{

constexpr double kBudget = 300e6;
constexpr int kSeeds = 40;

double error_of(const fsbml_fit_t &fit, const Shape &shape)
{
    return std::fabs(fit.params.G_ns_per_byte / shape.true_G() - 1.0);
}

} // namespace

// A clock that stands still or jumps an age ahead, in one probe of fifty: it has measured nothing there.
TEST(Trouble, ClockSteps)
{
    int wrong = 0;
    std::vector<Shape> shapes{shaped(200), shaped(20)};
    for (Shape &s : shapes) {
        s.clock_steps = 0.02;
    }
    each_fit(shapes, kSeeds, [&](const Result &r, std::size_t i, int seed) {
        EXPECT_LE(r.elapsed_ns, kBudget) << seed;
        wrong += r.fits[i].valid && error_of(r.fits[i], shapes[i]) < 0.05 ? 0 : 1;
    });
    EXPECT_LE(wrong, 2 * kSeeds / 20);
}

// TCP waits 200 ms for a lost frame in one probe of a hundred: that may be most of the budget, and one such
// probe may end beyond it, but what was measured is right.
TEST(Trouble, Stalls)
{
    int wrong = 0;
    std::vector<Shape> shapes{shaped(200), shaped(20)};
    for (Shape &s : shapes) {
        s.stall = 0.01;
    }
    each_fit(shapes, kSeeds, [&](const Result &r, std::size_t i, int seed) {
        EXPECT_LE(r.elapsed_ns, kBudget + 210e6) << seed;
        wrong += r.fits[i].valid && error_of(r.fits[i], shapes[i]) < 0.08 ? 0 : 1;
    });
    EXPECT_LE(wrong, 2 * kSeeds / 10);
}

// A rail that answers some probes and then never again is taken out; the other one does not suffer.
TEST(Trouble, RailFallsSilent)
{
    for (const std::uint32_t answers : {0U, 1U, 3U, 8U, 12U, 25U}) {
        for (int seed = 1; seed <= kSeeds / 4; ++seed) {
            std::vector<Shape> shapes{shaped(200), shaped(100)};
            shapes[0].answers = answers;
            const Result r = calibrate(shapes, defaults(static_cast<std::uint64_t>(seed)));
            std::uint32_t asked = 0;
            for (const fsbml_probe_t &p : r.probes) {
                asked += 0 == p.rail ? 1 : 0;
            }
            EXPECT_EQ(asked, answers + 1) << answers << " seed " << seed;
            EXPECT_FALSE(r.fits[0].valid);
            EXPECT_FALSE(r.fits[0].tight);
            EXPECT_EQ(std::string(r.fits[0].reason), "no answer");
            ASSERT_TRUE(r.fits[1].valid) << r.fits[1].reason;
            EXPECT_TRUE(r.fits[1].tight) << answers << " seed " << seed;
            EXPECT_LT(error_of(r.fits[1], shapes[1]), 0.03) << answers << " seed " << seed;
            EXPECT_LT(r.elapsed_ns, 200e6);
        }
    }
}

// A caller that does not have a kind of probe reports no time for it, and is not asked again; all else is as
// it would be.
TEST(Trouble, KindsThatBringNothing)
{
    constexpr std::uint32_t kThere = 1U << FSBML_PROBE_THERE;
    for (const std::uint32_t kinds :
         {kThere, ~(1U << FSBML_PROBE_BACK), ~(1U << FSBML_PROBE_TAKE), ~(1U << FSBML_PROBE_BOTH)}) {
        for (int seed = 1; seed <= kSeeds / 4; ++seed) {
            std::vector<Shape> shapes{shaped(200), shaped(20)};
            for (Shape &s : shapes) {
                s.kinds = kinds;
            }
            const Result r = calibrate(shapes, defaults(static_cast<std::uint64_t>(seed)));
            std::uint32_t in_vain = 0;
            for (const fsbml_probe_t &p : r.probes) {
                in_vain += 0 == (kinds & (1U << p.kind)) ? 1 : 0;
            }
            EXPECT_LE(in_vain, 2U * 3U); // once a rail and kind
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                EXPECT_TRUE(r.fits[i].tight) << kinds << " seed " << seed << r.fits[i].reason;
                EXPECT_LT(error_of(r.fits[i], shapes[i]), 0.03) << kinds << " seed " << seed;
            }
            if (kinds == kThere) {
                EXPECT_EQ(r.fits[0].back.G_ns_per_byte, 0.0);
                EXPECT_EQ(r.fits[0].duplex, 0.0);
            }
        }
    }
}

// A clock that shows nothing but 0 measures no rail, and ends nevertheless.
TEST(Trouble, ClockStandsStill)
{
    Shape s = shaped(200);
    s.kinds = 0;
    const Result r = calibrate({s, s}, defaults());
    EXPECT_LT(r.probes.size(), 500U);
    EXPECT_FALSE(r.fits[0].valid);
    EXPECT_FALSE(r.fits[0].tight);
}

// Time that runs back between two probes, or leaps to the end, does no harm.
TEST(Trouble, ElapsedTimeJumps)
{
    const fsbml_calib_config_t config = defaults();
    const fsbml_calib_rail_t known{65536, {}};
    for (const std::uint64_t then : {std::uint64_t{0}, std::uint64_t{1} << 62}) {
        const CalibPtr c(fsbml_calib_create(&config, 1, &known));
        Rail rail(shaped(200), 1);
        fsbml_probe_t probe;
        double elapsed = 0.0;
        int probes = 0;
        while (probes < 5000
               && 1
                      == fsbml_calib_next(c.get(), 60 == probes ? then : static_cast<std::uint64_t>(elapsed),
                                          &probe)) {
            const double time = rail.run(elapsed, probe);
            elapsed = 60 == probes ? time : elapsed + time;
            ASSERT_EQ(fsbml_calib_report(c.get(), &probe, static_cast<std::uint64_t>(time)), 0);
            ++probes;
        }
        EXPECT_LT(probes, 5000);
        fsbml_fit_t fit;
        ASSERT_EQ(fsbml_calib_fit(c.get(), 0, &fit), 0);
        EXPECT_TRUE(fit.valid) << fit.reason;
    }
}

// Something else runs during the pilot, which holds the rails to be slow. They get a better plan once it
// shows.
TEST(Trouble, PilotHeldUp)
{
    int wrong = 0;
    int small = 0;
    std::vector<Shape> shapes{shaped(400), shaped(200)};
    for (Shape &s : shapes) {
        s.held_up_ns = 100e6;
    }
    each_fit(shapes, kSeeds, [&](const Result &r, std::size_t i, int seed) {
        EXPECT_LE(r.elapsed_ns, kBudget + 30e6) << seed;
        wrong += r.fits[i].valid && error_of(r.fits[i], shapes[i]) < 0.05 ? 0 : 1;
        std::uint32_t largest = 0;
        for (const fsbml_probe_t &p : r.probes) {
            largest = p.rail == i && !p.warm_up ? std::max(largest, p.bytes) : largest;
        }
        small += largest < 12288 ? 1 : 0;
    });
    EXPECT_LE(wrong, 2 * kSeeds / 10);
    EXPECT_LE(small, 2 * kSeeds / 10);
}
