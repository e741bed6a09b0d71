// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "arms.hpp"

#include "tools/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

namespace fsbml::bench
{

std::string name_of(const Place &place)
{
    std::string name = place.operation;
    if (place.operation == "exchange") {
        name = std::to_string(place.messages) + (place.messages == 1 ? " message of " : " messages of ")
               + std::to_string(place.bytes) + " bytes";
    } else if (place.bytes > 0) {
        name += " of " + std::to_string(place.bytes) + " bytes";
    }
    return place.variant.empty() ? name : name + " (" + place.variant + ")";
}

double cost(double value, const std::string &unit)
{
    return is_rate(unit) ? 1 / value : value;
}

bool Results::add(const nlohmann::json &line)
{
    const auto arm = line.at("arm").get<std::string>();
    if (std::find(arms_.begin(), arms_.end(), arm) == arms_.end()) {
        arms_.push_back(arm);
    }
    if (line.at("operation") == "init") {
        init_[arm].push_back(line.at("seconds").get<double>());
        return false;
    }
    static const std::set<std::string> units = {"ns", "us", "s", "MB/s", "1/s", "KiB", "files"};
    const Place place{line.at("operation").get<std::string>(), line.at("variant").get<std::string>(),
                      line.at("messages").get<int>(), line.at("bytes").get<std::size_t>(),
                      line.at("unit").get<std::string>()};
    if (units.count(place.unit) == 0) {
        throw std::runtime_error("an unknown unit, '" + place.unit + "'");
    }
    const auto samples = line.at("samples").get<std::vector<double>>();
    if (samples.empty()
        || !std::all_of(samples.begin(), samples.end(), [](double x) { return std::isfinite(x); })) {
        throw std::runtime_error("a point without samples");
    }
    Cell &cell = cells_[place][arm];
    cell.launches.push_back(launch_figure(samples, place.unit));
    for (const auto &[interface, bytes] : line.value("traffic", Traffic())) {
        cell.traffic[interface] += bytes;
    }
    return true;
}

std::size_t Results::read(std::istream &lines)
{
    std::size_t number = 0;
    std::size_t points = 0;
    for (std::string text; std::getline(lines, text);) {
        ++number;
        try {
            nlohmann::json line = nlohmann::json::parse(text);
            points += add(line) ? 1 : 0;
            lines_.push_back(std::move(line));
        } catch (const std::exception &error) {
            throw std::runtime_error("line " + std::to_string(number) + ": " + error.what());
        }
    }
    return points;
}

std::vector<Place> Results::places() const
{
    std::vector<Place> list;
    for (const auto &entry : cells_) {
        list.push_back(entry.first);
    }
    return list;
}

const std::vector<double> &Results::launches(const std::string &arm, const Place &place) const
{
    static const std::vector<double> none;
    auto row = cells_.find(place);
    if (row == cells_.end()) {
        return none;
    }
    auto cell = row->second.find(arm);
    return cell == row->second.end() ? none : cell->second.launches;
}

std::optional<Figure> Results::at(const std::string &arm, const Place &place) const
{
    const std::vector<double> &figures = launches(arm, place);
    if (figures.empty()) {
        return std::nullopt;
    }
    Figure figure;
    figure.median = median(figures);
    figure.least = quantile(figures, 0);
    const double quartiles = (quantile(figures, 0.75) - quantile(figures, 0.25)) / 2;
    figure.spread = figure.median == 0 ? 0 : quartiles / std::fabs(figure.median);
    figure.launches = static_cast<int>(figures.size());
    return figure;
}

std::optional<double> Results::init_seconds(const std::string &arm) const
{
    auto entry = init_.find(arm);
    return entry == init_.end() ? std::nullopt : std::optional<double>(median(entry->second));
}

Traffic Results::traffic(const std::string &arm, const Place &place) const
{
    auto row = cells_.find(place);
    if (row == cells_.end()) {
        return {};
    }
    auto cell = row->second.find(arm);
    return cell == row->second.end() ? Traffic() : cell->second.traffic;
}

} // namespace fsbml::bench
