// A case in the simulator of a cluster, on the rails of a table, set up as a job is.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "simulated.hpp"

#include "sim/cluster/rule_fsbml.hpp"
#include "sim/cluster/simulate.hpp"

namespace fsbml::replay
{

Simulated simulated(const sim::Workload &workload, const whatif::Rails &rails)
{
    sim::Cluster cluster;
    cluster.nodes = static_cast<std::uint32_t>(workload.process.size());
    cluster.full_duplex = !whatif::half_duplex(rails);
    for (const whatif::Rail &rail : rails) {
        sim::RailSpec spec;
        spec.name = rail.name;
        spec.real = spec.believed = rail.params;
        cluster.rails.push_back(spec);
    }
    sim::FsbmlRules rule;
    sim::Simulation simulation;
    simulation.cluster = &cluster;
    simulation.workload = &workload;
    simulation.rules = &rule;
    const sim::Outcome outcome = simulate(simulation);
    Simulated result;
    result.makespan_ns = static_cast<double>(outcome.makespan) / sim::kPsPerNs;
    for (std::size_t r = 0; r < rails.size(); ++r) {
        result.bytes[rails[r].name] = outcome.rails[r].bytes;
    }
    return result;
}

} // namespace fsbml::replay
