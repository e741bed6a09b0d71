// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What the scheduler would do with messages of several sizes between two hosts, while nothing else is sent.
#ifndef FSBML_EXPLAIN_PLAN_HPP
#define FSBML_EXPLAIN_PLAN_HPP

#include "api/fsbml_explain.h"

#include <string>

namespace fsbml
{

std::string plan_text(const fsbml_plan_t &plan);

} // namespace fsbml

#endif
