// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of observing: the observer, its decisions as a file, and the names of the files of which
// each process writes one.
#include "door/door.hpp"

#include "api/fsbml_trace.h"
#include "explain/account/account.hpp"
#include "schedule/schedule.hpp"

#include <cstdio>
#include <cstring>

#include <sys/stat.h>

extern "C" {

fsbml_observer_t *fsbml_observer_create(fsbml_sched_t *s, const fsbml_observer_config_t *c) noexcept
{
    if (nullptr == s || nullptr == c || (0 != c->trace_every && 0 == c->trace_entries)) {
        errno = EINVAL;
        return nullptr;
    }
    return fsbml::guard_new<fsbml_observer_t>([&] { return new fsbml_observer_t(s->impl, *c); });
}

void fsbml_observer_destroy(fsbml_observer_t *o) noexcept
{
    delete o;
}

void fsbml_observer_charge(fsbml_observer_t *o, size_t rail, uint64_t now_ns, size_t bytes,
                           uint32_t candidates, uint32_t peer, const fsbml_far_t *far) noexcept
{
    if (rail < o->impl.rails()) {
        o->impl.charge(rail, now_ns, bytes, candidates, peer, far);
    }
}

void fsbml_observer_arrived(fsbml_observer_t *o, const fsbml_arrival_t *a) noexcept
{
    o->impl.arrived(*a);
}

void fsbml_observer_rail(const fsbml_observer_t *o, size_t rail, fsbml_rail_seen_t *out) noexcept
{
    *out = o->impl.rail(rail);
}

int fsbml_trace_store(const char *path, const fsbml_trace_t *t, char reason[FSBML_REASON_MAX]) noexcept
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

int fsbml_record_name(const char *to, uint32_t rank, uint32_t job, uint32_t epoch, const char *suffix,
                      char *path, size_t len) noexcept
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

} // extern "C"
