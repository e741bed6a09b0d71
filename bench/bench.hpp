// What the benchmark programs share: options, the samples' statistics, output.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fsbml::bench
{

struct Settings {
    std::string arm = "default"; // names this launch's configuration in the output
    std::vector<int> counts = {1, 8, 16, 32};
    std::vector<std::size_t> sizes;
    std::vector<std::string> operations; // collectives only
    double seconds = 0.05;               // time to spend on the samples of one point
    int min_samples = 3;
    int max_samples = 1000;
    bool verify = true;
    bool json = false;
};

// One line of output: a point of the experiment and its samples in microseconds.
struct Point {
    std::string bench;
    std::string operation;
    int count = 1;
    std::size_t size = 0;
    std::vector<double> samples_us;
};

// Fills the settings from the command line. Returns 0 to go on, 1 if help was printed, 2 on an error (already
// told). Only the rank that speaks passes true, so that an error is told once.
int parse_options(int argc, char **argv, const char *usage, bool speaks, Settings &settings);

// How many samples fit into the settings' time, if one takes `seconds`.
int sample_count(const Settings &settings, double seconds);

// The value at `part` (0 to 1) of the sorted samples, interpolated. The samples must not be empty.
double quantile(std::vector<double> samples, double part);

void print_header(const Settings &settings);
void print_point(const Settings &settings, const Point &point);
void print_init(const Settings &settings, const std::string &bench, double seconds);

// The byte that belongs at `offset` of message `message` of exchange `round`: neighbours in every dimension
// differ, so that a lost, doubled or swapped piece shows.
inline unsigned char pattern(std::uint32_t round, std::uint32_t message, std::size_t offset)
{
    std::uint32_t mixed = round * 2654435761u + message * 40503u + static_cast<std::uint32_t>(offset) * 97u
                          + static_cast<std::uint32_t>(offset >> 8) * 31u;
    return static_cast<unsigned char>(mixed ^ (mixed >> 15));
}

void fill(unsigned char *buffer, std::size_t size, std::uint32_t round, std::uint32_t message);

// The first offset at which the buffer is not as fill() left it, or `size`.
std::size_t first_wrong(const unsigned char *buffer, std::size_t size, std::uint32_t round,
                        std::uint32_t message);

} // namespace fsbml::bench
