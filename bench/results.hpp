// The results of an experiment: what the benchmark programs printed in all launches, and the figures made of
// it. SPDX-License-Identifier: BSD-3-Clause Copyright (c) 2026      The FSBML developers. All rights
// reserved.
#pragma once

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
    int messages = 1;
    std::size_t bytes = 0;

    bool operator<(const Place &other) const
    {
        return std::tie(operation, messages, bytes) < std::tie(other.operation, other.messages, other.bytes);
    }
};

// Over launches, each of which counts once whatever its number of samples: fast launches take more samples,
// and pooling them would give those the say.
struct Figure {
    double median_us = 0;
    double least_us = 0; // the least of the launches' medians
    double spread = 0;   // half the distance of the quartiles, relative to the median
    int launches = 0;
};

// How two arms compare: the launches of one round are compared with each other, since a machine may change
// its speed between rounds, and then the medians of both arms may stem from different times.
struct Ratio {
    double median = 0;
    double spread = 0; // half the distance of the quartiles over rounds
    int rounds = 0;
};

class Results
{
public:
    // Adds JSON lines. Throws std::runtime_error, naming the line, on anything that is not the benchmarks'
    // output.
    void read(std::istream &lines);

    std::vector<std::string> arms() const;
    std::vector<Place> places() const;
    std::optional<Figure> at(const std::string &arm, const Place &place) const;
    // `arm` by `other`, round by round; nothing if one of them has no launch there.
    std::optional<Ratio> ratio(const std::string &arm, const std::string &other, const Place &place) const;
    std::optional<double> init_seconds(const std::string &arm) const;
    const nlohmann::json &lines() const { return lines_; }

private:
    void add(const nlohmann::json &line);

    std::vector<std::string> arms_; // in order of appearance
    std::map<Place, std::map<std::string, std::vector<double>>> medians_;
    std::map<std::string, std::vector<double>> init_;
    nlohmann::json lines_ = nlohmann::json::array();
};

// The arm with the least median at a place, e.g. of the rails alone; nothing if none was measured there.
std::optional<std::string> best_arm(const Results &results, const std::vector<std::string> &arms,
                                    const Place &place);
// That arm's figure.
std::optional<Figure> best(const Results &results, const std::vector<std::string> &arms, const Place &place);
// `arm` by the best of `others`.
std::optional<Ratio> ratio_to_best(const Results &results, const std::string &arm,
                                   const std::vector<std::string> &others, const Place &place);

} // namespace fsbml::bench
