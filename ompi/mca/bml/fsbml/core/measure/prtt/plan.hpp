// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Which sizes, how many packets and how many samples a rail is measured with.
//
// A rail's plan is a rung of a ladder that leads from what a fast rail does in a few milliseconds down to
// what a 1 Mbit/s rail can do in a fraction of a second. All rails first get the same rung, the richest whose
// predicted time fits; then faster rails climb as far as what is left over holds. On the way down, what is
// good to know (the other direction, receiving, both ways at once) goes before what has to be known.
//
// Sizes grow by a factor: what is to be told apart, a change of protocol, lies anywhere between a few KiB and
// the largest message, and the small ones cost next to nothing. n is that of the size: as many packets as
// take a time that dwarfs what disturbs a probe (core/measure/prtt/plan.cpp), so few large or many small
// ones.
#ifndef FSBML_PLAN_HPP
#define FSBML_PLAN_HPP

#include "measure/samples/samples.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace fsbml
{

constexpr double kDelayBeyond = 10e3; // ns that a delay exceeds twice the gap

// What the pilot probes say about a rail, enough to predict a probe's time. Errs on the slow side.
struct Pace {
    double base_ns = 0.0;            // PRTT(1,0,small)
    double small_gap_ns = 0.0;       // between small messages
    double per_byte_ns = 0.0;        // about G
    double answer_per_byte_ns = 0.0; // of the other direction, if that is slower; else 0

    double slower_per_byte_ns() const noexcept { return std::max(per_byte_ns, answer_per_byte_ns); }
};

// THERE: base + (n-1) (d + gap) + n s G + s G', n messages there and one back, where G' is the other way's;
// the other kinds likewise.
double predict_ns(const Pace &pace, const Prtt &prtt) noexcept;

struct Limits { // what the user and the rail allow, and where the rail is known to change
    std::uint32_t packets;
    std::uint32_t size_step;
    std::uint32_t small_size;
    std::uint32_t samples;
    std::uint32_t max_bytes;
    std::array<std::uint32_t, FSBML_LIMITS> change{};
};

struct PlannedCell {
    Prtt prtt;
    std::uint32_t times; // in a round
};

struct Plan {
    std::vector<PlannedCell> cells;   // all PRTTs of one round
    std::vector<std::uint32_t> sizes; // of the line
    std::uint32_t samples = 0;        // rounds that it takes at least
    double rest_ns = 0.0;             // idle time that a probe needs before it starts
    double cost_ns = 0.0;             // predicted, of these rounds
};

std::size_t rungs() noexcept;

// The lowest rung with that many samples.
std::size_t last_rung_of(std::uint32_t samples) noexcept;

// The plan of a rung: 0 is the richest.
Plan make_plan(std::size_t rung, const Limits &limits, const Pace &pace, const Prtt &small_gap,
               const Prtt &overhead);

// Adds PRTT(1,0,s) and PRTT(n,0,s) to each round.
void add_size(Plan &plan, const Pace &pace, std::uint32_t bytes, std::uint32_t most_packets);

// Whether large messages of the other direction are in it.
bool tells_other_way(const Plan &plan) noexcept;

// Adds the least that tells the other direction's line: single messages, and two, of the least and the
// largest of the plan's sizes, of which there are two.
void add_other_way(Plan &plan, std::uint32_t small);

// n for messages of this size, 2 to most.
std::uint32_t packets_for(const Pace &pace, std::uint32_t bytes, std::uint32_t most) noexcept;

// Sizes of the line: `count` from 4 KiB to `largest`, each the same factor above the one before, in KiB and
// at least `step` apart. Where the largest leaves no two of these: half of it, and it.
std::vector<std::uint32_t> line_sizes(std::uint32_t step, std::uint32_t small, std::uint32_t largest,
                                      std::uint32_t count);

// Puts in a size just below and one just above each known limit, in place of neighbours that tell the same.
void add_changes(std::vector<std::uint32_t> &sizes, const Limits &limits);

} // namespace fsbml

#endif
