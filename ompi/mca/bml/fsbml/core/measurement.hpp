// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// A calibration as JSON: what came out, how sure it is, what it cost, and every sample
// (docs/calibrate.schema.json, "report").
//
// Units are in the names: _ns, _bytes, _ns_per_byte. What is not known is null. Numbers are JSON's, whatever
// the program's locale, and names are UTF-8, whatever bytes they have.
#ifndef FSBML_MEASUREMENT_HPP
#define FSBML_MEASUREMENT_HPP

#include "fsbml_core.h"

#include <string>

namespace fsbml
{

std::string measurement_text(const fsbml_measurement_t &report);

// A JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(const std::string &text);

} // namespace fsbml

#endif
