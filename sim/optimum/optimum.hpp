// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What could be reached with all messages of all processes known beforehand: a schedule, improved by trying.
#ifndef FSBML_SIM_OPTIMUM_HPP
#define FSBML_SIM_OPTIMUM_HPP

#include "sim/engine/engine.hpp"

namespace fsbml::sim
{

// Begins with the simulation's rule, and keeps its cuts. A step moves one to three fragments to other rails
// that reach their peers, and is taken back if the makespan is longer then. Ends after so many steps, or at
// `goal` (a lower bound). Returns the least makespan; deterministic for the simulation's seed. Only without a
// rendezvous, which sends messages' fragments between those of others.
Time searched(const Simulation &simulation, std::uint64_t steps, Time goal = 0);

} // namespace fsbml::sim

#endif
