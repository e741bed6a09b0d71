// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "replay.hpp"

#include "sim/engine/engine.hpp"
#include "sim/rules/rules.hpp"
#include "tools/text/text.hpp"

namespace fsbml::replay
{
namespace
{

// As ob1 and btl/tcp have them. What is sent has a header before it, and its limit is without that.
constexpr std::uint64_t kEager = 65536;
constexpr std::uint64_t kHeader = 14;
constexpr std::uint64_t kAnswer = 32; // ob1's ACK

constexpr std::uint64_t kSeeds = 51;

sim::Workload as_done(sim::Workload workload, const Late &late_ns)
{
    for (std::size_t rank = 0; rank < workload.process.size(); ++rank) {
        std::vector<sim::Op> &ops = workload.process[rank];
        for (sim::Op &op : ops) {
            op.bytes += op.kind == sim::Op::Kind::send ? kHeader : 0;
        }
        sim::Op begin;
        begin.kind = sim::Op::Kind::until;
        begin.time = static_cast<sim::Time>(late_ns.at(rank) * sim::kPsPerNs);
        ops.insert(ops.begin(), begin);
    }
    return workload;
}

} // namespace

Simulated simulated(const sim::Workload &workload, const whatif::Rails &rails,
                    const std::vector<Late> &rounds)
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
    options.most = kEager; // of a first fragment, so that no long message goes as one
    sim::FsbmlRules rule(options);
    sim::Simulation simulation;
    simulation.cluster = &cluster;
    simulation.rendezvous = {options.eager, kAnswer};
    simulation.rules = &rule;
    std::vector<double> makespans;
    Simulated result;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const sim::Workload done = as_done(workload, rounds.at((seed - 1) % rounds.size()));
        simulation.workload = &done;
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
