// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of what is measured at start: streams, the fit of a rail that was swept, rails beside each
// other.
#include "door/door.hpp"

#include "measure/start/start.hpp"

#include <algorithm>

struct fsbml_streaming_t final {
    explicit fsbml_streaming_t(const fsbml_streaming_limits_t &limits) : impl(limits) {}
    fsbml::Stream impl;
};

struct fsbml_together_t final {
    fsbml_together_t(std::size_t n_rails, const fsbml_fit_t *fits, std::uint32_t rails)
        : n(n_rails), impl(fits, rails)
    {
    }
    std::size_t n;
    fsbml::Together impl;
};

extern "C" {

fsbml_streaming_t *fsbml_streaming_create(const fsbml_streaming_limits_t *limits) noexcept
{
    if (nullptr == limits || 0 == limits->least_bytes || limits->most_bytes < limits->least_bytes
        || limits->longest_ns < limits->wanted_ns) {
        errno = EINVAL;
        return nullptr;
    }
    return fsbml::guard_new<fsbml_streaming_t>([&] { return new fsbml_streaming_t(*limits); });
}

void fsbml_streaming_destroy(fsbml_streaming_t *s) noexcept
{
    delete s;
}

uint32_t fsbml_streaming_next(fsbml_streaming_t *s, uint64_t now_ns) noexcept
{
    return nullptr == s ? 0 : s->impl.next(now_ns);
}

void fsbml_streaming_sent(fsbml_streaming_t *s, uint32_t bytes) noexcept
{
    if (nullptr != s) {
        s->impl.sent(bytes);
    }
}

void fsbml_streaming_arrived(fsbml_streaming_t *s, uint64_t bytes, uint64_t stamp_ns, bool away) noexcept
{
    if (nullptr != s) {
        s->impl.arrived(bytes, stamp_ns, away);
    }
}

bool fsbml_streaming_asks(const fsbml_streaming_t *s) noexcept
{
    return nullptr != s && s->impl.asks();
}

void fsbml_streaming_look(fsbml_streaming_t *s, const fsbml_streaming_look_t *look) noexcept
{
    if (nullptr != s && nullptr != look) {
        s->impl.look(*look);
    }
}

bool fsbml_streaming_over(const fsbml_streaming_t *s) noexcept
{
    return nullptr == s || s->impl.drained();
}

fsbml_rate_t fsbml_streaming_rate(const fsbml_streaming_t *s) noexcept
{
    fsbml_rate_t rate{};
    (void) fsbml::guard([&] {
        if (nullptr != s) {
            rate = s->impl.rate();
        }
        return 0;
    });
    return rate;
}

fsbml_rate_t fsbml_rate_better(fsbml_rate_t one, fsbml_rate_t two) noexcept
{
    return fsbml::better(one, two);
}

void fsbml_sweep_fit(const fsbml_sweep_t *seen, fsbml_fit_t *out) noexcept
{
    if (nullptr != seen && nullptr != out) {
        *out = fsbml::sweep_fit(*seen);
    }
}

void fsbml_sweep_level(fsbml_fit_t *fits, size_t n) noexcept
{
    (void) fsbml::guard([&] {
        fsbml::sweep_level(fits, n);
        return 0;
    });
}

bool fsbml_fit_is_like(const fsbml_fit_t *fit, const fsbml_fit_t *other) noexcept
{
    return nullptr != fit && nullptr != other && fsbml::fit_is_like(*fit, *other);
}

bool fsbml_sweep_confirms(const fsbml_sweep_t *seen, const fsbml_fit_t *fit) noexcept
{
    return nullptr != seen && nullptr != fit && fsbml::sweep_confirms(*seen, *fit);
}

// -------------------------------------------------------- rails together

fsbml_together_t *fsbml_together_create(size_t n_rails, const fsbml_fit_t *fits, uint32_t rails) noexcept
{
    if (nullptr == fits || n_rails < 1 || n_rails > FSBML_MAX_RAILS
        || (n_rails < FSBML_MAX_RAILS && 0 != rails >> n_rails)) {
        errno = EINVAL;
        return nullptr;
    }
    return fsbml::guard_new<fsbml_together_t>([&] { return new fsbml_together_t(n_rails, fits, rails); });
}

void fsbml_together_destroy(fsbml_together_t *t) noexcept
{
    delete t;
}

uint32_t fsbml_together_next(const fsbml_together_t *t) noexcept
{
    return nullptr == t ? 0 : t->impl.next();
}

int fsbml_together_report(fsbml_together_t *t, const fsbml_rate_t *rate, double sending,
                          uint64_t took_ns) noexcept
{
    if (nullptr == t || nullptr == rate || 0 == t->impl.next()) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
        double ns_per_byte[FSBML_MAX_RAILS] = {};
        double carried = 0.0;
        for (std::size_t i = 0; i < t->n; ++i) {
            ns_per_byte[i] = rate[i].G_ns_per_byte;
            carried += static_cast<double>(rate[i].bytes) / std::max(static_cast<double>(took_ns), 1.0);
        }
        t->impl.report(ns_per_byte, sending, carried);
        return 0;
    });
}

uint32_t fsbml_together_conclude(const fsbml_together_t *t, fsbml_fit_t *fits) noexcept
{
    if (nullptr == t || nullptr == fits) {
        return 0;
    }
    t->impl.conclude(fits);
    return t->impl.left_out();
}

} // extern "C"
