// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// Log lines leave the core through one callback; without one they are dropped.
#ifndef FSBML_LOG_HPP
#define FSBML_LOG_HPP

#include "fsbml_core.h"

namespace fsbml
{

constexpr int kLogPlan = 20;  // what the calibration decided
constexpr int kLogProbe = 40; // every probe

void log_set(fsbml_log_fn_t fn, void *context, int max_level) noexcept;
bool log_enabled(int level) noexcept;
__attribute__((format(printf, 2, 3))) void log(int level, const char *format, ...) noexcept;

} // namespace fsbml

#endif
