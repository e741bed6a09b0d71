// Plots of a run through gnuplot: SVG, PNG, and the script that makes them, for users who want them
// otherwise.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "document.hpp"
#include "tools/text/text.hpp"

#include <vector>

namespace fsbml::bench
{

// What a run has to show: time and bandwidth over size (a plot for each operation, variant and number of
// messages), bars where there are no sizes, the share of bytes on each interface, PRTT points with the fitted
// line.
std::vector<Plot> plots_of(const Report &report);

} // namespace fsbml::bench
