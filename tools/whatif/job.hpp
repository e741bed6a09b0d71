// The job of a study: a trace, or the records of its processes.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "sim/job/job.hpp"

#include <string>
#include <vector>

namespace fsbml::whatif
{

struct Job {
    sim::Workload workload;
    std::uint32_t ranks = 0, nodes = 0, ranks_per_node = 1;
    std::uint64_t messages = 0, bytes = 0; // between nodes
    bool clocked = false;                  // processes wait for times of the clock, come what may
};

// A trace, or a folder with records, or records (docs/trace.md). `receive_after` as TraceMerge has it. Ranks
// that follow each other are on one node, as mpirun places them. Throws std::runtime_error, which names file
// and line, or rank and op.
Job read_job(const std::vector<std::string> &paths, std::uint32_t ranks_per_node, sim::Time receive_after);

} // namespace fsbml::whatif
