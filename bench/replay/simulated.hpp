// A case in the simulator of a cluster, on the rails of a table, set up as a job is.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "sim/cluster/workload.hpp"
#include "whatif/rails.hpp"

#include <map>
#include <string>

namespace fsbml::replay
{

struct Simulated {
    double makespan_ns = 0;                     // median over seeds
    double spread_ns = 0;                       // half the distance of the quartiles
    std::map<std::string, std::uint64_t> bytes; // by rail
};

// By FSBML's rule with what the component sets by itself: eager limit, quantum. Times scatter as much as
// those that the table was made of did: exchanges are exact only in theory, and who is a little earlier may
// make all the difference.
Simulated simulated(const sim::Workload &workload, const whatif::Rails &rails);

} // namespace fsbml::replay
