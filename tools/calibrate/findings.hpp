// The findings of all calibrations: for each rail its parameters, their intervals and errors.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "run.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fsbml::bench
{

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
    double ns_per_byte = 0; // of a stream of full frames, with their headers
    double latency_ns = 0;
};
// "200mbit,delay=1ms"; throws std::invalid_argument.
Setting setting_of(const std::string &spec);

// There must be a run. Rails are those of the first one, by key; settings are by name.
Findings findings_of(const std::string &setting, std::vector<Run> runs,
                     const std::map<std::string, Setting> &set);

// The rails' typical parameters, as FSBML keeps tables.
fsbml_table_t table_of(const Findings &findings);

} // namespace fsbml::bench
