// The output of a benchmark program: a line a point, as JSON or as a table.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "options.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fsbml::bench
{

// Bytes that each network interface of all nodes has sent. Empty where that cannot be known.
using Traffic = std::map<std::string, std::uint64_t>;

// A rate is the better the more it is; all else is a time.
inline bool is_rate(const std::string &unit)
{
    return unit.size() >= 3 && unit.compare(unit.size() - 2, 2, "/s") == 0;
}

// A point of an experiment and its samples. Words hold no blanks, quotes or backslashes.
struct Point {
    std::string bench;
    std::string operation;
    std::string variant;     // what else tells it from others, such as "reuse=50%"; may be empty
    int messages = 1;        // of one sample; 1 where that says nothing
    std::size_t bytes = 0;   // of one message
    std::string unit = "us"; // us, ns, s, KiB, files: less is better; MB/s, 1/s: more is better
    std::vector<double> samples;
    Traffic traffic; // of all samples
};

void print_header(const Settings &settings);
void print_point(const Settings &settings, const Point &point);
void print_init(const Settings &settings, const std::string &bench, double seconds);

} // namespace fsbml::bench
