// All that came out, as one JSON document; docs/calibrate.schema.json describes it.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "findings.hpp"

namespace fsbml::bench
{

nlohmann::json record_of(const Findings &findings);

} // namespace fsbml::bench
