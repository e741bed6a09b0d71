// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "arms.hpp"

#include "tools/text/text.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml::bench
{
namespace
{

// The probability that the true median lies outside, on one side, of the k-th value from each end: that fewer
// than k of `count` fair coins show heads.
double tail(std::size_t count, std::size_t k)
{
    double term = std::pow(0.5, static_cast<double>(count));
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
        sum += term;
        term *= static_cast<double>(count - i) / static_cast<double>(i + 1);
    }
    return sum;
}

} // namespace

Ratio ratio_of(const std::vector<double> &by_round)
{
    std::vector<double> sorted = by_round;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t count = sorted.size();
    std::size_t k = 1;
    while (2 * (k + 1) <= count && 1 - 2 * tail(count, k + 1) >= 0.9) {
        ++k;
    }
    Ratio ratio;
    ratio.median = median(sorted);
    ratio.spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2;
    ratio.low = sorted[k - 1];
    ratio.high = sorted[count - k];
    ratio.sure = std::max(0.0, 1 - 2 * tail(count, k));
    ratio.rounds = static_cast<int>(count);
    return ratio;
}

std::optional<Ratio> ratio(const Results &results, const std::string &arm, const std::string &other,
                           const Place &place)
{
    const std::vector<double> &above = results.launches(arm, place);
    const std::vector<double> &below = results.launches(other, place);
    std::vector<double> ratios;
    for (std::size_t round = 0; round < std::min(above.size(), below.size()); ++round) {
        if (above[round] <= 0 || below[round] <= 0) {
            return std::nullopt;
        }
        ratios.push_back(cost(above[round], place.unit) / cost(below[round], place.unit));
    }
    return ratios.empty() ? std::nullopt : std::optional<Ratio>(ratio_of(ratios));
}

std::optional<std::string> best_arm(const Results &results, const std::vector<std::string> &arms,
                                    const Place &place)
{
    std::optional<std::string> found;
    double least = 0;
    std::size_t most = 0;
    for (const std::string &arm : arms) {
        most = std::max(most, results.launches(arm, place).size());
    }
    for (const std::string &arm : arms) {
        if (2 * results.launches(arm, place).size() < most) {
            continue;
        }
        const std::optional<Figure> figure = results.at(arm, place);
        const double value = figure && figure->median > 0 ? cost(figure->median, place.unit) : 0;
        if (value > 0 && (!found || value < least)) {
            found = arm;
            least = value;
        }
    }
    return found;
}

std::optional<Ratio> ratio_to_best(const Results &results, const std::string &arm,
                                   const std::vector<std::string> &others, const Place &place)
{
    const std::optional<std::string> other = best_arm(results, others, place);
    return other ? ratio(results, arm, *other, place) : std::nullopt;
}

double ideal_cost(const std::vector<double> &rail_costs, int messages, std::size_t bytes)
{
    if (messages == 0 || bytes > 65536) {
        double speed = 0;
        for (double each : rail_costs) {
            speed += 1 / each;
        }
        return 1 / speed;
    }
    // Each message goes where it is done first: the best for messages of one size.
    std::vector<double> busy(rail_costs.size(), 0);
    for (int message = 0; message < messages; ++message) {
        std::size_t first = 0;
        for (std::size_t rail = 1; rail < busy.size(); ++rail) {
            if (busy[rail] + rail_costs[rail] < busy[first] + rail_costs[first]) {
                first = rail;
            }
        }
        busy[first] += rail_costs[first];
    }
    return *std::max_element(busy.begin(), busy.end()) / messages;
}

std::optional<Ratio> ratio_to_ideal(const Results &results, const std::string &arm,
                                    const std::vector<std::string> &rails, const Place &place)
{
    const std::vector<double> &own = results.launches(arm, place);
    std::size_t rounds = own.size();
    for (const std::string &rail : rails) {
        rounds = std::min(rounds, results.launches(rail, place).size());
    }
    if (rounds == 0 || rails.empty()) {
        return std::nullopt;
    }
    std::vector<double> ratios;
    for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<double> costs;
        for (const std::string &rail : rails) {
            costs.push_back(cost(results.launches(rail, place)[round], place.unit));
        }
        if (own[round] <= 0 || *std::min_element(costs.begin(), costs.end()) <= 0) {
            return std::nullopt;
        }
        const int messages = place.operation == "exchange" ? place.messages : 0;
        ratios.push_back(cost(own[round], place.unit) / ideal_cost(costs, messages, place.bytes));
    }
    return ratio_of(ratios);
}

std::optional<Ratio> share_of_sum(const Results &results, const std::string &arm,
                                  const std::vector<std::string> &rails, const Place &place)
{
    const std::vector<double> &own = results.launches(arm, place);
    std::size_t rounds = place.unit == "MB/s" && !rails.empty() ? own.size() : 0;
    for (const std::string &rail : rails) {
        rounds = std::min(rounds, results.launches(rail, place).size());
    }
    std::vector<double> shares;
    for (std::size_t round = 0; round < rounds; ++round) {
        double sum = 0;
        for (const std::string &rail : rails) {
            const double rate = results.launches(rail, place)[round];
            if (rate <= 0) {
                return std::nullopt;
            }
            sum += rate;
        }
        shares.push_back(own[round] / sum);
    }
    return shares.empty() ? std::nullopt : std::optional<Ratio>(ratio_of(shares));
}

std::optional<double> share_of_below(const Results &upper, const Results &below, const std::string &arm,
                                     const Place &place)
{
    const std::optional<Figure> above = upper.at(arm, place);
    for (const Place &other : below.places()) {
        const bool same = std::tie(other.operation, other.variant, other.bytes, other.unit)
                          == std::tie(place.operation, place.variant, place.bytes, place.unit);
        const std::optional<Figure> figure = same ? below.at(arm, other) : std::nullopt;
        if (above && figure && above->median > 0 && figure->median > 0) {
            return cost(figure->median, other.unit) / cost(above->median, place.unit);
        }
    }
    return std::nullopt;
}

Verdict verdict(const Ratio &ratio)
{
    if (ratio.rounds < least_rounds) {
        return Verdict::unclear;
    }
    if (ratio.low >= 1 - same_within && ratio.high <= 1 + same_within) {
        return Verdict::same;
    }
    return ratio.high < 1 ? Verdict::faster : ratio.low > 1 ? Verdict::slower : Verdict::unclear;
}

const char *word_of(Verdict verdict)
{
    switch (verdict) {
    case Verdict::faster:
        return "faster";
    case Verdict::same:
        return "same";
    case Verdict::slower:
        return "SLOWER";
    case Verdict::unclear:
        break;
    }
    return "unclear";
}

} // namespace fsbml::bench
