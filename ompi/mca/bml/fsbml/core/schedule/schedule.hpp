// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Which rail delivers first, what a message costs it, and what is cut: policies, the scheduler, observers
// of decisions, and the types behind the handles of both. What they work on is in models.hpp. The least time
// of arrival decides (vft_scheduler.cpp), so that a slow rail is passed over while it is idle, as long as a
// busy one delivers sooner. Bulk may take another rail (flow/windows.cpp), and a rail with which all carry
// less is left out from the start (measure/start/together.cpp).
#ifndef FSBML_SCHEDULE_HPP
#define FSBML_SCHEDULE_HPP

#include "api/fsbml_core.h"
#include "api/fsbml_observe.h"
#include "ledger/ledger.hpp"
#include "schedule/models.hpp"

#include <mutex>
#include <vector>

namespace fsbml
{

// Names of the policies; what each one minimises is in vft_scheduler.cpp.
bool policy_known(fsbml_policy_t p) noexcept;
int policy_parse(const char *text, fsbml_policy_t *out) noexcept;
const char *policy_name(fsbml_policy_t p) noexcept;
const char *policy_list() noexcept;

// What a rail to such a destination adds, as it may change while others choose by it.
inline Ticks extra_of(const fsbml_far_t &far, std::size_t rail) noexcept
{
    return __atomic_load_n(&far.ticks[rail], __ATOMIC_RELAXED);
}

// The scheduler: which rail delivers first, by virtual finishing times (thesis 4.4).
//
// A decision and its charge are two steps, because the sender can fail in between. Both are wait-free but for
// the charge's compare-and-swap loop; neither allocates, locks or touches floating point. Rails are shared by
// all destinations (4.4.6): a destination is a bit mask of the rails that reach it. With the node's ledger,
// they are shared by all ranks of the node as well.
class Scheduler
{
public:
    Scheduler(std::size_t n_rails, fsbml_policy_t policy) noexcept;
    Scheduler(const Scheduler &) = delete;
    Scheduler &operator=(const Scheduler &) = delete;

    std::size_t rails() const noexcept { return n_rails_; }
    int set_model(std::size_t rail, const fsbml_loggp_t &p) noexcept;
    void scale_model(std::size_t rail, double factor) noexcept;
    void doubt(std::size_t rail, fsbml_doubt_t doubt) noexcept;
    // No look has shown yet that a rail is as its model says.
    bool is_guess(std::size_t rail) const noexcept
    {
        return 0 != (guessed_.load(std::memory_order_relaxed) >> rail & 1);
    }
    bool may_hide_bucket(std::size_t rail) const noexcept
    {
        return 0 != (may_hide_.load(std::memory_order_relaxed) >> rail & 1);
    }
    bool model(std::size_t rail, fsbml_loggp_t &p) noexcept { return models_.get(rail, p); }
    // Moves the rails' VFTs, which begin anew, into a ledger, or with nullptr back into the scheduler's own
    // memory. Others may schedule meanwhile. False if there is no room.
    bool share(Ledger *ledger, const char *const *keys) noexcept;

