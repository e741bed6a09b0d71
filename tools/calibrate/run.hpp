// One calibration, as FSBML reported it.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "api/fsbml_core.h"

#include <array>
#include <istream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fsbml::bench
{

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

} // namespace fsbml::bench
