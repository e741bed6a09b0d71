// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Workloads carried out without any network: an executor of the tests' own, that knows nothing of check().
#ifndef FSBML_TESTS_SIM_EXECUTOR_HPP
#define FSBML_TESTS_SIM_EXECUTOR_HPP

#include "sim/traffic/traffic.hpp"

#include <deque>
#include <map>
#include <utility>

namespace executor
{

using fsbml::sim::Op;
using fsbml::sim::Workload;

struct Result {
    bool over = false; // every process came to its end
    std::uint64_t sent = 0, received = 0, bytes = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>>
        by_pair;                          // sizes, from and to
    std::vector<std::vector<bool>> knows; // by rank: those whose messages have reached it, by whatever way
};

// An op of a rank that is drawn at random, again and again; a receive from any rank takes a message at
// random.
inline Result run(const Workload &w, std::uint64_t seed, bool follow = false)
{
    const auto n = static_cast<std::uint32_t>(w.process.size());
    Result r;
    std::vector<std::size_t> next(n, 0);
    std::vector<std::uint32_t> ready;
    r.knows.assign(follow ? n : 0, std::vector<bool>(n, false));
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        ready.push_back(rank);
        if (follow) {
            r.knows[rank][rank] = true;
        }
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::vector<bool>>> way; // to, from
    fsbml::sim::TrafficDice dice(seed);
    std::vector<bool> waits(n, false);
    while (!ready.empty()) {
        std::swap(ready[dice.integer(0, ready.size() - 1)], ready.back());
        const std::uint32_t rank = ready.back();
        if (next[rank] == w.process[rank].size()) {
            ready.pop_back();
            continue;
        }
        const Op &op = w.process[rank][next[rank]];
        if (op.kind == Op::Kind::send) {
            way[{op.peer, rank}].push_back(follow ? r.knows[rank] : std::vector<bool>());
            r.by_pair[{rank, op.peer}].push_back(op.bytes);
            ++r.sent;
            r.bytes += op.bytes;
            if (waits[op.peer]) {
                waits[op.peer] = false;
                ready.push_back(op.peer);
            }
        } else if (op.kind == Op::Kind::recv) {
            std::vector<std::uint32_t> from;
            for (auto i = way.lower_bound({rank, 0}); i != way.end() && i->first.first == rank; ++i) {
                if (!i->second.empty() && (op.peer == fsbml::sim::kAnyPeer || op.peer == i->first.second)) {
                    from.push_back(i->first.second);
                }
            }
            if (from.empty()) {
                ready.pop_back();
                waits[rank] = true;
                continue;
            }
            auto &queue = way[{rank, from[dice.integer(0, from.size() - 1)]}];
            for (std::uint32_t i = 0; follow && i < n; ++i) {
                r.knows[rank][i] = r.knows[rank][i] || queue.front()[i];
            }
            queue.pop_front();
            ++r.received;
        }
        ++next[rank];
    }
    r.over = true;
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        r.over = r.over && next[rank] == w.process[rank].size();
    }
    return r;
}

} // namespace executor

#endif
