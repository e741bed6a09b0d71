// Launching all arms in turns, round by round.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "arms.hpp"
#include "rail_table.hpp"
#include "results.hpp"

#include <functional>
#include <string>
#include <vector>

namespace fsbml::bench
{

struct Job {
    std::string launcher; // program that is given the number of ranks, mpirun's options and the program
    int ranks = 2;
    std::vector<std::string> program; // with its arguments
    std::vector<std::string> below;   // a program that measures the layer below; may be empty
    std::string probe; // library that times a program which is no benchmark of ours; empty for those
    double limit_seconds = 600;
    int rounds = 5;
    bool quiet = false;       // wait for a quiet machine before each round
    bool verify_once = false; // programs check their data in the first round only
    std::string folder;       // for what the launches print

    // Words behind the program's own, of one launch of each arm before all others.
    std::vector<std::string> first;
    // The jobs of a round run at once, in turns (tools/points/turns.hpp): of one host.
    bool interleaved = false;
    // Launches of rivals that take several times as long as the best rail; 0: as many as of all.
    int slow_rounds = 0;
};

// Results of the arms, and the rails that they were measured on.
struct Measurements {
    std::vector<Arm> arms;
    Results results;
    Results below; // of the layer below MPI, if that was measured too
    RailTable rails;
};

// Fills in all but the arms. Calls `first_look` with the results of the launches before all others, which
// count no more, or, where there are none, of the first of several rounds. Throws std::runtime_error with a
// message for users if a launch fails, hangs, or prints what is no result.
void run_rounds(const Job &job, Measurements &measured,
                const std::function<void(const Results &)> &first_look);

// What a job of a program with the probe has left in its log: the probe's lines, without what stands before
// them.
std::string probe_lines(std::istream &log);

} // namespace fsbml::bench
