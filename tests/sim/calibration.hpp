// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Runs a whole calibration against simulated rails.
#ifndef FSBML_TESTS_SIM_CALIBRATION_HPP
#define FSBML_TESTS_SIM_CALIBRATION_HPP

#include "api/fsbml_core.h"
#include "rail.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace sim
{

struct DestroyCalib {
    void operator()(fsbml_calib_t *c) const noexcept { fsbml_calib_destroy(c); }
};
using CalibPtr = std::unique_ptr<fsbml_calib_t, DestroyCalib>;

inline fsbml_calib_config_t defaults(std::uint64_t seed = 1)
{
    return {16, 2048, 1, 9, 300000000, seed, 0};
}

struct Result {
    std::vector<fsbml_fit_t> fits;
    std::vector<fsbml_probe_t> probes;
    std::vector<double> bytes; // of each rail's probes, both ways
    double elapsed_ns = 0.0;
};

constexpr double kTimeout = 50e6; // ns after which a probe counts as not answered

// What a probe sends, both ways.
inline double bytes_of(const fsbml_probe_t &p, std::uint32_t small)
{
    const double all = static_cast<double>(p.packets) * p.bytes;
    switch (p.kind) {
    case FSBML_PROBE_THERE:
        return all + p.bytes;
    case FSBML_PROBE_BOTH:
        return 2.0 * all;
    default:
        return all + small;
    }
}

// Each probe costs 5 us beside its own time, for what is around it in a real prober.
inline Result calibrate(const std::vector<Shape> &shapes, const fsbml_calib_config_t &config,
                        const fsbml_calib_rail_t &rail)
{
    std::vector<Rail> rails;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        rails.emplace_back(shapes[i], config.seed * 1000 + i, static_cast<std::uint32_t>(config.seed));
    }
    const std::vector<fsbml_calib_rail_t> known(shapes.size(), rail);
    Result result;
    result.bytes.resize(shapes.size());
    const CalibPtr c(fsbml_calib_create(&config, shapes.size(), known.data()));
    fsbml_probe_t probe;
    while (c && 1 == fsbml_calib_next(c.get(), static_cast<std::uint64_t>(result.elapsed_ns), &probe)) {
        const double time = rails.at(probe.rail).run(result.elapsed_ns, probe);
        result.probes.push_back(probe);
        result.bytes[probe.rail] += bytes_of(probe, config.small_size);
        if (time < 0.0) {
            result.elapsed_ns += kTimeout;
            fsbml_calib_fail(c.get(), probe.rail, "no answer");
            continue;
        }
        result.elapsed_ns += time + 5e3;
        const double clocked = rails[probe.rail].clocked(time);
        if (0 != fsbml_calib_report(c.get(), &probe, static_cast<std::uint64_t>(clocked))) {
            break;
        }
    }
    for (std::size_t i = 0; c && i < shapes.size(); ++i) {
        result.fits.emplace_back();
        fsbml_calib_fit(c.get(), i, &result.fits.back());
    }
    return result;
}

inline Result calibrate(const std::vector<Shape> &shapes, const fsbml_calib_config_t &config,
                        std::uint32_t max_bytes = 65536)
{
    return calibrate(shapes, config, fsbml_calib_rail_t{max_bytes, {}});
}

// Calibrates with each seed, and looks at each rail's fit.
template <class Look>
void each_fit(const std::vector<Shape> &shapes, int seeds, Look look)
{
    for (int seed = 1; seed <= seeds; ++seed) {
        const Result r = calibrate(shapes, defaults(static_cast<std::uint64_t>(seed)));
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            look(r, i, seed);
        }
    }
}

} // namespace sim

#endif
