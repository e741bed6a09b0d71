// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The types behind the C boundary's handles of a scheduler and of its observer.
#ifndef FSBML_HANDLES_HPP
#define FSBML_HANDLES_HPP

#include "schedule/observer.hpp"
#include "schedule/vft_scheduler.hpp"

struct fsbml_sched_t final {
    fsbml_sched_t(std::size_t n, fsbml_policy_t p) noexcept : impl(n, p) {}
    fsbml::Scheduler impl;
};

struct fsbml_observer_t final {
    fsbml_observer_t(fsbml::Scheduler &s, const fsbml_observer_config_t &c) : impl(s, c) {}
    fsbml::Observer impl;
};

#endif
