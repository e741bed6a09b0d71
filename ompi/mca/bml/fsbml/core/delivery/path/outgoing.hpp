// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// One path, the direction from here to the peer: its numbers, what is kept of its messages, and its state.
//
//                 connection stands                    failed, nothing under way
//   down ------------------------------> proving <---------------------------+
//    ^  first time: up                     | ^                               |
//    |  silent for dead_ns, while the peer | | RESUME, connection stands     |
//    |  is heard elsewhere                 | |                               |
//    +-------------------------------------+ |                               |
//    |                       PROBED, not held down                           |
//    |                                     v |                               |
//    |   RESUME, no connection             trial ---acknowledged---> up -----+
//    +------------------ closing <---------- failed, or suspected ---+
//
// Suspected: late by max(suspect_ns, 3 x predicted), nothing acknowledged for suspect_ns, a sign that the
// path does not work, and the peer has answered elsewhere for suspect_ns / 2. Silence alone proves nothing.
#ifndef FSBML_OUTGOING_HPP
#define FSBML_OUTGOING_HPP

#include "delivery/path/kept.hpp"

namespace fsbml
{

class Outgoing
{
public:
    enum class State : std::uint8_t { kDown, kProving, kTrial, kUp, kClosing };
    enum Want : std::uint8_t { kAsk = 1, kAskHere = 2, kClose = 4, kProbe = 8, kVoid = 16 };
    enum Event : std::uint8_t { kWasUp = 1, kWasSuspected = 2, kWasResumed = 4, kWasDead = 8 };
    enum class Word : std::uint8_t { kFalse, kStale, kSame, kNews };

    static constexpr std::uint32_t kMostUnderWay = 16384; // numbers, a quarter of their range
    static constexpr std::uint32_t kTrialMessages = 8;
    static constexpr std::uint64_t kLastingNs = 2'000'000'000; // twice the time between two questions

    void begin(std::uint64_t direction, std::uint8_t path) noexcept;

    bool carries() const noexcept { return State::kUp == state_ || State::kTrial == state_; }
    // Takes another message.
    bool takes() const noexcept
    {
        return State::kUp == state_ ? kept.count() < kMostUnderWay
                                    : State::kTrial == state_ && kept.count() < kTrialMessages;
    }
    bool has_link() const noexcept { return link_; }
    std::uint8_t generation() const noexcept { return generation_; }
    std::uint16_t next() const noexcept { return next_; }
    std::uint16_t under_way() const noexcept { return static_cast<std::uint16_t>(next_ - acked_); }
    bool is_acked(const Message &m) const noexcept { return frame::before(m.number, acked_); }
    bool is_asked() const noexcept { return FSBML_DELIVERY_NEVER != asked_; }
    // What the peer must have next when it is asked by the path itself: behind the oldest that is late, which
    // was given to the path long ago.
    std::uint16_t asks_for() const noexcept
    {
        return static_cast<std::uint16_t>(acked_ + (is_asked() ? 1 : 0));
    }

    // The next message has this number. The first one under way starts the clock.
    std::uint16_t number(std::uint64_t now) noexcept
    {
        if (acked_ == next_) {
            since_ = now;
            asked_ = FSBML_DELIVERY_NEVER;
        }
        return next_++;
    }
    // The number given last was not used.
    void take_back() noexcept { --next_; }
    // Some number has no message; the peer must be told, again if it was.
    void voided() noexcept;

    Word acknowledged(std::uint64_t now, std::uint8_t generation, std::uint16_t number) noexcept;
    Word missing(std::uint64_t now, std::uint8_t generation, std::uint16_t number) noexcept;
    // The peer has closed the generation. What is not acknowledged goes to `orphans`.
    Word resumed(std::uint64_t now, std::uint8_t generation, std::uint16_t number, std::uint64_t ahead,
                 std::uint64_t direction, std::uint8_t path, Kept &orphans) noexcept;
    Word probed(std::uint64_t now, std::uint8_t generation, const fsbml_delivery_limits_t &l) noexcept;

    void link_up(std::uint64_t now) noexcept;
    void link_failed(std::uint64_t now, const fsbml_delivery_limits_t &l) noexcept;
    // A sign against it; `heard`: when the peer was last, by this path.
    void doubt(std::uint64_t now, std::uint64_t heard) noexcept
    {
        doubted_ = now - doubt_ < kLastingNs && heard < doubted_ ? doubted_ : now;
        doubt_ = now;
    }
    // The signs go on, and nothing was heard by it meanwhile.
    bool is_silent(std::uint64_t now, std::uint64_t heard) const noexcept
    {
        return heard < doubted_ && now - doubt_ < kLastingNs;
    }
    // No more is given to it; the peer is told to close the generation.
    void suspect(std::uint64_t now, const fsbml_delivery_limits_t &l) noexcept;

    // Has made what is due; returns when the next thing is. `elsewhere`: when the peer was heard last on
    // another path. `needed`: no path carries messages, so a proved one is not held down.
    std::uint64_t tick(std::uint64_t now, const fsbml_delivery_limits_t &l, std::uint64_t elsewhere,
                       bool needed) noexcept;

    Kept kept;
    std::uint8_t wants = 0;         // records to be sent
    std::uint8_t events = 0;        // to be told
    std::uint32_t resumed_with = 0; // messages to be sent again, at the last RESUME

private:
    std::uint64_t watch(std::uint64_t now, const fsbml_delivery_limits_t &l,
                        std::uint64_t elsewhere) noexcept;
    std::uint64_t prove(std::uint64_t now, const fsbml_delivery_limits_t &l, std::uint64_t elsewhere,
                        bool needed) noexcept;
    Word other_generation(std::uint8_t generation) const noexcept;
    Word other_number(std::uint16_t number) const noexcept;
    void enter_proving(std::uint64_t now) noexcept;
    void failed_once(std::uint64_t now, const fsbml_delivery_limits_t &l) noexcept;
    void dead() noexcept;

    std::uint64_t since_ = 0;                       // the last progress
    std::uint64_t asked_ = FSBML_DELIVERY_NEVER;    // the peer was asked, first since then
    std::uint64_t answered_ = FSBML_DELIVERY_NEVER; // ... and was heard elsewhere, first since then
    std::uint64_t doubt_ = 0;                       // the last sign against the path
    std::uint64_t doubted_ = 0;                     // the first one of those that go on
    std::uint64_t entered_ = 0;                     // its state, or when it was proved last
    std::uint64_t retry_ = 0;                       // what is asked is asked again then
    std::uint64_t pause_ = 0;                       // until the time after
    std::uint64_t hold_ = 0;                        // it is held down until then
    std::uint16_t acked_ = 0, next_ = 0;
    std::uint8_t generation_ = 0;
    std::uint8_t n_closed_ = 0; // generations, as far as they can be told from later ones
    State state_ = State::kDown;
    std::uint8_t fails_ = 0; // one after the other
    bool link_ = false;      // its connection stands
    bool is_new_ = true;     // it has never failed
    bool is_proved_ = false; // while proving
    bool has_void_ = false;
};

} // namespace fsbml

#endif
