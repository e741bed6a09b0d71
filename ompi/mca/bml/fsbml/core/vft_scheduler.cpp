// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "vft_scheduler.hpp"

#include <cerrno>

namespace fsbml
{

namespace
{

// Each policy is one key; the rail with the least key is chosen, of equal ones the lowest index.
struct ByArrival {
    static Ticks key(const Rail &r, Ticks vft, Ticks now, Ticks beyond, std::uint64_t steps) noexcept
    {
        return r.delivery(vft, now, beyond, steps);
    }
};
struct ByThesis {
    static Ticks key(const Rail &r, Ticks vft, Ticks now, Ticks beyond, std::uint64_t /*steps*/) noexcept
    {
        return r.thesis_key(vft, now, beyond);
    }
};
// The rail whose last message is the longest ago. Unlike a running index this stays fair when destinations
// with different rails alternate, and asking twice before sending does not skip a rail.
struct ByTurn {
    static Ticks key(const Rail &r, Ticks /*vft*/, Ticks /*now*/, Ticks /*beyond*/,
                     std::uint64_t /*steps*/) noexcept
    {
        return r.turn.load(std::memory_order_relaxed);
    }
};
struct ByBulkCost {
    static Ticks key(const Rail &r, Ticks /*vft*/, Ticks /*now*/, Ticks /*beyond*/,
                     std::uint64_t /*steps*/) noexcept
    {
        return r.bulk_cost.load(std::memory_order_relaxed);
    }
};

// Differences of o + L below this, or below 3 %, are none.
constexpr double kTieNs = 1500.0;

constexpr std::uint32_t mask_of(std::size_t n) noexcept
{
    return n >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << n) - 1;
}

} // namespace

Scheduler::Scheduler(std::size_t n_rails, fsbml_policy_t policy) noexcept
    : choose_(choose_function(policy)),
      charge_(FSBML_POLICY_ROUNDROBIN == policy ? charge_to<true> : charge_to<false>),
      existing_(mask_of(n_rails)), n_rails_(static_cast<std::uint32_t>(n_rails)),
      settles_ties_(FSBML_POLICY_ARRIVAL == policy)
{
}

bool Scheduler::share(Ledger *ledger, const char *const *keys) noexcept
{
    VftSlot *const slots = nullptr != ledger ? ledger->claim(keys, n_rails_) : own_;
    if (nullptr == slots) {
        return false;
    }
    if (nullptr != ledger) {
        origin_.store(ledger->origin_ns, std::memory_order_relaxed);
    } else {
        for (VftSlot &s : own_) {
            s.vft.store(0, std::memory_order_relaxed);
        }
    }
    beyond_.store(nullptr != ledger ? kBeyondShared : kBeyondOwn, std::memory_order_relaxed);
    vfts_.store(slots, std::memory_order_release);
    return true;
}

Scheduler::Choose Scheduler::choose_function(fsbml_policy_t policy) noexcept
{
    switch (policy) {
    case FSBML_POLICY_THESIS:
        return choose_by<ByThesis>;
    case FSBML_POLICY_ROUNDROBIN:
        return choose_by<ByTurn>;
    case FSBML_POLICY_SINGLE:
        return choose_by<ByBulkCost>;
    case FSBML_POLICY_ARRIVAL:
        break;
    }
    return choose_by<ByArrival>;
}

template <class Rule>
int Scheduler::choose_by(const Scheduler &s, std::uint64_t now_ns, std::size_t bytes,
                         std::uint32_t mask) noexcept
{
    // Rails without a model only when no rail has one, and then the first.
    const std::uint32_t measured = mask & s.measured_.load(std::memory_order_acquire);
    if (0 == measured) {
        mask &= s.existing_;
        return 0 == mask ? -1 : __builtin_ctz(mask);
    }
    const Ticks now = s.clock(now_ns);
    const Ticks beyond = s.beyond();
    const std::uint64_t steps = byte_steps(bytes);
    const unsigned first = static_cast<unsigned>(__builtin_ctz(measured));
    const VftSlot *slot = s.vfts_.load(std::memory_order_acquire) + first;
    const Rail *rail = s.rails_ + first;
    const Rail *best = rail;
    Ticks best_key = Rule::key(*rail, slot->vft.load(std::memory_order_relaxed), now, beyond, steps);
    // The masks of a job are few, so their bits are branches that predict well; which rail wins is not, hence
    // a conditional move for that.
    for (std::uint32_t left = measured >> first; (left >>= 1) != 0;) {
        ++rail;
        ++slot;
        if ((left & 1) != 0) {
            const Ticks key = Rule::key(*rail, slot->vft.load(std::memory_order_relaxed), now, beyond, steps);
            best = __builtin_expect_with_probability(key < best_key, 1, 0.5) ? rail : best;
            best_key = key < best_key ? key : best_key;
        }
    }
    return static_cast<int>(best - s.rails_);
}

