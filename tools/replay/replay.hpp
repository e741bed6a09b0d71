// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The simulator against a cluster that does the same: cases, each of them simulated, and whether the results
// meet the bar.
#ifndef FSBML_TOOLS_REPLAY_HPP
#define FSBML_TOOLS_REPLAY_HPP

#include "sim/job/job.hpp"
#include "tools/text/text.hpp"
#include "tools/whatif/whatif.hpp"

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fsbml::replay
{

// ---- The cases of a replay: ten classes of traffic on sets of rails, or traces of the user's on rails of
// theirs.

// A virtual cluster, one rank a node.
struct RailSet {
    std::string name;
    std::uint32_t nodes;
    std::vector<std::string> rates; // as --rail rate= has them
};
const std::vector<RailSet> &rail_sets();

struct Case {
    std::string name, what, set;
    sim::Workload workload;
};

// All ten, or those named. Throws std::invalid_argument for a name that there is not, saying which there are.
std::vector<Case> cases(const std::vector<std::string> &names);

// A trace as a case of the set "own". Throws std::runtime_error for one that cannot be done, naming file and
// line, or rank and op.
Case own_case(const std::string &file);

// ---- A case in the simulator of a cluster, on the rails of a table, set up as a job is.

struct Simulated {
    double makespan_ns = 0;                     // median over seeds
    double spread_ns = 0;                       // half the distance of the quartiles
    std::map<std::string, std::uint64_t> bytes; // by rail
};

// By rank, how long after the start it has begun.
using Late = std::vector<double>;

// By FSBML's rule with what the component sets by itself: eager limit, quantum. Times scatter as much as
// those that the table was made of did, and ranks begin as late as in the job's rounds, one after the other:
// exchanges are exact only in theory, and a rank that is a little earlier may make all the difference. At
// least one round.
Simulated simulated(const sim::Workload &workload, const whatif::Rails &rails,
                    const std::vector<Late> &rounds);

// ---- The results of the cases, and whether they meet the simulator's bar.

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

#endif
