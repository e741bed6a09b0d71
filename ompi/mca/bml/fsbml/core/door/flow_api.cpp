// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of feedback.
#include "door/door.hpp"

#include "flow/flow.hpp"
#include "schedule/schedule.hpp"

struct fsbml_feedback_t final {
    explicit fsbml_feedback_t(const fsbml_feedback_config_t &c) noexcept : impl(c.sched->impl, c) {}
    fsbml::Feedback impl;
};

extern "C" {

fsbml_feedback_t *fsbml_feedback_create(const fsbml_feedback_config_t *config) noexcept
{
    if (nullptr == config || nullptr == config->sched) {
        errno = EINVAL;
        return nullptr;
    }
    return fsbml::guard_new<fsbml_feedback_t>([&] { return new fsbml_feedback_t(*config); });
}

void fsbml_feedback_destroy(fsbml_feedback_t *f) noexcept
{
    delete f;
}

void fsbml_feedback_quantum(fsbml_feedback_t *f, size_t rail, size_t bytes) noexcept
{
    if (rail < f->impl.rails() && bytes > 0) {
        f->impl.quantum(rail, bytes);
    }
}

double fsbml_feedback_gap(const fsbml_feedback_t *f, size_t rail) noexcept
{
    return rail < f->impl.rails() ? f->impl.gap(rail) : 0.0;
}

void fsbml_flow_add(fsbml_flow_seen_t *seen, const fsbml_flow_connection_t *c) noexcept
{
    fsbml::add_connection(*seen, *c);
}

bool fsbml_feedback_begin(fsbml_feedback_t *f, uint64_t now_ns) noexcept
{
    return f->impl.begin(now_ns);
}

bool fsbml_feedback_asks(fsbml_feedback_t *f, size_t rail, uint64_t now_ns) noexcept
{
    return rail < f->impl.rails() && f->impl.asks(rail, now_ns);
}

void fsbml_feedback_seen(fsbml_feedback_t *f, size_t rail, uint64_t now_ns,
                         const fsbml_flow_seen_t *seen) noexcept
{
    f->impl.seen(rail, now_ns, *seen);
}

void fsbml_feedback_end(fsbml_feedback_t *f, uint64_t took_ns) noexcept
{
    f->impl.end(took_ns);
}

bool fsbml_feedback_change(fsbml_feedback_t *f, fsbml_rate_change_t *change) noexcept
{
    return f->impl.change(*change);
}

int fsbml_feedback_rail(fsbml_feedback_t *f, uint64_t now_ns, bool is_short, fsbml_bulk_t *piece) noexcept
{
    return f->impl.windows().take(now_ns, is_short, *piece);
}

uint32_t fsbml_feedback_refusals(const fsbml_feedback_t *f) noexcept
{
    return f->impl.windows().refusals();
}

uint32_t fsbml_distance(uint32_t rails, const fsbml_round_trip_t rail[FSBML_MAX_RAILS],
                        double extra_ns[FSBML_MAX_RAILS]) noexcept
{
    return fsbml::distance(rails, rail, extra_ns);
}

} // extern "C"
