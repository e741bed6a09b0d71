// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Rails that became slower or faster while the job ran: a bounded list, of a process or of many.
#ifndef FSBML_CHANGES_HPP
#define FSBML_CHANGES_HPP

#include "api/fsbml_observe.h"

namespace fsbml
{

// Both rates are such as a network can have.
bool is_change(const fsbml_change_t &c) noexcept;

// Puts one in its place; of more than FSBML_MOST_CHANGES, the one whose rates differ least goes.
void add_change(fsbml_changes_t &into, const fsbml_change_t &c) noexcept;

// Adds another process' changes, n of them. What both tell of the same rail of the same node, within a second
// and from about the same rate on, is one change: the earlier of the two.
void merge_changes(fsbml_changes_t &into, const fsbml_change_t *other, std::uint32_t n) noexcept;

} // namespace fsbml

#endif
