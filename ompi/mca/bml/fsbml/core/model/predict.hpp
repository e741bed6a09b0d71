// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Predictions of a fit: for a probe, for the other direction, and for the rail without the others.
#ifndef FSBML_PREDICT_HPP
#define FSBML_PREDICT_HPP

#include "api/fsbml_core.h"

namespace fsbml
{

// Rails share something if beside each other they take this factor longer than alone.
constexpr double kShares = 1.15;

// The gaps of a fit, scaled; false, and unchanged, if that gives nothing that can be scheduled.
bool scale_gaps(fsbml_fit_t &fit, double factor) noexcept;

// A rail's fit as it was before it was scaled, if it was.
fsbml_fit_t fit_alone(const fsbml_fit_t &fit) noexcept;

// Time of PRTT(n,d,s) of a kind, in ns; s and n at least 1. With gap(s) and o(s) as fsbml_loggp_t has them,
// the bytes' time b(s) = gap(s) - gap(1), one(s) = o_s(s) + b(s) + L + o_r(s), and ' for the other direction:
// - arrive(n,d,s) = one(s) + (n-1) max(o_s(s) + d, gap(s)), less what a full bucket of `burst` ns hides: at
//   most all the gaps, g being a header's bytes there, so that no message comes before those that cost
//   nothing but o;
// - THERE: arrive(n,d,s) + arrive'(1,0,s), the answer with the o_s of there, as L was found with it;
// - BACK:  arrive(1,0,1) + arrive'(n,d,s);
// - TAKE:  n o_r(s);
// - BOTH:  arrive(1,0,1) + duplex max(arrive(n,d,s), arrive'(n,d,s)), as a small message asks for those back.
// The other direction has o_s, g and G of fit.back, and L, o_r, O and the bucket, in bytes, of this one.
// Without fit.back the directions are alike, without fit.duplex it is 1.
double predict_prtt(const fsbml_fit_t &fit, fsbml_probe_kind_t kind, double n, double d_ns,
                    double s) noexcept;

// When the last of n messages has been taken in, by that direction's parameters.
double predict_arrival(const fsbml_loggp_t &p, double n, double d_ns, double s) noexcept;

// The parameters of the other direction, as BACK above takes them.
fsbml_loggp_t other_direction(const fsbml_fit_t &fit) noexcept;

// Whether the other direction's G is another one: it differs by more than a tenth of the larger, which is
// more than two measurements do.
bool directions_differ(double there_ns_per_byte, double back_ns_per_byte) noexcept;

// The same for processes that send in that direction, if it is another. Interference with other rails is in G
// as it is there.
fsbml_loggp_t reverse(const fsbml_fit_t &fit) noexcept;

} // namespace fsbml

#endif