template <bool kTakeTurns>
void Scheduler::charge_to(Scheduler &s, std::size_t rail, std::uint64_t now_ns, std::size_t bytes) noexcept
{
    const Ticks cost = s.rails_[rail].cost(byte_steps(bytes));
    // The VFT's place before the clock: who finds it in a ledger has the ledger's clock (see share).
    std::atomic<Ticks> &vft = s.vfts_.load(std::memory_order_acquire)[rail].vft;
    const Ticks now = s.clock(now_ns);
    if (likely(now < kTimeMax)) {
        fsbml::charge(vft, now, s.beyond(), cost);
    }
    s.counters_.add(rail, bytes, cost);
    if (kTakeTurns) {
        s.rails_[rail].turn.store(s.turns_.fetch_add(1, std::memory_order_relaxed) + 1,
                                  std::memory_order_relaxed);
    }
}

int Scheduler::set_model(std::size_t rail, const fsbml_loggp_t &p) noexcept
{
    if (rail >= n_rails_ || !valid(p)) {
        return -EINVAL;
    }
    burst_[rail].store(ticks_from_ns(p.burst_ns), std::memory_order_relaxed);
    overhead_[rail].store(ticks_from_ns(p.o_s_ns), std::memory_order_relaxed);
    rails_[rail].set_model(p);
    base_[rail].store(rails_[rail].base.load(std::memory_order_relaxed), std::memory_order_relaxed);
    measured_.fetch_or(std::uint32_t{1} << rail, std::memory_order_release);
    share_burst();
    settle_ties();
    return 0;
}

// What is measured of L and o differs by as much from job to job. A small message must not depend on that: of
// two idle rails that deliver it equally soon, the one with the lower G takes it, since it will be free
// sooner. (On a shaped rail, the bucket hides that small messages keep it busy, too; a model that took them
// for free put 60 % of one-byte messages on a rail ten times slower.)
void Scheduler::settle_ties() noexcept
{
    if (!settles_ties_) {
        return;
    }
    constexpr auto relaxed = std::memory_order_relaxed;
    const std::uint32_t measured = measured_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < n_rails_; ++i) {
        const Ticks own = base_[i].load(relaxed);
        Ticks settled = own;
        for (std::size_t j = 0; j < n_rails_; ++j) {
            if (0 == (measured >> j & 1)
                || rails_[j].gap_per_byte.load(relaxed) >= rails_[i].gap_per_byte.load(relaxed)) {
                continue;
            }
            const Ticks other = base_[j].load(relaxed);
            const Ticks slack = other / 32 > ticks_from_ns(kTieNs) ? other / 32 : ticks_from_ns(kTieNs);
            if ((own > other ? own - other : other - own) <= slack && settled <= other) {
                settled = other + 1;
            }
        }
        rails_[i].base.store(settled, relaxed);
    }
}

// Every rail gets the shortest burst of all. So it tells when a rail counts as idle, and never decides
// between two busy ones: buckets of equal bytes last longest on the slowest rail, and would lure traffic
// there.
void Scheduler::share_burst() noexcept
{
    const std::uint32_t measured = measured_.load(std::memory_order_acquire);
    Ticks least = kTimeMax;
    for (std::size_t i = 0; i < n_rails_; ++i) {
        const Ticks own = burst_[i].load(std::memory_order_relaxed);
        least = 0 != (measured >> i & 1) && own < least ? own : least;
    }
    for (std::size_t i = 0; i < n_rails_; ++i) {
        rails_[i].unseen.store(overhead_[i].load(std::memory_order_relaxed) + least,
                               std::memory_order_relaxed);
    }
}

// At or before the origin; or there is none yet, since that is the largest of all times.
Ticks Scheduler::clock_before(std::uint64_t now_ns) const noexcept
{
    // One below, so that a clock that stands at its largest value is still a clock that has started.
    const std::uint64_t mine = kNoOrigin == now_ns ? now_ns - 1 : now_ns;
    std::uint64_t origin = kNoOrigin;
    if (origin_.compare_exchange_strong(origin, mine, std::memory_order_relaxed)) {
        origin = mine;
    }
    return now_ns > origin ? ticks_from_ns(now_ns - origin) : 0;
}

} // namespace fsbml
