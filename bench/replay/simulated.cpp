// A case in the simulator of a cluster, on the rails of a table, set up as a job is.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "simulated.hpp"

#include "common/statistics.hpp"
#include "sim/cluster/rule_fsbml.hpp"
#include "sim/cluster/simulate.hpp"

namespace fsbml::replay
{
namespace
{

// As ob1 and btl/tcp have them. What is sent has a header before it, and its limit is without that.
constexpr std::uint64_t kEager = 65536;
constexpr std::uint64_t kHeader = 14;
constexpr std::uint64_t kAnswer = 32; // ob1's ACK

constexpr std::uint64_t kSeeds = 25;

sim::Workload with_headers(sim::Workload workload)
{
    for (std::vector<sim::Op> &ops : workload.process) {
        for (sim::Op &op : ops) {
            op.bytes += op.kind == sim::Op::Kind::send ? kHeader : 0;
        }
    }
    return workload;
}

} // namespace

Simulated simulated(const sim::Workload &workload, const whatif::Rails &rails)
{
    sim::Cluster cluster;
    cluster.nodes = static_cast<std::uint32_t>(workload.process.size());
    cluster.full_duplex = !whatif::half_duplex(rails);
    for (const whatif::Rail &rail : rails) {
        sim::RailSpec spec;
        spec.name = rail.name;
        spec.real = spec.believed = rail.params;
        spec.jitter = rail.residual;
        cluster.rails.push_back(spec);
    }
    sim::FsbmlOptions options;
    options.eager = kEager + kHeader;
    sim::FsbmlRules rule(options);
    const sim::Workload sent = with_headers(workload);
    sim::Simulation simulation;
    simulation.cluster = &cluster;
    simulation.workload = &sent;
    simulation.rendezvous = {options.eager, kAnswer};
    simulation.rules = &rule;
    std::vector<double> makespans;
    Simulated result;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        simulation.seed = seed;
        const sim::Outcome outcome = simulate(simulation);
        makespans.push_back(static_cast<double>(outcome.makespan) / sim::kPsPerNs);
        for (std::size_t r = 0; r < rails.size(); ++r) {
            result.bytes[rails[r].name] += outcome.rails[r].bytes;
        }
    }
    result.makespan_ns = bench::median(makespans);
    result.spread_ns = (bench::quantile(makespans, 0.75) - bench::quantile(makespans, 0.25)) / 2;
    return result;
}

} // namespace fsbml::replay
