// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "schedule/schedule.hpp"

#include "model/model.hpp"

#include <algorithm>
#include <cerrno>

namespace fsbml
{

namespace
{

// Each policy is one key; the rail with the least key is chosen, of equal ones the lowest index. With
// kIsTime, the key has L in it.
template <bool kShaped>
struct ByArrival {
    static constexpr bool kBySize = true;
    static constexpr bool kIsTime = true;
    static Ticks key(const Rail &r, Ticks vft, Ticks now, Ticks beyond, std::uint64_t steps) noexcept
    {
        return r.delivery<kShaped>(vft, now, beyond, steps);
    }
};
struct ByThesis {
    static constexpr bool kBySize = false;
    static constexpr bool kIsTime = true;
    static Ticks key(const Rail &r, Ticks vft, Ticks now, Ticks beyond, std::uint64_t /*steps*/) noexcept
    {
        return r.thesis_key(vft, now, beyond);
    }
};
// Round robin: the rail whose last message is the longest ago. Unlike a running index this stays fair when
// destinations with different rails alternate, and asking twice before sending does not skip a rail. Or, of
// policy `single`, the rail with the least gap(64 KiB).
struct ByTurn {
    static constexpr bool kBySize = false;
    static constexpr bool kIsTime = false;
    static Ticks key(const Rail &r, Ticks /*vft*/, Ticks /*now*/, Ticks /*beyond*/,
                     std::uint64_t /*steps*/) noexcept
    {
        return r.turn.load(std::memory_order_relaxed);
    }
};
// What a destination adds to the keys of its rails: mostly nothing, which costs nothing.
struct AsMeasured {
    static constexpr Ticks of(std::ptrdiff_t /*rail*/) noexcept { return 0; }
};
struct Farther {
    const fsbml_far_t *far;
    Ticks of(std::ptrdiff_t rail) const noexcept { return extra_of(*far, static_cast<std::size_t>(rail)); }
};

constexpr std::uint32_t mask_of(std::size_t n) noexcept
{
    return n >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << n) - 1;
}

} // namespace

Scheduler::Scheduler(std::size_t n_rails, fsbml_policy_t policy) noexcept
    : choose_(choose_function(policy, false)),
      charge_(FSBML_POLICY_ROUNDROBIN == policy ? charge_to<true> : charge_to<false>),
      existing_(mask_of(n_rails)), n_rails_(static_cast<std::uint32_t>(n_rails)),
      choose_far_(choose_far_function(policy, false)), policy_(policy)
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

Scheduler::Choose Scheduler::choose_function(fsbml_policy_t policy, bool shaped) noexcept
{
    switch (policy) {
    case FSBML_POLICY_THESIS:
        return choose_by<ByThesis>;
    case FSBML_POLICY_ROUNDROBIN:
        return choose_by<ByTurn>;
    case FSBML_POLICY_SINGLE:
        return choose_by<ByTurn>;
    case FSBML_POLICY_ARRIVAL:
        break;
    }
    return shaped ? choose_by<ByArrival<true>> : choose_by<ByArrival<false>>;
}

Scheduler::ChooseFar Scheduler::choose_far_function(fsbml_policy_t policy, bool shaped) noexcept
{
    switch (policy) {
    case FSBML_POLICY_THESIS:
        return choose_far_by<ByThesis>;
    case FSBML_POLICY_ROUNDROBIN:
        return choose_far_by<ByTurn>;
    case FSBML_POLICY_SINGLE:
        return choose_far_by<ByTurn>;
    case FSBML_POLICY_ARRIVAL:
        break;
    }
    return shaped ? choose_far_by<ByArrival<true>> : choose_far_by<ByArrival<false>>;
}

template <class Rule, class Extra>
__attribute__((always_inline)) inline int Scheduler::least(Ticks now, std::size_t bytes,
                                                           std::uint32_t measured, Extra extra) const noexcept
{
    const Ticks beyond = this->beyond();
    const std::uint64_t steps = byte_steps(bytes);
    const Rail *const rails = Rule::kBySize ? models_.row(steps) : models_.row();
    const VftSlot *const slots = vfts_.load(std::memory_order_acquire);
    const auto key_of = [&](std::size_t rail) {
        return Rule::key(rails[rail], slots[rail].vft.load(std::memory_order_relaxed), now, beyond, steps)
               + extra.of(static_cast<std::ptrdiff_t>(rail));
    };
    std::size_t best = 0;
    Ticks best_key = 0;
    // Which rail wins is not to be foretold, hence conditional moves for that.
    const auto consider = [&](std::size_t rail) {
        const Ticks key = key_of(rail);
        best = __builtin_expect_with_probability(key < best_key, 1, 0.5) ? rail : best;
        best_key = key < best_key ? key : best_key;
    };
    // The masks of a job are few, so what hangs on them are branches that predict well. Most have all rails.
    if (likely(measured == existing_)) {
        best_key = key_of(0);
        for (std::size_t rail = 1; rail < n_rails_; ++rail) {
            consider(rail);
        }
    } else {
        best = static_cast<unsigned>(__builtin_ctz(measured));
        best_key = key_of(best);
        std::size_t rail = best;
        for (std::uint32_t left = measured >> best; 0 != (left >>= 1);) {
            ++rail;
            if ((left & 1) != 0) {
                consider(rail);
            }
        }
    }
    return static_cast<int>(best);
}

