// The networks as text.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "networks.hpp"

namespace fsbml::rails
{

// A line a network.
std::string networks_table(const std::vector<Network> &networks, std::size_t n_nodes);

// What it comes to: which rails FSBML would use, why not the others and what to do about it, and by which
// rails messages would go.
std::string verdict_of(const std::vector<Network> &networks, std::size_t n_nodes);

} // namespace fsbml::rails
