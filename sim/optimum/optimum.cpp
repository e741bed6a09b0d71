// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "optimum.hpp"

#include "sim/bound/parts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace fsbml::sim
{

namespace
{

constexpr Time kNever = std::numeric_limits<Time>::max();

class Search
{
public:
    Search(const Cluster &cluster, const Workload &workload, const Evaluate &evaluate, bool prune);
    Optimum run();

private:
    void branch(std::size_t depth);
    Time bound();

    const Cluster &cluster_;
    const Workload &workload_;
    const Evaluate &evaluate_;
    const bool prune_;
    std::vector<std::uint32_t> reach_; // by message: rails that it may take
    std::vector<std::size_t> order_;   // in which messages get their rails
    bound::Allowed allowed_;           // those rails, or the one that is chosen
    Optimum best_;
};

Search::Search(const Cluster &cluster, const Workload &workload, const Evaluate &evaluate, bool prune)
    : cluster_(cluster), workload_(workload), evaluate_(evaluate), prune_(prune)
{
    const std::vector<std::uint32_t> rails = bound::rails_of_nodes(cluster);
    std::vector<std::uint64_t> bytes;
    for (std::size_t p = 0; p < workload.process.size(); ++p) {
        for (const Op &op : workload.process[p]) {
            if (op.kind != Op::Kind::send) {
                continue;
            }
            const std::size_t from = p % cluster.nodes, to = op.peer % cluster.nodes;
            if (from != to) {
                order_.push_back(bytes.size());
            }
            reach_.push_back(from == to ? 1U : rails[from] & rails[to]);
            bytes.push_back(op.bytes);
        }
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&bytes](std::size_t a, std::size_t b) { return bytes[a] > bytes[b]; });
    allowed_ = reach_;
    best_.makespan = kNever;
}

Time Search::bound()
{
    ++best_.bounded;
    return bound::bound_of(cluster_, workload_, {kWhole, 0}, allowed_).makespan;
}

void Search::branch(std::size_t depth)
{
    if (depth == order_.size()) {
        Assignment rails;
        for (const std::uint32_t one : allowed_) {
            std::uint32_t r = 0;
            while ((one >> r & 1U) == 0) {
                ++r;
            }
            rails.push_back(r);
        }
        ++best_.evaluated;
        const Time makespan = evaluate_(rails);
        if (makespan < best_.makespan) {
            best_.makespan = makespan;
            best_.rails = rails;
        }
        return;
    }
    const std::size_t m = order_[depth];
    std::vector<std::pair<Time, std::uint32_t>> ways;
    for (std::uint32_t r = 0; r < cluster_.rails.size(); ++r) {
        if ((reach_[m] >> r & 1U) != 0) {
            allowed_[m] = 1U << r;
            // The last choice is evaluated at once, which is cheaper.
            ways.emplace_back(prune_ && depth + 1 < order_.size() ? bound() : 0, allowed_[m]);
        }
    }
    std::sort(ways.begin(), ways.end());
    for (const auto &[least, rail] : ways) {
        if (least < best_.makespan) {
            allowed_[m] = rail;
            branch(depth + 1);
        }
    }
    allowed_[m] = reach_[m];
}

Optimum Search::run()
{
    bound(); // refuses what makes no sense
    branch(0);
    return std::move(best_);
}

class AssignedRule final : public Rule
{
public:
    explicit AssignedRule(Assignment rails) : rails_(std::move(rails)) {}
    int choose(const Situation & /*fragment*/) override { return static_cast<int>(rails_.at(next_++)); }

private:
    Assignment rails_;
    std::size_t next_ = 0;
};

} // namespace

Optimum optimum(const Cluster &cluster, const Workload &workload, const Evaluate &evaluate, bool prune)
{
    return Search(cluster, workload, evaluate, prune).run();
}

AssignedRules::AssignedRules(const Cluster &cluster, const Workload &workload, const Assignment &rails)
    : of_rank_(workload.process.size())
{
    std::size_t m = 0;
    for (std::size_t p = 0; p < workload.process.size(); ++p) {
        for (const Op &op : workload.process[p]) {
            if (op.kind == Op::Kind::send) {
                const std::uint32_t rail = rails.at(m++);
                if (p % cluster.nodes != op.peer % cluster.nodes) {
                    of_rank_[p].push_back(rail);
                }
            }
        }
    }
}

std::unique_ptr<Rule> AssignedRules::make(const Cluster & /*cluster*/, std::uint32_t rank,
                                          std::uint64_t /*seed*/)
{
    return std::make_unique<AssignedRule>(of_rank_.at(rank));
}

} // namespace fsbml::sim
