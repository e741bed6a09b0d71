// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// The LogGP model of a rail: its valid range, and what follows from it.
#ifndef FSBML_LOGGP_HPP
#define FSBML_LOGGP_HPP

#include "fixed.hpp"
#include "fsbml_core.h"

namespace fsbml
{

// What the scheduler can represent: fixed.hpp's bounds rest on these. 1 TB/s to 1 kB/s; times up to 1000 s.
constexpr double kMinG = 1e-3;
constexpr double kMaxG = 1e6;
constexpr double kMaxTimeNs = 1e12;

bool valid(const fsbml_loggp_t &p) noexcept;

// g + G (s-1) in ns (the time that a message keeps its rail busy).
double gap_ns(const fsbml_loggp_t &p, double bytes) noexcept;

// See fsbml_quantum().
std::size_t quantum(const fsbml_loggp_t *params, std::size_t n, double loss, std::size_t min,
                    std::size_t max) noexcept;

} // namespace fsbml

#endif
