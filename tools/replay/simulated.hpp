// A case in the simulator of a cluster, on the rails of a table, set up as a job is.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "sim/job/job.hpp"
#include "tools/whatif/rails.hpp"

#include <map>
#include <string>

namespace fsbml::replay
{

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

} // namespace fsbml::replay
