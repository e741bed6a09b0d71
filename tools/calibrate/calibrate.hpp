// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Calibrations: jobs in which FSBML measures, what they reported, what all of them find about the rails, and
// that as text, plots, JSON and a table.
#ifndef FSBML_TOOLS_CALIBRATE_HPP
#define FSBML_TOOLS_CALIBRATE_HPP

#include "api/fsbml_core.h"
#include "tools/text/text.hpp"

#include <array>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fsbml::bench
{

// ---- One calibration, as FSBML reported it.

// A parameter of the model: its name in reports, and how a user reads it.
struct Parameter {
    const char *key;
    double fsbml_loggp_t::*value;
    const char *name;
    const char *unit;
    double scale; // from a report's unit to that
};
constexpr std::array<Parameter, 11> parameters{
    {{"L_ns", &fsbml_loggp_t::L_ns, "L    latency", "us", 1e-3},
     {"o_s_ns", &fsbml_loggp_t::o_s_ns, "o_s  overhead to send", "us", 1e-3},
     {"o_r_ns", &fsbml_loggp_t::o_r_ns, "o_r  overhead to receive", "us", 1e-3},
     {"g_ns", &fsbml_loggp_t::g_ns, "g    gap per message", "us", 1e-3},
     {"G_ns_per_byte", &fsbml_loggp_t::G_ns_per_byte, "G    gap per byte", "ns/B", 1},
     {"burst_ns", &fsbml_loggp_t::burst_ns, "burst that a shaper lets pass", "us", 1e-3},
     {"O_s_ns_per_byte", &fsbml_loggp_t::O_s_ns_per_byte, "O_s  and per byte, to send", "ns/B", 1},
     {"O_r_ns_per_byte", &fsbml_loggp_t::O_r_ns_per_byte, "O_r  and per byte, to receive", "ns/B", 1},
     {"break_bytes", &fsbml_loggp_t::break_bytes, "break: from this size on", "B", 1},
     {"g_above_ns", &fsbml_loggp_t::g_above_ns, "  g  gap of that size", "us", 1e-3},
     {"G_above_ns_per_byte", &fsbml_loggp_t::G_above_ns_per_byte, "  G  gap per byte", "ns/B", 1}}};

// What a rail's probes came to, those to warm up included.
struct Cost {
    double probes = 0;
    double bytes = 0;
    double time_ns = 0;
};

struct Run {
    fsbml_table_t table{};
    std::string openmpi;
    std::array<std::string, 2> nodes;
    int attempts = 0;
    std::vector<Cost> cost;              // by rail
    std::vector<fsbml_sample_t> samples; // probe.rail is the place in the table
    std::vector<fsbml_sample_t> holdout;
    nlohmann::json document; // as it was read
};

// Throws std::runtime_error on anything that is no report. What a test exchange should take is filled in if
// the report does not say.
Run read_run(std::istream &report);

// ---- Jobs in which FSBML measures, one after the other.

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

// ---- The findings of all calibrations: for each rail its parameters, their intervals and errors.

// A figure over the runs.
struct Estimate {
    std::vector<double> runs;
    double median = 0;
    double spread = 0;               // half the distance of the quartiles
    double most = 0;                 // the farthest from the median
    std::optional<double> low, high; // medians of the runs' intervals
    std::optional<double> set;       // what an emulated rail was set to
};
Estimate estimate_of(const std::vector<double> &runs);

// Predicted against measured.
struct Exchange {
    unsigned packets = 1;
    unsigned bytes = 0;
    double measured_ns = 0;
    double predicted_ns = 0;
};
double error_of(const Exchange &exchange); // of the measured time, >= 0

struct RailFindings {
    std::string name, key;
    bool valid = false;  // in all runs
    std::string failure; // why it is not
    std::vector<std::string> notes;
    std::array<Estimate, parameters.size()> value; // only of runs in which it was valid
    std::optional<Estimate> back_rate, duplex, together;
    Estimate residual, probes, sent_bytes, time_ns;
    fsbml_fit_t typical{}; // of the run that is nearest to the medians: parameters that belong together
    int tight = 0;         // runs in which it was measured until its bounds were tight
    std::vector<Exchange> holdout;
};

struct Findings {
    std::string setting;
    std::vector<Run> runs;
    std::vector<RailFindings> rails;
    Estimate duration_ns;
};

// What a rail of a virtual cluster is set to.
struct Setting {
    std::optional<double> ns_per_byte; // of a stream of full frames, with their headers; none: no limit
    double latency_ns = 0;
};
// "200mbit,delay=1ms", "none"; throws std::invalid_argument.
Setting setting_of(const std::string &spec);

// There must be a run. Rails are those of the first one, by key; settings are by name.
Findings findings_of(const std::string &setting, std::vector<Run> runs,
                     const std::map<std::string, Setting> &set);

// The rails' typical parameters, as FSBML keeps tables.
fsbml_table_t table_of(const Findings &findings);

// ---- Plots of calibrations, drawn as those of the bench are.

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

// ---- The results of a calibration, as text for users and as JSON.

// A row a parameter: with one run the interval of its samples; with more the median and how they differ; with
// set values what it is off by.
std::string parameters_table(const Findings &findings);

// A row a rail: how well the model fits, and what the measurement cost; empty if none was measured.
std::string quality_table(const Findings &findings);

// A row a rail: how far off the predictions of exchanges are that were not measured; empty if none was run.
std::string holdout_table(const Findings &findings);

// Remarks on rails, a line each; may be empty.
std::string notes_text(const Findings &findings);

// All of it; docs/calibrate.schema.json describes it.
nlohmann::json record_of(const Findings &findings);

} // namespace fsbml::bench

#endif
