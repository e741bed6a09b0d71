// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "bound.hpp"

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

// Up to n of the values, the least with them.
std::vector<Ps> some_of(std::vector<Ps> values, std::size_t n)
{
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::vector<Ps> some;
    const std::size_t take = std::min(n, values.size());
    for (std::size_t i = 0; i < take; ++i) {
        some.push_back(values[i * values.size() / take]);
    }
    return some;
}

// Of any messages that a node sends (or receives; or both, if its NICs do one at a time): the soonest that
// one of them begins (`heads`), their equal finish, and the least that follows on the delivery of one
// (`tails`: the soonest begin with time running back) add up. Taken are those with a late head and a long
// tail, for several values of either.
Ps nic_load(const Cluster &cluster, const Graph &graph, const Costs &costs, const std::vector<Ps> &heads,
            const std::vector<Ps> &tails)
{
    std::vector<std::vector<std::uint32_t>> out(graph.nodes), in(graph.nodes);
    for (std::uint32_t m = 0; m < graph.messages.size(); ++m) {
        if (costs[graph.messages[m].kind].rails == 0) {
            continue;
        }
        out[graph.node(graph.messages[m].from)].push_back(m);
        in[graph.node(graph.messages[m].to)].push_back(m);
    }
    const std::size_t cuts = graph.messages.size() <= 2000     ? 16
                             : graph.messages.size() <= 20000  ? 8
                             : graph.messages.size() <= 200000 ? 4
                                                               : 2;
    const bool one_rank = graph.process.size() <= graph.nodes;
    Fill fill(costs);
    Tally tally(costs.kinds());
    Ps best = 0;
    const auto consider = [&](const std::vector<std::uint32_t> &messages, const Common &common) {
        std::vector<Ps> head, tail;
        for (const std::uint32_t m : messages) {
            head.push_back(heads[m]);
            tail.push_back(tails[m]);
        }
        for (const Ps from : some_of(head, cuts)) {
            for (const Ps rest : some_of(tail, cuts)) {
                tally.clear();
                for (const std::uint32_t m : messages) {
                    if (heads[m] >= from && tails[m] >= rest) {
                        tally.add(graph.messages[m].kind);
                    }
                }
                if (tally.messages() > 0) {
                    best = std::max(best, from + fill.cached(tally.parts(), common) + rest);
                }
            }
        }
    };
    for (std::uint32_t n = 0; n < graph.nodes; ++n) {
        consider(out[n], {one_rank, false, false});
        consider(in[n], {false, one_rank, false});
        if (!cluster.full_duplex) {
            out[n].insert(out[n].end(), in[n].begin(), in[n].end());
            consider(out[n], {false, false, true});
        }
    }
    return best;
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