    int choose(std::uint64_t now_ns, std::size_t bytes, std::uint32_t mask) const noexcept
    {
        return choose_.load(std::memory_order_relaxed)(*this, now_ns, bytes, mask);
    }
    // For a destination some of whose rails are farther than their models say.
    int choose(std::uint64_t now_ns, std::size_t bytes, std::uint32_t mask,
               const fsbml_far_t &far) const noexcept
    {
        return choose_far_.load(std::memory_order_relaxed)(*this, now_ns, bytes, mask, far);
    }
    // For a part of a message of `whole` bytes.
    int choose_part(std::uint64_t now_ns, std::size_t bytes, std::size_t whole, std::uint32_t mask,
                    const fsbml_far_t *far) const noexcept;
    void charge(std::size_t rail, std::uint64_t now_ns, std::size_t bytes) noexcept
    {
        charge_(*this, rail, now_ns, bytes);
    }
    // Charges likewise, and returns the backlog that the rail then has.
    template <bool kTakeTurns>
    static Ticks charge_telling(Scheduler &s, std::size_t rail, std::uint64_t now_ns,
                                std::size_t bytes) noexcept;
    // The same for the owner of a stripe of counters, without a call; false: nothing is charged, take the
    // other.
    template <bool kTakeTurns>
    static bool charge_own(Scheduler &s, unsigned stripe, std::size_t rail, std::uint64_t now_ns,
                           std::size_t bytes, Ticks &backlog) noexcept;
    // What the transport says a rail still has to do, in place of what was charged: vft(rail) was read before
    // the transport was asked. False, and nothing is changed, if the rail was charged since.
    bool correct(std::size_t rail, Ticks seen, std::uint64_t now_ns, std::uint64_t backlog_ns) noexcept
    {
        const Ticks then = clock(now_ns) + ticks_from_ns(backlog_ns);
        return vfts_.load(std::memory_order_acquire)[rail].vft.compare_exchange_strong(
            seen, then, std::memory_order_relaxed);
    }
    Ticks vft(std::size_t rail) const noexcept
    {
        return vfts_.load(std::memory_order_acquire)[rail].vft.load(std::memory_order_relaxed);
    }
    fsbml_policy_t policy() const noexcept { return policy_; }
    // See fsbml_sched_cut() (cut.cpp).
    std::size_t cut(std::uint64_t now_ns, std::size_t bytes, std::uint32_t mask, const fsbml_far_t *far,
                    std::size_t *share) const noexcept;

    std::uint64_t predict(std::size_t rail, std::uint64_t now_ns, std::size_t bytes) const noexcept
    {
        const std::uint64_t steps = byte_steps(bytes);
        return ns_from_ticks(
            models_.row(steps)[rail].delivery<true>(vft(rail), clock(now_ns), beyond(), steps)
            - models_.handicap(rail));
    }
    // Both at one moment, so that they fit together whatever is charged meanwhile.
    struct Outlook {
        std::uint64_t backlog_ns, arrival_ns;
    };
    Outlook outlook(std::size_t rail, std::uint64_t now_ns, std::size_t bytes) const noexcept
    {
        const std::uint64_t steps = byte_steps(bytes);
        const Ticks vft = this->vft(rail), now = clock(now_ns);
        return {ns_from_ticks(fsbml::backlog(vft, now, beyond())),
                ns_from_ticks(models_.row(steps)[rail].delivery<true>(vft, now, beyond(), steps)
                              - models_.handicap(rail))};
    }
    std::uint64_t backlog(std::size_t rail, std::uint64_t now_ns) const noexcept
    {
        return ns_from_ticks(fsbml::backlog(vft(rail), clock(now_ns), beyond()));
    }
    fsbml_rail_counters_t counters(std::size_t rail) const noexcept { return counters_.sum(rail); }

private:
    // The policy is decided once, at set-up: these are its functions.
    using Choose = int (*)(const Scheduler &, std::uint64_t, std::size_t, std::uint32_t) noexcept;
    using ChooseFar = int (*)(const Scheduler &, std::uint64_t, std::size_t, std::uint32_t,
                              const fsbml_far_t &) noexcept;
    using Charge = void (*)(Scheduler &, std::size_t, std::uint64_t, std::size_t) noexcept;

