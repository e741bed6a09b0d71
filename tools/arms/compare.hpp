// How arms compare: ratios within rounds, what is sure about them, and the ideal that rails alone allow.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "results.hpp"

namespace fsbml::bench
{

// The launches of one round are compared with each other, since a machine may change its speed between
// rounds, and then the medians of both arms may stem from different times. Always of costs: below 1 is
// better.
struct Ratio {
    double median = 0;
    double spread = 0; // half the distance of the quartiles over rounds
    double low = 0;    // an interval that holds the true median, with the probability `sure`
    double high = 0;
    double sure = 0;
    int rounds = 0;
};

// From one ratio a round. The interval is that of the order statistics, without any assumption on the noise:
// the narrowest with a probability of 0.9 and more, or, of few rounds, the whole range. Must not be empty.
Ratio ratio_of(const std::vector<double> &by_round);

// `arm` by `other`; nothing if one of them has no launch there, or one of 0 or below: what remains of a time
// when others are taken off, as LogP's L, can be that.
std::optional<Ratio> ratio(const Results &results, const std::string &arm, const std::string &other,
                           const Place &place);

// The arm with the least median cost at a place, e.g. of the rails alone, of those that were launched at
// least half as often there as another one; nothing if none was measured there.
std::optional<std::string> best_arm(const Results &results, const std::vector<std::string> &arms,
                                    const Place &place);
// `arm` by the best of `others`.
std::optional<Ratio> ratio_to_best(const Results &results, const std::string &arm,
                                   const std::vector<std::string> &others, const Place &place);

// The least cost that rails allow which cost this much each for all of `messages`: whole messages, dealt so
// that the last rail is done as early as can be. Long messages (over 64 KiB) can be cut, so there, and where
// the number of messages is not known (0), the rails' speeds add up.
double ideal_cost(const std::vector<double> &rail_costs, int messages, std::size_t bytes);
// `arm` by the ideal; nothing unless all rails were measured there. Only an exchange has a number of messages
// that count.
std::optional<Ratio> ratio_to_ideal(const Results &results, const std::string &arm,
                                    const std::vector<std::string> &rails, const Place &place);

// The rate of `arm` as a fraction of the sum of the rails' rates in the same round: the more the better.
// Nothing but for MB/s, and unless all rails were measured there.
std::optional<Ratio> share_of_sum(const Results &results, const std::string &arm,
                                  const std::vector<std::string> &rails, const Place &place);

// The share of the lower layer's performance that reaches the upper one at a place, by operation, variant and
// bytes: the lower one's cost by the upper one's, of medians. Nothing where one of them has no such point.
std::optional<double> share_of_below(const Results &upper, const Results &below, const std::string &arm,
                                     const Place &place);

// The verdict on a ratio.
enum class Verdict {
    faster,  // the whole interval is below 1
    same,    // the whole interval is within 3 %
    slower,  // the whole interval is above 1
    unclear, // the machine was too noisy for the number of rounds
};
// Differences below this are none that one would notice.
constexpr double same_within = 0.03;
// Rounds that a verdict needs at least: of fewer, not even the whole range is sure with a probability
// of 0.9.
constexpr int least_rounds = 5;

Verdict verdict(const Ratio &ratio);
const char *word_of(Verdict verdict);

} // namespace fsbml::bench
