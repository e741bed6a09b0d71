// Everything about a run as one JSON document; docs/bench.schema.json describes it.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "bars.hpp"
#include "conclusion.hpp"
#include "tools/arms/arms.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fsbml::bench
{

// What a run was, and what came of it.
struct Report : Measurements {
    std::string bench;
    std::string setting; // what was measured on, for users
    std::vector<Bar> bars;
    Conclusion conclusion;
};

nlohmann::json document_of(const Report &report);

} // namespace fsbml::bench
