// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// An end's view of a path, as a record on the wire (fsbml_diagnosis.h).
#ifndef FSBML_END_HPP
#define FSBML_END_HPP

#include "api/fsbml_core.h"

#include <cstddef>

namespace fsbml
{

std::size_t end_packed_max() noexcept;
long end_pack(const fsbml_end_t &end, void *buf, std::size_t len) noexcept;
int end_unpack(fsbml_end_t &end, const void *buf, std::size_t len) noexcept;

} // namespace fsbml

#endif
