// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "flow/flow.hpp"

#include <algorithm>
#include <cstring>

namespace fsbml
{

namespace
{

// Between two pieces on a rail that gets nothing else; longer each time if its model has always said so, and
// seems to be right.
constexpr std::uint64_t kTrialNs = 200'000'000, kLongestTrialNs = 3'200'000'000;
constexpr std::uint64_t kTellNs = 300'000'000;  // a rate that lasts so long is told of, ...
constexpr std::uint64_t kUnseenNs = 50'000'000; // ... looks no farther apart than this, ...
// ... and this process away for less than a fifth of that, as it may be short of a processor; or it differs
// by far.
constexpr std::uint64_t kAway = 5;
constexpr double kFarOff = 4.0;
constexpr std::uint64_t kFar = 4; // round trips
constexpr std::size_t kUnknownQuantum = 65536;
constexpr std::uint64_t kLookShare = 50; // times what a look takes is the least time from one to the next
constexpr double kCrossing = 4.0;        // that part of the time, or more
constexpr double kSlow = 2.0;            // times slower than its model: it would get no more bulk
constexpr double kDrift = 0.05;          // of the rate, for which the model is not touched
constexpr double kTold = 1.25;           // likewise for telling
constexpr double kMostNs = 60e9;         // of a backlog; a ledger holds 69 s
constexpr double kHiddenBucketNs = 5e6;  // of a shaper, where a disturbed start has not seen it

} // namespace

// A receiver that takes nothing in has acknowledged all that it has room for, so nothing is on its way. Where
// much is, it is the rail that holds it: its queue has filled the receiver's window.
void add_connection(fsbml_flow_seen_t &seen, const fsbml_flow_connection_t &c) noexcept
{
    const std::uint64_t limited = c.in_flight > FSBML_FLOW_BULK ? 0 : c.limited_ns;
    if (c.is_silent && 0 == c.acknowledged) {
        return;
    }
    if (!c.is_first) {
        seen.look.bytes += c.acknowledged;
        seen.look.busy_ns += c.busy_ns;
        seen.look.limited_ns += limited;
        seen.usual_ns = c.received > seen.received / 2 ? c.usual_ns : seen.usual_ns;
        seen.received += c.received;
    }
    if (c.is_first || limited <= c.busy_ns / 2) {
        seen.queued += c.queued;
        seen.in_flight += c.in_flight;
        seen.with_bulk += c.queued > FSBML_FLOW_BULK ? 1 : 0;
    }
    if (0 == seen.round_trip_ns || c.round_trip_ns < seen.round_trip_ns) {
        seen.round_trip_ns = c.round_trip_ns;
    }
    seen.payload = c.payload;
}

Feedback::Feedback(Scheduler &sched, const fsbml_feedback_config_t &config) noexcept
    : sched_(sched), watched_(config.watched), alone_(config.alone), busy_step_ns_(config.busy_step_ns),
      windows_(sched, config.alone, config.may_refuse)
{
    for (RailState &s : rail_) {
        s.quantum.store(kUnknownQuantum, std::memory_order_relaxed);
    }
}

// ------------------------------------------------------------------- rates

// The rail may have another model than before, or its first. False: it has none.
bool Feedback::has_model(std::size_t rail) noexcept
{
    RailState &s = rail_[rail];
    fsbml_loggp_t given;
    if (!sched_.model(rail, given)) {
        return false;
    }
    if (!s.live || 0 != std::memcmp(&given, &s.given, sizeof given)) {
        const std::size_t quantum = s.quantum.load();
        s.given = given;
        s.model_gap = given.G_ns_per_byte + given.g_ns / static_cast<double>(quantum);
        s.told_gap = s.model_gap;
        s.tell_gap = 0.0;
        s.is_doubted = sched_.may_hide_bucket(rail) || sched_.is_guess(rail);
        s.gap.store(s.model_gap);
        const double burst_ns =
            sched_.may_hide_bucket(rail) ? std::max(given.burst_ns, kHiddenBucketNs) : given.burst_ns;
        s.live.emplace(s.model_gap, burst_ns / given.G_ns_per_byte, quantum, sched_.is_guess(rail));
    }
    return true;
}

void Feedback::apply(std::size_t rail, std::uint64_t now_ns) noexcept
{
    RailState &s = rail_[rail];
    const double live = s.live->gap();
    double gap = s.gap.load(std::memory_order_relaxed);
    if (live > gap * (1.0 + kDrift) || live < gap / (1.0 + kDrift)) {
        gap = live;
        s.gap.store(gap, std::memory_order_relaxed);
        sched_.scale_model(rail, live / s.model_gap);
    }
    if (gap < s.told_gap * kTold && s.told_gap < gap * kTold) {
        s.beyond_ns = 0;
        s.is_doubted = false;
    } else if (0 == s.beyond_ns || now_ns - s.beyond_ns > kTellNs) {
        const std::uint64_t away = pauses_.away_ns() - s.away_ns;
        const bool is_told =
            gap * kFarOff < s.told_gap || gap > kFarOff * s.told_gap || away * kAway < now_ns - s.beyond_ns;
        if (0 != s.beyond_ns && is_told) {
            s.tell_gap = s.is_doubted ? 0.0 : s.told_gap;
            s.told_gap = gap;
            s.beyond_ns = 0;
        } else {
            s.beyond_ns = now_ns;
            s.away_ns = pauses_.away_ns();
        }
    }
}

// Whether a rail had something to do all the time. What is on its way, or waits for an acknowledgement that
// the peer holds back, keeps no rail busy: more than that is queued; or some round trips later it has not
// delivered what was queued then, whatever its model says.
bool Feedback::is_busy(std::size_t rail, std::uint64_t now_ns, const fsbml_flow_seen_t &seen) noexcept
{
    RailState &s = rail_[rail];
    s.mark_bytes += seen.look.bytes;
    if (now_ns - s.mark_ns >= kFar * seen.round_trip_ns) {
        s.is_late = s.mark_bytes < s.mark_queued;
        s.mark_ns = now_ns;
        s.mark_queued = seen.queued;
        s.mark_bytes = 0;
    }
    const bool waits = seen.queued > FSBML_FLOW_BULK, moves = seen.queued > 0 && seen.look.bytes > 0;
    return (waits && static_cast<double>(seen.queued) * gap(rail) > static_cast<double>(seen.round_trip_ns))
           || ((waits || moves) && s.is_late);
}

void Feedback::learn(std::size_t rail, std::uint64_t now_ns, const fsbml_flow_seen_t &seen) noexcept
{
    RailState &s = rail_[rail];
    fsbml_live_look_t look = seen.look;
    look.elapsed_ns = now_ns - s.looked_ns;
    if (look.elapsed_ns > kUnseenNs) {
        s.beyond_ns = 0; // nothing says that the rate has lasted meanwhile
    }
    look.is_busy = is_busy(rail, now_ns, seen);
    look.is_uneven = seen.with_bulk > 1 || s.is_crossed;
    // A process that is short of a processor may have left the rail idle, once it had delivered what was
    // queued.
    const bool is_late = look.elapsed_ns > kLateLookNs;
    look.may_have_idled = is_late && look.bytes >= s.queued;
    look.uncounted_ns = look.may_have_idled ? busy_step_ns_ : is_late || s.is_crossed ? look.elapsed_ns : 0;
    // What a rail is slow with is on its way; what a receiver has no room for is not.
    if (seen.queued > FSBML_FLOW_BULK && seen.in_flight <= FSBML_FLOW_BULK) {
        look.limited_ns = look.elapsed_ns;
    }
    if (!alone_) { // what the others sent went the same way
        const bool known = 0 != seen.counted && 0 != s.interface_bytes;
        const auto sent = static_cast<double>(seen.counted - s.interface_bytes);
        s.interface_bytes = seen.counted;
        if (!known) {
            return;
        }
        look.bytes = static_cast<std::uint64_t>(sent * seen.payload);
        look.uncounted_ns = look.elapsed_ns; // they may have kept it busy all the time
    }
    if (LiveRate::Change::none != s.live->look(look, seen.round_trip_ns) || 0 != s.beyond_ns) {
        apply(rail, now_ns);
    }
    if (sched_.is_guess(rail) && !s.live->is_guess()) {
        sched_.doubt(rail, FSBML_DOUBT_NONE);
    }
}

bool Feedback::change(fsbml_rate_change_t &change) noexcept
{
    for (std::size_t r = 0; r < rails(); ++r) {
        RailState &s = rail_[r];
        if (s.tell_gap > 0.0) {
            change = {static_cast<std::uint32_t>(r), 8e3 / s.tell_gap, 8e3 / s.told_gap};
            s.tell_gap = 0.0;
            return true;
        }
    }
    return false;
}

// ------------------------------------------------------------------ trials

void Feedback::look_after_trials(std::size_t rail, std::uint64_t now_ns) noexcept
{
    RailState &s = rail_[rail];
    const Windows::Trial trial = windows_.tried(rail);
    if (0 != trial.sent_ns) {
        const std::uint64_t took = now_ns - trial.sent_ns;
        const bool faster =
            static_cast<double>(took) < s.live->gap() / kSlow * static_cast<double>(trial.bytes);
        if (LiveRate::Change::none != s.live->trial(trial.bytes, took)) {
            apply(rail, now_ns);
        }
        const bool has_fallen = gap(rail) > kSlow * s.model_gap;
        s.trial_pause_ns =
            has_fallen || faster ? kTrialNs : std::clamp(2 * s.trial_pause_ns, kTrialNs, kLongestTrialNs);
        s.trial_ns = faster ? now_ns : now_ns + s.trial_pause_ns;
        s.used_ns = faster ? 0 : s.used_ns; // and again at once
        windows_.end_trial();
    } else if ((gap(rail) > kSlow * s.model_gap || now_ns - s.used_ns > kTrialNs) && now_ns >= s.trial_ns
               && windows_.arm(rail)) {
        s.trial_ns = now_ns + kTrialNs;
    }
}

// ----------------------------------------------------------------- backlog

// A shaper's bucket, in the rail's time: so far the backlog may be ahead while nothing waits.
std::uint64_t Feedback::bucket_ns(std::size_t rail) const noexcept
{
    const RailState &s = rail_[rail];
    const double bucket = s.model_gap > 0.0 ? s.given.burst_ns * gap(rail) / s.model_gap : 0.0;
    return static_cast<std::uint64_t>(std::min(bucket, kMostNs));
}

// By what the transport has still to deliver, less what is on its way. That is more than what was charged if
// the rail has become slower; it is less if charges were too high, but a BTL may keep what its transport has
// no room for: only a queue that is nearly empty is taken at its word, and what a bucket has let pass has
// still to come back to it. What waits from one look to the next has met an empty one. Nothing is known of
// what other ranks have left, nor of what has arrived where acknowledgements come behind what the peer sends:
// if a rail is slow there, its rate says so.
void Feedback::correct(std::size_t rail, std::uint64_t now_ns, const fsbml_flow_seen_t &seen) noexcept
{
    const RailState &s = rail_[rail];
    auto left = static_cast<std::uint64_t>(std::min(static_cast<double>(seen.queued) * gap(rail), kMostNs));
    left -= std::min(left, seen.round_trip_ns);
    const bool is_empty = left > 0 && s.queued > FSBML_FLOW_BULK;
    const std::uint64_t most = left + bucket_ns(rail), least = is_empty ? most : left;
    const bool nearly_empty = seen.queued < 2 * s.quantum.load(std::memory_order_relaxed);
    if (least > s.charged_ns && !s.is_crossed) {
        static_cast<void>(sched_.correct(rail, s.vft, now_ns, least));
    } else if (most < s.charged_ns && alone_ && seen.all_known && nearly_empty) {
        static_cast<void>(sched_.correct(rail, s.vft, now_ns, most));
    }
}

// ----------------------------------------------------------------- looking

bool Feedback::begin(std::uint64_t now_ns) noexcept
{
    pause_ns_ = pauses_.look(now_ns, windows_.had_bulk());
    if (now_ns < next_ns_) {
        return false;
    }
    look_ns_ = now_ns;
    return true;
}

bool Feedback::asks(std::size_t rail, std::uint64_t now_ns) noexcept
{
    RailState &s = rail_[rail];
    if (0 == (watched_ >> rail & 1) || !has_model(rail)) {
        return false;
    }
    s.vft = sched_.vft(rail);
    s.charged_ns = sched_.backlog(rail, now_ns);
    const std::uint64_t given = sched_.counters(rail).bytes;
    const bool was_given = given - s.given_bytes > FSBML_FLOW_BULK;
    if (0 == s.charged_ns && !s.is_busy && !was_given) {
        look_after_trials(rail, now_ns);
        return false;
    }
    s.given_bytes = given;
    s.used_ns = now_ns;
    return true;
}

// Where much comes the other way, acknowledgements come behind it: what is under way so long may have
// arrived, and keeps no rail busy. (To take it for queued gives bulk that crosses half of a rail.)
fsbml_flow_seen_t Feedback::crossed(std::size_t rail, std::uint64_t now_ns, fsbml_flow_seen_t seen) noexcept
{
    RailState &s = rail_[rail];
    s.is_crossed = static_cast<double>(seen.received) * gap(rail) * kCrossing
                   > static_cast<double>(now_ns - s.looked_ns);
    if (s.is_crossed) {
        seen.round_trip_ns = std::max(seen.round_trip_ns, seen.usual_ns);
    }
    return seen;
}

void Feedback::seen(std::size_t rail, std::uint64_t now_ns, const fsbml_flow_seen_t &transport) noexcept
{
    RailState &s = rail_[rail];
    const fsbml_flow_seen_t seen = crossed(rail, now_ns, transport);
    s.has_evidence = 0 != seen.n;
    if (!s.has_evidence) { // by the model
        return;
    }
    if (0 != s.looked_ns) {
        learn(rail, now_ns, seen);
    }
    correct(rail, now_ns, transport); // a late acknowledgement takes nothing from what is under way
    if (0 == seen.queued) {
        look_after_trials(rail, now_ns);
    }
    s.is_busy = 0 != s.charged_ns || 0 != seen.queued;
    s.queued = seen.queued;
    s.looked_ns = now_ns;
    windows_.left(rail, seen.queued);
}

// Where ranks share a processor, each has a moment of it every few hundred microseconds, and would look in
// each.
void Feedback::end(std::uint64_t took_ns) noexcept
{
    next_ns_ = look_ns_ + std::max(kLookNs, kLookShare * took_ns);
    for (std::size_t r = 0; r < rails(); ++r) {
        const RailState &s = rail_[r];
        const double fragments = 2.0 * gap(r) * static_cast<double>(s.quantum.load()); // ns; 0: not known
        const double least = alone_ ? fragments : std::max(fragments, 2.0 * static_cast<double>(kLookNs));
        windows_.set(r, gap(r),
                     s.has_evidence && fragments > 0.0
                         ? static_cast<std::uint64_t>(least) + pause_ns_ + bucket_ns(r)
                         : Windows::kNoLimit);
    }
}

} // namespace fsbml
