// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What the processes run on: nodes, and rails that each node has one NIC of.
#ifndef FSBML_SIM_JOB_CLUSTER_HPP
#define FSBML_SIM_JOB_CLUSTER_HPP

#include "workload.hpp"

#include "api/fsbml_schedule.h"

#include <string>
#include <vector>

namespace fsbml::sim
{

// From `at` on a rail takes `factor` times its g and G; 0: nothing gets through any more.
struct Change {
    Time at = 0;
    double factor = 1.0;
};

struct RailSpec {
    std::string name;
    fsbml_loggp_t real{};     // what a message takes; burst_ns as a token bucket of a NIC
    fsbml_loggp_t believed{}; // what the scheduler is told
    bool guessed = false;     // and that nothing was measured
    double jitter = 0.0;      // each message's L and gap times 1 + jitter * |N(0,1)|
    std::uint32_t queue = 0;  // messages that a NIC holds; more wait with their sender (0: no limit)
    std::vector<Change> changes;
    std::vector<std::uint32_t> nodes; // that have it; none named: all
};

// A link that messages of a rail between two groups of nodes share (paper 004): a bandwidth, b(h) there, and
// a buffer, by which a message is late by d(h) at most; one that does not fit is sent again after the
// time-out.
struct Bottleneck {
    std::uint32_t rail = 0;
    std::vector<std::uint32_t> side; // nodes on one side of it
    double ns_per_byte = 0.0;
    std::uint64_t buffer_bytes = 0; // 0: no limit, nothing is lost
    Time timeout = 0;               // of the retransmission
};

struct Cluster {
    std::uint32_t nodes = 2;
    std::uint32_t ranks_per_node = 1; // rank r is on node r % nodes
    std::vector<RailSpec> rails;
    std::vector<Bottleneck> bottlenecks;
    bool full_duplex = true; // a NIC sends and receives at once
    bool ledger = false;     // ranks of a node see each other's charges
};

} // namespace fsbml::sim

#endif
