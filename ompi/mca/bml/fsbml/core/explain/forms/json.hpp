// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The report as JSON (docs/report.schema.json): all of the summary and of the table. Units are in the names.
#ifndef FSBML_EXPLAIN_JSON_HPP
#define FSBML_EXPLAIN_JSON_HPP

#include "explain/verdict/figures.hpp"

#include <string>

namespace fsbml
{

std::string report_json(const fsbml_job_t &job);

} // namespace fsbml

#endif
