// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// How sure a fit is: the parameters that other samples of the same kind would have given.
//
// By bootstrap (Efron, 1979): every PRTT's samples are drawn anew from themselves, with repetition, and
// fitted again. The interval holds the middle nine tenths of what comes out. It knows the scatter of the
// samples, and nothing of what disturbed them all alike; of PRTTs with less than five samples it makes too
// little (progress.hpp asks for more then). It takes about 1 ms.
#ifndef FSBML_INTERVAL_HPP
#define FSBML_INTERVAL_HPP

#include "api/fsbml_core.h"
#include "measure/fit/loggp_fit.hpp"
#include "measure/samples/samples.hpp"

#include <cstdint>

namespace fsbml
{

constexpr unsigned kResamples = 100;

// Fills in fit.low and fit.high of a valid fit of these samples (fit_rail). Without an interval both are 0:
// where most of what is drawn makes no valid fit, or one with another number of pieces.
void find_interval(fsbml_fit_t &fit, const Samples &samples, const Samples &rough, std::uint32_t small,
                   std::uint64_t seed, const Known &known = {});

} // namespace fsbml

#endif
