// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// One path in each direction: numbers, acknowledgements, and messages that are not yet acknowledged. The
// bytes on the wire are in frame.hpp.
#ifndef FSBML_DELIVERY_PATH_HPP
#define FSBML_DELIVERY_PATH_HPP

#include "api/fsbml_delivery.h"
#include "delivery/path/frame.hpp"

namespace fsbml
{

using Message = fsbml_delivery_message_t;

enum class Mark : std::uint8_t {
    kAgain = 1, // it was sent before, by another path or generation
    kDone = 2,  // it has arrived, or is void: not to be sent again
    kVoid = 4,  // its number has no message
    kTold = 8,  // and the peer was told
};

constexpr std::uint8_t bits(Mark mark) noexcept
{
    return static_cast<std::uint8_t>(mark);
}
inline bool is(const Message &m, Mark mark) noexcept
{
    return 0 != (m.flags & bits(mark));
}
inline void mark(Message &m, Mark mark) noexcept
{
    m.flags = static_cast<std::uint8_t>(m.flags | bits(mark));
}

// kept.cpp: messages that are kept until they are acknowledged: a list through their records, which are in
// the caller's memory, in the order in which they were given to a path. Nothing is copied, and no memory is
// needed but for the record of a number that has no message.
class Kept
{
public:
    Kept() noexcept = default;
    ~Kept();
    Kept(const Kept &) = delete;
    Kept &operator=(const Kept &) = delete;

    std::uint32_t count() const noexcept { return count_; }
    // The order of the oldest, and the bytes before it; or less. There must be one.
    void oldest(std::uint32_t *order, std::uint32_t *behind) const noexcept;

    Message *front() const noexcept { return first_; }
    Message *back() const noexcept { return last_; }
    void append(Message &m) noexcept
    {
        m.next = nullptr;
        m.before = last_;
        if (nullptr == last_) {
            first_ = &m;
        } else {
            last_->next = &m;
            if (frame::before(m.order, last_->order)) {
                came_late(m);
            }
        }
        last_ = &m;
        ++count_;
    }
    // Takes the first or the last one out.
    void take(Message &m) noexcept
    {
        low_count_ -= low_count_ > 0 && nullptr == m.before ? 1 : 0;
        (nullptr == m.before ? first_ : m.before->next) = m.next;
        (nullptr == m.next ? last_ : m.next->before) = m.before;
        --count_;
        low_count_ = low_count_ < count_ ? low_count_ : count_;
    }
    // Has another record in its place, of a number without a message.
    void hollow(Message &m, Message &hole) noexcept;
    // Appends all of another list, which is empty then.
    void splice(Kept &other) noexcept;

    // Calls a function for each, the oldest first, until it returns false.
    template <class F>
    void each(F &&fn) const noexcept
    {
        for (Message *m = first_; nullptr != m && fn(*m); m = m->next) {
        }
    }

private:
    void came_late(const Message &m) noexcept;

    Message *first_ = nullptr, *last_ = nullptr;
    std::uint32_t count_ = 0;
    // What was sent again comes behind newer ones: until so many are gone, the oldest is no older than this.
    std::uint32_t low_count_ = 0, low_order_ = 0, low_behind_ = 0;
};

// incoming.cpp: one path, the direction from the peer to here: which numbers have arrived, what has to be
// acknowledged, and what was said when a generation was closed.
//
// A path keeps the order of what one thread gives to it. Threads may number two messages in one order and
// send them in the other, so up to 64 numbers after the first missing one are taken, too. Messages need no
// order among each other: what is new is delivered at once.
class Incoming
{
public:
    enum Want : std::uint8_t { kAck = 1, kGap = 2, kGapClosed = 4, kResume = 8, kProbed = 16 };
    enum class Verdict : std::uint8_t { kNew, kRepeated, kBeyond };
    enum class Close : std::uint8_t { kNow, kBefore, kFalse };

    void begin(std::uint64_t direction, std::uint8_t path) noexcept;

    std::uint8_t generation() const noexcept { return generation_; }
    // The generation before, which was closed.
    bool was(std::uint8_t generation) const noexcept { return 1 == age(generation) && n_closed_ > 0; }
    // It, or an older one: late frames are no fault of the peer.
    bool is_closed(std::uint8_t generation) const noexcept
    {
        return age(generation) >= 1 && age(generation) <= n_closed_;
    }
    std::uint16_t next() const noexcept { return next_; }
    // Of the generation that was closed last: the first number that had not arrived, and the bits after it.
    std::uint16_t closed_next() const noexcept { return closed_next_; }
    std::uint64_t closed_ahead() const noexcept { return closed_ahead_; }

