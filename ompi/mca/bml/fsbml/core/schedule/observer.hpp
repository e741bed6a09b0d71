// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Optional instrumentation of decisions. It is beside the scheduler, and gets charges only where it is on, so
// that it costs nothing else. What is kept of each message is kept as counters are (counters.hpp):
// no locked instruction. What is kept of some, or told to an audience, is kept under a lock.
#ifndef FSBML_OBSERVER_HPP
#define FSBML_OBSERVER_HPP

#include "api/fsbml_observe.h"
#include "schedule/vft_scheduler.hpp"

#include <mutex>
#include <vector>

namespace fsbml
{

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

#endif
