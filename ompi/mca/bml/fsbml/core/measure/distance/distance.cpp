// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/distance/distance.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace fsbml
{

namespace
{

// A peer that has not answered by then computes; a rail that is not idle by then streams.
constexpr std::uint64_t kPatienceNs = 200000000;
// After a round until the next: what disturbed it, or seemed to be a difference, is to be over.
constexpr std::uint64_t kPauseNs[] = {50000000, 500000000, 5000000000};

// Answers that are late on all rails are believed after so many rounds.
constexpr std::size_t kLateRounds = 3;

// A process that has not polled for so long does not know when an answer came.
constexpr std::uint64_t kAwayNs = 1000000;
// So many turns, by those that are wanted, end a round in which that was so, and the last one in any case.
constexpr std::size_t kMoreTurns = 4;
constexpr std::size_t kLastTurns = 12;

// Two of a kind: as close as this share of the lesser, or kCloseNs.
constexpr double kClose = 0.2;
constexpr double kCloseLate = 0.02; // of answers that are late on all rails: the peer may compute
constexpr double kCloseNs = 20e3;
// A difference: both, by the one way on the farther of two rails.
constexpr double kClear = 0.25;
constexpr double kClearNs = 10e3;

bool close(double time_ns, double least_ns, double share) noexcept
{
    return time_ns > 0.0 && time_ns - least_ns <= std::max(share * least_ns, kCloseNs);
}

} // namespace

Distance::Distance(std::uint32_t rails, const fsbml_distance_rail_t *known, std::uint32_t tries)
    : rails_(rails), tries_(tries), turns_(32 - static_cast<std::size_t>(__builtin_clz(rails | 1)),
                                           ((kRounds - 1) * kMoreTurns + kLastTurns) * tries)
{
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (has(i)) {
            rail_[i].way_ns = known[i].way_ns;
            rail_[i].L_ns = known[i].L_ns;
        }
    }
}

// Of a rail that is gone there is nothing to tell, and of a single one nothing to compare.
void Distance::drop_all_but(std::uint32_t live) noexcept
{
    if (0 != seq_ && 0 == (live >> on_ & 1)) {
        seq_ = 0;
    }
    rails_ &= live;
    over_ = over_ || 0 == (rails_ & (rails_ - 1));
}

void Distance::looks(std::uint64_t now_ns) noexcept
{
    unseen_ = unseen_ || (0 != seq_ && now_ns >= looked_ns_ + kAwayNs);
}

// splitmix64
std::uint64_t Distance::random() noexcept
{
    std::uint64_t z = random_ += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void Distance::begin_turn() noexcept
{
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        order_[i] = static_cast<std::uint8_t>(i);
        std::swap(order_[i], order_[random() % (i + 1)]);
    }
    turns_.begin(rounds_);
    ++turn_;
    next_ = 0;
    skip_those_gone();
}

void Distance::skip_those_gone() noexcept
{
    while (next_ < FSBML_MAX_RAILS && !has(order_[next_])) {
        ++next_;
    }
}

bool Distance::round_is_over() const noexcept
{
    const bool last = kRounds == rounds_ + 1;
    bool all = !last;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        all = all && (!has(i) || rail_[i].asked >= tries_);
    }
    return all || turn_ == (last ? kLastTurns : kMoreTurns) * tries_;
}

bool Distance::next(std::uint64_t now_ns, std::uint32_t live, std::uint32_t idle, std::uint32_t seq,
                    std::uint32_t &rail) noexcept
{
    drop_all_but(live);
    looks(now_ns);
    before_ns_ = looked_ns_;
    looked_ns_ = now_ns;
    if (over_ || now_ns < from_ns_) {
        return false;
    }
    if (0 != seq_) {
        if (now_ns - since_ns_ >= kPatienceNs) {
            end_round(now_ns);
        }
        return false;
    }
    skip_those_gone();
    if (FSBML_MAX_RAILS == next_) {
        if (round_is_over()) {
            end_round(now_ns);
            return false;
        }
        begin_turn();
    }
    if (0 == (idle >> order_[next_] & 1)) {
        since_ns_ = 0 == since_ns_ ? now_ns : since_ns_;
        if (now_ns - since_ns_ >= kPatienceNs) {
            end_round(now_ns);
        }
        return false;
    }
    on_ = order_[next_++];
    rail = static_cast<std::uint32_t>(on_);
    seq_ = seq;
    since_ns_ = now_ns;
    unseen_ = false;
    return true;
}

void Distance::answered(std::uint32_t seq, std::uint64_t now_ns, bool idle) noexcept
{
    if (0 == seq || seq != seq_) {
        return; // late, or a second time
    }
    looks(now_ns);
    const auto round_trip = static_cast<double>(std::max(now_ns, since_ns_ + 1) - since_ns_);
    const auto not_within = static_cast<double>(std::max(before_ns_, since_ns_) - since_ns_);
    seq_ = 0;
    // In which phase of whatever the peer does the next question comes is a matter of chance.
    from_ns_ = now_ns + random() % static_cast<std::uint64_t>(round_trip);
    since_ns_ = from_ns_;
    rail_[on_].asked += unseen_ ? 0 : 1;
    if (!idle) {
        return; // it waited for other messages
    }
    turns_.add(on_, {not_within, round_trip});
    if (unseen_) {
        return;
    }
    double &least = rail_[on_].least[rounds_];
    double &second = rail_[on_].second[rounds_];
    if (0.0 == least || round_trip < least) {
        second = least;
        least = round_trip;
    } else if (0.0 == second || round_trip < second) {
        second = round_trip;
    }
}

