// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "log.hpp"

#include <cstdarg>
#include <cstdio>

namespace fsbml
{

namespace
{
struct Sink {
    fsbml_log_fn_t fn = nullptr;
    void *context = nullptr;
    int max_level = 0;
};
Sink sink; // set once at set-up, before other threads run
} // namespace

void log_set(fsbml_log_fn_t fn, void *context, int max_level) noexcept
{
    sink = Sink{fn, context, max_level};
}

bool log_enabled(int level) noexcept
{
    return nullptr != sink.fn && level <= sink.max_level;
}

void log(int level, const char *format, ...) noexcept
{
    if (!log_enabled(level)) {
        return;
    }
    char line[512];
    std::va_list args;
    va_start(args, format);
    const int n = std::vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n >= 0) {
        sink.fn(sink.context, level, line);
    }
}

} // namespace fsbml
