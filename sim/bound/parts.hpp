// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// The bound of what is left, once some messages have their rails: for a search among assignments.
#ifndef FSBML_SIM_BOUND_PARTS_HPP
#define FSBML_SIM_BOUND_PARTS_HPP

#include "graph.hpp"

namespace fsbml::sim::bound
{

Bound bound_of(const Cluster &cluster, const Workload &workload, const BoundOptions &options,
               const Allowed &allowed);

} // namespace fsbml::sim::bound

#endif
