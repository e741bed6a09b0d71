// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of a trace of decisions.
#include "door/c_api.hpp"

#include "explain/account/trace_file.hpp"

#include <cstdio>

extern "C" int fsbml_trace_store(const char *path, const fsbml_trace_t *t,
                                 char reason[FSBML_REASON_MAX]) noexcept
{
    if (nullptr == path || nullptr == t || nullptr == t->observer || nullptr == reason || t->rank >= t->ranks
        || 0 == t->n_rails || t->n_rails > FSBML_MAX_RAILS || 0 == t->trace_every) {
        return -EINVAL;
    }
    std::snprintf(reason, FSBML_REASON_MAX, "memory is short");
    return fsbml::guard([&] {
        std::string why;
        const int rc = fsbml::store_trace(path, *t, why);
        std::snprintf(reason, FSBML_REASON_MAX, "%s", why.c_str());
        return rc;
    });
}
