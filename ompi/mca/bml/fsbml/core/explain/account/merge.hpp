// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Many summaries make one, of bounded size: sums, extremes, and the gravest of what cannot be added.
#ifndef FSBML_MERGE_HPP
#define FSBML_MERGE_HPP

#include "api/fsbml_explain.h"

#include <cstddef>
#include <cstdint>

namespace fsbml
{

void add_peer(fsbml_summary_t &into, const fsbml_summary_peer_t &peer) noexcept;
void merge(fsbml_summary_t &into, const fsbml_summary_t &other) noexcept;

} // namespace fsbml

#endif
