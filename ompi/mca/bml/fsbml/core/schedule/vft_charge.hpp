// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// A charge, to be compiled into all code that makes one: for the scheduler's own, and for one that is looked
// at (observer.cpp), which knows what the rail then has to do.
#ifndef FSBML_VFT_CHARGE_HPP
#define FSBML_VFT_CHARGE_HPP

#include "schedule/vft_scheduler.hpp"

namespace fsbml
{

// `counted` takes the message and its cost in ticks.
template <bool kTakeTurns, typename Counted>
__attribute__((always_inline)) inline Ticks Scheduler::add(std::atomic<Ticks> &vft, std::size_t rail,
                                                           Ticks now, std::size_t bytes,
                                                           Counted counted) noexcept
{
    const std::uint64_t steps = byte_steps(bytes);
    const Ticks cost = models_.row(steps)[rail].cost(steps);
    Ticks backlog = 0;
    if (likely(now < kTimeMax)) {
        backlog = fsbml::charge(vft, now, beyond(), cost) - now;
    }
    counted(cost);
    if (kTakeTurns) {
        models_.row()[rail].turn.store(turns_.fetch_add(1, std::memory_order_relaxed) + 1,
                                       std::memory_order_relaxed);
    }
    return backlog;
}

template <bool kTakeTurns>
__attribute__((always_inline)) inline Ticks
Scheduler::charge_telling(Scheduler &s, std::size_t rail, std::uint64_t now_ns, std::size_t bytes) noexcept
{
    // The VFT's place before the clock: a VFT in a ledger is by the ledger's clock (see share).
    std::atomic<Ticks> &vft = s.vfts_.load(std::memory_order_acquire)[rail].vft;
    const std::uint64_t origin = s.origin_.load(std::memory_order_relaxed);
    if (likely(now_ns > origin)) {
        return s.add<kTakeTurns>(vft, rail, ticks_from_ns(now_ns - origin), bytes,
                                 [&](Ticks cost) { s.counters_.add(rail, bytes, cost); });
    }
    return charge_before<kTakeTurns>(s, vft, rail, now_ns, bytes);
}

template <bool kTakeTurns>
__attribute__((always_inline)) inline bool Scheduler::charge_own(Scheduler &s, unsigned stripe,
                                                                 std::size_t rail, std::uint64_t now_ns,
                                                                 std::size_t bytes, Ticks &backlog) noexcept
{
    std::atomic<Ticks> &vft = s.vfts_.load(std::memory_order_acquire)[rail].vft; // as above
    const std::uint64_t origin = s.origin_.load(std::memory_order_relaxed);
    if (!likely(now_ns > origin)) {
        return false;
    }
    backlog = s.add<kTakeTurns>(vft, rail, ticks_from_ns(now_ns - origin), bytes,
                                [&](Ticks cost) { s.counters_.add_own(stripe, rail, bytes, cost); });
    return true;
}

template <bool kTakeTurns>
__attribute__((noinline, cold)) Ticks Scheduler::charge_before(Scheduler &s, std::atomic<Ticks> &vft,
                                                               std::size_t rail, std::uint64_t now_ns,
                                                               std::size_t bytes) noexcept
{
    return s.add<kTakeTurns>(vft, rail, s.clock_before(now_ns), bytes,
                             [&](Ticks cost) { s.counters_.add(rail, bytes, cost); });
}

} // namespace fsbml

#endif
