// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "schedule/schedule.hpp"

namespace fsbml
{

namespace
{

constexpr std::uint64_t kNever = ~std::uint64_t{0};

// An audience hears all decisions, else those of the trace are told apart in the thread already.
std::uint64_t interval(const fsbml_observer_config_t &c) noexcept
{
    return nullptr != c.audience.decision ? 1 : 0 != c.trace_every ? c.trace_every : kNever;
}

std::uint64_t trace_interval(const fsbml_observer_config_t &c) noexcept
{
    return 0 == c.trace_every ? kNever : nullptr != c.audience.decision ? c.trace_every : 1;
}

} // namespace

Observer::Charge Observer::charge_for(const Scheduler &s, const fsbml_observer_config_t &c) noexcept
{
    const bool keeps = kNever != interval(c);
    return FSBML_POLICY_ROUNDROBIN == s.policy() ? (keeps ? charge_to<true, true> : charge_to<true, false>)
                                                 : (keeps ? charge_to<false, true> : charge_to<false, false>);
}

Observer::Observer(Scheduler &scheduler, const fsbml_observer_config_t &config)
    : charge_(charge_for(scheduler, config)), scheduler_(scheduler), audience_(config.audience),
      every_(interval(config)),
      all_(scheduler.rails() >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << scheduler.rails()) - 1),
      n_rails_(scheduler.rails()), trace_every_(trace_interval(config)), until_traced_(1),
      ring_(0 != config.trace_every ? config.trace_entries : 0), times_(ring_.size() * n_rails_)
{
    // The first decision is kept: a short job, too, leaves a trace.
    for (Stripe &s : stripes_) {
        s.until_kept = 1;
    }
    for (std::size_t i = 0; i < n_rails_; ++i) {
        messages_before_[i] = scheduler.counters(i).messages;
    }
}

// What is seldom is apart and called last, so that the others save no registers for it.
template <bool kTakeTurns, bool kKeeps>
void Observer::charge_to(Observer &o, std::size_t rail, std::uint64_t now_ns, std::size_t bytes,
                         std::uint64_t peer_and_candidates, const fsbml_far_t *far) noexcept
{
    const unsigned mine = detail::own_stripe;
    if (!likely(mine < kOwnStripes)) {
        return charge_newly<kTakeTurns, kKeeps>(o, rail, now_ns, bytes, peer_and_candidates, far);
    }
    if (kKeeps && !likely(0 != --o.stripes_[mine].until_kept)) {
        o.stripes_[mine].until_kept = o.every_;
        return charge_kept<kTakeTurns>(o, rail, now_ns, bytes, peer_and_candidates, far);
    }
    Ticks backlog = 0;
    if (!likely(static_cast<std::uint32_t>(peer_and_candidates) == o.all_)
        || !likely(Scheduler::charge_own<kTakeTurns>(o.scheduler_, mine, rail, now_ns, bytes, backlog))) {
        return charge_of_some<kTakeTurns>(o, rail, now_ns, bytes, peer_and_candidates);
    }
    // Which rail got it the scheduler's counters tell, as long as all rails were candidates.
    std::atomic<Ticks> &most = o.stripes_[mine].cell[rail].most;
    if (most.load(std::memory_order_relaxed) < backlog) {
        most.store(backlog, std::memory_order_relaxed);
    }
}

// A thread's first decision, and all of one that shares its stripe.
template <bool kTakeTurns, bool kKeeps>
void Observer::charge_newly(Observer &o, std::size_t rail, std::uint64_t now_ns, std::size_t bytes,
                            std::uint64_t peer_and_candidates, const fsbml_far_t *far) noexcept
{
    if (detail::stripe() < kOwnStripes) {
        charge_to<kTakeTurns, kKeeps>(o, rail, now_ns, bytes, peer_and_candidates, far);
    } else if (kKeeps && 0 == o.of_shared_.fetch_add(1, std::memory_order_relaxed) % o.every_) {
        charge_kept<kTakeTurns>(o, rail, now_ns, bytes, peer_and_candidates, far);
    } else {
        charge_of_some<kTakeTurns>(o, rail, now_ns, bytes, peer_and_candidates);
    }
}

template <bool kTakeTurns>
void Observer::charge_kept(Observer &o, std::size_t rail, std::uint64_t now_ns, std::size_t bytes,
                           std::uint64_t peer_and_candidates, const fsbml_far_t *far) noexcept
{
    // Before the charge: the candidates and their arrivals.
    o.keep(rail, now_ns, bytes, static_cast<std::uint32_t>(peer_and_candidates),
           static_cast<std::uint32_t>(peer_and_candidates >> 32), far);
    charge_of_some<kTakeTurns>(o, rail, now_ns, bytes, peer_and_candidates);
}

template <bool kTakeTurns>
void Observer::charge_of_some(Observer &o, std::size_t rail, std::uint64_t now_ns, std::size_t bytes,
                              std::uint64_t peer_and_candidates) noexcept
{
    o.after_of_some(rail, Scheduler::charge_telling<kTakeTurns>(o.scheduler_, rail, now_ns, bytes),
                    static_cast<std::uint32_t>(peer_and_candidates));
}

