// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The list of measuring pairs on the wire, and one table out of those that the pairs have made
// (fsbml_core.h).
#ifndef FSBML_PAIRS_HPP
#define FSBML_PAIRS_HPP

#include "api/fsbml_core.h"

#include <cstddef>
#include <cstdint>

namespace fsbml
{

std::size_t pairs_packed_max() noexcept;
long pairs_pack(const fsbml_pairs_t &p, void *buf, std::size_t len) noexcept;
long pairs_unpack(fsbml_pairs_t &p, const void *buf, std::size_t len) noexcept;

int table_merge(fsbml_table_t &into, const fsbml_table_t &other) noexcept;
std::uint32_t table_digest(const fsbml_table_t &t);

} // namespace fsbml

#endif
