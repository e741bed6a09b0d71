// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary: checks arguments, turns exceptions into errno values, and otherwise only forwards.
#include "fsbml_core.h"

#include "classes.hpp"
#include "holdout.hpp"
#include "ledger_file.hpp"
#include "log.hpp"
#include "loggp.hpp"
#include "pairs.hpp"
#include "policy.hpp"
#include "predict.hpp"
#include "private_file.hpp"
#include "prtt.hpp"
#include "report.hpp"
#include "table.hpp"
#include "table_file.hpp"
#include "together.hpp"
#include "vft_scheduler.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

struct fsbml_sched_t final {
    fsbml_sched_t(std::size_t n, fsbml_policy_t p) noexcept : impl(n, p) {}
    fsbml::Scheduler impl;
};

struct fsbml_ledger_t final {
    explicit fsbml_ledger_t(const fsbml_ledger_config_t &c) : impl(c) {}
    fsbml::LedgerFile impl;
};

struct fsbml_calib_t final {
    fsbml_calib_t(const fsbml_calib_config_t &c, std::size_t n, const fsbml_calib_rail_t *rails)
        : impl(c, n, rails)
    {
    }
    fsbml::Calibration impl;
    std::vector<fsbml_sample_t> samples; // in the order of time
};

struct fsbml_together_t final {
    fsbml_together_t(std::size_t n_rails, const fsbml_fit_t *fits, std::uint32_t rails,
                     std::uint32_t min_bytes, const std::uint32_t *max_bytes)
        : n(n_rails), impl(fits, rails, min_bytes, max_bytes)
    {
    }
    std::size_t n;
    fsbml::Together impl;
};

struct fsbml_classes_t final {
    fsbml_classes_t(std::uint32_t ranks, bool one_node) : impl(ranks, one_node) {}
    fsbml::Classes impl;
};

namespace
{

// Nothing thrown leaves the core.
template <class F>
auto guard(F &&body) noexcept -> decltype(body())
{
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return -ENOMEM;
    } catch (...) {
        return -EINVAL; // the library throws nothing else but for arguments that it does not like
    }
}

// The same for constructors of handles: nullptr and errno.
template <class Handle, class F>
Handle *guard_new(F &&body) noexcept
{
    Handle *handle = nullptr;
    const int rc = guard([&] {
        handle = body();
        return 0;
    });
    if (0 != rc) {
        errno = -rc;
        return nullptr;
    }
    return handle;
}

} // namespace

extern "C" {

void fsbml_log_set(fsbml_log_fn_t fn, void *context, int max_level) noexcept
{
    fsbml::log_set(fn, context, max_level);
}

// ------------------------------------------------------------------ model

bool fsbml_fit_predicts(const fsbml_fit_t *fit, uint32_t packets, uint32_t bytes, uint64_t prtt_1_ns,
                        uint64_t prtt_n_ns, double tolerance) noexcept
{
    if (fit == nullptr || !fit->valid || packets < 2 || bytes < 1 || prtt_n_ns <= prtt_1_ns) {
        return false;
    }
    const double measured = static_cast<double>(prtt_n_ns - prtt_1_ns);
    const double predicted = fsbml::predict_prtt(*fit, FSBML_PROBE_THERE, packets, 0.0, bytes)
                             - fsbml::predict_prtt(*fit, FSBML_PROBE_THERE, 1.0, 0.0, bytes);
    return predicted >= measured * (1 - tolerance) && predicted <= measured * (1 + tolerance);
}

uint32_t fsbml_fit_probe_bytes(const fsbml_fit_t *fit, uint32_t packets, uint64_t together_ns) noexcept
{
    constexpr double least = 1024.0;
    constexpr double most = 8192.0;
    if (nullptr == fit || !fit->valid || 0 == packets) {
        return static_cast<std::uint32_t>(least);
    }
    const double room = static_cast<double>(together_ns) / (packets * fit->params.G_ns_per_byte);
    return static_cast<std::uint32_t>(std::clamp(room, least, most));
}

bool fsbml_fit_answers(const fsbml_fit_t *fit, uint32_t bytes, uint64_t prtt_ns) noexcept
{
    constexpr double slack_ns = 20e3;
    if (nullptr == fit || !fit->valid || bytes < 1) {
        return false;
    }
    const double expected = fsbml::predict_prtt(*fit, FSBML_PROBE_THERE, 1.0, 0.0, bytes);
    const auto measured = static_cast<double>(prtt_ns);
    return measured >= expected / 1.5 - slack_ns && measured <= expected * 1.5 + slack_ns;
}

double fsbml_fit_prtt(const fsbml_fit_t *fit, fsbml_probe_kind_t kind, uint32_t packets, uint64_t delay_ns,
                      uint32_t bytes) noexcept
{
    if (nullptr == fit || !fit->valid || packets < 1 || bytes < 1) {
        return 0.0;
    }
    return fsbml::predict_prtt(*fit, kind, packets, static_cast<double>(delay_ns), bytes);
}

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
    return guard_new<fsbml_sched_t>([&] { return new fsbml_sched_t(n_rails, policy); });
}

