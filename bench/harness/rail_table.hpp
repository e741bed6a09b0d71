// What FSBML said of the rails in a launch's log: its table, and the probes that it is made of.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

namespace fsbml::bench
{

// A row of the table. Times in us, G in ns/byte.
struct MeasuredRail {
    std::string name;
    std::string key;
    double latency_us = 0;
    double overhead_send_us = 0;
    double overhead_receive_us = 0;
    double gap_us = 0;
    double ns_per_byte = 0;
};

// PRTT(n, d, s) on a rail; warm-ups are left out.
struct Probe {
    std::string rail;
    int packets = 1;
    double delay_us = 0;
    std::size_t bytes = 0;
    double us = 0;
};

struct RailTable {
    std::vector<std::string> lines; // as FSBML printed them, without the lines' origin
    std::vector<MeasuredRail> rails;
    std::vector<Probe> probes; // only at verbose level 40
};

// From a launch's stderr. The first process that printed the table is taken; others' lines may stand in
// between.
RailTable read_rail_table(std::istream &log);

// A point of the gap's line (thesis 3.2): (PRTT(n,0,s) - PRTT(1,0,s)) / (n-1) = g + G (s-1), from the least
// PRTT of each.
struct GapPoint {
    std::size_t bytes = 0;
    double us = 0;
};
std::vector<GapPoint> gap_points(const RailTable &table, const std::string &rail);

} // namespace fsbml::bench
