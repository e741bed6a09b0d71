// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "engine.hpp"

namespace fsbml::sim
{

Outcome simulate(const Simulation &simulation)
{
    engine::check_job(simulation);
    return engine::Processors(simulation).run();
}

} // namespace fsbml::sim
