// The results as a table for users: a row a place, a column an arm, and how they compare.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "tools/arms/arms.hpp"

#include <string>
#include <vector>

namespace fsbml::bench
{

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
