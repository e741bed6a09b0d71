// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The other direction of a rail, and both at once.
#ifndef FSBML_DIRECTIONS_HPP
#define FSBML_DIRECTIONS_HPP

#include "api/fsbml_core.h"
#include "measure/samples/gaps.hpp"
#include "measure/samples/samples.hpp"

namespace fsbml
{

// Bounds of fit.duplex: two directions do not gain from each other, and share no worse than four could.
constexpr double kFullDuplex = 1.0;
constexpr double kWorstDuplex = 4.0;

// Fills in g and G of fit.back from FSBML_PROBE_BACK samples, by the line of gaps.hpp in one piece; all 0
// without samples of two sizes, or with a remark where they make no usable G. G is within what a model may
// have, g at least 0.
void fit_back(fsbml_fit_t &fit, const Samples &samples, std::uint32_t small);

// Fills in its o_s, from 0 to one_way_ns, with a remark where it is set to a bound; as there if nothing tells
// it.
void fit_back_overhead(fsbml_fit_t &fit, const Samples &samples, std::uint32_t small, double one_way_ns,
                       double timer_ns);

// Fills in fit.duplex from FSBML_PROBE_BOTH samples: the median over their n and s of the time by that of the
// slower direction alone, each without the small message or the answer that goes with it (predict.hpp);
// within the bounds, with a remark where it is set to one that it is far beyond. 0 without samples. The rest
// of the fit is there.
void fit_duplex(fsbml_fit_t &fit, const Samples &samples, std::uint32_t small);

} // namespace fsbml

#endif
