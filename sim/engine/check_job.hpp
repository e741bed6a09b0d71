// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Checks a simulation's input before it begins.
#ifndef FSBML_SIM_ENGINE_CHECK_JOB_HPP
#define FSBML_SIM_ENGINE_CHECK_JOB_HPP

#include "simulate.hpp"

namespace fsbml::sim::engine
{

// Throws std::invalid_argument, which names the rail, or the rank and its operation.
void check_job(const Simulation &simulation);

} // namespace fsbml::sim::engine

#endif
