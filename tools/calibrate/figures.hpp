// Plots of calibrations, drawn as those of the bench are.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "findings.hpp"
#include "tools/text/gnuplot.hpp"

namespace fsbml::bench
{

// For each rail the gap and PRTT(1,0,s) over the size, points as measured in all runs and the line of the
// typical parameters; and, where exchanges were predicted, predicted against measured.
std::vector<Plot> figures_of(const Findings &findings);

// A point of a plot: the lower quartile of a size's samples (FSBML fits the mean of those up to it), and all
// samples beside it.
struct Measured {
    double bytes = 0;
    double us = 0; // the lower quartile
    double least = 0;
    double most = 0;
};
// (PRTT(n,0,s) - PRTT(1,0,s)) / (n-1) of a rail; its samples are those of PRTT(n,0,s) against the lower
// quartile of PRTT(1,0,s).
std::vector<Measured> gaps_of(const Findings &findings, const std::string &key);
// PRTT(1,0,s).
std::vector<Measured> singles_of(const Findings &findings, const std::string &key);

} // namespace fsbml::bench