void fsbml_sched_destroy(fsbml_sched_t *s) noexcept
{
    delete s;
}

int fsbml_sched_set_model(fsbml_sched_t *s, size_t rail, const fsbml_loggp_t *p) noexcept
{
    return nullptr == s || nullptr == p ? -EINVAL : s->impl.set_model(rail, *p);
}

int fsbml_sched_choose(fsbml_sched_t *s, uint64_t now_ns, size_t bytes, uint32_t rails) noexcept
{
    return s->impl.choose(now_ns, bytes, rails);
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
    const int rc = guard([&] {
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

// ------------------------------------------------------------ calibration

fsbml_calib_t *fsbml_calib_create(const fsbml_calib_config_t *c, size_t n_rails,
                                  const fsbml_calib_rail_t *rails) noexcept
{
    if (nullptr == c || nullptr == rails || n_rails < 1 || n_rails > FSBML_MAX_RAILS || !fsbml::valid(*c)
        || std::any_of(rails, rails + n_rails,
                       [&](const fsbml_calib_rail_t &r) { return r.max_bytes < c->small_size; })) {
        errno = EINVAL;
        return nullptr;
    }
    return guard_new<fsbml_calib_t>([&] { return new fsbml_calib_t(*c, n_rails, rails); });
}

void fsbml_calib_destroy(fsbml_calib_t *c) noexcept
{
    delete c;
}

int fsbml_calib_next(fsbml_calib_t *c, uint64_t elapsed_ns, fsbml_probe_t *out) noexcept
{
    if (nullptr == c || nullptr == out) {
        return -EINVAL;
    }
    return guard([&] { return c->impl.next(elapsed_ns, *out); });
}

int fsbml_calib_report(fsbml_calib_t *c, const fsbml_probe_t *probe, uint64_t prtt_ns) noexcept
{
    if (nullptr == c || nullptr == probe) {
        return -EINVAL;
    }
    return guard([&] {
        const int rc = c->impl.report(*probe, prtt_ns);
        if (0 == rc) {
            c->samples.push_back({*probe, prtt_ns, 0});
        }
        return rc;
    });
}

int fsbml_calib_fail(fsbml_calib_t *c, size_t rail, const char *reason) noexcept
{
    if (nullptr == c) {
        return -EINVAL;
    }
    return guard([&] { return c->impl.fail(rail, reason); });
}

int fsbml_calib_fit(const fsbml_calib_t *c, size_t rail, fsbml_fit_t *out) noexcept
{
    if (nullptr == c || nullptr == out || rail >= c->impl.rails()) {
        return -EINVAL;
    }
    return guard([&] {
        *out = c->impl.fit(rail);
        return 0;
    });
}

int fsbml_calib_interval(const fsbml_calib_t *c, size_t rail, fsbml_fit_t *fit) noexcept
{
    if (nullptr == c || nullptr == fit || rail >= c->impl.rails()) {
        return -EINVAL;
    }
    return guard([&] {
        c->impl.interval(rail, *fit);
        return 0;
    });
}

fsbml_together_t *fsbml_together_create(size_t n_rails, const fsbml_fit_t *fits, uint32_t rails,
                                        uint32_t min_bytes, const uint32_t *max_bytes) noexcept
{
    if (nullptr == fits || nullptr == max_bytes || n_rails < 1 || n_rails > FSBML_MAX_RAILS || min_bytes < 1
        || (n_rails < FSBML_MAX_RAILS && 0 != rails >> n_rails)) {
        errno = EINVAL;
        return nullptr;
    }
    return guard_new<fsbml_together_t>(
        [&] { return new fsbml_together_t(n_rails, fits, rails, min_bytes, max_bytes); });
}

void fsbml_together_destroy(fsbml_together_t *t) noexcept
{
    delete t;
}

uint32_t fsbml_together_next(const fsbml_together_t *t, fsbml_stream_t *stream, uint64_t *rest_ns) noexcept
{
    if (nullptr == t || nullptr == stream || nullptr == rest_ns) {
        return 0;
    }
    for (std::size_t i = 0; i < t->n; ++i) {
        stream[i] = t->impl.stream(i);
    }
    *rest_ns = static_cast<std::uint64_t>(t->impl.rest_ns());
    return t->impl.next();
}

int fsbml_together_report(fsbml_together_t *t, const uint64_t *time_ns, uint64_t sending_ns) noexcept
{
    if (nullptr == t || nullptr == time_ns || 0 == t->impl.next()) {
        return -EINVAL;
    }
    return guard([&] {
        double times[FSBML_MAX_RAILS] = {};
        for (std::size_t i = 0; i < t->n; ++i) {
            times[i] = static_cast<double>(time_ns[i]);
            if (0 != (t->impl.next() >> i & 1U) && 0 == time_ns[i]) {
                t->impl.give_up();
                return 0;
            }
        }
        t->impl.report(times, static_cast<double>(sending_ns));
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

fsbml_fit_t fsbml_fit_alone(const fsbml_fit_t *fit) noexcept
{
    return fsbml::fit_alone(*fit);
}

const fsbml_sample_t *fsbml_calib_samples(const fsbml_calib_t *c, size_t *n) noexcept
{
    *n = nullptr == c ? 0 : c->samples.size();
    return nullptr == c ? nullptr : c->samples.data();
}

int fsbml_holdout_probe(const fsbml_fit_t *fit, const fsbml_sample_t *sample, size_t n, uint32_t rail,
                        uint64_t turn, uint64_t most_ns, fsbml_probe_t *out) noexcept
{
    if (nullptr == fit || (nullptr == sample && n > 0) || nullptr == out || !fit->valid) {
        return -EINVAL;
    }
    return guard([&] {
        return fsbml::holdout_probe(*fit, sample, n, rail, turn, static_cast<double>(most_ns), *out)
                   ? 0
                   : -ENOENT;
    });
}

// ---------------------------------------------------------------- records

size_t fsbml_table_packed_max(void) noexcept
{
    return fsbml::table_packed_max();
}

long fsbml_table_pack(const fsbml_table_t *t, void *buf, size_t len) noexcept
{
    return nullptr == t || nullptr == buf ? -EINVAL : fsbml::table_pack(*t, buf, len);
}

int fsbml_table_unpack(fsbml_table_t *t, const void *buf, size_t len) noexcept
{
    return nullptr == t || nullptr == buf ? -EINVAL : fsbml::table_unpack(*t, buf, len);
}

int fsbml_table_text(const fsbml_table_t *t, char *buf, size_t len) noexcept
{
    if (nullptr == t || (nullptr == buf && len > 0)) {
        return -EINVAL;
    }
    return guard([&] {
        const std::string text = fsbml::table_text(*t);
        if (len > 0) {
            const std::size_t n = std::min(text.size(), len - 1);
            std::memcpy(buf, text.data(), n);
            buf[n] = '\0';
        }
        return static_cast<int>(text.size());
    });
}

int fsbml_table_load(const char *path, const char *fingerprint, fsbml_table_t *t,
                     char reason[FSBML_REASON_MAX]) noexcept
{
    if (nullptr == path || nullptr == t || nullptr == reason) {
        return -EINVAL;
    }
    return guard([&] {
        std::string text;
        std::string why;
        int rc = fsbml::read_file(path, nullptr != fingerprint, text, why);
        if (0 == rc) {
            rc = fsbml::table_from_file(*t, text, fingerprint, why);
        }
        std::snprintf(reason, FSBML_REASON_MAX, "%s", why.c_str());
        return rc;
    });
}

int fsbml_table_store(const char *path, const char *fingerprint, const fsbml_table_t *t,
                      char reason[FSBML_REASON_MAX]) noexcept
{
    if (nullptr == path || nullptr == fingerprint || nullptr == t || nullptr == reason) {
        return -EINVAL;
    }
    return guard([&] {
        const std::string text = fsbml::table_to_file(*t, fingerprint);
        std::string why = "a rail's name cannot stand in it";
        const int rc = text.empty() ? -EINVAL : fsbml::replace_file(path, text, why);
        std::snprintf(reason, FSBML_REASON_MAX, "%s", 0 != rc ? why.c_str() : "");
        return rc;
    });
}

int fsbml_report_store(const char *path, const fsbml_report_t *report, char reason[FSBML_REASON_MAX]) noexcept
{
    if (nullptr == path || nullptr == report || nullptr == report->table || nullptr == reason
        || (nullptr == report->sample && report->n_samples > 0)
        || (nullptr == report->holdout && report->n_holdout > 0)) {
        return -EINVAL;
    }
    return guard([&] {
        std::string why;
        const int rc = fsbml::replace_file(path, fsbml::report_text(*report), why);
        std::snprintf(reason, FSBML_REASON_MAX, "%s", why.c_str());
        return rc;
    });
}

size_t fsbml_hello_packed_max(void) noexcept
{
    return fsbml::hello_packed_max();
}

long fsbml_hello_pack(const fsbml_hello_t *h, void *buf, size_t len) noexcept
{
    return nullptr == h || nullptr == buf ? -EINVAL : fsbml::hello_pack(*h, buf, len);
}

int fsbml_hello_unpack(fsbml_hello_t *h, const void *buf, size_t len) noexcept
{
    return nullptr == h || nullptr == buf ? -EINVAL : fsbml::hello_unpack(*h, buf, len);
}

uint32_t fsbml_digest(const char *text) noexcept
{
    return fsbml::digest(text);
}

// ----------------------------------------------------------- who measures

fsbml_classes_t *fsbml_classes_create(uint32_t n_ranks, bool one_node) noexcept
{
    return guard_new<fsbml_classes_t>([&] { return new fsbml_classes_t(n_ranks, one_node); });
}

void fsbml_classes_destroy(fsbml_classes_t *c) noexcept
{
    delete c;
}

int fsbml_classes_next(const fsbml_classes_t *c, uint32_t *rank) noexcept
{
    return nullptr == c || nullptr == rank ? -EINVAL : static_cast<int>(c->impl.next(*rank));
}

int fsbml_classes_tell(fsbml_classes_t *c, uint32_t rank, const fsbml_hello_t *hello) noexcept
{
    if (nullptr == c) {
        return -EINVAL;
    }
    return guard([&] {
        c->impl.tell(rank, hello);
        return 0;
    });
}

int fsbml_classes_first(const fsbml_classes_t *c, fsbml_pair_t *pair) noexcept
{
    return nullptr == c || nullptr == pair ? -EINVAL : static_cast<int>(c->impl.first(*pair));
}

int fsbml_classes_plan(fsbml_classes_t *c, fsbml_pairs_t *out) noexcept
{
    if (nullptr == c || nullptr == out) {
        return -EINVAL;
    }
    return guard([&] {
        c->impl.plan(*out);
        return 0;
    });
}

size_t fsbml_pairs_packed_max(void) noexcept
{
    return fsbml::pairs_packed_max();
}

long fsbml_pairs_pack(const fsbml_pairs_t *p, void *buf, size_t len) noexcept
{
    return nullptr == p || nullptr == buf ? -EINVAL : fsbml::pairs_pack(*p, buf, len);
}

long fsbml_pairs_unpack(fsbml_pairs_t *p, const void *buf, size_t len) noexcept
{
    return nullptr == p || nullptr == buf ? -EINVAL : fsbml::pairs_unpack(*p, buf, len);
}

int fsbml_table_merge(fsbml_table_t *into, const fsbml_table_t *other) noexcept
{
    return nullptr == into || nullptr == other ? -EINVAL : fsbml::table_merge(*into, *other);
}

uint32_t fsbml_table_digest(const fsbml_table_t *t) noexcept
{
    uint32_t digest = 0;
    (void) guard([&] {
        digest = nullptr != t ? fsbml::table_digest(*t) : 0;
        return 0;
    });
    return digest;
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
