// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "draws.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml::bench
{
namespace
{

// 0 <= x < 1. The library's distributions differ between implementations; nodes of a cluster must not.
double draw_part(std::mt19937_64 &generator)
{
    return static_cast<double>(generator() >> 11) * 0x1p-53;
}

} // namespace

Distribution distribution_of(const std::string &name)
{
    return name == "log" ? Distribution::log : name == "ends" ? Distribution::ends : Distribution::uniform;
}

std::size_t draw_size(Distribution distribution, std::size_t low, std::size_t high,
                      std::mt19937_64 &generator)
{
    const double part = draw_part(generator);
    const auto least = static_cast<double>(low);
    const auto most = static_cast<double>(high);
    double size = least;
    switch (distribution) {
    case Distribution::uniform:
        size = least + part * (most - least + 1);
        break;
    case Distribution::log:
        // From 0 there is no logarithm: one byte more on both sides.
        size = std::exp(std::log(least + 1) + part * (std::log(most + 1) - std::log(least + 1))) - 1;
        size = std::round(size);
        break;
    case Distribution::ends:
        size = part < 0.5 ? least : most;
        break;
    }
    return std::clamp(static_cast<std::size_t>(size), low, high);
}

std::vector<Message> draw_messages(int ranks, int count, Distribution distribution, std::size_t low,
                                   std::size_t high, std::mt19937_64 &generator)
{
    std::vector<Message> messages;
    messages.reserve(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(count));
    for (int source = 0; source < ranks; ++source) {
        for (int i = 0; i < count; ++i) {
            const int other = static_cast<int>(draw_part(generator) * (ranks - 1));
            messages.push_back(
                {source, other < source ? other : other + 1, draw_size(distribution, low, high, generator)});
        }
    }
    return messages;
}

} // namespace fsbml::bench