    Verdict accept(std::uint16_t number) noexcept
    {
        const auto ahead = static_cast<std::uint16_t>(number - next_);
        if (0 != ahead || 0 != ahead_) {
            return accept_out_of_order(ahead);
        }
        ++next_;
        return Verdict::kNew;
    }

    // The peer sends no more of `generation`; `end` is the number that it would have sent next.
    Close close(std::uint64_t direction, std::uint8_t path, std::uint8_t generation,
                std::uint16_t end) noexcept;

    // A new message is to be acknowledged. True: an eighth of what is acknowledged at once has come, and an
    // acknowledgement may go with a message: the sooner, the less memory the peer's messages go through.
    bool owe(std::uint64_t now, std::uint32_t bytes, const fsbml_delivery_limits_t &l) noexcept
    {
        const bool is_large = bytes > l.large_bytes;
        is_sooner_ = 0 == owed_ || (is_large && !owed_large_);
        if (0 == owed_) {
            owed_since_ = now;
            owed_large_ = false;
        }
        ++owed_;
        owed_bytes_ += bytes;
        owed_large_ = owed_large_ || is_large;
        if (owed_ >= l.ack_messages || owed_bytes_ >= l.ack_bytes) {
            wants |= kAck;
        }
        return owed_ >= l.ack_messages / 8 || owed_bytes_ >= l.ack_bytes / 8;
    }
    bool owes() const noexcept { return owed_ > 0; }
    // True if the message that was told last makes an acknowledgement due, or due sooner.
    bool is_sooner() const noexcept { return is_sooner_; }
    // When an acknowledgement may go with a message.
    std::uint64_t half_due(const fsbml_delivery_limits_t &l) const noexcept
    {
        return owed_since_ + (owed_large_ ? l.ack_ns : l.ack_idle_ns) / 2;
    }
    // The peer asks what has arrived of a generation. What it has sent before that by the path itself, up to
    // `number`, should have: if not, the path has lost it. False: it cannot have sent so much.
    bool ask(std::uint8_t generation, std::uint16_t number, bool by_itself) noexcept
    {
        const auto missing = static_cast<std::int16_t>(number - next_);
        if (generation != generation_) {
            is_asked_ = true;
            wants |= was(generation) ? kGapClosed : 0;
        } else if (missing <= 1) {
            is_asked_ = true;
            wants |= 1 == missing && by_itself ? kAck | kGap : kAck;
        }
        return generation != generation_ || missing <= 1;
    }
    bool is_asked() const noexcept { return is_asked_; }
    // An acknowledgement is being sent.
    void acknowledged() noexcept
    {
        owed_ = owed_bytes_ = 0;
        is_asked_ = false;
        wants = static_cast<std::uint8_t>(wants & ~kAck);
    }
    // Has the acknowledgement made if it is time; returns when it is. `half`: half of that time is over, it
    // may go with a message.
    std::uint64_t tick(std::uint64_t now, const fsbml_delivery_limits_t &l, bool *half) noexcept;

    std::uint8_t wants = 0; // records to be sent

private:
    std::uint8_t age(std::uint8_t generation) const noexcept
    {
        return static_cast<std::uint8_t>(generation_ - generation);
    }
    Verdict accept_out_of_order(std::uint16_t ahead) noexcept;

    std::uint64_t ahead_ = 0; // bit i: next_ + 1 + i has arrived
    std::uint64_t closed_ahead_ = 0;
    std::uint64_t owed_since_ = 0;
    std::uint32_t owed_ = 0, owed_bytes_ = 0;
    std::uint16_t next_ = 0, closed_next_ = 0;
    std::uint8_t generation_ = 0;
    std::uint8_t n_closed_ = 0; // generations, as far as they can be told from later ones
    bool owed_large_ = false;
    bool is_sooner_ = false;
    bool is_asked_ = false;
};

// outgoing.cpp: one path, the direction from here to the peer: its numbers, what is kept of its messages, and
// its state: suspected (suspect()), or dead, as it was silent for too long (watch()).
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
