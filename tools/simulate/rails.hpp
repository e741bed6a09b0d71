// The sets of rails that schedules are tried on, and the parameters that rules believe.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "sim/job/job.hpp"

#include <string>
#include <vector>

namespace fsbml::bench
{

struct RailSet {
    std::string name, what;
    bool trouble =
        false; // the rails do not keep to their parameters: the bars of other sets are not for them
    // But FSBML should learn of it: a bar by the best rail of the moment, for jobs that last. All seeds of a
    // kind of traffic follow each other in one.
    bool learned = false;
    bool from_start = false; // it has to learn first: what counts is the second half of that job
    std::vector<sim::RailSpec> rails;
    std::vector<sim::Bottleneck> bottlenecks; // each with the first half of the nodes on one side
};

// All of the catalogue: those that keep to their parameters first.
const std::vector<RailSet> &rail_sets();

// A set of the catalogue by its name, or one such as 200mbit@100us+20mbit@1ms. Throws std::invalid_argument.
RailSet rail_set_of(const std::string &spec);

// A cluster of `ranks` ranks with these rails. Ranks of a node share a ledger if that is wanted, as by
// default in jobs.
sim::Cluster cluster_of(const RailSet &set, std::uint32_t ranks, std::uint32_t ranks_per_node, bool ledger);

// What is believed is off: L, o (both, and what bytes add to them), g and G of each rail by a factor of their
// own, each of [1 - share, 1 + share] alike.
void believe_wrongly(sim::Cluster &cluster, double share, std::uint64_t seed);

} // namespace fsbml::bench
