// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// What one rail is to the scheduler: one cache line that decisions read and charges write.
#ifndef FSBML_RAIL_HPP
#define FSBML_RAIL_HPP

#include "fixed.hpp"
#include "loggp.hpp"

#include <atomic>

namespace fsbml
{

constexpr std::size_t kBulkMessage = 65536;

// Every value is an atomic of its own, so that a model can be replaced while others schedule. A decision
// taken at that moment may mix old and new values of the rail; each is sane by itself, so the worst is one
// choice that neither model alone would have made. `gap_per_byte` is stored last and read first
// (release/acquire): who sees the first model at all sees it whole.
struct alignas(64) Rail {
    std::atomic<Ticks> vft{0};                  // virtual finishing time
    std::atomic<std::uint64_t> gap_per_byte{0}; // G in Q29.35; 0 = not measured yet
    std::atomic<Ticks> send_overhead{0};        // o_s
    std::atomic<Ticks> tail{0};                 // L + o_r
    std::atomic<Ticks> gap{0};                  // g
    std::atomic<Ticks> burst{0};                // backlog that counts as none, the same on all rails
    std::atomic<Ticks> bulk_cost{0};            // g + G (s-1) at 64 KiB: what policy `single` compares
    std::atomic<std::uint64_t> turn{0};         // when it was last charged: what policy `roundrobin` compares

    void set_model(const fsbml_loggp_t &p) noexcept
    {
        constexpr auto relaxed = std::memory_order_relaxed;
        const std::uint64_t per_byte = gap_from_ns_per_byte(p.G_ns_per_byte);
        send_overhead.store(ticks_from_ns(p.o_s_ns), relaxed);
        tail.store(ticks_from_ns(p.L_ns) + ticks_from_ns(p.o_r_ns), relaxed);
        gap.store(ticks_from_ns(p.g_ns), relaxed);
        bulk_cost.store(ticks_from_ns(p.g_ns) + bytes_cost(per_byte, byte_steps(kBulkMessage)), relaxed);
        gap_per_byte.store(per_byte, std::memory_order_release);
    }

    // How long a message that comes at `now` waits for the rail.
    Ticks backlog(Ticks now) const noexcept
    {
        const Ticks busy_until = vft.load(std::memory_order_relaxed);
        return busy_until > now ? busy_until - now : 0;
    }

    // max(now + o_s, VFT - burst) + L + G (s-1) + o_r: o overlaps the wait for a busy rail (thesis 4.4.5). A
    // shaper lets as much pass at once as its bucket holds, so that much backlog is none for who comes next.
    // The message itself is taken to need its full time: a rail at rest looks as it would without a bucket.
    Ticks arrival(Ticks now, std::uint64_t steps) const noexcept
    {
        constexpr auto relaxed = std::memory_order_relaxed;
        const Ticks transfer =
            bytes_cost_floor(gap_per_byte.load(std::memory_order_acquire), steps) + tail.load(relaxed);
        const Ticks ready = now + send_overhead.load(relaxed);
        const Ticks free = vft.load(relaxed);
        const Ticks hidden = burst.load(relaxed);
        return (free > ready + hidden ? free - hidden : ready) + transfer;
    }

    // 2o + L + max(VFT, now) (thesis 4.4.8), with 2o = o_s + o_r.
    Ticks thesis_key(Ticks now) const noexcept
    {
        constexpr auto relaxed = std::memory_order_relaxed;
        const Ticks free = vft.load(relaxed);
        return (free > now ? free : now) + send_overhead.load(relaxed) + tail.load(relaxed);
    }

    // VFT = max(VFT, now) + max(g + G (s-1), 1 tick): an idle rail earns no credit. Returns the charge.
    Ticks charge(Ticks now, std::uint64_t steps) noexcept
    {
        constexpr auto relaxed = std::memory_order_relaxed;
        const Ticks bytes = bytes_cost(gap_per_byte.load(std::memory_order_acquire), steps);
        const Ticks full = bytes + gap.load(relaxed);
        const Ticks cost = full != 0 ? full : 1;
        Ticks seen = vft.load(relaxed);
        Ticks next = 0;
        do {
            next = (seen > now ? seen : now) + cost;
            next = likely(next < kTimeMax) ? next : kTimeMax;
        } while (!vft.compare_exchange_weak(seen, next, relaxed));
        return cost;
    }
};

static_assert(sizeof(Rail) == 64, "a rail is one cache line");
static_assert(std::atomic<Ticks>::is_always_lock_free, "decisions take no lock");

} // namespace fsbml

#endif
