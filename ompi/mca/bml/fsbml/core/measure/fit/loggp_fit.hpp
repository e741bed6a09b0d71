// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// From samples to parameters (thesis 3.2.3).
#ifndef FSBML_LOGGP_FIT_HPP
#define FSBML_LOGGP_FIT_HPP

#include "api/fsbml_core.h"
#include "measure/samples/gaps.hpp"
#include "measure/samples/samples.hpp"

namespace fsbml
{

// What is known beside the samples.
struct Known {
    std::uint32_t limit[FSBML_LIMITS] = {}; // as in fsbml_calib_rail_t: where a break is looked for first
    double timer_ns = 0.0;                  // as in fsbml_calib_config_t
};

// `small` is the size of the PRTTs that o, L and the least gap come from. `rough` holds a few samples of
// another kind that are used only where `samples` has nothing above the small size. What would be negative or
// absurd is replaced by a bound with a remark: see what fills in the parts (gaps.hpp, overheads.hpp,
// directions.hpp); L is at least 0, G within kMinG and kMaxG, g at least 0, and where a second piece begins
// the gap is at least half of that right before.
fsbml_fit_t fit_rail(const Samples &samples, const Samples &rough, std::uint32_t small,
                     const Known &known = {});

} // namespace fsbml

#endif
