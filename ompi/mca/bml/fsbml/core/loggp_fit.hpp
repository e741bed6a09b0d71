// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// From samples to parameters (thesis 3.2.3).
#ifndef FSBML_LOGGP_FIT_HPP
#define FSBML_LOGGP_FIT_HPP

#include "fsbml_core.h"
#include "samples.hpp"

namespace fsbml
{

// Sizes below this are left out of the line for G when there are enough larger ones: shaped links let the
// first few KiB of a burst pass at line speed, and TCP treats what fits in two segments differently.
constexpr std::uint32_t kBulkBytes = 4096;

// `small` is the size of the PRTTs that o, L and the least gap come from. `rough` holds a few samples of
// another kind that are used only where `samples` has nothing above the small size.
fsbml_fit_t fit_rail(const Samples &samples, const Samples &rough, std::uint32_t small);

} // namespace fsbml

#endif
