// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The processors' share of a message: o_s and o_r, and what each byte adds to them.
#ifndef FSBML_OVERHEADS_HPP
#define FSBML_OVERHEADS_HPP

#include "api/fsbml_core.h"
#include "measure/samples/gaps.hpp"
#include "measure/samples/samples.hpp"

namespace fsbml
{

// Looks at the clock that the delay between two messages takes beside itself: one whole, before it begins and
// after it ends, and half of one by which it ends too late.
constexpr double kLooksOfDelay = 1.5;

// o_s at a size (equation 3.2.3.3), from the delayed PRTT of this kind with most samples, less the clock.
// False if there is none whose delay is at least the gap: a shorter one shows max(o + d, gap), and that is
// the gap.
bool send_overhead(const Samples &samples, fsbml_probe_kind_t kind, double bytes, double gap_ns,
                   double timer_ns, Value &out);

// o_r at a size: (T(n,s) - T(m,s)) / (n-m) of FSBML_PROBE_TAKE, with the least and the greatest n that there
// are.
bool take_overhead(const Samples &samples, double bytes, Value &out);

// How PRTT(1,0,s)/2 grows beside the time of the bytes: what is left for O_s + O_r. Of at least three bulk
// sizes.
struct Rest {
    bool known = false;
    double per_byte_ns = 0.0;
    double error = 0.0;
};
Rest rest_per_byte(const Samples &samples, const GapLine &line, const fsbml_loggp_t &back);

// Fills in o_s, o_r, O_s and O_r with these bounds, each with a remark where it replaces what was measured:
// - 0 <= o_s <= one way, 0 <= o_r <= one way - o_s, the one way being half of PRTT(1,0,small);
// - o_s is 0 if nothing tells it, o_r as o_s if nothing tells it;
// - 0 <= O_s, O_r <= the greatest G, as messages follow no faster than they are sent or taken; and <= 1 us;
// - O_s + O_r <= what rest_per_byte leaves, and 2.5 standard errors.
// Where no second size tells O_s or O_r, each is half of that rest; 0 where it is within 2.5 standard errors
// or 2 % of G.
void fit_overheads(fsbml_fit_t &fit, const Samples &samples, double small, const GapLine &line,
                   double one_way_ns, double timer_ns);

} // namespace fsbml

#endif
