// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A sentence in a fit's reason: what was replaced or is doubtful.
#ifndef FSBML_REMARK_HPP
#define FSBML_REMARK_HPP

#include "api/fsbml_core.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace fsbml
{

// Of a bound, or of what something is compared with: what is beyond by so much is told.
constexpr double kWorthARemark = 0.05;

// Adds it; what does not fit is cut.
__attribute__((format(printf, 2, 3))) inline void remark(fsbml_fit_t &fit, const char *format, ...)
{
    char text[FSBML_REASON_MAX];
    std::va_list args;
    va_start(args, format);
    (void) std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const std::size_t used = std::strlen(fit.reason);
    (void) std::snprintf(fit.reason + used, sizeof fit.reason - used, "%s%s", used > 0 ? "; " : "", text);
}

} // namespace fsbml

#endif
