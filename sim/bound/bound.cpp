// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "bound.hpp"

#include "load.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml::sim
{

using namespace bound;

namespace
{

// Each process by itself: its ops, and taking in all that it is sent.
Ps busiest(const Graph &graph, const Costs &costs)
{
    std::vector<Ps> busy(graph.process.size(), 0);
    for (std::size_t p = 0; p < busy.size(); ++p) {
        for (const Step &s : graph.process[p]) {
            busy[p] += s.kind == Step::Kind::until ? 0 : s.time;
        }
    }
    for (const Message &m : graph.messages) {
        busy[m.to] += costs[m.kind].least_in;
    }
    return busy.empty() ? 0 : *std::max_element(busy.begin(), busy.end());
}

// Sums of doubles may be off by a little.
Time down(Ps t)
{
    return static_cast<Time>(std::floor(t * (1 - 1e-12) + 1e-3));
}

} // namespace

Bound lower_bound(const Cluster &cluster, const Workload &workload, const BoundOptions &options)
{
    Costs costs(cluster, options);
    const Graph graph = graph_of(cluster, workload, costs);
    const Earliest forth = earliest(graph, costs);
    const Earliest back = earliest(reversed(graph), costs.reversed());
    Bound b;
    b.path = down(std::max(forth.last, back.last));
    b.nics = down(nic_load(cluster, graph, costs, forth.start, back.start));
    b.processors = down(busiest(graph, costs));
    b.makespan = std::max({b.path, b.nics, b.processors});
    return b;
}

} // namespace fsbml::sim