    template <class Rule>
    static int choose_by(const Scheduler &s, std::uint64_t now_ns, std::size_t bytes,
                         std::uint32_t mask) noexcept;
    template <class Rule>
    static int choose_far_by(const Scheduler &s, std::uint64_t now_ns, std::size_t bytes, std::uint32_t mask,
                             const fsbml_far_t &far) noexcept;
    // Both of them; `extra` says what a destination adds to a rail's key.
    template <class Rule, class Extra>
    static int choose_with(const Scheduler &s, std::uint64_t now_ns, std::size_t bytes, std::uint32_t mask,
                           Extra extra) noexcept;
    template <class Rule, class Extra>
    static int choose_before(const Scheduler &s, std::uint64_t now_ns, std::size_t bytes,
                             std::uint32_t measured, Extra extra) noexcept;
    // The measured rail with the least key.
    template <class Rule, class Extra>
    int least(Ticks now, std::size_t bytes, std::uint32_t measured, Extra extra) const noexcept;
    template <bool kTakeTurns>
    static void charge_to(Scheduler &s, std::size_t rail, std::uint64_t now_ns, std::size_t bytes) noexcept;
    template <bool kTakeTurns>
    static Ticks charge_before(Scheduler &s, std::atomic<Ticks> &vft, std::size_t rail, std::uint64_t now_ns,
                               std::size_t bytes) noexcept;
    template <bool kTakeTurns, typename Counted>
    Ticks add(std::atomic<Ticks> &vft, std::size_t rail, Ticks now, std::size_t bytes,
              Counted counted) noexcept;
    void shaped(bool any) noexcept; // whether any rail has a burst
    static Choose choose_function(fsbml_policy_t policy, bool shaped) noexcept;
    static ChooseFar choose_far_function(fsbml_policy_t policy, bool shaped) noexcept;

    // Ticks since the first `now` that was given: a monotonic clock may itself be years old.
    Ticks clock(std::uint64_t now_ns) const noexcept
    {
        const std::uint64_t origin = origin_.load(std::memory_order_relaxed);
        return likely(now_ns > origin) ? ticks_from_ns(now_ns - origin) : clock_before(now_ns);
    }
    Ticks clock_before(std::uint64_t now_ns) const noexcept;

    Ticks beyond() const noexcept { return beyond_.load(std::memory_order_relaxed); }

    static constexpr std::uint64_t kNoOrigin = ~std::uint64_t{0};

    // Read by every decision, written at set-up only.
    std::atomic<Choose> choose_; // by the policy, and by whether any rail is shaped
    const Charge charge_;
    const std::uint32_t existing_;
    const std::uint32_t n_rails_;
    std::atomic<VftSlot *> vfts_{own_};
    mutable std::atomic<std::uint64_t> origin_{kNoOrigin};
    std::atomic<Ticks> beyond_{kBeyondOwn};
    std::atomic<std::uint32_t> guessed_{0}, may_hide_{0};
    std::atomic<bool> is_shaped_{false};
    std::atomic<ChooseFar> choose_far_;
    const fsbml_policy_t policy_;

    Models models_;
    VftSlot own_[FSBML_MAX_RAILS]; // in use without a ledger
    alignas(64) std::atomic<std::uint64_t> turns_{0};
    Counters counters_;
};

// Charges are compiled into all code that makes one: the scheduler's own, and the observer's, which needs
// to know the backlog that follows.

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

// Optional instrumentation of decisions. It is beside the scheduler, and gets charges only where it is on,
// so that it costs nothing else. What is kept of each message is kept as counters are (models.hpp): no
// locked instruction. What is kept of some, or told to an audience, is kept under a lock.
class Observer
{
public:
    Observer(Scheduler &scheduler, const fsbml_observer_config_t &config);
    Observer(const Observer &) = delete;
    Observer &operator=(const Observer &) = delete;

    // Charges, and records the charge.
    void charge(std::size_t rail, std::uint64_t now_ns, std::size_t bytes, std::uint32_t candidates,
                std::uint32_t peer, const fsbml_far_t *far) noexcept
    {
        charge_(*this, rail, now_ns, bytes, std::uint64_t{peer} << 32 | candidates, far);
    }
    std::size_t rails() const noexcept { return n_rails_; }

    void arrived(const fsbml_arrival_t &a) noexcept;
    fsbml_rail_seen_t rail(std::size_t rail) const noexcept;
    std::uint64_t trace(void (*visit)(void *, const fsbml_decision_t *), void *context) const noexcept;

private:
    using Counter = std::atomic<std::uint64_t>;
    struct Cell {
        std::atomic<Ticks> most{0};
        Counter chosen_of_some{0}; // it got the message, and not all rails were candidates
        Counter passed{0};         // another one got it
    };
    struct alignas(64) Stripe {
        std::uint64_t until_kept = 0; // the owner's decisions until the next that is kept, that one included
        Counter of_some{0};           // decisions where not all rails were candidates
        Cell cell[FSBML_MAX_RAILS];
    };
    // A decision in the ring, and apart from it its candidates' times.
    struct Kept {
        std::uint64_t now_ns, bytes;
        std::uint32_t peer, candidates, rail;
    };
    struct Times {
        std::uint64_t backlog_ns, arrival_ns, extra_ns;
    };
    struct Arrivals {
        std::uint64_t n = 0, predicted_ns = 0, observed_ns = 0, error_ns = 0;
    };

