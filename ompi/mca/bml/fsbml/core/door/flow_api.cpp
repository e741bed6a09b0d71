// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of feedback.
#include "door/c_api.hpp"

#include "flow/distance.hpp"
#include "flow/live_rate.hpp"

struct fsbml_live_t final {
    fsbml_live_t(double gap, double burst, std::size_t quantum) noexcept : impl(gap, burst, quantum) {}
    fsbml::LiveRate impl;
};

extern "C" {

fsbml_live_t *fsbml_live_create(double gap_ns_per_byte, double burst_bytes, size_t quantum) noexcept
{
    if (!(gap_ns_per_byte > 0.0) || !(burst_bytes >= 0.0) || 0 == quantum) {
        errno = EINVAL;
        return nullptr;
    }
    return fsbml::guard_new<fsbml_live_t>(
        [&] { return new fsbml_live_t(gap_ns_per_byte, burst_bytes, quantum); });
}

void fsbml_live_destroy(fsbml_live_t *live) noexcept
{
    delete live;
}

fsbml_live_change_t fsbml_live_look(fsbml_live_t *live, const fsbml_live_look_t *look) noexcept
{
    return live->impl.look(*look);
}

fsbml_live_change_t fsbml_live_trial(fsbml_live_t *live, size_t bytes, uint64_t took_ns) noexcept
{
    return live->impl.trial(bytes, took_ns);
}

double fsbml_live_gap(const fsbml_live_t *live) noexcept
{
    return live->impl.gap();
}

uint32_t fsbml_distance(uint32_t rails, const fsbml_round_trip_t rail[FSBML_MAX_RAILS],
                        double extra_ns[FSBML_MAX_RAILS]) noexcept
{
    return fsbml::distance(rails, rail, extra_ns);
}

} // extern "C"
