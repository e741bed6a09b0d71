// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The rules that FSBML's scheduler is measured against: what products do, what papers propose, and parts of
// its own. A new one: a file with an add_NAME(), declared in common.hpp and listed in rivals().
#ifndef FSBML_SIM_RULES_RIVALS_HPP
#define FSBML_SIM_RULES_RIVALS_HPP

#include "sim/job/rule.hpp"

namespace fsbml::sim
{

// All of them, always in the same order. They live as long as the program; each make() begins anew.
const std::vector<RuleMaker *> &rivals();

// By name; null if there is none.
RuleMaker *rival(const std::string &name);

// FSBML's formula as a whole, in floating point: what the ablations among the rivals leave parts out of. It
// is no rival: it checks the component's integers.
RuleMaker &formula();

// Where a rule does not say itself how a message is cut, it is cut as the component does: up to the eager
// limit not at all, a longer one by fsbml_quantum of all rails that reach the peer, with the loss, the least
// and the most that the component gives it over tcp.
constexpr std::uint64_t kEager = 65536;
constexpr double kQuantumLoss = 0.02;
constexpr std::uint64_t kQuantumLeast = 4096;
constexpr std::uint64_t kQuantumMost = 131072;

} // namespace fsbml::sim

#endif
