// The bars that FSBML is held to, one set an experiment, and whether the results meet them.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "results.hpp"

#include <functional>

namespace fsbml::bench
{

// A rail as the component measured it: the gap per byte, for the bar on calibration.
struct MeasuredRail {
    std::string name;
    double ns_per_byte = 0;
};

struct Verdict {
    std::string bar;
    bool met = false;
    std::string figures;
};

// All bars of the experiment, in the order of the table above. `rails` are the arms with one rail alone.
std::vector<Verdict> judge(const std::string &experiment, const Results &results,
                           const std::vector<std::string> &rails, const std::vector<MeasuredRail> &measured);

} // namespace fsbml::bench
