// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// Paper 004, section III-D: what any pattern takes in PlogPT, by the times of each process' operations.
#ifndef FSBML_SIM_PATTERNS_RUN_HPP
#define FSBML_SIM_PATTERNS_RUN_HPP

#include "patterns.hpp"
#include "sim/job/workload.hpp"

namespace fsbml::sim
{

struct Operation {
    enum class Kind : std::uint8_t { isend, irecv, wait };
    Kind kind = Kind::isend;
    std::uint32_t peer = 0; // of isend, irecv
    double m = 0.0;         // of isend
    std::uint32_t of = 0;   // of wait: the process' operation of that number
};

using Program = std::vector<std::vector<Operation>>; // by rank

// MPI_Send and MPI_Recv as isend or irecv, and wait. Throws std::invalid_argument for what the paper's
// primitives cannot say: computing, waiting for a time, receiving from any rank, sending to oneself.
Program program_of(const Workload &workload);

struct OperationTimes {
    double e = -1.0, l = -1.0; // entered, left
    double f = -1.0;           // of isend, irecv: finished
};

struct PatternTimes {
    std::vector<std::vector<OperationTimes>> of; // as in the program
    double end = 0.0;                            // when the last process leaves its last operation
    std::uint32_t timeouts = 0;
};

// The messages that are hit where (14) says that a message may be lost, which the paper calls random: asked
// for each isend that ends with a full buffer.
using Unlucky = std::function<bool(std::uint32_t sender, std::uint32_t height)>;
bool none_unlucky(std::uint32_t sender, std::uint32_t height);

// The paper's throughput (7) is a fluid's: all that share an edge in a direction have the same share of it.
// An isend that is lost ends T_RTO later and needs no bandwidth then. (14)'s threshold, `jitter`, is for an
// isend that began before another one ends; one that begins later than that ends is none that collides. Its
// receiver is the same, as III-B 3) has it and (14) leaves out.
//
// Throws std::invalid_argument for ranks that the tree does not have, and std::runtime_error for a program
// that locks up.
PatternTimes run_pattern(const PlogPT &model, const Program &program, const Unlucky &unlucky = none_unlucky,
                         double jitter = 0.0);

} // namespace fsbml::sim

#endif
