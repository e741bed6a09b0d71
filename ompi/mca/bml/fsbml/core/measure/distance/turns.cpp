// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/distance/turns.hpp"
#include "model/stats.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

// A rail is behind another if it is by that much: two ways of what is worth a correction.
constexpr double kBehindNs = 20e3;
constexpr double kError = 1e-4;
// The middles of the rounds are within this share of the middle of all, or so many of their standard errors
// (of a median, by the median deviation: 1.2533 * 1.4826 / sqrt(n)).
constexpr double kApart = 0.5;
constexpr double kErrors = 3.0;
constexpr double kErrorOfDeviation = 1.858;

// P(X >= k) of n throws of a coin.
double chance(std::size_t n, std::size_t k)
{
    double exactly = std::pow(0.5, static_cast<double>(n));
    double p = 0.0;
    for (std::size_t heads = n; true; --heads) {
        p += exactly;
        if (heads <= k) {
            return p;
        }
        exactly *= static_cast<double>(heads) / static_cast<double>(n - heads + 1);
    }
}

double error_of(const std::vector<double> &values)
{
    return kErrors * kErrorOfDeviation * mad(values) / std::sqrt(static_cast<double>(values.size()));
}

} // namespace

struct Turns::Beside {
    std::size_t behind = 0; // turns in which it was, whatever this process did not see
    std::size_t ahead = 0;  // the same the other way round
    std::vector<double> extra_ns;
    std::vector<std::vector<double>> by_round;
};

void Turns::begin(std::size_t round) noexcept
{
    full_ = round_.size() == round_.capacity();
    if (!full_) {
        round_.push_back(round);
        answer_.resize(answer_.size() + rails_);
    }
}

void Turns::add(std::size_t rail, const Answer &answer) noexcept
{
    if (!full_ && !round_.empty() && rail < rails_) {
        answer_[(round_.size() - 1) * rails_ + rail] = answer;
    }
}

std::size_t Turns::nearest(std::uint32_t rails, const PerRail &way_ns) const
{
    std::size_t nearest = FSBML_MAX_RAILS;
    double least = 0.0;
    for (std::size_t i = 0; i < rails_; ++i) {
        std::vector<double> corrections;
        for (std::size_t t = 0; t < round_.size(); ++t) {
            if (0 != (rails >> i & 1) && answer(t, i).at_most_ns > 0.0) {
                corrections.push_back(answer(t, i).at_most_ns / 2.0 - way_ns[i]);
            }
        }
        const double middle = corrections.empty() ? 0.0 : median(corrections);
        if (!corrections.empty() && (FSBML_MAX_RAILS == nearest || middle < least)) {
            nearest = i;
            least = middle;
        }
    }
    return nearest;
}

Turns::Beside Turns::beside(std::size_t rail, std::size_t near, double more_way_ns) const
{
    Beside b;
    std::size_t round = 0;
    for (std::size_t t = 0; t < round_.size(); ++t) {
        const Answer a = answer(t, rail);
        const Answer n = answer(t, near);
        if (0.0 == a.at_most_ns || 0.0 == n.at_most_ns) {
            continue;
        }
        if (b.by_round.empty() || round_[t] != round) {
            b.by_round.emplace_back();
            round = round_[t];
        }
        const double more_ns = 2.0 * more_way_ns;
        b.behind += a.at_least_ns - n.at_most_ns - more_ns >= kBehindNs ? 1 : 0;
        b.ahead += n.at_least_ns - a.at_most_ns + more_ns >= kBehindNs ? 1 : 0;
        const double middles = (a.at_least_ns + a.at_most_ns - n.at_least_ns - n.at_most_ns) / 2.0;
        b.extra_ns.push_back(middles / 2.0 - more_way_ns);
        b.by_round.back().push_back(b.extra_ns.back());
    }
    return b;
}

std::uint32_t Turns::farther(std::uint32_t rails, const PerRail &way_ns, PerRail &extra_ns) const
{
    const std::size_t near = nearest(rails, way_ns);
    std::uint32_t farther = 0;
    extra_ns.fill(0.0);
    for (std::size_t i = 0; i < rails_ && FSBML_MAX_RAILS != near; ++i) {
        if (0 == (rails >> i & 1) || i == near) {
            continue;
        }
        const Beside b = beside(i, near, way_ns[i] - way_ns[near]);
        const double middle = median(b.extra_ns);
        std::size_t rounds = 0;
        bool agree = true;
        for (const std::vector<double> &round : b.by_round) {
            if (round.size() >= kTurns) {
                ++rounds;
                agree =
                    agree && std::abs(median(round) - middle) <= std::max(kApart * middle, error_of(round));
            }
        }
        if (agree && rounds >= kRounds && chance(b.behind + b.ahead, b.behind) <= kError) {
            extra_ns[i] = middle;
            farther |= UINT32_C(1) << i;
        }
    }
    return farther;
}

} // namespace fsbml
