// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// Workloads as schedules of LogGOPSim, in GOAL's text form that its txt2bin reads: what one network of the
// same parameters everywhere would take for it. What is lost says docs/trace.md.
#ifndef FSBML_SIM_TRACE_GOAL_HPP
#define FSBML_SIM_TRACE_GOAL_HPP

#include "sim/job/workload.hpp"

#include <iosfwd>

namespace fsbml::sim
{

// Times in units of `unit`, which L, o, g, G are then given in. Throws std::invalid_argument for a workload
// that check() of traffic.hpp refuses, and a unit below 1 ps; std::runtime_error if the stream fails.
void write_goal(std::ostream &out, const Workload &workload, Time unit = kPsPerNs);

} // namespace fsbml::sim

#endif
