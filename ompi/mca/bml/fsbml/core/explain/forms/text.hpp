// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The report as text, at most 100 columns wide.
#ifndef FSBML_EXPLAIN_TEXT_HPP
#define FSBML_EXPLAIN_TEXT_HPP

#include "explain/verdict/figures.hpp"

#include <string>
#include <vector>

namespace fsbml
{

std::string report_text(const fsbml_job_t &job);

// What kind of run it was: "Open MPI 5.0.7", "64 ranks on 8 nodes", "12.3 s", ...
std::vector<std::string> about_job(const fsbml_job_t &job);

// How sure a rail's fit is: "120 probes, less sure than wanted; shaped".
std::string fit_quality(const fsbml_fit_t &fit);

} // namespace fsbml

#endif
