// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "harness.hpp"

#include "tools/arms/arms.hpp"
#include "tools/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

constexpr int best_width = 10; // of a bar, where FSBML takes as long as the best rail alone

std::string time_text(const std::optional<Figure> &figure)
{
    return figure ? fmt::format("{:.{}f}", figure->median, figure->median < 1000 ? 1 : 0) : "";
}

// FSBML's time by that of the best rail alone, which ends at the line.
std::string bar_of(double ratio)
{
    const int most = best_width + best_width / 3;
    const int length = std::clamp(static_cast<int>(std::lround(ratio * best_width)), 1, most);
    std::string bar(static_cast<std::size_t>(length), '#');
    bar.resize(static_cast<std::size_t>(most), ' ');
    if (length <= best_width) {
        bar[best_width] = '|';
    }
    return bar;
}

std::string cell_of(const Results &results, const std::vector<std::string> &rails, const Place &place)
{
    const std::optional<std::string> best = best_arm(results, rails, place);
    const std::optional<Ratio> ratio = ratio_to_best(results, "fsbml", rails, place);
    if (!best || !ratio) {
        return "";
    }
    return fmt::format("{:>8} {:>8} {:>7}  {} {:<7}", time_text(results.at(*best, place)),
                       time_text(results.at("r2", place)), time_text(results.at("fsbml", place)),
                       bar_of(ratio->median), ratio->rounds < least_rounds ? "" : word_of(verdict(*ratio)));
}

std::string trimmed(std::string line)
{
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
}

} // namespace

std::string act_table(const Results &results, const std::vector<Arm> &arms)
{
    const std::vector<Place> places = results.places();
    std::set<std::size_t> sizes;
    std::set<int> counts;
    for (const Place &place : places) {
        sizes.insert(place.bytes);
        counts.insert(place.messages);
    }
    std::string first = fmt::format("{:6}", ""), second = fmt::format("{:>6}", "bytes");
    for (const int n : counts) {
        first += fmt::format("   {:<47}", n == 1 ? "one message" : fmt::format("{} messages at once", n));
        second += fmt::format("  {:>8} {:>8} {:>7}  {:<22}", "best", "r2", "FSBML", "FSBML : best");
    }
    std::string table = trimmed(first) + trimmed(second);
    for (const std::size_t bytes : sizes) {
        std::string row = fmt::format("{:>6}", bytes);
        for (const int n : counts) {
            const auto place = std::find_if(places.begin(), places.end(), [&](const Place &p) {
                return p.bytes == bytes && p.messages == n;
            });
            row += fmt::format("  {:<48}", place == places.end()
                                               ? ""
                                               : cell_of(results, names_of(arms, Role::rail), *place));
        }
        table += trimmed(row);
    }
    return table;
}

std::string act_told(const Results &results, const std::vector<Arm> &arms)
{
    const Conclusion conclusion = conclude(results, arms);
    if (conclusion.points == 0) {
        return conclusion.sentence;
    }
    std::string text = fmt::format("FSBML takes {:.2f} to {:.2f} of the best rail's time.{}",
                                   conclusion.least, conclusion.most, conclusion.counts);
    text += conclusion.noise.empty() ? "" : ' ' + conclusion.noise;
    double by_r2 = 0.0;
    std::optional<Place> worst;
    for (const Place &place : results.places()) {
        const std::optional<Ratio> r2 = ratio(results, "r2", "fsbml", place);
        if (r2 && r2->median > by_r2) {
            by_r2 = r2->median;
            worst = place;
        }
    }
    if (worst) {
        text += fmt::format(" r2 takes up to {:.1f} times FSBML's time{}.", by_r2,
                            why_of(results.traffic("r2", *worst)));
    }
    return text;
}

} // namespace fsbml::bench
