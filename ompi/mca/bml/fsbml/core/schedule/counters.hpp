// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Counters that cost the hot path no locked instruction: a thread has a stripe of its own, which it alone
// writes.
#ifndef FSBML_COUNTERS_HPP
#define FSBML_COUNTERS_HPP

#include "api/fsbml_core.h"
#include "model/fixed.hpp"

#include <atomic>

namespace fsbml
{

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

} // namespace fsbml

#endif
