// The job on other rails, and by other rules.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "job.hpp"
#include "rails.hpp"

#include <functional>
#include <string>
#include <vector>

namespace fsbml::whatif
{

enum class Kind { as_it_is, alone, without, changed };

struct RailUse {
    std::string name;
    std::uint64_t messages = 0, bytes = 0; // fragments
    double busy_ns = 0;                    // of all NICs together
};

struct Row {
    Kind kind = Kind::as_it_is;
    std::string name, rule;
    std::vector<RailUse> rails;
    double job_ns = 0;           // until the last process is done
    double communication_ns = 0; // of that, what messages cost: less what the job takes without rails
    double message_ns = 0;       // from given to arrived, mean of all messages between nodes
};

struct Study {
    Rails rails;
    Rails changed;                    // as the changes asked for have them
    std::vector<std::string> changes; // in words; none: nothing is asked for
    std::vector<std::string> rules;   // besides FSBML's
    std::uint64_t eager = 65536;      // messages up to this go whole
    std::uint64_t seed = 1;
};

struct Findings {
    std::vector<Row> rows;
    double computation_ns = 0; // what the job takes if messages cost nothing
};

// Names of the rules that there are besides FSBML's own.
std::vector<std::string> rule_names();

// FSBML's rule on all sets of rails, the others on those that there are and on the changed ones. `tell` hears
// of each before it begins. Throws std::invalid_argument for a rule that does not exist.
Findings look_into(const Job &job, const Study &study, const std::function<void(const Row &)> &tell);

} // namespace fsbml::whatif
