// FSBML's table of rails, read from a launch's log.
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

struct RailTable {
    std::vector<std::string> lines; // as FSBML printed them, without the lines' origin
    std::vector<MeasuredRail> rails;
};

// From a launch's stderr. The first process that printed the table is taken; others' lines may stand in
// between.
RailTable read_rail_table(std::istream &log);

} // namespace fsbml::bench
