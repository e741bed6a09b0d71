// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a run of a benchmark comes to: FSBML's bars, a conclusion, everything as JSON, plots, and tables for
// users.
#ifndef FSBML_BENCH_HARNESS_HPP
#define FSBML_BENCH_HARNESS_HPP

#include "tools/arms/arms.hpp"
#include "tools/text/text.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fsbml::bench
{

// ---- The bars of FSBML, one set an experiment, and whether the results meet them.

// All bars of the experiment; none if it has none. `rails` are the arms with one rail alone.
std::vector<Bar> judge(const std::string &experiment, const Results &results,
                       const std::vector<std::string> &rails, const std::vector<MeasuredRail> &measured);

// The outcome in a sentence, and whether the machine was quiet enough for it.
struct Conclusion {
    std::string sentence;       // how FSBML compares, whichever way
    std::string counts;         // at how many points which verdict, as a sentence behind others; may be empty
    std::string noise;          // what cannot be said, and why; empty if all can
    double least = 0, most = 0; // of FSBML's time by the best rival's
    int points = 0;             // compared
    int unclear = 0;            // of them, those that are too noisy to say anything of
    // Half of the points and more are clear.
    bool conclusive() const { return points > 0 && unclear * 2 <= points; }
};

Conclusion conclude(const Results &results, const std::vector<Arm> &arms);

// Of r2's traffic: ", as it sends all of them by rail1", or nothing if it used more rails than one.
std::string why_of(const Traffic &traffic);

// ---- The same as one act of a demo, of which three have to do with 40 lines of a terminal.

// A row a size, with FSBML's time by that of the best rail alone as a bar, once for each number of messages;
// a verdict if there were enough rounds.
std::string act_table(const Results &results, const std::vector<Arm> &arms);
// The outcome in a few sentences.
std::string act_told(const Results &results, const std::vector<Arm> &arms);

// ---- Everything about a run as one JSON document; docs/bench.schema.json describes it.

// What a run was, and what came of it.
struct Report : Measurements {
    std::string bench;
    std::string setting; // what was measured on, for users
    std::vector<Bar> bars;
    Conclusion conclusion;
};

nlohmann::json document_of(const Report &report);

// Plots of a run through gnuplot: SVG, PNG, and the script that makes them, for users who want them
// otherwise. What a run has to show: time and bandwidth over size (a plot for each operation, variant and
// number of messages), bars where there are no sizes, the share of bytes on each interface, PRTT points with
// the fitted line.
std::vector<Plot> plots_of(const Report &report);

// ---- The results as a table for users: a row a place, a column an arm, and how they compare.

// Whether all that was measured is MB/s: the table then has FSBML's rate by the sum of the rails', not by the
// ideal.
bool only_bandwidths(const std::vector<Place> &places);

std::string results_table(const Results &results, const std::vector<Arm> &arms);

// What of the lower layer's performance reaches MPI, in percent, by arm; empty if that layer was not
// measured.
std::string layers_table(const Results &upper, const Results &below, const std::vector<Arm> &arms);

// Bytes that went over each interface, in percent, by arm; empty if they were not counted. One row for each
// place with the most messages, if FSBML has it.
std::string traffic_table(const Results &results, const std::vector<Arm> &arms);

// The interfaces that were used in earnest, i.e. for more than a hundredth of all bytes.
std::vector<std::string> used_interfaces(const Results &results);

} // namespace fsbml::bench

#endif
