// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "engine.hpp"

#include "sim/time/time.hpp"

#include <cmath>

namespace fsbml::sim::engine
{

namespace
{

constexpr double kMostFactor = 1e6;

[[noreturn]] void refuse(const std::string &why)
{
    throw std::invalid_argument(why);
}

bool is_share(double value, double most)
{
    return std::isfinite(value) && value >= 0.0 && value <= most;
}

void check_nodes(const std::vector<std::uint32_t> &nodes, std::uint32_t count, const std::string &of)
{
    for (const std::uint32_t node : nodes) {
        if (node >= count) {
            refuse(of + " names node " + std::to_string(node) + ", but there are " + std::to_string(count));
        }
    }
}

void check_rail(const RailSpec &rail, std::size_t index, std::uint32_t nodes)
{
    const std::string name = "rail " + std::to_string(index) + " (" + rail.name + ")";
    if (!fsbml_loggp_valid(&rail.real) || !fsbml_loggp_valid(&rail.believed)) {
        refuse(name + " has " + (fsbml_loggp_valid(&rail.real) ? "believed" : "real")
               + " parameters that are none");
    }
    if (!is_share(rail.jitter, kMostFactor)) {
        refuse(name + " has a jitter that is none");
    }
    Time before = 0;
    for (const Change &change : rail.changes) {
        if (change.at < before || !is_share(change.factor, kMostFactor)) {
            refuse(name + " has a change before the one before it, or with a factor that is none");
        }
        before = change.at;
    }
    check_nodes(rail.nodes, nodes, name);
}

void check_bottleneck(const Bottleneck &b, std::size_t index, const Cluster &cluster)
{
    const std::string name = "bottleneck " + std::to_string(index);
    if (b.rail >= cluster.rails.size()) {
        refuse(name + " is of rail " + std::to_string(b.rail) + ", which does not exist");
    }
    if (!is_share(b.ns_per_byte, kMostFactor) || b.timeout < 0 || b.timeout > kLongest) {
        refuse(name + " has a rate or a time-out that is none");
    }
    if (b.buffer_bytes > 0 && (0 == b.timeout || !(b.ns_per_byte > 0.0))) {
        refuse(name + " has a buffer that overflows, but no rate or no time-out");
    }
    check_nodes(b.side, cluster.nodes, name);
}

std::vector<std::uint32_t> rails_by_node(const Cluster &cluster)
{
    std::vector<std::uint32_t> rails(cluster.nodes, 0);
    for (std::size_t r = 0; r < cluster.rails.size(); ++r) {
        const std::uint32_t bit = std::uint32_t{1} << r;
        for (std::uint32_t node = 0; cluster.rails[r].nodes.empty() && node < cluster.nodes; ++node) {
            rails[node] |= bit;
        }
        for (const std::uint32_t node : cluster.rails[r].nodes) {
            rails[node] |= bit;
        }
    }
    return rails;
}

void check_op(const Op &op, std::uint32_t rank, std::size_t ranks, const Cluster &cluster,
              const std::vector<std::uint32_t> &rails)
{
    const bool any_rank = Op::Kind::recv == op.kind && kAnyPeer == op.peer;
    if (Op::Kind::compute == op.kind || Op::Kind::until == op.kind) {
        if (op.time < 0 || op.time > kLongest) {
            refuse("a time that is none");
        }
    } else if (Op::Kind::send != op.kind && Op::Kind::recv != op.kind) {
        refuse("an operation of no kind");
    } else if (!any_rank && op.peer >= ranks) {
        refuse("rank " + std::to_string(op.peer) + ", which does not exist");
    } else if (!any_rank) {
        const std::uint32_t node = rank % cluster.nodes, other = op.peer % cluster.nodes;
        if (node != other && 0 == (rails[node] & rails[other])) {
            refuse("rank " + std::to_string(op.peer) + ", but no rail joins node " + std::to_string(node)
                   + " with node " + std::to_string(other));
        }
    }
}

} // namespace

void check_job(const Simulation &simulation)
{
    if (nullptr == simulation.cluster || nullptr == simulation.workload || nullptr == simulation.rules) {
        refuse("a simulation needs a cluster, a workload and a rule");
    }
    const Cluster &cluster = *simulation.cluster;
    const auto &process = simulation.workload->process;
    if (cluster.nodes < 1 || cluster.ranks_per_node < 1) {
        refuse("a cluster without a node, or nodes without a rank");
    }
    if (cluster.rails.empty() || cluster.rails.size() > FSBML_MAX_RAILS) {
        refuse("a cluster of " + std::to_string(cluster.rails.size()) + " rails");
    }
    if (process.size() > std::size_t{cluster.nodes} * cluster.ranks_per_node) {
        refuse("the workload has " + std::to_string(process.size()) + " processes, the cluster fewer ranks");
    }
    for (std::size_t r = 0; r < cluster.rails.size(); ++r) {
        check_rail(cluster.rails[r], r, cluster.nodes);
    }
    for (std::size_t b = 0; b < cluster.bottlenecks.size(); ++b) {
        check_bottleneck(cluster.bottlenecks[b], b, cluster);
    }
    const std::vector<std::uint32_t> rails = rails_by_node(cluster);
    for (std::uint32_t rank = 0; rank < process.size(); ++rank) {
        for (std::size_t i = 0; i < process[rank].size(); ++i) {
            try {
                check_op(process[rank][i], rank, process.size(), cluster, rails);
            } catch (const std::invalid_argument &e) {
                refuse("operation " + std::to_string(i) + " of rank " + std::to_string(rank) + " names "
                       + e.what());
            }
        }
    }
}

} // namespace fsbml::sim::engine
