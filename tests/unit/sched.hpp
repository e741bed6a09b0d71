// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A scheduler for tests: owned, filled, and moved through virtual time.
#ifndef FSBML_TESTS_UNIT_SCHED_HPP
#define FSBML_TESTS_UNIT_SCHED_HPP

#include "api/fsbml_core.h"
#include "model.hpp"

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