    // As the parameter bml_fsbml_trace_entries says.
    static_assert(32 == sizeof(Kept) && 24 == sizeof(Times), "what an entry takes is told to users");

    // The peer and the candidates in one word: with more than six arguments some take the way over memory.
    using Charge = void (*)(Observer &, std::size_t, std::uint64_t, std::size_t, std::uint64_t,
                            const fsbml_far_t *) noexcept;
    template <bool kTakeTurns, bool kKeeps>
    static void charge_to(Observer &o, std::size_t rail, std::uint64_t now_ns, std::size_t bytes,
                          std::uint64_t peer_and_candidates, const fsbml_far_t *far) noexcept;
    template <bool kTakeTurns, bool kKeeps>
    __attribute__((noinline, cold)) static void
    charge_newly(Observer &o, std::size_t rail, std::uint64_t now_ns, std::size_t bytes,
                 std::uint64_t peer_and_candidates, const fsbml_far_t *far) noexcept;
    template <bool kTakeTurns>
    __attribute__((noinline)) static void charge_kept(Observer &o, std::size_t rail, std::uint64_t now_ns,
                                                      std::size_t bytes, std::uint64_t peer_and_candidates,
                                                      const fsbml_far_t *far) noexcept;
    template <bool kTakeTurns>
    __attribute__((noinline)) static void charge_of_some(Observer &o, std::size_t rail, std::uint64_t now_ns,
                                                         std::size_t bytes,
                                                         std::uint64_t peer_and_candidates) noexcept;
    static Charge charge_for(const Scheduler &s, const fsbml_observer_config_t &c) noexcept;
    __attribute__((noinline)) void after_of_some(std::size_t rail, Ticks backlog,
                                                 std::uint32_t candidates) noexcept;
    __attribute__((noinline)) void keep(std::size_t rail, std::uint64_t now_ns, std::size_t bytes,
                                        std::uint32_t candidates, std::uint32_t peer,
                                        const fsbml_far_t *far) noexcept;
    void put_in_ring(const fsbml_decision_t &d) noexcept;
    fsbml_decision_t take_from_ring(std::size_t at) const noexcept;

    const Charge charge_;
    Scheduler &scheduler_;
    const fsbml_audience_t audience_;
    const std::uint64_t every_; // decisions of a thread from one that is kept to the next
    const std::uint32_t all_;
    const std::size_t n_rails_;
    std::uint64_t messages_before_[FSBML_MAX_RAILS] = {}; // those of the scheduler's counters

    mutable std::mutex lock_; // of all below but the stripes
    const std::uint64_t trace_every_;
    std::uint64_t until_traced_;
    std::uint64_t traced_ = 0; // decisions put into the ring
    std::vector<Kept> ring_;
    std::vector<Times> times_; // n_rails_ for each in the ring
    Arrivals arrivals_[FSBML_MAX_RAILS];

    Counter of_shared_{0}; // decisions of threads that share a stripe, where some are kept
    Stripe stripes_[kOwnStripes + 1];
};

} // namespace fsbml

// ---- The types behind the C boundary's handles of a scheduler and of its observer.

struct fsbml_sched_t final {
    fsbml_sched_t(std::size_t n, fsbml_policy_t p) noexcept : impl(n, p) {}
    fsbml::Scheduler impl;
};

struct fsbml_observer_t final {
    fsbml_observer_t(fsbml::Scheduler &s, const fsbml_observer_config_t &c) : impl(s, c) {}
    fsbml::Observer impl;
};

#endif
