// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A summary as a record (core/formats/wire.hpp), for the way to another process.
#ifndef FSBML_SUMMARY_WIRE_HPP
#define FSBML_SUMMARY_WIRE_HPP

#include "api/fsbml_explain.h"

#include <cstddef>

namespace fsbml
{

long summary_pack(const fsbml_summary_t &s, void *buf, std::size_t len) noexcept;
int summary_unpack(fsbml_summary_t &s, const void *buf, std::size_t len) noexcept;

} // namespace fsbml

#endif
