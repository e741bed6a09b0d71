// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// When each message can begin at the soonest, and each process be done.
#ifndef FSBML_SIM_BOUND_PATH_HPP
#define FSBML_SIM_BOUND_PATH_HPP

#include "fill.hpp"
#include "graph.hpp"

namespace fsbml::sim::bound
{

struct Earliest {
    std::vector<Ps> start; // by message: when its sender's processor can begin with it
    Ps last = 0;           // everything is over
};

// Goes through the processes in the order of their clocks, none of which is ever later than in a schedule:
// a receive is over no sooner than the one before it, and than its message is there, alone on idle rails.
//
// Where a process has received a run of messages and goes on, groups of messages make it later. Each message
// of a group has been delivered by then, and none began before the first of them could: so the group's equal
// finish (Fill) lies between these two. Groups are the messages
//   from all senders, in this run (also the late ones alone) and in the 2, 4, 8, ... last ones: the
//     receiver's NICs;
//   from one sender, since a run of its sends began, and 2, 4, 8, ... runs: NICs and both processors;
//   that the process itself has sent, and whose receivers answer in this run: its NICs, and behind them what
//   the receiver does between and the answer's way.
// And its processor has had to do what lay between two such places. As these places follow each other along
// the path, phases add up.
Earliest earliest(const Graph &graph, const Costs &costs);

} // namespace fsbml::sim::bound

#endif
