// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Samples that follow the formulas of a fit, and disturbances of some of them.
#ifndef FSBML_TESTS_UNIT_PROBES_HPP
#define FSBML_TESTS_UNIT_PROBES_HPP

#include "measure/fit/fit.hpp"
#include "model/model.hpp"

#include <cstdint>
#include <vector>

namespace probes
{

constexpr std::uint32_t kSmall = 1;
constexpr std::uint64_t kDelay = 2000000;

// A gigabit rail: L 40, o_s 5, o_r 6, g 8 us, G 8 ns/B.
inline fsbml_fit_t gigabit()
{
    fsbml_fit_t fit{};
    fit.valid = true;
    fit.params.L_ns = 40e3;
    fit.params.o_s_ns = 5e3;
    fit.params.o_r_ns = 6e3;
    fit.params.g_ns = 8e3;
    fit.params.G_ns_per_byte = 8.0;
    return fit;
}

// The PRTTs of one direction: two at each size, and one with a delay at the small size.
inline std::vector<fsbml::Prtt> plan(fsbml_probe_kind_t kind = FSBML_PROBE_THERE)
{
    std::vector<fsbml::Prtt> cells{{1, 0, kSmall, kind}, {16, 0, kSmall, kind}, {16, kDelay, kSmall, kind}};
    for (const std::uint32_t s : {4096U, 6144U, 9216U, 14336U, 20480U, 30720U, 45056U, 65536U}) {
        cells.push_back({1, 0, s, kind});
        cells.push_back({16, 0, s, kind});
    }
    return cells;
}

inline double exact(const fsbml_fit_t &fit, const fsbml::Prtt &c)
{
    return fsbml::predict_prtt(fit, c.kind, c.packets, static_cast<double>(c.delay_ns), c.bytes);
}

inline void add(fsbml::Samples &samples, const fsbml_fit_t &fit, const std::vector<fsbml::Prtt> &cells)
{
    for (const fsbml::Prtt &c : cells) {
        for (int i = 0; i < 5; ++i) {
            samples.add(c, exact(fit, c));
        }
    }
}

inline fsbml::Samples measured(const fsbml_fit_t &fit)
{
    fsbml::Samples samples;
    add(samples, fit, plan());
    return samples;
}

// The same samples, with those of one PRTT replaced.
inline fsbml::Samples with(const fsbml::Samples &samples, const fsbml::Prtt &prtt, double time_ns)
{
    fsbml::Samples changed;
    for (const fsbml::Samples::Cell &c : samples.cells()) {
        for (const double t : c.times_ns) {
            changed.add(c.prtt, c.prtt == prtt ? time_ns : t);
        }
    }
    return changed;
}

} // namespace probes

#endif
