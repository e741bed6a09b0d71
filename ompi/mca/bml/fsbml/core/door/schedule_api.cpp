// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of scheduling: models of rails, schedulers, ledgers, policies by name; and the core's log.
#include "door/door.hpp"

#include "ledger/ledger.hpp"
#include "model/model.hpp"
#include "schedule/schedule.hpp"

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

struct fsbml_ledger_t final {
    explicit fsbml_ledger_t(const fsbml_ledger_config_t &c) : impl(c) {}
    fsbml::LedgerFile impl;
};

extern "C" {

// ------------------------------------------------------------------ model

bool fsbml_loggp_valid(const fsbml_loggp_t *p) noexcept
{
    return nullptr != p && fsbml::valid(*p);
}

size_t fsbml_quantum(const fsbml_loggp_t *params, size_t n_rails, double loss, size_t min,
                     size_t max) noexcept
{
    return fsbml::quantum(params, n_rails, loss, min, max);
}

// -------------------------------------------------------------- scheduler

fsbml_sched_t *fsbml_sched_create(size_t n_rails, fsbml_policy_t policy) noexcept
{
    if (n_rails < 1 || n_rails > FSBML_MAX_RAILS || !fsbml::policy_known(policy)) {
        errno = EINVAL;
        return nullptr;
    }
    return fsbml::guard_new<fsbml_sched_t>([&] { return new fsbml_sched_t(n_rails, policy); });
}

void fsbml_sched_destroy(fsbml_sched_t *s) noexcept
{
    delete s;
}

int fsbml_sched_set_model(fsbml_sched_t *s, size_t rail, const fsbml_loggp_t *p) noexcept
{
    return nullptr == s || nullptr == p ? -EINVAL : s->impl.set_model(rail, *p);
}

void fsbml_sched_doubt(fsbml_sched_t *s, size_t rail, fsbml_doubt_t doubt) noexcept
{
    if (rail < s->impl.rails()) {
        s->impl.doubt(rail, doubt);
    }
}

int fsbml_sched_choose(fsbml_sched_t *s, uint64_t now_ns, size_t bytes, uint32_t rails) noexcept
{
    return s->impl.choose(now_ns, bytes, rails);
}

void fsbml_far_set(fsbml_far_t *far, const double extra_ns[FSBML_MAX_RAILS]) noexcept
{
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        __atomic_store_n(&far->ticks[i], fsbml::far_ticks(extra_ns[i]), __ATOMIC_RELAXED);
    }
}

uint64_t fsbml_far_ns(const fsbml_far_t *far, size_t rail) noexcept
{
    return rail < FSBML_MAX_RAILS ? fsbml::ns_from_ticks(fsbml::extra_of(*far, rail)) : 0;
}

int fsbml_sched_choose_far(fsbml_sched_t *s, uint64_t now_ns, size_t bytes, uint32_t rails,
                           const fsbml_far_t *far) noexcept
{
    return s->impl.choose(now_ns, bytes, rails, *far);
}

int fsbml_sched_choose_part(fsbml_sched_t *s, uint64_t now_ns, size_t bytes, size_t whole, uint32_t rails,
                            const fsbml_far_t *far) noexcept
{
    return s->impl.choose_part(now_ns, bytes, whole, rails, far);
}

size_t fsbml_sched_cut(const fsbml_sched_t *s, uint64_t now_ns, size_t bytes, uint32_t rails,
                       const fsbml_far_t *far, size_t share[FSBML_MAX_RAILS]) noexcept
{
    return s->impl.cut(now_ns, bytes, rails, far, share);
}

void fsbml_sched_charge(fsbml_sched_t *s, size_t rail, uint64_t now_ns, size_t bytes) noexcept
{
    if (rail < s->impl.rails()) {
        s->impl.charge(rail, now_ns, bytes);
    }
}

uint64_t fsbml_sched_predict(const fsbml_sched_t *s, size_t rail, uint64_t now_ns, size_t bytes) noexcept
{
    return rail < s->impl.rails() ? s->impl.predict(rail, now_ns, bytes) : 0;
}

uint64_t fsbml_sched_backlog(const fsbml_sched_t *s, size_t rail, uint64_t now_ns) noexcept
{
    return rail < s->impl.rails() ? s->impl.backlog(rail, now_ns) : 0;
}

bool fsbml_sched_model(fsbml_sched_t *s, size_t rail, fsbml_loggp_t *p) noexcept
{
    return rail < s->impl.rails() && s->impl.model(rail, *p);
}

void fsbml_sched_counters(const fsbml_sched_t *s, size_t rail, fsbml_rail_counters_t *out) noexcept
{
    *out = rail < s->impl.rails() ? s->impl.counters(rail) : fsbml_rail_counters_t{0, 0, 0};
}

// ----------------------------------------------------------------- ledger

fsbml_ledger_t *fsbml_ledger_open(const fsbml_ledger_config_t *c, char reason[FSBML_REASON_MAX]) noexcept
{
    if (nullptr == c || nullptr == c->path || nullptr == reason) {
        errno = EINVAL;
        return nullptr;
    }
    std::unique_ptr<fsbml_ledger_t> ledger;
    const int rc = fsbml::guard([&] {
        ledger = std::make_unique<fsbml_ledger_t>(*c);
        std::string why;
        const int joined = ledger->impl.join(why);
        std::snprintf(reason, FSBML_REASON_MAX, "%s", 0 != joined ? why.c_str() : "");
        return joined;
    });
    if (0 != rc) {
        ledger.reset();
        errno = -rc;
    }
    return ledger.release();
}

void fsbml_ledger_close(fsbml_ledger_t *l) noexcept
{
    delete l;
}

uint32_t fsbml_ledger_joined(const fsbml_ledger_t *l) noexcept
{
    return nullptr == l ? 0 : l->impl.table().attached.load(std::memory_order_relaxed);
}

int fsbml_sched_share(fsbml_sched_t *s, fsbml_ledger_t *l, const char *const keys[]) noexcept
{
    if (nullptr == s || (nullptr != l && nullptr == keys)) {
        return -EINVAL;
    }
    for (std::size_t i = 0; nullptr != l && i < s->impl.rails(); ++i) {
        if (nullptr == keys[i]) {
            return -EINVAL;
        }
    }
    return s->impl.share(nullptr != l ? &l->impl.table() : nullptr, keys) ? 0 : -ENOSPC;
}

// ---------------------------------------------------------------- parsers

int fsbml_policy_parse(const char *text, fsbml_policy_t *out) noexcept
{
    return fsbml::policy_parse(text, out);
}

const char *fsbml_policy_name(fsbml_policy_t p) noexcept
{
    return fsbml::policy_name(p);
}

const char *fsbml_policy_list(void) noexcept
{
    return fsbml::policy_list();
}

} // extern "C"
