// The results of the cases, and whether they meet the simulator's bar.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "tools/text/bar.hpp"

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fsbml::replay
{

struct Row {
    std::string name, what, rails;
    std::uint32_t nodes = 0;
    double measured_ns = 0;          // median over launches
    double spread_ns = 0;            // half the distance of the quartiles
    std::vector<double> launches_ns; // each one's median
    std::vector<double> late_ns;     // by rank: how long after the start it began, median
    double simulated_ns = 0;         // median over seeds
    double simulated_spread_ns = 0;
    std::map<std::string, double> measured_share, simulated_share; // of the bytes, by rail

    double ratio() const { return simulated_ns / measured_ns; } // not 0: it was measured
};

// The bar: how near, and in how many cases of ten.
constexpr double kNear = 0.10;
constexpr double kCases = 0.9;

bool is_near(const Row &row);
// What was measured may lie so far off that it would be near.
bool may_be_near(const Row &row);
// Unclear if it is missed only where noise may explain it.
bench::Bar judge(const std::vector<Row> &rows);

std::string table_of(const std::vector<Row> &rows);
nlohmann::ordered_json document_of(const std::vector<Row> &rows);
// Those of a document. Throws nlohmann::json::exception.
std::vector<Row> rows_of(const nlohmann::ordered_json &document);

} // namespace fsbml::replay
