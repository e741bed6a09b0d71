// The cases of a replay: ten classes of traffic on sets of rails, or traces of the user's on rails of theirs.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "sim/job/job.hpp"

#include <string>
#include <vector>

namespace fsbml::replay
{

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

} // namespace fsbml::replay
