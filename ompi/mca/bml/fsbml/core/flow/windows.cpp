// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "flow/flow.hpp"

#include <algorithm>
#include <utility>

namespace fsbml
{

namespace
{

constexpr std::size_t kTrialBytes = 16384;
constexpr std::uint64_t kTrialShare = 100;         // one byte of so many
constexpr std::uint64_t kLongQueueNs = 10'000'000; // more than a window, while queues are long
constexpr std::uint64_t kForgetNs = 50'000'000;    // what was refused, and is not offered again
// ob1 keeps what it is refused in a list, which its progress function goes through; it counts these, never
// down to where it began, in 32 bits.
constexpr std::uint32_t kMostRefusals = std::uint32_t{1} << 30;

constexpr std::uint32_t bit(std::size_t rail) noexcept
{
    return std::uint32_t{1} << rail;
}

} // namespace

// ------------------------------------------------------------------ trials

bool Windows::arm(std::size_t rail) noexcept
{
    std::uint32_t none = 0;
    const bool affordable =
        (tried_bytes_ + kTrialBytes) * kTrialShare <= bulk_bytes_.load(std::memory_order_relaxed);
    return affordable && 0 == trial_sent_ns_.load()
           && armed_.compare_exchange_strong(none, static_cast<std::uint32_t>(rail + 1));
}

Windows::Trial Windows::tried(std::size_t rail) const noexcept
{
    const std::uint64_t sent = trial_sent_ns_.load();
    return rail == trial_rail_ ? Trial{sent, trial_bytes_} : Trial{};
}

// The rail that is to have a piece of this one; -1: none.
int Windows::take_trial(std::uint64_t now_ns, fsbml_bulk_t &piece) noexcept
{
    std::uint32_t armed = armed_.load();
    if (0 == armed || 0 == (piece.rails & bit(armed - 1)) || !armed_.compare_exchange_strong(armed, 0)) {
        return -1;
    }
    piece.bytes = std::min(piece.bytes, kTrialBytes);
    trial_rail_ = armed - 1;
    trial_bytes_ = piece.bytes;
    tried_bytes_ += piece.bytes;
    trial_sent_ns_.store(now_ns);
    return static_cast<int>(trial_rail_);
}

// ----------------------------------------------------------------- waiting

// Notes that so much waits, and returns what waits in all.
std::size_t Windows::note_waiting(const void *of, std::size_t bytes, std::uint64_t now_ns) noexcept
{
    std::size_t all = 0;
    Waiting *own = &waiting_[0];
    for (Waiting &w : waiting_) {
        own = w.of == of ? &w : own->of != of && w.seen_ns < own->seen_ns ? &w : own;
    }
    *own = Waiting{of, bytes, now_ns};
    for (const Waiting &w : waiting_) {
        all += now_ns - w.seen_ns < kForgetNs ? w.bytes : 0;
    }
    return all;
}

bool Windows::had_bulk() noexcept
{
    bool much = false;
    for (std::size_t i = 0; i < sched_.rails(); ++i) { // at every poll: of no more rails than there are
        const Room &r = room_[i];
        much = much
               || static_cast<double>(r.own_bytes) * r.gap.load(std::memory_order_relaxed)
                      > static_cast<double>(kLongQueueNs);
    }
    return std::exchange(has_refused_, was_refused_) || much; // what was refused last still waits
}

// By its backlog; by what this process has with it, where other ranks use it as well: each gets on.
bool Windows::has_room(std::size_t rail, std::uint64_t backlog, bool is_short) const noexcept
{
    const Room &r = room_[rail];
    const auto own = static_cast<double>(r.own_bytes) * r.gap.load(std::memory_order_relaxed);
    const std::uint64_t with_it = alone_ ? backlog : static_cast<std::uint64_t>(own);
    return with_it <= r.window_ns || (!is_short && with_it - r.window_ns <= kLongQueueNs);
}

// The best rail has no room. Another one takes it if that is with the peer before the best one could have
// delivered all that waits.
int Windows::best_with_room(std::uint64_t now_ns, const fsbml_bulk_t &piece, std::uint64_t backlog,
                            std::size_t all, bool is_short) const noexcept
{
    int found = -1;
    const double gap = room_[piece.best].gap.load(std::memory_order_relaxed);
    std::uint64_t soonest = backlog + static_cast<std::uint64_t>(static_cast<double>(all) * gap);
    for (std::uint32_t left = piece.rails & ~bit(piece.best); 0 != left; left &= left - 1) {
        const auto rail = static_cast<std::size_t>(__builtin_ctz(left));
        const Scheduler::Outlook there = sched_.outlook(rail, now_ns, piece.bytes);
        if (there.arrival_ns < soonest && has_room(rail, there.backlog_ns, is_short)) {
            found = static_cast<int>(rail);
            soonest = there.arrival_ns;
        }
    }
    return found;
}

// Among threads a count may be lost: it is only to bound trials.
int Windows::accept(int rail, std::size_t bytes) noexcept
{
    bulk_bytes_.store(bulk_bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    return rail;
}

int Windows::take(std::uint64_t now_ns, bool is_short, fsbml_bulk_t &piece) noexcept
{
    const int tried =
        piece.may_cut && 0 != armed_.load(std::memory_order_relaxed) ? take_trial(now_ns, piece) : -1;
    if (tried >= 0) {
        return accept(tried, piece.bytes);
    }
    int rail = static_cast<int>(piece.best);
    if (!may_refuse_ || (!is_short && !piece.may_cut)) {
        return accept(rail, piece.bytes);
    }
    const std::uint64_t backlog = sched_.backlog(piece.best, now_ns);
    if (!has_room(piece.best, backlog, is_short)) {
        rail = best_with_room(now_ns, piece, backlog, note_waiting(piece.of, piece.left, now_ns), is_short);
        if (rail < 0 && piece.is_idle) { // offered again at once: the PML was not refused
            rail = static_cast<int>(piece.best);
            refusals_ -= was_refused_ ? 1 : 0;
        }
        refusals_ += rail < 0 ? 1 : 0;
        may_refuse_ = refusals_ < kMostRefusals;
    }
    if (rail >= 0) {
        room_[static_cast<std::size_t>(rail)].own_bytes += piece.bytes;
        if (was_refused_) {
            note_waiting(piece.of, piece.left - std::min(piece.left, piece.bytes), now_ns);
        }
    }
    was_refused_ = rail < 0;
    has_refused_ = has_refused_ || was_refused_;
    return rail < 0 ? rail : accept(rail, piece.bytes);
}

} // namespace fsbml
