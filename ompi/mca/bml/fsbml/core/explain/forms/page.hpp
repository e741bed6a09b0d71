// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The report as one page of HTML, with all that it needs in itself.
#ifndef FSBML_EXPLAIN_PAGE_HPP
#define FSBML_EXPLAIN_PAGE_HPP

#include "explain/verdict/figures.hpp"

#include <string>

namespace fsbml
{

std::string report_page(const fsbml_job_t &job);

} // namespace fsbml

#endif
