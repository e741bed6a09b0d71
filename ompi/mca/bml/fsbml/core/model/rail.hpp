// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The scheduler's data of one rail: a cache line with its model, and one with its virtual finishing time.
//
// The VFT is the process' own, or in the node's ledger (ledger.hpp), where others write it. It is never
// trusted: in unsigned arithmetic, a VFT that lies in the past, or farther ahead than any charge puts it,
// differs from `now` by `beyond` or more, so one comparison takes both for idle, and the next charge repairs
// it.
#ifndef FSBML_RAIL_HPP
#define FSBML_RAIL_HPP

#include "model/fixed.hpp"

#include <algorithm>
#include <atomic>

namespace fsbml
{

constexpr std::size_t kBulkMessage = 65536;

// `beyond` of rails that no other process charges (13 days), and of those of a ledger (69 s). A charge stops
// short of it by kBehind (17 ms): others' `now` may be a little older.
constexpr Ticks kBeyondOwn = Ticks{1} << 56;
constexpr Ticks kBeyondShared = Ticks{1} << 42;
constexpr Ticks kBehind = Ticks{1} << 30;

struct alignas(64) VftSlot {
    std::atomic<std::uint64_t> key{0}; // in a ledger the hash of the rail's name, 0: free
    std::atomic<Ticks> vft{0};
};

// How long a rail is still busy at `now`.
inline Ticks backlog(Ticks vft, Ticks now, Ticks beyond) noexcept
{
    return vft - now < beyond ? vft - now : 0;
}

// What the model makes of a rail for messages between two sizes: straight lines over s-1. Where a rail's gap
// has a break, it has one such line below it and one above (models.hpp).
//
// Every value is an atomic of its own, so that a model can be replaced while others schedule. A decision
// taken at that moment may mix old and new values of the rail; the worst is one choice, and one charge, that
// neither model alone would have made. A line of sizes above a break may begin below 0, in unsigned
// arithmetic; no charge does. `per_byte` is stored last and read first (release/acquire): a reader that sees
// the first model at all sees it whole.
struct alignas(64) Rail {
    std::atomic<std::uint64_t> per_byte{0}; // G + O_s + O_r in Q29.35; 0 = not measured yet
    std::atomic<Ticks> base{0};             // o_s + L + o_r: what the first byte takes on an idle rail
    std::atomic<Ticks> o_s{0};
    std::atomic<Ticks> burst{0};                // what a shaper's bucket lets pass at once, in time
    std::atomic<std::uint64_t> gap_per_byte{0}; // G in Q29.35
    std::atomic<Ticks> gap{1};                  // g, a tick at least: no charge is nothing
    std::atomic<Ticks> least_burst{0};          // of all rails
    // What policy `single` compares, gap(64 KiB), or `roundrobin`: when it was last charged.
    std::atomic<std::uint64_t> turn{0};

    // max(now + o_s, VFT - credit) + L + gap(s) - gap(1) + (O_s + O_r) (s-1) + o_r, less `now`: o_s overlaps
    // the wait for a busy rail (thesis 4.4.5), but not what the bytes add, which are copied after it (and
    // whose overlap would cost 2 ns of a decision among 16 rails).
    //
    // The credit is for a shaper, which lets as much pass at once as its bucket holds: that much backlog is
    // none for the next one. But it is no more than the message's own bytes take, or the shortest burst of
    // all rails: what else a bucket has given away, to acknowledgements for one, is not known, and on a slow
    // rail it lasts long, so that many small messages would be lured there. At rest a rail looks as it would
    // without a bucket. Where no rail has one, kShaped is false, and a decision the shorter.
    template <bool kShaped>
    Ticks delivery(Ticks vft, Ticks now, Ticks beyond, std::uint64_t steps) const noexcept
    {
        constexpr auto relaxed = std::memory_order_relaxed;
        const Ticks bytes = bytes_cost_floor(per_byte.load(std::memory_order_acquire), steps);
        const Ticks idle = base.load(relaxed) + bytes;
        const Ticks credit =
            kShaped ? std::min(burst.load(relaxed), std::max(bytes, least_burst.load(relaxed))) : 0;
        const Ticks then = now + o_s.load(relaxed) + credit;
        return vft - then < beyond ? vft + (idle - then) : idle;
    }

    // 2o + L + max(VFT, now) (thesis 4.4.8), less `now`, with 2o = o_s + o_r.
    Ticks thesis_key(Ticks vft, Ticks now, Ticks beyond) const noexcept
    {
        return backlog(vft, now, beyond) + base.load(std::memory_order_relaxed);
    }

    // gap(s), and no less than a tick, also of values that do not belong together.
    Ticks cost(std::uint64_t steps) const noexcept
    {
        const Ticks cost = bytes_cost(gap_per_byte.load(std::memory_order_relaxed), steps)
                           + gap.load(std::memory_order_relaxed);
        return likely(static_cast<std::int64_t>(cost) > 0) ? cost : 1;
    }
};

// VFT = max(VFT, now) + cost, which it returns: an idle rail earns no credit.
inline Ticks charge(std::atomic<Ticks> &vft, Ticks now, Ticks beyond, Ticks cost) noexcept
{
    constexpr auto relaxed = std::memory_order_relaxed;
    const Ticks idle = now + cost;
    const Ticks most = now + (beyond - kBehind);
    Ticks seen = vft.load(relaxed);
    Ticks next = 0;
    do {
        next = seen - now < beyond ? seen + cost : idle;
        if (!likely(next <= most)) {
            next = most;
            std::atomic_signal_fence(std::memory_order_acq_rel); // keeps it a branch, which is predicted
        }
    } while (!vft.compare_exchange_weak(seen, next, relaxed));
    return next;
}

static_assert(sizeof(Rail) == 64 && sizeof(VftSlot) == 64, "a cache line each");
static_assert(std::atomic<Ticks>::is_always_lock_free, "decisions take no lock");

} // namespace fsbml

#endif
