// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "bound.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace fsbml::sim::bound
{

namespace
{

[[noreturn]] void refuse(std::size_t rank, const std::string &why)
{
    throw std::invalid_argument("bound: rank " + std::to_string(rank) + " " + why);
}

// Runs, what came before, and what a message answers; all are seen from its sender.
void relate(Graph &g)
{
    std::vector<std::uint32_t> to_last(g.process.size()), from_last(g.process.size());
    std::uint32_t run = 0;
    for (const auto &steps : g.process) {
        std::fill(to_last.begin(), to_last.end(), kNone);
        std::fill(from_last.begin(), from_last.end(), kNone);
        bool sending = false;
        for (const Step &s : steps) {
            if (s.kind == Step::Kind::receive) {
                from_last[g.messages[s.message].from] = s.message;
            } else if (s.kind == Step::Kind::send) {
                Message &m = g.messages[s.message];
                run += sending ? 0 : 1;
                m.run = run;
                m.before = to_last[m.to];
                m.answers = from_last[m.to];
                to_last[m.to] = s.message;
            }
            sending = s.kind == Step::Kind::send;
        }
    }
}

// The j-th receive from a peer takes the j-th message from there.
void match(Graph &g, const std::vector<std::vector<std::uint32_t>> &peer_of)
{
    const std::size_t n = g.process.size();
    std::vector<std::vector<std::uint32_t>> inbox(n); // by sender, in the order of their sending
    for (std::uint32_t m = 0; m < g.messages.size(); ++m) {
        inbox[g.messages[m].to].push_back(m);
    }
    std::vector<std::uint32_t> next(n), end(n);
    for (std::size_t q = 0; q < n; ++q) {
        std::fill(next.begin(), next.end(), 0);
        std::fill(end.begin(), end.end(), 0);
        for (std::uint32_t i = 0; i < inbox[q].size(); ++i) {
            const std::uint32_t from = g.messages[inbox[q][i]].from;
            if (end[from] == 0) {
                next[from] = i;
            }
            end[from] = i + 1;
        }
        std::size_t anys = 0;
        for (std::uint32_t i = 0; i < g.process[q].size(); ++i) {
            Step &s = g.process[q][i];
            if (s.kind == Step::Kind::any) {
                ++anys;
            } else if (s.kind == Step::Kind::receive) {
                const std::uint32_t from = peer_of[q][i];
                if (anys > 0) {
                    refuse(q, "receives from a peer after having received from any rank");
                }
                if (next[from] >= end[from]) {
                    throw std::runtime_error("bound: rank " + std::to_string(q) + " waits for ever for rank "
                                             + std::to_string(from));
                }
                s.message = inbox[q][next[from]++];
                g.messages[s.message].receive_step = i;
            }
        }
        for (const std::uint32_t m : inbox[q]) {
            if (g.messages[m].receive_step == kNone) {
                g.loose[q].push_back(m);
            }
        }
        if (anys > g.loose[q].size()) {
            throw std::runtime_error("bound: rank " + std::to_string(q) + " waits for ever for any rank");
        }
    }
}

} // namespace

Graph graph_of(const Cluster &cluster, const Workload &workload, Costs &costs)
{
    const std::vector<std::uint32_t> rails_of = rails_of_nodes(cluster);
    const std::size_t n = workload.process.size();
    if (n > std::size_t{cluster.nodes} * cluster.ranks_per_node) {
        refuse(n - 1, "has no place on the nodes");
    }
    Graph g;
    g.nodes = cluster.nodes;
    g.ranks_per_node = cluster.ranks_per_node;
    g.process.resize(n);
    g.loose.resize(n);
    std::vector<std::vector<std::uint32_t>> peer_of(n);
    for (std::uint32_t p = 0; p < n; ++p) {
        for (const Op &op : workload.process[p]) {
            const bool any = op.kind == Op::Kind::recv && op.peer == kAnyPeer;
            const bool to_peer = op.kind == Op::Kind::send || op.kind == Op::Kind::recv;
            if (to_peer && !any && op.peer >= n) {
                refuse(p, "has no peer " + std::to_string(op.peer));
            }
            if (op.time < 0) {
                refuse(p, "has an op of a negative time");
            }
            Step s;
            s.time = static_cast<Ps>(op.time);
            switch (op.kind) {
            case Op::Kind::send: {
                const auto index = static_cast<std::uint32_t>(g.messages.size());
                std::uint32_t rails = 0;
                if (g.node(p) != g.node(op.peer)) {
                    rails = rails_of[g.node(p)] & rails_of[g.node(op.peer)];
                    if (rails == 0) {
                        refuse(p, "has no rail to rank " + std::to_string(op.peer));
                    }
                }
                Message m;
                m.from = p;
                m.to = op.peer;
                m.kind = costs.kind(op.bytes, rails);
                m.send_step = static_cast<std::uint32_t>(g.process[p].size());
                g.messages.push_back(m);
                s = {Step::Kind::send, index, costs[m.kind].least_out};
                break;
            }
            case Op::Kind::recv:
                s = {any ? Step::Kind::any : Step::Kind::receive, kNone, 0};
                break;
            case Op::Kind::compute:
                s.kind = Step::Kind::compute;
                break;
            case Op::Kind::until:
                s.kind = Step::Kind::until;
                break;
            }
            g.process[p].push_back(s);
            peer_of[p].push_back(op.peer);
        }
    }
    match(g, peer_of);
    relate(g);
    return g;
}

Graph reversed(const Graph &graph)
{
    Graph back = graph;
    back.backward = true;
    for (std::size_t p = 0; p < graph.process.size(); ++p) {
        std::vector<Step> &steps = back.process[p];
        std::reverse(steps.begin(), steps.end());
        const auto anys = static_cast<std::size_t>(std::count_if(
            steps.begin(), steps.end(), [](const Step &s) { return s.kind == Step::Kind::any; }));
        bool released = anys < graph.loose[p].size();
        if (released) { // what nothing takes can be the last thing of all, and it is not known which that is
            steps.insert(steps.begin(), {Step::Kind::release, kNone, 0});
        }
        for (std::uint32_t i = 0; i < steps.size(); ++i) {
            Step &s = steps[i];
            switch (s.kind) {
            case Step::Kind::send: // a receive back in time, with o_s before it
                s.kind = Step::Kind::receive;
                back.messages[s.message].receive_step = i;
                break;
            case Step::Kind::receive: // its o_r may have been over while the process waited for another one
                s.kind = Step::Kind::send;
                s.time = 0;
                back.messages[s.message].send_step = i;
                break;
            case Step::Kind::any:
                s = {released ? Step::Kind::compute : Step::Kind::release, kNone, 0};
                released = true;
                break;
            case Step::Kind::until:
                s = {Step::Kind::compute, kNone, 0};
                break;
            case Step::Kind::release:
            case Step::Kind::compute:
                break;
            }
        }
    }
    for (Message &m : back.messages) {
        std::swap(m.from, m.to);
        m.run = 0;
        m.before = m.answers = kNone;
    }
    relate(back);
    return back;
}

} // namespace fsbml::sim::bound
