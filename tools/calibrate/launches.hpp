// Jobs in which FSBML measures, one after the other.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "run.hpp"

#include <string>
#include <vector>

namespace fsbml::bench
{

struct Calibrations {
    std::string launcher, folder, report;
    std::vector<std::string> words; // mpirun's options, the program
    int rounds = 1;
    int ranks = 2;
    int holdout = 0;
    double limit_seconds = 600;
    bool quiet = false;
};

// Throws std::runtime_error for users: a job that failed (its last lines are printed), one in which FSBML
// did not run, or measured nothing.
std::vector<Run> calibrate(const Calibrations &job);

// Why a job left no report, from its log.
std::string why_nothing(std::istream &log);

} // namespace fsbml::bench
