// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// One path, the direction from the peer to here: which numbers have arrived, what has to be acknowledged,
// and what was said when a generation was closed.
//
// A path keeps the order of what one thread gives to it. Threads may number two messages in one order and
// send them in the other, so up to 64 numbers after the first missing one are taken, too. Messages need no
// order among each other: what is new is delivered at once.
#ifndef FSBML_INCOMING_HPP
#define FSBML_INCOMING_HPP

#include "api/fsbml_delivery.h"
#include "delivery/path/frame.hpp"

namespace fsbml
{

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

    // A new message is to be acknowledged. True: half of what is acknowledged at once has come.
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
        return owed_ >= l.ack_messages / 2 || owed_bytes_ >= l.ack_bytes / 2;
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

} // namespace fsbml

#endif
