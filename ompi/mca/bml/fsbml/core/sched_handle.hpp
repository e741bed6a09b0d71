// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// What the C boundary's handle of a scheduler is, for all sources that take one.
#ifndef FSBML_SCHED_HANDLE_HPP
#define FSBML_SCHED_HANDLE_HPP

#include "vft_scheduler.hpp"

struct fsbml_sched_t final {
    fsbml_sched_t(std::size_t n, fsbml_policy_t p) noexcept : impl(n, p) {}
    fsbml::Scheduler impl;
};

#endif
