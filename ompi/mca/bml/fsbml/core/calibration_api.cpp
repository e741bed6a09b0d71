// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of measuring: a calibration and its fits, what these predict, and rails beside each other.
#include "c_api.hpp"

#include "holdout.hpp"
#include "predict.hpp"
#include "prtt.hpp"
#include "together.hpp"

#include <algorithm>
#include <vector>

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

namespace
{
// A latency differs from job to job on one machine by that factor and ns.
constexpr double kAnswers = 1.5;
constexpr double kAnswersNs = 20e3;
// A message of a bucket's size takes hardly any time, if the bucket is full: nothing to hold a fit against.
constexpr double kBuckets = 1.5;
} // namespace

extern "C" {

// ----------------------------------------------------------- calibration

fsbml_calib_t *fsbml_calib_create(const fsbml_calib_config_t *c, size_t n_rails,
                                  const fsbml_calib_rail_t *rails) noexcept
{
    if (nullptr == c || nullptr == rails || n_rails < 1 || n_rails > FSBML_MAX_RAILS || !fsbml::valid(*c)
        || std::any_of(rails, rails + n_rails,
                       [&](const fsbml_calib_rail_t &r) { return r.max_bytes < c->small_size; })) {
        errno = EINVAL;
        return nullptr;
    }
    return fsbml::guard_new<fsbml_calib_t>([&] { return new fsbml_calib_t(*c, n_rails, rails); });
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
    return fsbml::guard([&] { return c->impl.next(elapsed_ns, *out); });
}

int fsbml_calib_report(fsbml_calib_t *c, const fsbml_probe_t *probe, uint64_t prtt_ns) noexcept
{
    if (nullptr == c || nullptr == probe) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
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
    return fsbml::guard([&] { return c->impl.fail(rail, reason); });
}

int fsbml_calib_fit(const fsbml_calib_t *c, size_t rail, fsbml_fit_t *out) noexcept
{
    if (nullptr == c || nullptr == out || rail >= c->impl.rails()) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
        *out = c->impl.fit(rail);
        return 0;
    });
}

int fsbml_calib_interval(const fsbml_calib_t *c, size_t rail, fsbml_fit_t *fit) noexcept
{
    if (nullptr == c || nullptr == fit || rail >= c->impl.rails()) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
        c->impl.interval(rail, *fit);
        return 0;
    });
}

const fsbml_sample_t *fsbml_calib_samples(const fsbml_calib_t *c, size_t *n) noexcept
{
    *n = nullptr == c ? 0 : c->samples.size();
    return nullptr == c ? nullptr : c->samples.data();
}

// ------------------------------------------------------- what a fit says

bool fsbml_fit_predicts(const fsbml_fit_t *fit, uint32_t packets, uint32_t bytes, uint64_t prtt_1_ns,
                        uint64_t prtt_n_ns, double tolerance) noexcept
{
    if (fit == nullptr || !fit->valid || packets < 2 || bytes < 1 || prtt_n_ns <= prtt_1_ns) {
        return false;
    }
    // What a fit without a bucket says of a single message that a bucket lets pass is too much, and no fault.
    const double single = fsbml::predict_prtt(*fit, FSBML_PROBE_THERE, 1.0, 0.0, bytes);
    if (static_cast<double>(prtt_1_ns) > kAnswers * single + kAnswersNs) {
        return false;
    }
    const double measured = static_cast<double>(prtt_n_ns - prtt_1_ns);
    const double predicted = fsbml::predict_prtt(*fit, FSBML_PROBE_THERE, packets, 0.0, bytes) - single;
    return predicted >= measured * (1 - tolerance) && predicted <= measured * (1 + tolerance);
}

uint64_t fsbml_fit_refill_ns(const fsbml_fit_t *fit) noexcept
{
    return nullptr == fit || !fit->valid ? 0
                                         : static_cast<std::uint64_t>(std::max(
                                             fit->params.burst_ns, fsbml::other_direction(*fit).burst_ns));
}

uint32_t fsbml_fit_probe_bytes(const fsbml_fit_t *fit, uint32_t packets, uint64_t together_ns) noexcept
{
    constexpr double least = 1024.0;
    constexpr double most = 8192.0;
    if (nullptr == fit || !fit->valid || 0 == packets) {
        return static_cast<std::uint32_t>(least);
    }
    const double wanted =
        std::max(static_cast<double>(together_ns) / packets, kBuckets * fit->params.burst_ns);
    return static_cast<std::uint32_t>(std::clamp(wanted / fit->params.G_ns_per_byte, least, most));
}

bool fsbml_fit_answers(const fsbml_fit_t *fit, uint32_t bytes, uint64_t prtt_ns) noexcept
{
    if (nullptr == fit || !fit->valid || bytes < 1) {
        return false;
    }
    const double expected = fsbml::predict_prtt(*fit, FSBML_PROBE_THERE, 1.0, 0.0, bytes);
    const auto measured = static_cast<double>(prtt_ns);
    return measured >= expected / kAnswers - kAnswersNs && measured <= expected * kAnswers + kAnswersNs;
}

double fsbml_fit_prtt(const fsbml_fit_t *fit, fsbml_probe_kind_t kind, uint32_t packets, uint64_t delay_ns,
                      uint32_t bytes) noexcept
{
    if (nullptr == fit || !fit->valid || packets < 1 || bytes < 1) {
        return 0.0;
    }
    return fsbml::predict_prtt(*fit, kind, packets, static_cast<double>(delay_ns), bytes);
}

fsbml_fit_t fsbml_fit_alone(const fsbml_fit_t *fit) noexcept
{
    return fsbml::fit_alone(*fit);
}

fsbml_loggp_t fsbml_fit_reverse(const fsbml_fit_t *fit) noexcept
{
    return nullptr != fit ? fsbml::reverse(*fit) : fsbml_loggp_t{};
}

int fsbml_holdout_probe(const fsbml_fit_t *fit, const fsbml_sample_t *sample, size_t n, uint32_t rail,
                        uint64_t turn, uint64_t most_ns, fsbml_probe_t *out) noexcept
{
    if (nullptr == fit || (nullptr == sample && n > 0) || nullptr == out || !fit->valid) {
        return -EINVAL;
    }
    return fsbml::guard([&] {
        return fsbml::holdout_probe(*fit, sample, n, rail, turn, static_cast<double>(most_ns), *out)
                   ? 0
                   : -ENOENT;
    });
}

// -------------------------------------------------------- rails together

fsbml_together_t *fsbml_together_create(size_t n_rails, const fsbml_fit_t *fits, uint32_t rails,
                                        uint32_t min_bytes, const uint32_t *max_bytes) noexcept
{
    if (nullptr == fits || nullptr == max_bytes || n_rails < 1 || n_rails > FSBML_MAX_RAILS || min_bytes < 1
        || (n_rails < FSBML_MAX_RAILS && 0 != rails >> n_rails)) {
        errno = EINVAL;
        return nullptr;
    }
    return fsbml::guard_new<fsbml_together_t>(
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
    return fsbml::guard([&] {
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

} // extern "C"