void Observer::after_of_some(std::size_t rail, Ticks backlog, std::uint32_t candidates) noexcept
{
    Stripe &s = stripes_[detail::stripe()];
    constexpr auto relaxed = std::memory_order_relaxed;
    if (candidates != all_) {
        s.of_some.fetch_add(1, relaxed);
        s.cell[rail].chosen_of_some.fetch_add(1, relaxed);
        for (std::uint32_t others = candidates & all_ & ~(std::uint32_t{1} << rail); 0 != others;
             others &= others - 1) {
            s.cell[__builtin_ctz(others)].passed.fetch_add(1, relaxed);
        }
    }
    Ticks most = s.cell[rail].most.load(relaxed);
    while (most < backlog && !s.cell[rail].most.compare_exchange_weak(most, backlog, relaxed)) {
    }
}

void Observer::keep(std::size_t rail, std::uint64_t now_ns, std::size_t bytes, std::uint32_t candidates,
                    std::uint32_t peer, const fsbml_far_t *far) noexcept
{
    fsbml_decision_t d{};
    d.now_ns = now_ns;
    d.bytes = bytes;
    d.peer = peer;
    d.candidates = candidates & all_;
    d.rail = static_cast<std::uint32_t>(rail);
    for (std::uint32_t left = d.candidates; 0 != left; left &= left - 1) {
        const auto i = static_cast<std::size_t>(__builtin_ctz(left));
        const Scheduler::Outlook o = scheduler_.outlook(i, now_ns, bytes);
        d.backlog_ns[i] = o.backlog_ns;
        d.extra_ns[i] = nullptr != far ? ns_from_ticks(extra_of(*far, i)) : 0;
        d.arrival_ns[i] = o.arrival_ns + d.extra_ns[i];
    }
    const std::lock_guard<std::mutex> guard(lock_);
    if (nullptr != audience_.decision) {
        audience_.decision(audience_.context, &d);
    }
    if (!ring_.empty() && 0 == --until_traced_) {
        until_traced_ = trace_every_;
        put_in_ring(d);
    }
}

void Observer::put_in_ring(const fsbml_decision_t &d) noexcept
{
    const std::size_t at = traced_++ % ring_.size();
    ring_[at] = {d.now_ns, d.bytes, d.peer, d.candidates, d.rail};
    for (std::size_t i = 0; i < n_rails_; ++i) {
        times_[at * n_rails_ + i] = {d.backlog_ns[i], d.arrival_ns[i], d.extra_ns[i]};
    }
}

fsbml_decision_t Observer::take_from_ring(std::size_t at) const noexcept
{
    const Kept &k = ring_[at];
    fsbml_decision_t d{};
    d.now_ns = k.now_ns;
    d.bytes = k.bytes;
    d.peer = k.peer;
    d.candidates = k.candidates;
    d.rail = k.rail;
    for (std::size_t i = 0; i < n_rails_; ++i) {
        d.backlog_ns[i] = times_[at * n_rails_ + i].backlog_ns;
        d.arrival_ns[i] = times_[at * n_rails_ + i].arrival_ns;
        d.extra_ns[i] = times_[at * n_rails_ + i].extra_ns;
    }
    return d;
}

std::uint64_t Observer::trace(void (*visit)(void *, const fsbml_decision_t *), void *context) const noexcept
{
    const std::lock_guard<std::mutex> guard(lock_);
    const std::uint64_t lost = traced_ > ring_.size() ? traced_ - ring_.size() : 0;
    for (std::uint64_t i = lost; i < traced_; ++i) {
        const fsbml_decision_t d = take_from_ring(i % ring_.size());
        visit(context, &d);
    }
    return lost;
}

void Observer::arrived(const fsbml_arrival_t &a) noexcept
{
    if (a.rail >= n_rails_) {
        return;
    }
    const std::lock_guard<std::mutex> guard(lock_);
    Arrivals &sum = arrivals_[a.rail];
    ++sum.n;
    sum.predicted_ns += a.predicted_ns;
    sum.observed_ns += a.observed_ns;
    sum.error_ns +=
        a.observed_ns > a.predicted_ns ? a.observed_ns - a.predicted_ns : a.predicted_ns - a.observed_ns;
    if (nullptr != audience_.arrival) {
        audience_.arrival(audience_.context, &a);
    }
}

fsbml_rail_seen_t Observer::rail(std::size_t rail) const noexcept
{
    constexpr auto relaxed = std::memory_order_relaxed;
    fsbml_rail_seen_t seen{};
    if (rail >= n_rails_) {
        return seen;
    }
    Ticks most = 0;
    // All rails that were candidates for a message and did not get it: how many messages there were, and of
    // those that had all rails to choose from, the scheduler knows the ones that got them.
    std::uint64_t decisions = 0, of_some = 0, chosen_of_some = 0;
    for (std::size_t i = 0; i < n_rails_; ++i) {
        decisions += scheduler_.counters(i).messages - messages_before_[i];
    }
    for (const Stripe &s : stripes_) {
        of_some += s.of_some.load(relaxed);
        chosen_of_some += s.cell[rail].chosen_of_some.load(relaxed);
        seen.passed_over += s.cell[rail].passed.load(relaxed);
        most = std::max(most, s.cell[rail].most.load(relaxed));
    }
    const std::uint64_t chosen = scheduler_.counters(rail).messages - messages_before_[rail] - chosen_of_some;
    decisions -= std::min(of_some, decisions); // others may be between the two
    seen.passed_over += decisions > chosen ? decisions - chosen : 0;
    seen.backlog_max_ns = ns_from_ticks(most);
    const std::lock_guard<std::mutex> guard(lock_);
    const Arrivals &a = arrivals_[rail];
    seen.arrivals = a.n;
    seen.predicted_ns = a.predicted_ns;
    seen.observed_ns = a.observed_ns;
    seen.error_ns = a.error_ns;
    return seen;
}

} // namespace fsbml
