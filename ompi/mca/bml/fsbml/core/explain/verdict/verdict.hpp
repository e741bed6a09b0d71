// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a job's figures say, in plain sentences: first what is wrong with a rail, then what the rails gave.
#ifndef FSBML_EXPLAIN_VERDICT_HPP
#define FSBML_EXPLAIN_VERDICT_HPP

#include "explain/verdict/figures.hpp"

#include <string>
#include <vector>

namespace fsbml
{

struct Verdict {
    std::vector<std::string> sentences; // at least one; the first is the headline
    bool blame = false;                 // the headline blames a rail
};

Verdict verdict(const Figures &f);

} // namespace fsbml

#endif
