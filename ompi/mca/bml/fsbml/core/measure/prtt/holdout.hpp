// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Validation exchanges, which a fit was not made from: they test its predictions.
#ifndef FSBML_HOLDOUT_HPP
#define FSBML_HOLDOUT_HPP

#include "api/fsbml_core.h"

#include <cstddef>
#include <cstdint>

namespace fsbml
{

// See fsbml_holdout_probe(). Sizes are drawn evenly over their logarithm. False: there is no such probe.
bool holdout_probe(const fsbml_fit_t &fit, const fsbml_sample_t *sample, std::size_t n, std::uint32_t rail,
                   std::uint64_t turn, double most_ns, fsbml_probe_t &out);

} // namespace fsbml

#endif
