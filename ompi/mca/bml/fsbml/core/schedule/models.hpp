// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a decision reads and a charge writes: the models of all rails, and counters.
#ifndef FSBML_MODELS_HPP
#define FSBML_MODELS_HPP

#include "api/fsbml_core.h"
#include "model/model.hpp"

#include <atomic>
#include <mutex>

namespace fsbml
{

// ---- Counters that cost the hot path no locked instruction: a thread has a stripe of its own, which it
// alone writes.

// The first kOwnStripes threads of a process own a stripe each; all later ones share the last with atomic
// adds.
constexpr unsigned kOwnStripes = 15;

namespace detail
{
inline std::atomic<unsigned> stripes_given{0};
// In the thread's static block (initial-exec): a lookup by call would cost as much as the atomic add it
// spares.
__attribute__((tls_model("initial-exec"))) inline thread_local unsigned own_stripe = ~0U;

inline unsigned stripe() noexcept
{
    if (!likely(own_stripe != ~0U)) {
        const unsigned next = stripes_given.fetch_add(1, std::memory_order_relaxed);
        own_stripe = next < kOwnStripes ? next : kOwnStripes;
    }
    return own_stripe;
}
} // namespace detail

class Counters
{
public:
    void add(std::size_t rail, std::uint64_t bytes, Ticks busy) noexcept
    {
        const unsigned mine = detail::own_stripe;
        if (likely(mine < kOwnStripes)) {
            add_own(mine, rail, bytes, busy);
        } else {
            add_first_or_shared(rail, bytes, busy);
        }
    }

    // By the stripe's owner, which knows that it has one.
    void add_own(unsigned mine, std::size_t rail, std::uint64_t bytes, Ticks busy) noexcept
    {
        Cell &cell = stripes_[mine].cell[rail];
        bump(cell.messages, 1);
        bump(cell.bytes, bytes);
        bump(cell.busy, busy);
    }

    fsbml_rail_counters_t sum(std::size_t rail) const noexcept
    {
        fsbml_rail_counters_t total{0, 0, 0};
        Ticks busy = 0;
        for (const Stripe &s : stripes_) {
            total.messages += s.cell[rail].messages.load(std::memory_order_relaxed);
            total.bytes += s.cell[rail].bytes.load(std::memory_order_relaxed);
            busy += s.cell[rail].busy.load(std::memory_order_relaxed);
        }
        total.busy_ns = ns_from_ticks(busy);
        return total;
    }

private:
    using Counter = std::atomic<std::uint64_t>;
    struct Cell {
        Counter messages{0};
        Counter bytes{0};
        Counter busy{0}; // ticks
    };
    struct alignas(64) Stripe {
        Cell cell[FSBML_MAX_RAILS];
    };

    // A thread's first time, and all of one that shares its stripe.
    __attribute__((noinline, cold)) void add_first_or_shared(std::size_t rail, std::uint64_t bytes,
                                                             Ticks busy) noexcept
    {
        Cell &cell = stripes_[detail::stripe()].cell[rail];
        cell.messages.fetch_add(1, std::memory_order_relaxed);
        cell.bytes.fetch_add(bytes, std::memory_order_relaxed);
        cell.busy.fetch_add(busy, std::memory_order_relaxed);
    }

    // Only the owner writes, so load and store lose nothing.
    static void bump(Counter &c, std::uint64_t by) noexcept
    {
        c.store(c.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }

    Stripe stripes_[kOwnStripes + 1];
};

// The models of all rails as the hot path takes them: between two neighbouring breaks every rail is one
// straight line.
//
// A break is a size from which on a rail's gap is another line. The breaks of all rails cut the sizes into
// stretches, and each stretch has a row of rails. A decision looks up its row once, by a few comparisons
// whose results are added: no rail costs it a choice of a line, and none a branch that depends on a size.
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
