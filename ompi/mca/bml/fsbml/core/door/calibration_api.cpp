// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of measuring: a calibration and its fits, what these predict, and rails beside each other.
#include "door/door.hpp"

#include "measure/prtt/prtt.hpp"
#include "measure/start/start.hpp"
#include "model/model.hpp"

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

uint64_t fsbml_fit_refill_ns(const fsbml_fit_t *fit) noexcept
{
    return nullptr == fit || !fit->valid ? 0
                                         : static_cast<std::uint64_t>(std::max(
                                             fit->params.burst_ns, fsbml::other_direction(*fit).burst_ns));
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

fsbml_loggp_t fsbml_loggp_assumed(double mbps) noexcept
{
    return fsbml::assumed(mbps);
}

bool fsbml_fit_learn(fsbml_fit_t *fit, double gap_ns_per_byte, size_t quantum) noexcept
{
    return nullptr != fit && fsbml::learn(*fit, gap_ns_per_byte, quantum);
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

} // extern "C"
