// Findings in the decisions of a job's processes.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "sim/trace/trace.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fsbml::trace
{

// Which decisions count, and how many are printed one by one.
struct Wanted {
    std::optional<std::uint32_t> peer;
    std::string rail; // name or key; empty: all
    std::size_t limit = 10;
};

// What a rail had to offer.
struct Offer {
    std::string rail;
    std::uint64_t arrival_ns = 0, backlog_ns = 0, extra_ns = 0;
};

// A decision, apart from its file.
struct Told {
    std::uint32_t rank = 0, peer = 0;
    std::uint64_t ns = 0; // from the process' origin on
    std::uint64_t bytes = 0;
    Offer chosen;
    std::optional<Offer> other; // the best of the others
    // By how much the chosen rail was ahead; less than nothing if another would have been sooner.
    std::int64_t margin_ns = 0;
};

// A rail of a process that became slower or faster.
struct Changed {
    std::uint32_t rank = 0;
    std::string rail, node;
    std::uint64_t ns = 0; // from the process' origin on
    double before_mbps = 0, after_mbps = 0;
};

struct RailFinding {
    std::string key, name; // the name is that in the first file that has the rail
    std::uint64_t messages = 0, bytes = 0;
    std::uint64_t sooner_though_busy = 0; // it had something to do and another was idle
    std::uint64_t behind = 0;             // another would have been sooner
    std::vector<std::int64_t> margins;    // of decisions with a choice
};

struct Findings {
    std::uint64_t processes = 0;
    std::set<std::string> nodes, policies;
    std::uint64_t messages = 0, kept = 0, lost = 0;
    std::uint64_t least_every = 0, most_every = 0;
    std::uint64_t considered = 0, agree = 0, earliest = 0; // decisions
    std::string first_disagreement;                        // in words; empty: there is none
    std::vector<RailFinding> rails;
    std::vector<Told> narrowest, costliest; // by margin and by arrival
    std::vector<Changed> changes;           // by time
};

// Files of decisions, or one folder with them. Throws std::runtime_error, which names file and line.
Findings look_into(const std::vector<std::string> &paths, const Wanted &wanted);

std::optional<double> median_margin(const RailFinding &rail);

} // namespace fsbml::trace
