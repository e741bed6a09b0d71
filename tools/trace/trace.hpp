// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Findings in the decisions of a job's processes, and that as text and JSON.
#ifndef FSBML_TOOLS_TRACE_HPP
#define FSBML_TOOLS_TRACE_HPP

#include "sim/trace/trace.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fsbml::trace
{

// ---- Findings in the decisions of a job's processes.

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

// ---- The findings as text and as JSON.

// "rank 0 at 12.3 ms, 16 KiB to rank 1: eth1 in 650 us; eth0 would have taken 1.9 ms, as it was busy for 1.2
// ms"
std::string words_of(const Told &told);
std::string words_of(const Changed &changed);

std::string heading_of(const Findings &findings);
std::string rails_table(const Findings &findings);
// "rank 0 on node0 at 3.02 s: eth0 fell from 190 to 20 Mbit/s", a line each
std::string changes_of(const Findings &findings, std::size_t limit);
std::string lists_of(const Findings &findings);
// Whether the models give the decisions again.
std::string replay_of(const Findings &findings);

nlohmann::ordered_json document_of(const Findings &findings, const Wanted &wanted);

} // namespace fsbml::trace

#endif
