// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// After a round: is a rail measured well enough, and if not, is a size missing?
#ifndef FSBML_PROGRESS_HPP
#define FSBML_PROGRESS_HPP

#include "api/fsbml_core.h"
#include "measure/prtt/plan.hpp"
#include "measure/samples/samples.hpp"

#include <cstdint>

namespace fsbml
{

// Samples of the PRTT of the plan that has the fewest.
std::uint32_t fewest_samples(const Plan &plan, const Samples &samples);

// What of a fit is not yet sure.
struct Loose {
    bool line = false; // what large messages tell: the pieces of the line
    bool way = false;  // what small ones tell: latency and overheads

    bool any() const noexcept { return line || way; }
};

// Whether other samples of this kind would give about the same parameters (fit.low, fit.high): G to 2 %, gaps
// to 3 % of that of 8 KiB, latency and overheads to 5 % of the way of a small message or 2 us. Of few samples
// of a size the bounds know too little; `fewest` is what the rarest PRTT has.
Loose find_loose(const fsbml_fit_t &fit, std::uint32_t fewest) noexcept;

// A size that would tell where the line through the gaps breaks: two lines fit far better than one, and the
// gap between them is wide. 0: there is none.
std::uint32_t missing_size(const Samples &samples, std::uint32_t small);

} // namespace fsbml

#endif
