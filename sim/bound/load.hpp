// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What all the messages of a node ask of its NICs.
#ifndef FSBML_SIM_BOUND_LOAD_HPP
#define FSBML_SIM_BOUND_LOAD_HPP

#include "path.hpp"

namespace fsbml::sim::bound
{

// Of any messages that a node sends (or receives; or both, if its NICs do one at a time): the soonest that
// one of them begins (`heads`), their equal finish, and the least that follows on the delivery of one
// (`tails`: the soonest begin with time running back) add up. Taken are those with a late head and a long
// tail, for several values of either.
Ps nic_load(const Cluster &cluster, const Graph &graph, const Costs &costs, const std::vector<Ps> &heads,
            const std::vector<Ps> &tails);

} // namespace fsbml::sim::bound

#endif
