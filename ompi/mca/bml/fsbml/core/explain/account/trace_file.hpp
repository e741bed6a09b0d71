// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Decisions as the text of a file, one of each process (docs/trace.md):
//
//   fsbml-decisions 2 rank R ranks N node NAME policy P origin T every E lost L messages M
//   rail KEY NAME PARAMETER=NUMBER ...    a line a rail, or `rail KEY NAME unmeasured`
//   NS PEER BYTES -> RAIL | RAIL ARRIVAL BACKLOG [+EXTRA] | ...    a line a decision
//   NS rate RAIL BEFORE AFTER    a line where a rail's rate has changed, in bits a second
//   end N                        so many decisions
//
// Parameters are those of table_file.hpp, each with as many digits as tell it from all other numbers, so that
// a reader gets the scheduler's integers. Time stamps never run back, also where threads decided at
// once.
#ifndef FSBML_TRACE_FILE_HPP
#define FSBML_TRACE_FILE_HPP

#include "api/fsbml_trace.h"

#include <string>

namespace fsbml
{

constexpr const char *kDecisions = "fsbml-decisions"; // the file's first word
constexpr unsigned kDecisionsVersion = 2;

// See fsbml_trace_store(). Throws nothing but std::bad_alloc, and that before the first decision.
int store_trace(const std::string &path, const fsbml_trace_t &t, std::string &reason);

} // namespace fsbml

#endif
