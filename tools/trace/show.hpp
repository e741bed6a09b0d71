// The findings as text and as JSON.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "findings.hpp"

#include <nlohmann/json.hpp>

namespace fsbml::trace
{

// "rank 0 at 12.3 ms, 16 KiB to rank 1: eth1 in 650 us; eth0 would have taken 1.9 ms, as it was busy for 1.2
// ms"
std::string words_of(const Told &told);
std::string words_of(const Changed &changed);

std::string heading_of(const Findings &findings);
std::string rails_table(const Findings &findings);
// "rank 0 on node0 at 3.02 s: eth0 fell from 190 to 20 Mbit/s", a line each
std::string changes_of(const Findings &findings, std::size_t limit);
std::string lists_of(const Findings &findings);
// Whether the models give the decisions again.
std::string replay_of(const Findings &findings);

nlohmann::ordered_json document_of(const Findings &findings, const Wanted &wanted);

} // namespace fsbml::trace
