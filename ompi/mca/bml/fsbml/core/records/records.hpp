// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What processes and jobs exchange: hello, table, pairs and a path's ends as records on the wire; the table
// as text and as a file; a calibration as JSON.
#ifndef FSBML_RECORDS_HPP
#define FSBML_RECORDS_HPP

#include "api/fsbml_core.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace fsbml
{

// ---- The table and the hello as records on the wire (api/fsbml_table.h), and the table as text. Another
// layout of a record raises its version in table.cpp; the hello's goes with FSBML_PACKET_MAGIC
// (peers/peers.h).

std::size_t table_packed_max() noexcept;
long table_pack(const fsbml_table_t &t, void *buf, std::size_t len) noexcept;
int table_unpack(fsbml_table_t &t, const void *buf, std::size_t len) noexcept;
// With what is known about the table's rails, in their order, each has more columns.
std::string table_text(const fsbml_table_t &t, const fsbml_rail_about_t *about = nullptr);

std::size_t hello_packed_max() noexcept;
long hello_pack(const fsbml_hello_t &h, void *buf, std::size_t len) noexcept;
int hello_unpack(fsbml_hello_t &h, const void *buf, std::size_t len) noexcept;

// ---- The table of rails as the text of a file: what a job has measured, for the next one, or for a user
// to edit and pin.
//
//   fsbml-table 2
//   of FINGERPRINT      what it was measured on; to others it is of no use
//   rail KEY NAME PARAMETER=NUMBER ...    a line a rail, in ns, ns/byte and bytes. Parameters are
//       L, o_s, o_r, g, G, burst, O_s, O_r, break, g_above, G_above, of the other direction back.o_s,
//       back.g, ..., and duplex, together, residual, in_turn and tight (1 or 0), probes
//   check CRC-32        of all bytes before
//
// What is 0 may be left out of a rail's line. Lines that begin with # are comments. Numbers are as in C,
// whatever the program's locale.

// Empty if a key, a name or the fingerprint cannot stand in a line.
std::string table_to_file(const fsbml_table_t &t, const std::string &fingerprint);

// With a fingerprint, the text must have the same and a correct check; without (nullptr, a file that a user
// has edited) it may have neither. 0, -EBADMSG, -EPROTO for another version, -ESTALE for another fingerprint,
// and then the reason; `t` is then unchanged.
int table_from_file(fsbml_table_t &t, const std::string &text, const char *fingerprint, std::string &reason);

// ---- The list of measuring pairs on the wire, and one table out of those that the pairs have made
// (fsbml_core.h).

std::size_t pairs_packed_max() noexcept;
long pairs_pack(const fsbml_pairs_t &p, void *buf, std::size_t len) noexcept;
long pairs_unpack(fsbml_pairs_t &p, const void *buf, std::size_t len) noexcept;

int table_merge(fsbml_table_t &into, const fsbml_table_t &other) noexcept;
std::uint32_t table_digest(const fsbml_table_t &t);

// An end's view of a path, as a record on the wire (fsbml_diagnosis.h).
std::size_t end_packed_max() noexcept;
long end_pack(const fsbml_end_t &end, void *buf, std::size_t len) noexcept;
int end_unpack(fsbml_end_t &end, const void *buf, std::size_t len) noexcept;

// A calibration as JSON: its parameters, their intervals, its cost, and every sample
// (docs/calibrate.schema.json, "report").
//
// Units are in the names: _ns, _bytes, _ns_per_byte.
std::string measurement_text(const fsbml_measurement_t &report);

} // namespace fsbml

#endif
