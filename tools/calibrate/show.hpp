// The results of a calibration, as text for users and as JSON.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "findings.hpp"

#include <string>

namespace fsbml::bench
{

// A row a parameter: with one run the interval of its samples; with more the median and how they differ; with
// set values what it is off by.
std::string parameters_table(const Findings &findings);

// A row a rail: how well the model fits, and what the measurement cost; empty if none was measured.
std::string quality_table(const Findings &findings);

// A row a rail: how far off the predictions of exchanges are that were not measured; empty if none was run.
std::string holdout_table(const Findings &findings);

// Remarks on rails, a line each; may be empty.
std::string notes_text(const Findings &findings);

// All of it; docs/calibrate.schema.json describes it.
nlohmann::json record_of(const Findings &findings);

} // namespace fsbml::bench
