// The bars of FSBML, one set an experiment, and whether the results meet them.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "tools/arms/arms.hpp"
#include "tools/text/text.hpp"

namespace fsbml::bench
{

// All bars of the experiment; none if it has none. `rails` are the arms with one rail alone.
std::vector<Bar> judge(const std::string &experiment, const Results &results,
                       const std::vector<std::string> &rails, const std::vector<MeasuredRail> &measured);

} // namespace fsbml::bench
