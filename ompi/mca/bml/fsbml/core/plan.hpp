// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// Which sizes, how many packets and how many samples a rail is measured with, so that all fits the budget.
//
// A rail's plan is a rung of a ladder that leads from the thesis' full plan (3.4.3) down to what a 1 Mbit/s
// rail can do in a fraction of a second. All rails first get the same rung, the richest whose predicted time
// fits; then faster rails climb as far as what is left over holds.
#ifndef FSBML_PLAN_HPP
#define FSBML_PLAN_HPP

#include "samples.hpp"

#include <cstdint>
#include <vector>

namespace fsbml
{

// What the pilot probes say about a rail, enough to predict a probe's time. Errs on the slow side.
struct Pace {
    double base_ns = 0.0;      // PRTT(1,0,small)
    double small_gap_ns = 0.0; // between small messages
    double per_byte_ns = 0.0;  // about G
};

// base + (n-1) (d + gap) + (n+1) s G: n messages there, one back.
double predict_ns(const Pace &pace, const Prtt &prtt) noexcept;

struct Limits { // what the user and the rail allow
    std::uint32_t packets;
    std::uint32_t size_step;
    std::uint32_t small_size;
    std::uint32_t samples;
    std::uint32_t max_bytes;
};

struct Plan {
    std::vector<Prtt> cells;   // all PRTTs of one round
    std::uint32_t samples = 0; // rounds that are predicted to fit
    std::uint32_t largest = 0; // bytes of the largest probe
    std::uint32_t packets = 0; // n of the line's PRTT(n,0,s)
    double rest_ns = 0.0;      // idle time that the line's probes need before they start
    double cost_ns = 0.0;      // predicted, of all these rounds
};

std::size_t rungs() noexcept;

// The plan of a rung: 0 is the richest.
Plan make_plan(std::size_t rung, const Limits &limits, const Pace &pace, const Prtt &small_gap,
               const Prtt &overhead);

// Sizes of the line: `count` multiples of `step`, spread evenly up to `largest`; from 4 KiB on where that
// leaves two.
std::vector<std::uint32_t> line_sizes(std::uint32_t step, std::uint32_t small, std::uint32_t largest,
                                      std::uint32_t count);

} // namespace fsbml

#endif
