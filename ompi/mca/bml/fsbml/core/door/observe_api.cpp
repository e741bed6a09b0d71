// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of observing.
#include "door/c_api.hpp"

#include "schedule/handles.hpp"

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

uint64_t fsbml_observer_trace(const fsbml_observer_t *o,
                              void (*visit)(void *context, const fsbml_decision_t *d), void *context) noexcept
{
    return o->impl.trace(visit, context);
}

} // extern "C"
