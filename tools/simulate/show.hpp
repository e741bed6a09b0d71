// The runs as tables for users, and as a document.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "judge.hpp"

#include <string>

namespace fsbml::bench
{

// What was simulated: sets of rails, ranks, which bound.
std::string setting_text(const Proof &proof);

// All tables, each with a heading.
std::string tables_text(const Proof &proof, const std::vector<Trial> &runs);

std::string bars_text(const std::vector<Bar> &bars);

// docs/simulate.schema.json
std::string document_of(const Proof &proof, const std::vector<Trial> &runs, const std::vector<Bar> &bars);

} // namespace fsbml::bench
