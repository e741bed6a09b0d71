// The results of an experiment: what the benchmark programs printed in all launches, and the figures made of
// it. SPDX-License-Identifier: BSD-3-Clause Copyright (c) 2026      The FSBML developers. All rights
// reserved.
#include "results.hpp"

#include "bench.hpp"

#include <algorithm>
#include <stdexcept>

namespace fsbml::bench
{

void Results::add(const nlohmann::json &line)
{
    const auto arm = line.at("arm").get<std::string>();
    if (std::find(arms_.begin(), arms_.end(), arm) == arms_.end()) {
        arms_.push_back(arm);
    }
    if (line.at("operation") == "init") {
        init_[arm].push_back(line.at("seconds").get<double>());
        return;
    }
    Place place{line.at("operation").get<std::string>(), line.at("messages").get<int>(),
                line.at("bytes").get<std::size_t>()};
    const auto samples = line.at("samples_us").get<std::vector<double>>();
    if (samples.empty()) {
        throw std::runtime_error("a point without samples");
    }
    medians_[place][arm].push_back(quantile(samples, 0.5));
}

void Results::read(std::istream &lines)
{
    std::size_t number = 0;
    for (std::string text; std::getline(lines, text);) {
        ++number;
        try {
            lines_.push_back(nlohmann::json::parse(text));
            add(lines_.back());
        } catch (const std::exception &error) {
            throw std::runtime_error("line " + std::to_string(number) + ": " + error.what());
        }
    }
}

std::vector<std::string> Results::arms() const
{
    return arms_;
}

std::vector<Place> Results::places() const
{
    std::vector<Place> list;
    for (const auto &entry : medians_) {
        list.push_back(entry.first);
    }
    return list;
}

std::optional<Figure> Results::at(const std::string &arm, const Place &place) const
{
    auto row = medians_.find(place);
    if (row == medians_.end()) {
        return std::nullopt;
    }
    auto cell = row->second.find(arm);
    if (cell == row->second.end()) {
        return std::nullopt;
    }
    const std::vector<double> &medians = cell->second;
    Figure figure;
    figure.median_us = quantile(medians, 0.5);
    figure.least_us = quantile(medians, 0);
    figure.spread = (quantile(medians, 0.75) - quantile(medians, 0.25)) / 2 / figure.median_us;
    figure.launches = static_cast<int>(medians.size());
    return figure;
}

std::optional<double> Results::init_seconds(const std::string &arm) const
{
    auto entry = init_.find(arm);
    return entry == init_.end() ? std::nullopt : std::optional<double>(quantile(entry->second, 0.5));
}

std::optional<Ratio> Results::ratio(const std::string &arm, const std::string &other,
                                    const Place &place) const
{
    auto row = medians_.find(place);
    if (row == medians_.end() || row->second.count(arm) == 0 || row->second.count(other) == 0) {
        return std::nullopt;
    }
    const std::vector<double> &above = row->second.at(arm);
    const std::vector<double> &below = row->second.at(other);
    std::vector<double> ratios;
    for (std::size_t round = 0; round < std::min(above.size(), below.size()); ++round) {
        ratios.push_back(above[round] / below[round]);
    }
    return Ratio{quantile(ratios, 0.5), (quantile(ratios, 0.75) - quantile(ratios, 0.25)) / 2,
                 static_cast<int>(ratios.size())};
}

std::optional<std::string> best_arm(const Results &results, const std::vector<std::string> &arms,
                                    const Place &place)
{
    std::optional<std::string> found;
    double least = 0;
    for (const std::string &arm : arms) {
        std::optional<Figure> figure = results.at(arm, place);
        if (figure && (!found || figure->median_us < least)) {
            found = arm;
            least = figure->median_us;
        }
    }
    return found;
}

std::optional<Figure> best(const Results &results, const std::vector<std::string> &arms, const Place &place)
{
    std::optional<std::string> arm = best_arm(results, arms, place);
    return arm ? results.at(*arm, place) : std::nullopt;
}

std::optional<Ratio> ratio_to_best(const Results &results, const std::string &arm,
                                   const std::vector<std::string> &others, const Place &place)
{
    std::optional<std::string> other = best_arm(results, others, place);
    return other ? results.ratio(arm, *other, place) : std::nullopt;
}

} // namespace fsbml::bench
