// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The table and the hello as records on the wire (api/fsbml_table.h), and the table as text. Another layout
// of a record raises its version in table.cpp; the hello's goes with FSBML_PACKET_MAGIC (peers/peers.h).
#ifndef FSBML_TABLE_HPP
#define FSBML_TABLE_HPP

#include "api/fsbml_core.h"

#include <string>

namespace fsbml
{

std::size_t table_packed_max() noexcept;
long table_pack(const fsbml_table_t &t, void *buf, std::size_t len) noexcept;
int table_unpack(fsbml_table_t &t, const void *buf, std::size_t len) noexcept;
// With what is known about the table's rails, in their order, each has more columns.
std::string table_text(const fsbml_table_t &t, const fsbml_rail_about_t *about = nullptr);

std::size_t hello_packed_max() noexcept;
long hello_pack(const fsbml_hello_t &h, void *buf, std::size_t len) noexcept;
int hello_unpack(fsbml_hello_t &h, const void *buf, std::size_t len) noexcept;

} // namespace fsbml

#endif
