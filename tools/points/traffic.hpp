// How many bytes the network interfaces of a node have sent, as Linux counts them: true for every MPI library
// alike.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "output.hpp"

#include <istream>
#include <string>

namespace fsbml::bench
{

// Bytes sent since boot by each interface that this process sees. Empty where the system does not tell.
Traffic interface_bytes();
// The same from the text of /proc/net/dev.
Traffic read_interface_bytes(std::istream &table);

// A text of fixed size, for sending; what does not fit is left out.
constexpr int traffic_text_size = 2048;
std::string traffic_text(const Traffic &traffic);
void add_traffic_text(const char *text, Traffic &sum);

// What was sent in between; interfaces that sent nothing, or that came or went, are left out.
Traffic traffic_between(const Traffic &before, const Traffic &after);

} // namespace fsbml::bench
