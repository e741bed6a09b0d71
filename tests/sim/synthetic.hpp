// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Samples whose parameters are known.
//
// What is drawn (log-uniform where it spans more than a factor of 3):
// - L 5 to 500 us, o_s and o_r a tenth to a quarter of it each, g 1.2 to 2 o_s (thesis, table 3.5.3.1:
//   Gigabit Ethernet o/L 0.09, g/o 1.15; InfiniBand 0.47 and 1.07), G such that 4 KiB take 1 to 10 g;
// - 16 sizes log-spaced from 4 to 512 KiB, 9 samples of each PRTT, n = 16;
// - a break between two sizes with at least 4 on each side, G_above 0.4 to 0.75 or 1.33 to 2.5 of G, in every
//   second seed with a jump of the gap by 10 to 40 %;
// - each sample late by an exponential time with a mean of 1 % of its time (without the computed delay, which
//   is none of the network's), 5 % of them longer by 1 to 99 times as much again.
#ifndef FSBML_TESTS_SIM_SYNTHETIC_HPP
#define FSBML_TESTS_SIM_SYNTHETIC_HPP

#include "api/fsbml_core.h"
#include "measure/samples/samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace synthetic
{

using fsbml::Prtt;
using fsbml::Samples;

constexpr std::uint32_t kSmall = 32;
constexpr std::uint32_t kPackets = 16;

struct Truth {
    fsbml_fit_t fit{}; // as a fit that is exact would be
    std::vector<std::uint32_t> sizes;
};

inline double gap(const fsbml_loggp_t &p, double s)
{
    return p.break_bytes > 0.0 && s >= p.break_bytes
               ? p.g_above_ns + p.G_above_ns_per_byte * (s - p.break_bytes)
               : p.g_ns + p.G_ns_per_byte * (s - 1.0);
}

class Dice
{
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    double uniform(double low, double high)
    {
        return low + (high - low) * (static_cast<double>(random_() >> 11) * 0x1p-53);
    }
    double log_uniform(double low, double high) { return low * std::pow(high / low, uniform(0.0, 1.0)); }
    double exponential() { return -std::log(1.0 - uniform(0.0, 1.0)); }
    bool chance(double p) { return uniform(0.0, 1.0) < p; }

private:
    std::mt19937_64 random_;
};

inline Truth draw(Dice &dice, bool with_break, int sizes = 16)
{
    Truth t;
    fsbml_loggp_t &p = t.fit.params;
    p.L_ns = dice.log_uniform(5e3, 500e3);
    p.o_s_ns = p.L_ns * dice.uniform(0.1, 0.25);
    p.o_r_ns = p.L_ns * dice.uniform(0.1, 0.25);
    p.g_ns = p.o_s_ns * dice.uniform(1.2, 2.0);
    p.G_ns_per_byte = p.g_ns * dice.log_uniform(1.0, 10.0) / 4096.0;
    for (int i = 0; i < sizes; ++i) {
        t.sizes.push_back(
            static_cast<std::uint32_t>(std::lround(4096.0 * std::pow(128.0, i / (sizes - 1.0)))));
    }
    if (with_break) {
        const int margin = sizes >= 16 ? 4 : 3; // sizes on each side
        const auto k = static_cast<std::size_t>(
            margin + dice.uniform(0.0, sizes - 2 * margin + 0.999)); // 4 to 12: sizes below it
        p.break_bytes = std::ceil(dice.uniform(t.sizes[k - 1] + 1.0, t.sizes[k]));
        const double other = dice.log_uniform(1.0 / 0.75, 2.5);
        p.G_above_ns_per_byte = p.G_ns_per_byte * (dice.chance(0.5) ? other : 1.0 / other);
        const double below = p.g_ns + p.G_ns_per_byte * (p.break_bytes - 1.0);
        p.g_above_ns = below * (dice.chance(0.5) ? dice.uniform(1.1, 1.4) : 1.0);
    }
    t.fit.back.o_s_ns = p.o_s_ns * dice.uniform(0.7, 1.4);
    t.fit.back.g_ns = t.fit.back.o_s_ns * dice.uniform(1.2, 2.0);
    t.fit.back.G_ns_per_byte = p.G_ns_per_byte * dice.uniform(0.7, 1.4);
    t.fit.duplex = dice.uniform(1.0, 2.0);
    return t;
}

// The formulas of the thesis (3.2.2), written down anew: not what the fit predicts with.
inline double exact(const Truth &t, const Prtt &c)
{
    const fsbml_loggp_t &p = t.fit.params;
    const fsbml_loggp_t &b = t.fit.back;
    const double n = c.packets;
    const double s = c.bytes;
    const auto d = static_cast<double>(c.delay_ns);
    const double o_r = p.o_r_ns;
    const double one = p.o_s_ns + p.L_ns + o_r + gap(p, s) - gap(p, 1.0);
    const double back = b.o_s_ns + p.L_ns + o_r + gap(b, s) - gap(b, 1.0);
    const double answer = p.o_s_ns + p.L_ns + o_r + gap(b, s) - gap(b, 1.0);
    const double there_all = one + (n - 1.0) * std::max(p.o_s_ns + d, gap(p, s));
    const double back_all = back + (n - 1.0) * std::max(b.o_s_ns + d, gap(b, s));
    const double ask = p.o_s_ns + p.L_ns + o_r + gap(p, kSmall) - gap(p, 1.0);
    switch (c.kind) {
    case FSBML_PROBE_BACK:
        return ask + back_all;
    case FSBML_PROBE_TAKE:
        return 300.0 + n * o_r;
    case FSBML_PROBE_BOTH:
        return ask + t.fit.duplex * std::max(there_all, back_all);
    default:
        return there_all + answer;
    }
}

struct Noise {
    double relative = 0.01; // mean of an exponential delay, of the time
    double absolute_ns = 0.0;
    double wild = 0.05;
    bool symmetric = false;
};

inline double disturbed(double time, double computed, const Noise &noise, Dice &dice)
{
    const double own = time - computed;
    double late = dice.exponential();
    if (noise.symmetric) {
        late = dice.chance(0.5) ? late : -late;
    }
    const double wild = dice.chance(noise.wild) ? own * dice.uniform(1.0, 99.0) : 0.0;
    return time + late * (noise.relative * own + noise.absolute_ns) + wild;
}

inline std::vector<Prtt> plan(const Truth &t)
{
    const fsbml_loggp_t &p = t.fit.params;
    const auto delay = static_cast<std::uint64_t>(2.0 * p.g_ns + 10e3);
    std::vector<Prtt> cells{{1, 0, kSmall}, {kPackets, 0, kSmall}, {kPackets, delay, kSmall}};
    for (const std::uint32_t s : t.sizes) {
        cells.push_back({1, 0, s});
        cells.push_back({kPackets, 0, s});
    }
    for (const std::uint32_t n : {1U, kPackets}) {
        cells.push_back({n, 0, kSmall, FSBML_PROBE_TAKE});
        for (const std::uint32_t s : {kSmall, t.sizes[t.sizes.size() / 4], t.sizes[t.sizes.size() / 2]}) {
            cells.push_back({n, 0, s, FSBML_PROBE_BACK});
        }
    }
    cells.push_back({kPackets, 2 * delay, kSmall, FSBML_PROBE_BACK});
    cells.push_back({kPackets, 0, t.sizes[t.sizes.size() / 2], FSBML_PROBE_BOTH});
    return cells;
}

inline Samples measure(const Truth &t, int repeat, const Noise &noise, Dice &dice)
{
    Samples samples;
    for (const Prtt &c : plan(t)) {
        const double computed = (c.packets - 1.0) * static_cast<double>(c.delay_ns);
        for (int i = 0; i < repeat; ++i) {
            samples.add(c, disturbed(exact(t, c), computed, noise, dice));
        }
    }
    return samples;
}

} // namespace synthetic

#endif
