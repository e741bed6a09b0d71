// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// How sure a fit is: the parameters that other samples of the same kind would have given.
//
// doubt_of() reads it from the ranks of each PRTT's samples and takes a few us, so that a stopping rule can
// ask after every round. find_interval() is for people, and sees what the former cannot (the bound of a
// parameter that jumps): bootstrap (Efron, 1979): every PRTT's samples are drawn anew from themselves, with
// repetition, and fitted again. The interval holds the middle nine tenths of what comes out. It knows the
// scatter of the samples, and nothing of what disturbed them all alike; of PRTTs with less than five samples
// it makes too little.
#ifndef FSBML_INTERVAL_HPP
#define FSBML_INTERVAL_HPP

#include "fsbml_core.h"
#include "loggp_fit.hpp"
#include "samples.hpp"

#include <cstdint>

namespace fsbml
{

constexpr unsigned kResamples = 100;

// Fills in fit.low and fit.high of a valid fit of these samples (fit_rail). Without an interval both are 0:
// where most of what is drawn makes no valid fit, or one with another number of pieces.
void find_interval(fsbml_fit_t &fit, const Samples &samples, const Samples &rough, std::uint32_t small,
                   std::uint64_t seed, const Known &known = {});

// Half of the interval in which nine of ten fits of such samples lie, of parameters and of what to hold them
// against.
struct Doubt {
    bool known = false; // there are two samples at least of all that they come from
    double L_ns = 0.0;
    double o_s_ns = 0.0;
    double g_ns = 0.0;
    double G_ns_per_byte = 0.0;
    double G_above_ns_per_byte = 0.0; // 0: there is one piece

    fsbml_loggp_t params{};    // those that it is the doubt of, as far as they are named here
    double one_way_ns = 0.0;   // half of PRTT(1,0,small)
    double small_gap_ns = 0.0; // PRTT(n,0,small) - PRTT(1,0,small), of a message

    // Each is within that share: G and G_above of themselves, g of what small messages take, L and o of one
    // way. (A parameter that is small beside the time that it is part of need not be known better than that.)
    bool line_within(double tolerance) const noexcept;
    bool way_within(double tolerance) const noexcept;
};
Doubt doubt_of(const Samples &samples, std::uint32_t small, const Known &known = {});

// The stopping rule: all parameters are within the tolerance (0.03: 3 %) in nine of ten cases.
bool tight(const Samples &samples, std::uint32_t small, double tolerance, const Known &known = {});

} // namespace fsbml

#endif
