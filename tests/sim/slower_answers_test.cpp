// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Shaped rails whose answers come slower than what they answer, beside one of 200 Mbit/s: the bucket there
// takes longer to fill again, and both directions have to be found out before the budget ends.
#include "calibration.hpp"

#include "../unit/test.hpp"

using namespace sim;

namespace
{

constexpr double kBudget = 300e6;
constexpr int kSeeds = 40;
constexpr std::uint32_t kBytes = 4350; // more than a bucket holds

struct Case {
    double there; // Mbit/s
    double back;
    double noise_ns;
    double wild; // share of probes that are late by 2 ms
    int missed;  // of all seeds, at most
};

std::vector<Shape> rails(const Case &c)
{
    std::vector<Shape> shapes{shaped(200), shaped(c.there)};
    shapes[1].other = shaped(c.back).p;
    for (Shape &s : shapes) {
        s.noise_ns = c.noise_ns;
        s.wild = c.wild;
        s.wild_ns = 2e6;
    }
    return shapes;
}

bool near(double is, double wanted, double share)
{
    return std::fabs(is / wanted - 1.0) < share;
}

// What is asked of a measurement before it is used: two probes that it was not made from, with full buckets.
bool holds(const Shape &shape, const fsbml_fit_t &fit, std::uint64_t seed)
{
    Rail rail(shape, seed);
    const auto rest = static_cast<double>(fsbml_fit_refill_ns(&fit));
    fsbml_probe_t probe{};
    double now = 0.0;
    const auto run = [&](std::uint32_t packets, std::uint32_t bytes) {
        probe.packets = packets;
        probe.bytes = bytes;
        const double time = rail.run(now, probe);
        now += time + rest;
        return time;
    };
    run(2, 8192); // which empties them
    const auto foretold = [&](std::uint32_t packets) {
        return fsbml_fit_prtt(&fit, FSBML_PROBE_THERE, packets, 0, kBytes);
    };
    for (int chance = 0; chance < 3; ++chance) {
        const double one = run(1, kBytes);
        if (near(run(3, kBytes) - one, foretold(3) - foretold(1), 0.25)) {
            return true;
        }
    }
    return false;
}

// What is wrong, or nothing.
std::string fault(const fsbml_fit_t &fit, const Shape &shape, std::uint64_t seed)
{
    const fsbml_loggp_t &p = fit.params;
    return !fit.valid                                                    ? "no fit"
           : !near(p.G_ns_per_byte, shape.true_G(), 0.04)                ? "G"
           : !(fit.back.G_ns_per_byte > 0.0)                             ? "the other way is not known"
           : !near(fit.back.G_ns_per_byte, shape.true_G_back(), 0.05)    ? "G of the other way"
           : !near(p.burst_ns, shape.burst * shape.p.G_ns_per_byte, 0.2) ? "burst"
           : !holds(shape, fit, seed)                                    ? "does not hold"
                                                                         : "";
}

} // namespace

TEST(SlowerAnswers, AreFoundOut)
{
    for (const Case &c : {Case{20, 5, 8e3, 0.0, 0},
                          {20, 13, 8e3, 0.0, 0},
                          {20, 10, 8e3, 0.0, 0},
                          {20, 4, 8e3, 0.0, 0},
                          {10, 5, 8e3, 0.0, 0},
                          {10, 2.5, 8e3, 0.0, 0},
                          {100, 25, 8e3, 0.0, 0},
                          {100, 10, 8e3, 0.0, 0},
                          {20, 5, 50e3, 0.0, 1},
                          {20, 5, 8e3, 0.02, 1}}) {
        const std::vector<Shape> shapes = rails(c);
        int missed = 0;
        std::string faults;
        for (int seed = 1; seed <= kSeeds; ++seed) {
            const Result r = calibrate(shapes, defaults(static_cast<std::uint64_t>(seed)));
            EXPECT_LE(r.elapsed_ns, kBudget) << c.there << "/" << c.back << " seed " << seed;
            const std::string wrong = fault(r.fits[1], shapes[1], static_cast<std::uint64_t>(seed));
            if (!wrong.empty()) {
                ++missed;
                faults += " " + std::to_string(seed) + ": " + wrong + ";";
            }
        }
        EXPECT_LE(missed, c.missed) << c.there << "/" << c.back << " Mbit/s, noise " << c.noise_ns << " ns, "
                                    << c.wild << " of the probes late, seeds" << faults;
    }
}
