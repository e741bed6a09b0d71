// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/prtt/prtt.hpp"

#include "model/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace fsbml
{

namespace
{

constexpr std::uint32_t kMostPackets = 24;
constexpr int kDraws = 64; // sizes that were measured are few, unless there is hardly another one

// 0 to 1. By hand: std::uniform_real_distribution may differ between libraries, and runs are to be
// repeatable.
double part(std::mt19937_64 &random)
{
    return static_cast<double>(random() >> 11) / 9007199254740992.0;
}

} // namespace

bool holdout_probe(const fsbml_fit_t &fit, const fsbml_sample_t *sample, std::size_t n, std::uint32_t rail,
                   std::uint64_t turn, double most_ns, fsbml_probe_t &out)
{
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t largest = 0;
    const auto each = [&](auto &&visit) {
        for (std::size_t i = 0; i < n; ++i) {
            if (sample[i].probe.rail == rail && !sample[i].probe.warm_up) {
                visit(sample[i].probe);
            }
        }
    };
    each([&](const fsbml_probe_t &p) {
        least = std::min(least, p.bytes);
        largest = std::max(largest, p.bytes);
    });
    if (least >= largest) {
        return false;
    }
    std::mt19937_64 random(0x5bd1e995U + (turn << 8) + rail);
    for (int draw = 0; draw < kDraws; ++draw) {
        const double range = static_cast<double>(largest) / least;
        const auto bytes = static_cast<std::uint32_t>(least * std::pow(range, part(random)));
        const double room = most_ns / gap_ns(fit.params, bytes);
        const auto most = static_cast<std::uint32_t>(std::clamp(room, 1.0, double{kMostPackets}));
        const bool single = most < 2 || 0 == random() % 4;
        const std::uint32_t packets = single ? 1 : 2 + static_cast<std::uint32_t>(random() % (most - 1));
        bool known = false;
        each([&](const fsbml_probe_t &p) {
            known |= p.bytes == bytes || (packets > 1 && p.packets == packets);
        });
        if (!known) {
            out = fsbml_probe_t{FSBML_PROBE_THERE, rail, packets, bytes, 0, 0, false};
            return true;
        }
    }
    return false;
}

} // namespace fsbml
