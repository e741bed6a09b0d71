// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// How files are called of which each process writes one.
#include "api/fsbml_trace.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/stat.h>

extern "C" int fsbml_record_name(const char *to, uint32_t rank, uint32_t job, uint32_t epoch,
                                 const char *suffix, char *path, size_t len) noexcept
{
    if (nullptr == to || '\0' == to[0] || nullptr == suffix || nullptr == path || 0 == len) {
        return -EINVAL;
    }
    struct stat st;
    const bool ends_so = '/' == to[std::strlen(to) - 1];
    if (ends_so) {
        (void) mkdir(to, 0700); // that it is not there is said when the file is made
    }
    const bool folder = ends_so || (0 == stat(to, &st) && S_ISDIR(st.st_mode));
    char again[16] = "", spawned[24] = "";
    if (job > 0) {
        (void) std::snprintf(spawned, sizeof spawned, ".spawned%u", static_cast<unsigned>(job));
    }
    if (epoch > 1) {
        (void) std::snprintf(again, sizeof again, ".%u", static_cast<unsigned>(epoch));
    }
    const int n = std::snprintf(path, len, "%s%s%u%s%s.%s", to,
                                !folder   ? "."
                                : ends_so ? ""
                                          : "/",
                                static_cast<unsigned>(rank), spawned, again, suffix);
    return n > 0 && static_cast<size_t>(n) < len ? 0 : -ENAMETOOLONG;
}
