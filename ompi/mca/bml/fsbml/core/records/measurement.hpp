// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A calibration as JSON: its parameters, their intervals, its cost, and every sample
// (docs/calibrate.schema.json, "report").
//
// Units are in the names: _ns, _bytes, _ns_per_byte.
#ifndef FSBML_MEASUREMENT_HPP
#define FSBML_MEASUREMENT_HPP

#include "api/fsbml_core.h"

#include <string>

namespace fsbml
{

std::string measurement_text(const fsbml_measurement_t &report);

} // namespace fsbml

#endif
