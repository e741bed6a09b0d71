// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "traffic.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace fsbml::sim
{
namespace
{

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;

std::mt19937_64 seeded(std::uint64_t seed, std::uint32_t stream)
{
    std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), stream};
    return std::mt19937_64(words);
}

} // namespace

TrafficDice::TrafficDice(std::uint64_t seed, std::uint32_t stream) : random_(seeded(seed, stream)) {}

double TrafficDice::unit()
{
    return static_cast<double>(random_() >> 11) * 0x1p-53;
}

std::uint64_t TrafficDice::integer(std::uint64_t low, std::uint64_t high)
{
    const std::uint64_t span = high - low + 1; // 0: all 2^64
    if (span == 0) {
        return random_();
    }
    const std::uint64_t uneven =
        (std::uint64_t{0} - span) % span; // 2^64 mod span: what would come more often
    std::uint64_t x = random_();
    while (x < uneven) {
        x = random_();
    }
    return low + x % span;
}

Time TrafficDice::exponential(Time mean)
{
    return static_cast<Time>(std::llround(-std::log(1.0 - unit()) * static_cast<double>(mean)));
}

std::uint32_t TrafficDice::peer(std::uint32_t ranks, std::uint32_t self)
{
    const auto other = static_cast<std::uint32_t>(integer(0, ranks - 2));
    return other + (other >= self ? 1 : 0);
}

Sizes Sizes::all(std::uint64_t bytes)
{
    return Sizes{Kind::fixed, bytes, bytes, 1.0};
}

Sizes Sizes::uniform(std::uint64_t low, std::uint64_t high)
{
    return Sizes{Kind::uniform, low, high, 1.0};
}

Sizes Sizes::log_uniform(std::uint64_t low, std::uint64_t high)
{
    return Sizes{Kind::log_uniform, low, high, 1.0};
}

Sizes Sizes::pareto(std::uint64_t low, std::uint64_t high, double shape)
{
    return Sizes{Kind::pareto, low, high, shape};
}

void Sizes::validate() const
{
    if (low < 1 || high < low || high > kMostBytes) {
        throw std::invalid_argument("sizes from " + std::to_string(low) + " to " + std::to_string(high)
                                    + " bytes: 1 <= low <= high <= 2^50 is needed");
    }
    if (!(shape > 0.0) || !std::isfinite(shape)) {
        throw std::invalid_argument("a Pareto shape of " + std::to_string(shape) + " is not above 0");
    }
}

std::uint64_t Sizes::draw(TrafficDice &dice) const
{
    const auto a = static_cast<double>(low);
    const auto b = static_cast<double>(high);
    double x = 0.0;
    switch (kind) {
    case Kind::fixed:
        return low;
    case Kind::uniform:
        return dice.integer(low, high);
    case Kind::log_uniform:
        x = a * std::pow(b / a, dice.unit());
        break;
    case Kind::pareto: // the inverse of its distribution function
        x = a * std::pow(1.0 - dice.unit() * (1.0 - std::pow(a / b, shape)), -1.0 / shape);
        break;
    }
    return std::clamp(static_cast<std::uint64_t>(std::llround(x)), low, high);
}

} // namespace fsbml::sim
