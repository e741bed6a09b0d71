// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The table of rails as the text of a file: what a job has measured, for the next one, or for a user to
// edit and pin.
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
#ifndef FSBML_TABLE_FILE_HPP
#define FSBML_TABLE_FILE_HPP

#include "api/fsbml_core.h"

#include <string>

namespace fsbml
{

// Empty if a key, a name or the fingerprint cannot stand in a line.
std::string table_to_file(const fsbml_table_t &t, const std::string &fingerprint);

// With a fingerprint, the text must have the same and a correct check; without (nullptr, a file that a user
// has edited) it may have neither. 0, -EBADMSG, -EPROTO for another version, -ESTALE for another fingerprint,
// and then the reason; `t` is then unchanged.
int table_from_file(fsbml_table_t &t, const std::string &text, const char *fingerprint, std::string &reason);

} // namespace fsbml

#endif
