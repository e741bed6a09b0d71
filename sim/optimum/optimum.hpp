// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// The best that any choice of rails can do, for few messages none of which is cut.
#ifndef FSBML_SIM_OPTIMUM_OPTIMUM_HPP
#define FSBML_SIM_OPTIMUM_OPTIMUM_HPP

#include "sim/job/rule.hpp"

#include <functional>

namespace fsbml::sim
{

// The rail of each message in the order of the sends of rank 0, then of rank 1, ...; of those within a node
// any.
using Assignment = std::vector<std::uint32_t>;
using Evaluate = std::function<Time(const Assignment &)>;

struct Optimum {
    Time makespan = 0;
    Assignment rails;
    std::uint64_t evaluated = 0; // assignments
    std::uint64_t bounded = 0;   // partial ones that lower_bound()'s like was asked about
};

// Branch and bound over assignments, the largest messages first. With `prune`, `evaluate` never says less
// than lower_bound() does for messages that are not cut; without, all assignments are looked at.
Optimum optimum(const Cluster &cluster, const Workload &workload, const Evaluate &evaluate,
                bool prune = true);

// The makespan of one assignment, by a model of its own: simulate.hpp's, of rails without jitter, changes,
// queues and bottlenecks whose NICs send and receive at once (else std::invalid_argument).
Time makespan_of(const Cluster &cluster, const Workload &workload, const Assignment &rails);

// The rule that follows an assignment, for simulate().
class AssignedRules final : public RuleMaker
{
public:
    AssignedRules(const Cluster &cluster, const Workload &workload, const Assignment &rails);
    const char *name() const override { return "assigned"; }
    const char *source() const override { return "an assignment"; }
    std::unique_ptr<Rule> make(const Cluster &cluster, std::uint32_t rank, std::uint64_t seed) override;

private:
    std::vector<Assignment> of_rank_; // without those within a node, which are not decided on
};

} // namespace fsbml::sim

#endif
