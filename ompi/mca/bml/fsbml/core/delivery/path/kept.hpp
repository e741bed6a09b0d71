// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Messages that are kept until they are acknowledged: a list through their records, which are in the caller's
// memory, in the order in which they were given to a path. Nothing is copied, and no memory is needed but for
// the record of a number that has no message.
#ifndef FSBML_KEPT_HPP
#define FSBML_KEPT_HPP

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

} // namespace fsbml

#endif
