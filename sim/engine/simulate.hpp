// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A job in virtual time: processes, whose processors and NICs are busy as LogGP says, and a rule that
// decides.
#ifndef FSBML_SIM_ENGINE_SIMULATE_HPP
#define FSBML_SIM_ENGINE_SIMULATE_HPP

#include "sim/job/rule.hpp"

namespace fsbml::sim
{

// A time of what does not happen.
constexpr Time kNever = -1;

// A fragment's way, but for answers of receivers, for code that checks or draws it; what a dead rail swallows
// has no arrival.
struct Passage {
    std::uint32_t from = 0, to = 0, rail = 0;
    std::uint64_t message = 0, bytes = 0;
    Time given = 0;            // to the rail
    Time begins = 0, ends = 0; // on the sender's NIC, the last time if it was sent again
    Time arrives = 0;          // at the receiver's NIC, whole
    Time received = 0;         // o_r is over
};

struct RailOutcome {
    std::uint64_t messages = 0, bytes = 0; // fragments that arrived
    std::uint64_t retransmitted = 0;
    Time busy = 0; // of all NICs together, by sending
};

struct Outcome {
    Time makespan = 0;      // the last message is received, the last process done
    std::vector<Time> done; // by rank; kNever: it waits for what was lost
    std::vector<RailOutcome> rails;
    std::uint64_t decisions = 0;                           // fragments, and answers of receivers
    std::uint64_t sent = 0, received = 0, undelivered = 0; // messages
    std::vector<Passage> passages;                         // only if asked for
};

// Long messages as MPI sends them: the first fragment alone, the others once the receiver has found a receive
// for it and has said so. The answer goes by the rails, too, and waits there behind what its sender has given
// to them.
struct Rendezvous {
    std::uint64_t above = 0; // messages of more bytes that are cut; 0: none
    std::uint64_t answer_bytes = 1;
};

struct Simulation {
    const Cluster *cluster = nullptr;
    const Workload *workload = nullptr;
    RuleMaker *rules = nullptr;
    std::uint64_t seed = 1;
    bool keep_passages = false;
    Rendezvous rendezvous;
};

// Messages between ranks of one node go by no rail: they are there at once, and cost nothing.
//
// Deterministic for a seed. Throws std::invalid_argument for a cluster or a workload that makes no sense (a
// peer that does not exist, no rail between two nodes, nonsensical parameters), std::runtime_error for one
// that never ends although nothing was lost (a receive without a send), naming the rank, and std::logic_error
// for a rule that cuts a message into another, or chooses a rail that does not join the two.
Outcome simulate(const Simulation &simulation);

} // namespace fsbml::sim

#endif
