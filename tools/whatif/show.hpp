// The results as text and as JSON.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "study.hpp"

#include <nlohmann/json.hpp>

namespace fsbml::whatif
{

std::string rails_table(const Study &study);
std::string rows_table(const Job &job, const Findings &findings);

// What it comes to, in one sentence.
std::string sentence_of(const Job &job, const Study &study, const Findings &findings);

nlohmann::ordered_json document_of(const Job &job, const Study &study, const Findings &findings);

} // namespace fsbml::whatif
