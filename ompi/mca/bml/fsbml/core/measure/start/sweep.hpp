// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The fit of a rail that was swept: a few PRTTs of small messages and a stream each way (see fsbml_sweep_t).
#ifndef FSBML_SWEEP_HPP
#define FSBML_SWEEP_HPP

#include "api/fsbml_core.h"

#include <cstddef>

namespace fsbml
{

// As fsbml_sweep_fit(), fsbml_sweep_level() and so on.
fsbml_fit_t sweep_fit(const fsbml_sweep_t &seen) noexcept;
void sweep_level(fsbml_fit_t *fits, std::size_t n);
bool fit_is_like(const fsbml_fit_t &fit, const fsbml_fit_t &other) noexcept;
bool sweep_confirms(const fsbml_sweep_t &seen, const fsbml_fit_t &fit) noexcept;

} // namespace fsbml

#endif
