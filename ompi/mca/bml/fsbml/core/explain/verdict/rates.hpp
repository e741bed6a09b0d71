// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What is said of rails whose rates have changed while the job ran.
#ifndef FSBML_EXPLAIN_RATES_HPP
#define FSBML_EXPLAIN_RATES_HPP

#include "explain/verdict/figures.hpp"

#include <string>
#include <vector>

namespace fsbml
{

// A sentence for each rail of a node that fell below its first rate, or for each that only rose: the first
// change, and what came of it.
void add_changed(const Figures &f, bool fell, std::vector<std::string> &to);

} // namespace fsbml

#endif
