// The results of an experiment: what the benchmark programs printed in all launches.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "tools/points/output.hpp"

#include <cstddef>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

namespace fsbml::bench
{

// One place in the experiment's grid. Ordered as the table is.
struct Place {
    std::string operation;
    std::string variant;
    int messages = 1;
    std::size_t bytes = 0;
    std::string unit = "us";

    bool operator<(const Place &other) const
    {
        return std::tie(operation, variant, messages, bytes, unit)
               < std::tie(other.operation, other.variant, other.messages, other.bytes, other.unit);
    }
};

// How a user would name it.
std::string name_of(const Place &place);

// What comparisons are made of, the less the better: a time, or the inverse of a rate.
double cost(double value, const std::string &unit);

// Over launches, each of which counts once whatever its number of samples: fast launches take more samples,
// and pooling them would give those the say.
struct Figure {
    double median = 0;
    double least = 0;  // the least of the launches' medians
    double spread = 0; // half the distance of the quartiles, relative to the median
    int launches = 0;
};

class Results
{
public:
    // Adds the lines of one launch, or of many. Throws std::runtime_error, naming the line, on anything that
    // is not the benchmarks' output. Returns the number of points.
    std::size_t read(std::istream &lines);

    std::vector<std::string> arms() const { return arms_; }
    std::vector<Place> places() const;
    // The medians of the arm's launches there, by round; empty if it has none.
    const std::vector<double> &launches(const std::string &arm, const Place &place) const;
    std::optional<Figure> at(const std::string &arm, const Place &place) const;
    std::optional<double> init_seconds(const std::string &arm) const;
    // Bytes that the interfaces sent during the samples of all launches; empty where they were not counted.
    Traffic traffic(const std::string &arm, const Place &place) const;
    const nlohmann::json &lines() const { return lines_; }

private:
    struct Cell {
        std::vector<double> medians;
        Traffic traffic;
    };

    bool add(const nlohmann::json &line);

    std::vector<std::string> arms_; // in order of appearance
    std::map<Place, std::map<std::string, Cell>> cells_;
    std::map<std::string, std::vector<double>> init_;
    nlohmann::json lines_ = nlohmann::json::array();
};

} // namespace fsbml::bench
