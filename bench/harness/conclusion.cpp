// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "harness.hpp"

#include "tools/arms/arms.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

// Which place stands for all: of what readers know best, the most messages, of 4 KiB or of the size below
// it that was measured.
std::tuple<int, bool, std::size_t, int> tells(const Place &place)
{
    static const std::vector<std::string> known = {"halo2d", "allreduce", "latency", "run", "exchange"};
    const auto found = std::find(known.begin(), known.end(), place.operation);
    const int knowledge = found == known.end() ? -1 : static_cast<int>(found - known.begin());
    const bool usual = place.bytes <= 4096;
    return {knowledge, usual, usual ? place.bytes : SIZE_MAX - place.bytes, place.messages};
}

std::string counts_of(const std::vector<Verdict> &verdicts)
{
    const auto count = [&](Verdict which) { return std::count(verdicts.begin(), verdicts.end(), which); };
    if (verdicts.size() < 2 || count(Verdict::unclear) == static_cast<long>(verdicts.size())) {
        return "";
    }
    return fmt::format(
        " Of {} points, FSBML is faster at {}, the same within {:.0f} % at {}, slower at {}; unclear: {}{}.",
        verdicts.size(), count(Verdict::faster), same_within * 100, count(Verdict::same),
        count(Verdict::slower), count(Verdict::unclear),
        count(Verdict::unclear) > 0 ? ", which more --rounds would tell" : "");
}

std::string noise_of(const Conclusion &conclusion, int rounds)
{
    if (conclusion.points == 0 || conclusion.unclear == 0) {
        return "";
    }
    if (rounds >= least_rounds && conclusion.conclusive()) {
        return ""; // the sentence has how many
    }
    if (rounds < least_rounds) {
        return fmt::format(
            "{} round{} cannot tell a difference from noise: at least {} are needed (--rounds).", rounds,
            rounds == 1 ? "" : "s", least_rounds);
    }
    return fmt::format(
        "Not told apart: {} of {} points, where rounds differ more than FSBML and its rival do; more of them "
        "(--rounds) would tell.",
        conclusion.unclear, conclusion.points);
}

} // namespace

std::string why_of(const Traffic &traffic)
{
    constexpr double all = 0.95;
    std::uint64_t sum = 0;
    std::pair<std::string, std::uint64_t> most;
    for (const auto &[name, bytes] : traffic) {
        if (name == "lo") {
            continue;
        }
        sum += bytes;
        most = bytes > most.second ? std::make_pair(name, bytes) : most;
    }
    return static_cast<double>(most.second) > all * static_cast<double>(sum)
               ? fmt::format(", as it sends all of them by {}", most.first)
               : "";
}

Conclusion conclude(const Results &results, const std::vector<Arm> &arms)
{
    const std::vector<std::string> rails = names_of(arms, Role::rail);
    const std::vector<std::string> against = rails.empty() ? std::vector<std::string>{"r2"} : rails;
    Conclusion conclusion;
    std::vector<double> ratios;
    std::vector<Verdict> verdicts;
    std::optional<Place> shown;
    int rounds = 0;
    for (const Place &place : results.places()) {
        const std::optional<Ratio> compared = ratio_to_best(results, "fsbml", against, place);
        if (!compared) {
            continue;
        }
        ratios.push_back(compared->median);
        rounds = std::max(rounds, compared->rounds);
        ++conclusion.points;
        verdicts.push_back(verdict(*compared));
        conclusion.unclear += verdicts.back() == Verdict::unclear ? 1 : 0;
        if (!shown || tells(place) > tells(*shown)) {
            shown = place;
        }
    }
    if (!shown) {
        conclusion.sentence =
            "There is nothing to compare: fsbml or what it is compared with was not measured.";
        return conclusion;
    }
    conclusion.counts = counts_of(verdicts);
    conclusion.noise = noise_of(conclusion, rounds);
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    conclusion.least = *least;
    conclusion.most = *most;
    const Figure ours = *results.at("fsbml", *shown);
    const std::string best = *best_arm(results, against, *shown);
    const Figure theirs = *results.at(best, *shown);
    const Ratio compared = *ratio_to_best(results, "fsbml", against, *shown);
    // Less than a percent is no difference that one would notice, however steady the launches.
    const double noise = std::max(compared.spread, 0.01);
    const char *verb = compared.median < 1 - noise   ? "faster than"
                       : compared.median > 1 + noise ? "SLOWER than"
                                                     : "as fast as";
    const std::string other = rails.empty()       ? "r2 on the same rail"
                              : rails.size() == 1 ? rails[0] + " alone"
                                                  : "the best rail alone";
    conclusion.sentence = fmt::format(
        "With {}, FSBML is {} {}: {:.5g} {} against {:.5g} {}, {:.2f} times its time", name_of(*shown), verb,
        other, ours.median, shown->unit, theirs.median, shown->unit, compared.median);
    if (ratios.size() > 1) {
        conclusion.sentence += fmt::format(" ({:.2f} to {:.2f} over all {} points)", conclusion.least,
                                           conclusion.most, ratios.size());
    }
    const std::optional<Figure> r2 = results.at("r2", *shown);
    const std::optional<Ratio> r2_ratio = ratio(results, "r2", "fsbml", *shown);
    if (!rails.empty() && r2 && r2_ratio) {
        conclusion.sentence +=
            fmt::format("; r2 on all rails has {:.5g} {}, {:.1f} times FSBML's time{}", r2->median,
                        shown->unit, r2_ratio->median, why_of(results.traffic("r2", *shown)));
    }
    conclusion.sentence += '.' + conclusion.counts;
    return conclusion;
}

} // namespace fsbml::bench
