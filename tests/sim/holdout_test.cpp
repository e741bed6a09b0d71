// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Validation exchanges, on simulated shaped rails: what a fit says against what they
// take. Sizes from 32 bytes on, where a shaper's bucket hides some or all of an exchange, and frames' headers
// are most of it.
#include "calibration.hpp"

#include "model/model.hpp"

#include "../unit/test.hpp"

using namespace sim;

namespace
{

constexpr std::uint32_t kSmall = 32; // no smaller message exists
constexpr int kSeeds = 25;
constexpr int kExchanges = 40; // of a rail and seed

struct Errors {
    std::vector<double> all;
    std::vector<double> small; // of less than 4 KiB

    static double at(const std::vector<double> &errors, double share)
    {
        return fsbml::order_statistic(
            errors, static_cast<std::size_t>(share * (static_cast<double>(errors.size()) - 1.0)));
    }
};

// As fsbml_holdout_probe(): one message or 2 to 24, sizes even over their logarithm, none above 20 ms.
fsbml_probe_t draw(std::mt19937_64 &random, double per_byte_ns)
{
    const double part = static_cast<double>(random() >> 11) * 0x1p-53;
    fsbml_probe_t p{};
    p.bytes = static_cast<std::uint32_t>(kSmall * std::pow(65536.0 / kSmall, part));
    const double most = std::clamp(20e6 / (p.bytes * per_byte_ns), 1.0, 24.0);
    p.packets = most < 2.0 || 0 == random() % 4
                    ? 1
                    : 2 + static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(most - 1.0));
    return p;
}

// Each exchange finds the bucket full and nothing disturbs it: what is tested is the model.
void hold_out(const fsbml_fit_t &fit, Shape shape, std::uint64_t seed, Errors &out)
{
    shape.noise_ns = 0.0;
    std::mt19937_64 random(seed);
    for (int i = 0; i < kExchanges; ++i) {
        const fsbml_probe_t p = draw(random, shape.p.G_ns_per_byte);
        Rail rail(shape, seed);
        const double truth = rail.run(0.0, p);
        const double said = fsbml_fit_prtt(&fit, p.kind, p.packets, p.delay_ns, p.bytes);
        const double error = std::fabs(said / truth - 1.0);
        out.all.push_back(error);
        if (p.bytes < 4096) {
            out.small.push_back(error);
        }
    }
}

void expect_predicted(const std::string &name, const Errors &e)
{
    std::printf("%-20s median error %4.1f%%, p95 %4.1f%%; below 4 KiB %4.1f%% and %4.1f%%\n", name.c_str(),
                100.0 * Errors::at(e.all, 0.5), 100.0 * Errors::at(e.all, 0.95),
                100.0 * Errors::at(e.small, 0.5), 100.0 * Errors::at(e.small, 0.95));
    EXPECT_LE(Errors::at(e.all, 0.5), 0.05) << name;
    EXPECT_LE(Errors::at(e.all, 0.95), 0.15) << name;
    EXPECT_LE(Errors::at(e.small, 0.5), 0.05) << name;
    EXPECT_LE(Errors::at(e.small, 0.95), 0.15) << name;
}

// The cluster's rails, with a processor's time for a message as there.
Shape rail(double mbit, double o_ns)
{
    Shape s = shaped(mbit);
    s.p.o_s_ns = o_ns;
    return s;
}

} // namespace

// Each rail by itself and the pair, with processors that take little for a message and much.
TEST(Holdout, ShapedRailsArePredicted)
{
    for (const double o_ns : {2e3, 8e3}) {
        for (const std::vector<double> &mbit :
             {std::vector<double>{5}, {20}, {50}, {100}, {200}, {400}, {200, 20}}) {
            std::vector<Shape> shapes;
            std::string name;
            for (const double m : mbit) {
                shapes.push_back(rail(m, o_ns));
                name += std::to_string(static_cast<int>(m)) + " ";
            }
            Errors errors;
            for (int seed = 1; seed <= kSeeds; ++seed) {
                fsbml_calib_config_t config = defaults(static_cast<std::uint64_t>(seed));
                config.small_size = kSmall;
                const Result r = calibrate(shapes, config);
                for (std::size_t i = 0; i < shapes.size(); ++i) {
                    ASSERT_TRUE(r.fits[i].valid) << name << "seed " << seed << ": " << r.fits[i].reason;
                    hold_out(r.fits[i], shapes[i], config.seed + 1000 * i, errors);
                }
            }
            expect_predicted(name + "Mbit/s, o " + std::to_string(static_cast<int>(o_ns / 1e3)) + " us",
                             errors);
        }
    }
}
