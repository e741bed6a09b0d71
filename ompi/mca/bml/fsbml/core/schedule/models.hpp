// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The models of all rails as the hot path takes them: between two neighbouring breaks every rail is one
// straight line.
//
// A break is a size from which on a rail's gap is another line. The breaks of all rails cut the sizes into
// stretches, and each stretch has a row of rails. A decision looks up its row once, by a few comparisons
// whose results are added: no rail costs it a choice of a line, and none a branch that depends on a size.
#ifndef FSBML_MODELS_HPP
#define FSBML_MODELS_HPP

#include "api/fsbml_core.h"
#include "model/rail.hpp"

#include <atomic>
#include <mutex>

namespace fsbml
{

class Models
{
public:
    // The rails that have a model. Read first: it says that their rows are there.
    std::uint32_t measured() const noexcept { return measured_.load(std::memory_order_acquire); }

    // All rails, as they are to messages of byte_steps() `steps`.
    const Rail *row(std::uint64_t steps) const noexcept
    {
        const std::uint32_t n = breaks_.load(std::memory_order_acquire);
        std::size_t stretch = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            stretch += steps >= break_[i].load(std::memory_order_relaxed) ? 1 : 0;
        }
        return row_[stretch];
    }
    // The same of the least messages, with what does not depend on a size.
    const Rail *row() const noexcept { return row_[0]; }
    Rail *row() noexcept { return row_[0]; }

    // What a decision adds to a rail's time as another one is as good.
    Ticks handicap(std::size_t rail) const noexcept
    {
        return handicap_[rail].load(std::memory_order_relaxed);
    }

    // Replaces a rail's model, which is valid. True if any rail has a burst now. For the arrival rule, o + L
    // of rails that differ by no more than measurements do are made equal; all but the one with the lowest G
    // have their overheads as a handicap.
    bool set(std::size_t rail, const fsbml_loggp_t &p, fsbml_policy_t policy) noexcept;
    // Scales the rail's gaps by this factor. True as above; a rail without a model
    // stays as it is.
    bool scale(std::size_t rail, double factor, fsbml_policy_t policy) noexcept;
    // A rail's model as it was set. False: it has none.
    bool get(std::size_t rail, fsbml_loggp_t &p) noexcept;

private:
    std::atomic<std::uint32_t> measured_{0};
    std::atomic<std::uint32_t> breaks_{0};
    std::atomic<std::uint64_t> break_[FSBML_MAX_RAILS] = {}; // as byte_steps(), rising
    Rail row_[FSBML_MAX_RAILS + 1][FSBML_MAX_RAILS];
    std::atomic<Ticks> handicap_[FSBML_MAX_RAILS] = {};

    bool renew(fsbml_policy_t policy, std::uint32_t measured) noexcept;

    std::mutex setting_; // held while models are set; scheduling never takes it
    fsbml_loggp_t given_[FSBML_MAX_RAILS] = {};
    fsbml_loggp_t model_[FSBML_MAX_RAILS] = {}; // with what their rails were found to be since
};

} // namespace fsbml

#endif
