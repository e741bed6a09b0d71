// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "matrix.hpp"

#include "tools/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace fsbml::matrix
{

namespace
{

constexpr double kNoise = 0.03;
constexpr double kOff = 0.1;
constexpr double kFarOff = 0.3;

std::vector<double> ratios(const std::vector<double> &one, const std::vector<double> &other)
{
    std::vector<double> all;
    for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
        all.push_back(one[i] / other[i]);
    }
    return all;
}

Cell cell_of(const std::string &regime, const nlohmann::json &point)
{
    Cell cell;
    cell.regime = regime;
    cell.messages = point.at("messages").get<std::size_t>();
    cell.bytes = point.at("bytes").get<std::size_t>();
    const auto launches = [&](const std::string &arm) {
        return point.at("arms").at(arm).at("launches").get<std::vector<double>>();
    };
    const std::vector<double> own = launches("fsbml");
    cell.fsbml_us = bench::median(own);
    for (const auto &[name, arm] : point.at("arms").items()) {
        const double us = bench::median(arm.at("launches").get<std::vector<double>>());
        cell.arms.push_back(Arm{name, us});
        if (name.compare(0, 5, "fsbml") != 0 && (cell.best.empty() || us < cell.best_us)) {
            cell.best = name;
            cell.best_us = us;
        }
    }
    if (cell.best.empty()) {
        throw std::runtime_error(regime + ": there is nothing but fsbml");
    }
    const std::vector<double> paired = ratios(own, launches(cell.best));
    cell.ratio = bench::median(paired);
    cell.low = *std::min_element(paired.begin(), paired.end());
    cell.high = *std::max_element(paired.begin(), paired.end());
    cell.r2 = point.at("arms").contains("r2") ? bench::median(ratios(own, launches("r2"))) : 0.0;
    cell.verdict = verdict_of(cell.low, cell.ratio, cell.high);
    return cell;
}

} // namespace

Verdict verdict_of(double low, double ratio, double high) noexcept
{
    if (ratio > 1.0 + kNoise && low > 1.0) {
        return Verdict::slower;
    }
    if (low > 1.0 - kNoise && high < 1.0 + kNoise) {
        return Verdict::same;
    }
    return high < 1.0 ? Verdict::faster : Verdict::unclear;
}

std::vector<Cell> cells_of(const std::string &regime, const nlohmann::json &document)
{
    std::vector<Cell> cells;
    try {
        for (const nlohmann::json &point : document.at("points")) {
            cells.push_back(cell_of(regime, point));
        }
    } catch (const nlohmann::json::exception &error) {
        throw std::runtime_error(regime + ": this is not what a benchmark writes: " + error.what());
    }
    return cells;
}

// fsbml: rail0  tcp:10.71.0.0/24  L  o_s  o_r  g  G  MB/s  burst  probes  residual %  tight
Starts starts_of(const std::string &regime, const std::string &printed, const std::vector<double> &set)
{
    Starts all;
    all.regime = regime;
    std::istringstream lines(printed);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t at = line.find("fsbml: rail");
        if (at == std::string::npos || line.find(" key ") != std::string::npos) {
            all.starts += at != std::string::npos ? 1 : 0; // a table's heading
            continue;
        }
        std::istringstream words(line.substr(at + 11));
        std::size_t rail = 0;
        std::string key;
        std::string word[5];
        if (!(words >> rail >> key >> word[0] >> word[1] >> word[2] >> word[3] >> word[4])
            || rail >= set.size() || key.find(':') == std::string::npos || key[0] == ':') {
            continue; // a remark on a rail
        }
        ++all.rails;
        if (word[4] == "-") {
            ++all.without;
            continue;
        }
        all.disturbed += line.find("disturbed") != std::string::npos ? 1 : 0;
        const double ratio = set[rail] > 0.0 ? std::stod(word[4]) / set[rail] : 1.0;
        all.off += std::fabs(ratio - 1.0) > kOff ? 1 : 0;
        all.far_off += std::fabs(ratio - 1.0) > kFarOff ? 1 : 0;
        if (all.worst == 0.0 || std::fabs(std::log(ratio)) > std::fabs(std::log(all.worst))) {
            all.worst = ratio;
        }
    }
    return all;
}

} // namespace fsbml::matrix