template <class Rule, class Extra>
__attribute__((always_inline)) inline int Scheduler::choose_with(const Scheduler &s, std::uint64_t now_ns,
                                                                 std::size_t bytes, std::uint32_t mask,
                                                                 Extra extra) noexcept
{
    // Rails without a model only when no rail has one, and then the first.
    const std::uint32_t measured = mask & s.models_.measured();
    if (0 == measured) {
        mask &= s.existing_;
        return 0 == mask ? -1 : __builtin_ctz(mask);
    }
    const std::uint64_t origin = s.origin_.load(std::memory_order_relaxed);
    return likely(now_ns > origin) ? s.least<Rule>(ticks_from_ns(now_ns - origin), bytes, measured, extra)
                                   : choose_before<Rule>(s, now_ns, bytes, measured, extra);
}

template <class Rule>
int Scheduler::choose_by(const Scheduler &s, std::uint64_t now_ns, std::size_t bytes,
                         std::uint32_t mask) noexcept
{
    return choose_with<Rule>(s, now_ns, bytes, mask, AsMeasured{});
}

template <class Rule>
int Scheduler::choose_far_by(const Scheduler &s, std::uint64_t now_ns, std::size_t bytes, std::uint32_t mask,
                             const fsbml_far_t &far) noexcept
{
    if constexpr (Rule::kIsTime) {
        return choose_with<Rule>(s, now_ns, bytes, mask, Farther{&far});
    } else {
        static_cast<void>(far);
        return choose_by<Rule>(s, now_ns, bytes, mask);
    }
}

// Out of line, so that what nearly all decisions do calls nothing and has no frame.
template <class Rule, class Extra>
__attribute__((noinline, cold)) int Scheduler::choose_before(const Scheduler &s, std::uint64_t now_ns,
                                                             std::size_t bytes, std::uint32_t measured,
                                                             Extra extra) noexcept
{
    return s.least<Rule>(s.clock_before(now_ns), bytes, measured, extra);
}

template <bool kTakeTurns>
void Scheduler::charge_to(Scheduler &s, std::size_t rail, std::uint64_t now_ns, std::size_t bytes) noexcept
{
    static_cast<void>(charge_telling<kTakeTurns>(s, rail, now_ns, bytes));
}

int Scheduler::set_model(std::size_t rail, const fsbml_loggp_t &p) noexcept
{
    if (rail >= n_rails_ || !valid(p)) {
        return -EINVAL;
    }
    shaped(models_.set(rail, p, policy_));
    return 0;
}

void Scheduler::scale_model(std::size_t rail, double factor) noexcept
{
    shaped(models_.scale(rail, factor, policy_));
}

void Scheduler::doubt(std::size_t rail, fsbml_doubt_t doubt) noexcept
{
    const auto set = [bit = std::uint32_t{1} << rail](std::atomic<std::uint32_t> &rails, bool is) {
        if (is) {
            rails.fetch_or(bit, std::memory_order_relaxed);
        } else {
            rails.fetch_and(~bit, std::memory_order_relaxed);
        }
    };
    set(guessed_, FSBML_DOUBT_ALL == doubt);
    set(may_hide_, FSBML_DOUBT_BUCKET == doubt);
}

int Scheduler::choose_part(std::uint64_t now_ns, std::size_t bytes, std::size_t whole, std::uint32_t mask,
                           const fsbml_far_t *far) const noexcept
{
    std::uint32_t measured = mask & models_.measured();
    if (!is_shaped_.load(std::memory_order_relaxed) || FSBML_POLICY_ARRIVAL != policy_ || 0 == measured) {
        return nullptr != far ? choose(now_ns, bytes, mask, *far) : choose(now_ns, bytes, mask);
    }
    const VftSlot *const slots = vfts_.load(std::memory_order_acquire);
    const Ticks now = clock(now_ns), beyond = this->beyond();
    const std::uint64_t steps = byte_steps(bytes), all = byte_steps(whole);
    const Rail *const rails = models_.row(steps);
    int best = -1;
    for (Ticks soonest = ~Ticks{0}; 0 != measured; measured &= measured - 1) {
        const auto rail = static_cast<std::size_t>(__builtin_ctz(measured));
        const Ticks vft = slots[rail].vft.load(std::memory_order_relaxed);
        const Ticks then = rails[rail].delivery<true>(vft, now, beyond, steps, all)
                           + (nullptr != far ? extra_of(*far, rail) : 0);
        best = then < soonest ? static_cast<int>(rail) : best;
        soonest = std::min(soonest, then);
    }
    return best;
}

void Scheduler::shaped(bool any) noexcept
{
    is_shaped_.store(any, std::memory_order_relaxed);
    choose_.store(choose_function(policy_, any), std::memory_order_relaxed);
    choose_far_.store(choose_far_function(policy_, any), std::memory_order_relaxed);
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