bool Distance::leasts(PerRail &least_ns) const noexcept
{
    bool all = true;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        least_ns[i] = 0.0;
        for (const double t : rail_[i].least) {
            least_ns[i] = t > 0.0 && (0.0 == least_ns[i] || t < least_ns[i]) ? t : least_ns[i];
        }
        all = all && (!has(i) || least_ns[i] > 0.0);
    }
    return all;
}

double Distance::correction(std::size_t rail, double round_trip_ns) const noexcept
{
    return std::max(round_trip_ns / 2.0 - rail_[rail].way_ns, -rail_[rail].L_ns);
}

// Twice the model's way, and on every rail.
bool Distance::late(const PerRail &least_ns) const noexcept
{
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (has(i) && least_ns[i] / 2.0 <= 2.0 * rail_[i].way_ns) {
            return false;
        }
    }
    return true;
}

bool Distance::credible(const PerRail &least_ns, bool in_two_rounds) const noexcept
{
    const double share = late(least_ns) ? kCloseLate : kClose;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        int times = 0;
        int rounds = 0;
        for (std::size_t k = 0; k < kRounds; ++k) {
            const int first = close(rail_[i].least[k], least_ns[i], share) ? 1 : 0;
            times += first + (close(rail_[i].second[k], least_ns[i], share) ? 1 : 0);
            rounds += first;
        }
        if (has(i) && (times < 2 || (in_two_rounds && rounds < 2))) {
            return false;
        }
    }
    return true;
}

std::size_t Distance::nearest(const PerRail &round_trip_ns) const noexcept
{
    std::size_t nearest = FSBML_MAX_RAILS;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (has(i)
            && (FSBML_MAX_RAILS == nearest
                || correction(i, round_trip_ns[i]) < correction(nearest, round_trip_ns[nearest]))) {
            nearest = i;
        }
    }
    return nearest;
}

bool Distance::clear(double extra_ns, double round_trip_ns, double of_nearest_ns) noexcept
{
    return extra_ns >= std::max(kClearNs, kClear * std::max(round_trip_ns, of_nearest_ns) / 2.0);
}

std::uint32_t Distance::differences(const PerRail &round_trip_ns) noexcept
{
    const std::size_t near = nearest(round_trip_ns);
    std::uint32_t farther = 0;
    extra_.fill(0.0);
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        const double extra =
            has(i) ? correction(i, round_trip_ns[i]) - correction(near, round_trip_ns[near]) : 0.0;
        if (has(i) && clear(extra, round_trip_ns[i], round_trip_ns[near])) {
            extra_[i] = extra;
            farther |= UINT32_C(1) << i;
        }
    }
    return farther;
}

std::uint32_t Distance::from_turns() noexcept
{
    PerRail way{};
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        way[i] = rail_[i].way_ns;
    }
    std::uint32_t farther = 0;
    try {
        farther = turns_.farther(rails_, way, extra_);
    } catch (const std::bad_alloc &) {
        return 0; // not known, as if no answer told it
    }
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        farther &= ~(clear(extra_[i], 2.0 * way[i], 0.0) ? 0 : UINT32_C(1) << i);
    }
    return farther;
}

void Distance::end_round(std::uint64_t now_ns) noexcept
{
    static_assert(kRounds == 1 + sizeof kPauseNs / sizeof *kPauseNs, "a pause between any two rounds");
    PerRail least{};
    if (leasts(least) && credible(least, false)) {
        const std::uint32_t farther = differences(least);
        // That answers are late alike on all rails can be the peer's doing, and hide what the rails differ
        // by.
        const bool hidden = 0 == farther && late(least) && rounds_ + 1 < kLateRounds;
        over_ = !hidden && ((0 == farther && !late(least)) || credible(least, true));
        farther_ = over_ ? farther : 0;
    }
    if (!over_ && kRounds == rounds_ + 1) {
        farther_ = from_turns();
        over_ = true;
    }
    if (!over_) {
        from_ns_ = now_ns + kPauseNs[rounds_++];
    }
    seq_ = 0;
    since_ns_ = 0;
    turn_ = 0;
    next_ = FSBML_MAX_RAILS;
    for (Rail &r : rail_) {
        r.asked = 0;
    }
}

std::uint32_t Distance::result(double extra_ns[FSBML_MAX_RAILS]) const noexcept
{
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        extra_ns[i] = 0 != (farther_ >> i & 1) ? extra_[i] : 0.0;
    }
    return farther_;
}

} // namespace fsbml
