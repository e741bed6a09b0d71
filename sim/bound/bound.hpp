// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A lower bound, which no schedule can beat, on the makespan of a workload on a cluster.
#ifndef FSBML_SIM_BOUND_BOUND_HPP
#define FSBML_SIM_BOUND_BOUND_HPP

#include "sim/job/cluster.hpp"

namespace fsbml::sim
{

struct BoundOptions {
    // No fragment but a message's last one is smaller: 1 for any rule; what a rule's quantum is, for that
    // rule; kWhole if messages are not cut at all.
    std::uint64_t least_fragment = 1;
    std::uint64_t whole_up_to = 0; // messages of no more bytes are not cut: an eager limit
};

constexpr std::uint64_t kWhole = ~std::uint64_t{0};

// `makespan` is the largest of the others. True for all that delivers no fragment of s bytes sooner than by
//   o_s(s) on the sender's processor,
//   gap(s) on its node's NIC of the rail, and L later on the receiver's NIC; each may run ahead by burst_ns,
//   o_r(s) on the receiver's processor:
// o_s(s) + L + gap(s) - gap(1) + o_r(s) on idle rails without a burst. With the `real` parameters at the best
// that jitter and changes make of them, for each way to cut messages and to choose
// rails; bottlenecks only add
// to it. Within a node messages are free. Exact to a picosecond a fragment.
struct Bound {
    Time makespan = 0;
    Time path = 0; // the longest chain, of groups of messages
    Time nics = 0; // what the NICs of a node have to do, before it the soonest start, behind it the rest
    Time processors = 0; // what a process has to do itself
};

// Throws std::invalid_argument for what makes no sense (a peer that does not exist, no rail between two
// nodes), std::runtime_error for a workload that never ends, naming the rank.
Bound lower_bound(const Cluster &cluster, const Workload &workload, const BoundOptions &options = {});

} // namespace fsbml::sim

#endif
