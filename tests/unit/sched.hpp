// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A scheduler for tests: owned, filled, and moved through virtual time.
#ifndef FSBML_TESTS_UNIT_SCHED_HPP
#define FSBML_TESTS_UNIT_SCHED_HPP

#include "api/fsbml_core.h"
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

struct DestroySched {
    void operator()(fsbml_sched_t *s) const noexcept { fsbml_sched_destroy(s); }
};
using SchedPtr = std::unique_ptr<fsbml_sched_t, DestroySched>;

inline SchedPtr make_sched(const std::vector<fsbml_loggp_t> &models,
                           fsbml_policy_t policy = FSBML_POLICY_ARRIVAL)
{
    SchedPtr s(fsbml_sched_create(models.size(), policy));
    for (std::size_t i = 0; s && i < models.size(); ++i) {
        if (0 != fsbml_sched_set_model(s.get(), i, &models[i])) {
            throw std::invalid_argument("model");
        }
    }
    return s;
}

// What backlog is none for a message of which the bytes take so long: a shaper's bucket.
inline double credit_of(const fsbml_loggp_t &p, double bytes_ns)
{
    return p.burst_ns < 20e6 ? std::min(p.burst_ns / 4.0, bytes_ns) : std::min(p.burst_ns, 32.0 * bytes_ns);
}

inline double base_of(const fsbml_loggp_t &p)
{
    return p.o_s_ns + p.L_ns + p.o_r_ns;
}

// o + L as the scheduler takes it: where it differs by less than 1.5 us (a sixth at most) or 3 % from that of
// a rail with a lower G, or of one before it with the same, it is as much and the overheads.
inline double settled_base(const std::vector<fsbml_loggp_t> &models, std::size_t rail)
{
    const fsbml_loggp_t &p = models[rail];
    const double own = base_of(p);
    double settled = own;
    for (std::size_t j = 0; j < models.size(); ++j) {
        const fsbml_loggp_t &other = models[j];
        const double slack = std::max(std::min(1500.0, base_of(other) / 6), base_of(other) / 32);
        const bool first =
            other.G_ns_per_byte < p.G_ns_per_byte || (other.G_ns_per_byte == p.G_ns_per_byte && j < rail);
        if (first && std::fabs(own - base_of(other)) <= slack) {
            settled = std::max(settled, base_of(other) + p.o_s_ns + p.o_r_ns);
        }
    }
    return settled;
}

// How much of that no prediction has.
inline double handicap_of(const std::vector<fsbml_loggp_t> &models, std::size_t rail)
{
    const fsbml_loggp_t &p = models[rail];
    return settled_base(models, rail) != base_of(p) ? p.o_s_ns + p.o_r_ns : 0.0;
}

inline std::uint32_t all_rails(std::size_t n)
{
    return static_cast<std::uint32_t>((std::uint64_t{1} << n) - 1);
}

// Chooses and charges, as the sender does.
inline int send_one(fsbml_sched_t *s, std::uint64_t now, std::size_t bytes, std::uint32_t mask)
{
    const int rail = fsbml_sched_choose(s, now, bytes, mask);
    if (rail >= 0) {
        fsbml_sched_charge(s, static_cast<std::size_t>(rail), now, bytes);
    }
    return rail;
}

inline fsbml_rail_counters_t counters(const fsbml_sched_t *s, std::size_t rail)
{
    fsbml_rail_counters_t c;
    fsbml_sched_counters(s, rail, &c);
    return c;
}

#endif
