// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The LogGP model of a rail: its valid range, and what follows from it.
#ifndef FSBML_LOGGP_HPP
#define FSBML_LOGGP_HPP

#include "api/fsbml_core.h"
#include "model/fixed.hpp"

namespace fsbml
{

// What the scheduler can represent: fixed.hpp's bounds rest on these. 1 TB/s to 1 kB/s; times up to 1000 s;
// overheads that grow by up to 1 us a byte.
constexpr double kMinG = 1e-3;
constexpr double kMaxG = 1e6;
constexpr double kMaxO = 1e3;
constexpr double kMaxTimeNs = 1e12;
// A break lies between 2 bytes (below it is at least one size) and 4 GiB. From there on a gap may be smaller
// than the line below says, by measurements' noise or since the rail goes to a cheaper protocol, but not by
// more than half: that is a fit that went wrong. The scheduler takes no larger message for cheaper than a
// smaller one (models.cpp).
constexpr double kMinBreak = 2.0;
constexpr double kMaxBreak = 4294967296.0;
constexpr double kLeastAbove = 0.5;

bool valid(const fsbml_loggp_t &p) noexcept;

// All members, in the order of records and files.
constexpr double fsbml_loggp_t::*kMembers[] = {
    &fsbml_loggp_t::L_ns,
    &fsbml_loggp_t::o_s_ns,
    &fsbml_loggp_t::o_r_ns,
    &fsbml_loggp_t::g_ns,
    &fsbml_loggp_t::G_ns_per_byte,
    &fsbml_loggp_t::burst_ns,
    &fsbml_loggp_t::O_s_ns_per_byte,
    &fsbml_loggp_t::O_r_ns_per_byte,
    &fsbml_loggp_t::break_bytes,
    &fsbml_loggp_t::g_above_ns,
    &fsbml_loggp_t::G_above_ns_per_byte,
};
constexpr std::size_t kMemberCount = sizeof kMembers / sizeof *kMembers;
static_assert(sizeof(fsbml_loggp_t) == kMemberCount * sizeof(double), "a record has all members of a model");

// Their names in files.
constexpr const char *kMemberNames[] = {"L",   "o_s", "o_r",   "g",       "G",      "burst",
                                        "O_s", "O_r", "break", "g_above", "G_above"};
static_assert(sizeof kMemberNames / sizeof *kMemberNames == kMemberCount, "each has a name");
// The six that every rail has are in files also where they are 0, so that a user sees what there is.
constexpr std::size_t kAlwaysNamed = 6;

// What a rail's measurement may say beside a valid model: numbers of which none is negative or beyond all
// ranges. Of the other direction some may be missing.
bool fit_sane(const fsbml_fit_t &f) noexcept;

// gap(s) in ns (the time that a message keeps its rail busy).
double gap_ns(const fsbml_loggp_t &p, double bytes) noexcept;

// The same rail, as many times slower; its shaper's bucket holds as many bytes.
fsbml_loggp_t slowed(const fsbml_loggp_t &p, double factor) noexcept;

// See fsbml_loggp_assumed().
fsbml_loggp_t assumed(double mbps) noexcept;

// See fsbml_fit_learn().
bool learn(fsbml_fit_t &fit, double gap_ns_per_byte, std::size_t quantum) noexcept;

// See fsbml_quantum().
std::size_t quantum(const fsbml_loggp_t *params, std::size_t n, double loss, std::size_t min,
                    std::size_t max) noexcept;

} // namespace fsbml

#endif
