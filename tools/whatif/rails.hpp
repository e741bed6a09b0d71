// The rails of a table, and the changes to them.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "api/fsbml_core.h"

#include <string>
#include <vector>

namespace fsbml::whatif
{

struct Rail {
    std::string name;
    fsbml_loggp_t params{};
    double duplex = 0;   // as in fsbml_fit_t
    double residual = 0; // so is this
};
using Rails = std::vector<Rail>;

// Throws std::runtime_error for a file that is no table, or one of a rail that was not measured.
Rails read_rails(const std::string &file);

// Of long messages, in bits per second on the wire.
double rate_of(const Rail &rail);

// Each changes the rails and says in words for a sentence what they would be: "a second 10 Gbit/s rail".
// Throw std::invalid_argument for what makes no sense.
std::string put_rail(Rails &rails, const std::string &spec);     // name=eth1,rate=10gbit,delay=20us,...
std::string make_faster(Rails &rails, const std::string &words); // eth1=2
std::string leave_out(Rails &rails, const std::string &name);

// Where all say so, a NIC does not send and receive at once.
bool half_duplex(const Rails &rails);

// "1.5ms", to ns.
double nanoseconds_of(const std::string &text);

} // namespace fsbml::whatif
