// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "delivery/path/path.hpp"

#include <algorithm>

namespace fsbml
{

namespace
{

constexpr std::uint64_t kMostPauseNs = 1'000'000'000;
constexpr std::uint64_t kSoundNs = 10'000'000'000; // a path that lasts for so long, and for ...
constexpr std::uint64_t kSoundHolds = 16;          // ... so many times of being held down, does not flap

// How long the k-th failure in a row holds a path down: the first one does not.
std::uint64_t hold_of(unsigned fails, const fsbml_delivery_limits_t &l) noexcept
{
    if (fails < 2) {
        return 0;
    }
    const unsigned doubled = std::min(fails - 2, 32U);
    const std::uint64_t most = l.hold_max_ns >> doubled;
    return l.again_ns > most ? l.hold_max_ns : l.again_ns << doubled;
}

} // namespace

void Outgoing::begin(std::uint64_t direction, std::uint8_t path) noexcept
{
    generation_ = frame::first_generation(direction, path);
    next_ = acked_ = frame::first_number(direction, path, generation_);
}

void Outgoing::voided() noexcept
{
    has_void_ = true;
    wants |= kVoid;
    kept.each([](Message &m) {
        m.flags = static_cast<std::uint8_t>(m.flags & ~bits(Mark::kTold));
        return true;
    });
}

// ---------------------------------------------------------------- what the peer says

// Late words of generations that are closed are no fault of the peer.
Outgoing::Word Outgoing::other_generation(std::uint8_t generation) const noexcept
{
    const auto age = static_cast<std::uint8_t>(generation_ - generation);
    return age >= 1 && age <= n_closed_ ? Word::kStale : Word::kFalse;
}

// Nor are words of what was acknowledged since, by another path; but others were never sent.
Outgoing::Word Outgoing::other_number(std::uint16_t number) const noexcept
{
    return static_cast<std::uint16_t>(acked_ - number) <= kMostUnderWay ? Word::kStale : Word::kFalse;
}

Outgoing::Word Outgoing::acknowledged(std::uint64_t now, std::uint8_t generation,
                                      std::uint16_t number) noexcept
{
    if (generation != generation_) {
        return other_generation(generation);
    }
    const auto news = static_cast<std::uint16_t>(number - acked_);
    if (news > under_way()) {
        return other_number(number);
    }
    if (0 == news) {
        return Word::kSame;
    }
    acked_ = number;
    since_ = now;
    asked_ = FSBML_DELIVERY_NEVER;
    wants = static_cast<std::uint8_t>(wants & ~(kAsk | kAskHere));
    if (State::kTrial == state_) {
        state_ = State::kUp;
        entered_ = now;
    }
    return Word::kNews;
}

Outgoing::Word Outgoing::missing(std::uint64_t now, std::uint8_t generation, std::uint16_t number) noexcept
{
    if (generation != generation_) {
        return other_generation(generation);
    }
    if (static_cast<std::uint16_t>(number - acked_) > under_way()) {
        return other_number(number);
    }
    doubt_ = now;
    if (is_asked() && FSBML_DELIVERY_NEVER == answered_) {
        answered_ = now;
    }
    return Word::kNews;
}

Outgoing::Word Outgoing::resumed(std::uint64_t now, std::uint8_t generation, std::uint16_t number,
                                 std::uint64_t ahead, std::uint64_t direction, std::uint8_t path,
                                 Kept &orphans) noexcept
{
    if (State::kClosing != state_ || generation != generation_) {
        return other_generation(generation);
    }
    const auto left = static_cast<std::uint16_t>(next_ - number);
    if (static_cast<std::uint16_t>(number - acked_) > under_way()
        || (0 != ahead && (left < 2 || (left < 66 && 0 != ahead >> (left - 2U) >> 1)))) {
        return Word::kFalse; // what was never sent cannot have arrived
    }
    resumed_with = 0;
    kept.each([&](Message &m) {
        const auto after = static_cast<std::uint16_t>(m.number - number);
        const bool is_ahead = after >= 1 && after <= 64 && 0 != (ahead >> (after - 1U) & 1);
        if (frame::before(m.number, number) || is_ahead || is(m, Mark::kVoid)) {
            mark(m, Mark::kDone);
        } else {
            ++resumed_with;
        }
        return true;
    });
    orphans.splice(kept);
    ++generation_;
    n_closed_ += n_closed_ < frame::kMostClosed ? 1 : 0;
    next_ = acked_ = frame::first_number(direction, path, generation_);
    has_void_ = false;
    wants = 0;
    events |= kWasResumed;
    if (link_) {
        enter_proving(now);
    } else {
        state_ = State::kDown;
    }
    return Word::kNews;
}

Outgoing::Word Outgoing::probed(std::uint64_t now, std::uint8_t generation,
                                const fsbml_delivery_limits_t &l) noexcept
{
    if (State::kProving != state_ || generation != generation_) {
        return Word::kStale; // it was asked several times, or closed since
    }
    is_proved_ = true;
    entered_ = now;
    (void) prove(now, l, 0, false);
    return Word::kNews;
}

// ------------------------------------------------------------- what becomes of the path

void Outgoing::enter_proving(std::uint64_t now) noexcept
{
    state_ = State::kProving;
    is_proved_ = false;
    entered_ = retry_ = now;
}

void Outgoing::link_up(std::uint64_t now) noexcept
{
    link_ = true;
    if (State::kDown == state_ && is_new_) {
        state_ = State::kUp;
        entered_ = now;
    } else if (State::kDown == state_) {
        enter_proving(now);
    } else if (State::kClosing == state_) {
        entered_ = retry_ = now; // it may be the only one by which to tell the peer
    }
}

void Outgoing::failed_once(std::uint64_t now, const fsbml_delivery_limits_t &l) noexcept
{
    if (now - entered_ >= kSoundNs + kSoundHolds * hold_of(fails_, l)) {
        fails_ = 0;
    }
    fails_ = static_cast<std::uint8_t>(std::min(fails_ + 1, 255));
    hold_ = now + hold_of(fails_, l);
    is_new_ = false;
}

void Outgoing::suspect(std::uint64_t now, const fsbml_delivery_limits_t &l) noexcept
{
    if (!carries()) {
        return;
    }
    failed_once(now, l);
    wants = 0;
    events |= kWasSuspected;
    state_ = State::kClosing;
    entered_ = retry_ = now;
    pause_ = l.suspect_ns / 2;
}

void Outgoing::link_failed(std::uint64_t now, const fsbml_delivery_limits_t &l) noexcept
{
    link_ = false;
    if (carries() && 0 == under_way()) { // the peer has all: there is nothing to agree on
        failed_once(now, l);
        events |= kWasSuspected;
        wants = 0;
        state_ = State::kDown;
    } else if (carries()) {
        suspect(now, l);
    } else if (State::kProving == state_) {
        state_ = State::kDown;
        wants = 0;
    }
}

void Outgoing::dead() noexcept
{
    link_ = false;
    events |= kWasDead;
}

// ------------------------------------------------------------------------------- time

std::uint64_t Outgoing::tick(std::uint64_t now, const fsbml_delivery_limits_t &l, std::uint64_t elsewhere,
                             bool needed) noexcept
{
    switch (state_) {
    case State::kTrial:
    case State::kUp:
        return watch(now, l, elsewhere);
    case State::kProving:
        return prove(now, l, elsewhere, needed);
    case State::kClosing:
        if (now >= retry_) {
            wants |= kClose;
            pause_ = std::min(2 * pause_, kMostPauseNs);
            retry_ = now + pause_;
        }
        if (link_ && elsewhere > entered_ && now >= entered_ + l.dead_ns) {
            dead();
        }
        return link_ && now < entered_ + l.dead_ns ? std::min(retry_, entered_ + l.dead_ns) : retry_;
    case State::kDown:
        break;
    }
    return FSBML_DELIVERY_NEVER;
}

std::uint64_t Outgoing::watch(std::uint64_t now, const fsbml_delivery_limits_t &l,
                              std::uint64_t elsewhere) noexcept
{
    if (acked_ == next_) {
        return FSBML_DELIVERY_NEVER;
    }
    if (!is_asked()) {
        // The oldest that is not acknowledged; before it may be some whose handles were not taken yet.
        const Message *oldest = nullptr;
        kept.each([&](Message &m) {
            oldest = &m;
            return is_acked(m);
        });
        const auto late = static_cast<std::int32_t>(static_cast<std::uint32_t>(now >> 16) - oldest->due);
        const std::uint64_t due = late >= 0 ? now : now + (static_cast<std::uint64_t>(-late) << 16);
        const std::uint64_t at = std::max(due, since_ + l.suspect_ns);
        if (now < at) {
            return at;
        }
        asked_ = retry_ = now;
        answered_ = FSBML_DELIVERY_NEVER;
        pause_ = l.suspect_ns / 2;
    }
    if (elsewhere > asked_ && FSBML_DELIVERY_NEVER == answered_) {
        answered_ = elsewhere;
    }
    // A peer that was stopped answers on one path after the other.
    const std::uint64_t grace = FSBML_DELIVERY_NEVER == answered_ ? answered_ : answered_ + l.suspect_ns / 2;
    if (0 != doubt_ && doubt_ >= since_ && now >= grace) {
        suspect(now, l);
        return now;
    }
    if (now >= retry_) {
        wants |= kAsk | kAskHere;
        if (has_void_) {
            voided();
        }
        pause_ = std::min(2 * pause_, kMostPauseNs);
        retry_ = now + pause_;
    }
    return now < grace ? std::min(retry_, grace) : retry_;
}

std::uint64_t Outgoing::prove(std::uint64_t now, const fsbml_delivery_limits_t &l, std::uint64_t elsewhere,
                              bool needed) noexcept
{
    const std::uint64_t dead_at = entered_ + l.dead_ns; // since it began, or was proved last
    if (now >= dead_at && elsewhere > entered_) {
        dead();
        state_ = State::kDown;
        return FSBML_DELIVERY_NEVER;
    }
    if (is_proved_ && (now >= hold_ || needed)) {
        state_ = State::kTrial;
        entered_ = since_ = now;
        asked_ = FSBML_DELIVERY_NEVER;
        wants = 0;
        events |= kWasUp;
        return FSBML_DELIVERY_NEVER;
    }
    if (now >= retry_) {
        wants |= kProbe;
        retry_ = now + l.again_ns;
    }
    const std::uint64_t at = now < dead_at ? std::min(retry_, dead_at) : retry_;
    return is_proved_ ? std::min(at, std::max(hold_, now + 1)) : at;
}

} // namespace fsbml
