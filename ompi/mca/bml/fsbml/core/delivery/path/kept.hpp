// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Messages that are kept until they are acknowledged: a queue, as acknowledgements come in order. What is
// small is copied into it, behind its record; of the others it has the caller's handle.
#ifndef FSBML_KEPT_HPP
#define FSBML_KEPT_HPP

#include "delivery/path/frame.hpp"
#include "delivery/path/store.hpp"

namespace fsbml
{

// One of them. Its bytes, or its handle, follow.
struct alignas(8) Message {
    enum : std::uint8_t {
        kCopied = 1, // else the caller has it
        kAgain = 2,  // it was sent before, by another path or generation
        kDone = 4,   // it has arrived, or is void: not to be sent again
        kVoid = 8,   // its number has no message
        kTold = 16,  // and the peer was told
    };

    std::uint32_t bytes;
    std::uint32_t order;  // of all messages to the peer
    std::uint32_t behind; // bytes of all messages before it, modulo 2^32
    std::uint32_t due;    // when it is late: ns / 2^16, modulo 2^32
    std::uint16_t number; // on its path
    std::uint16_t back;   // bytes from the record before it in its chunk
    std::uint8_t tag;
    std::uint8_t flags;

    bool is(std::uint8_t flag) const noexcept { return 0 != (flags & flag); }
    std::uint8_t *data() noexcept { return reinterpret_cast<std::uint8_t *>(this + 1); }
    void *handle() noexcept { return *reinterpret_cast<void **>(this + 1); }
    std::uint32_t span() const noexcept // of all of it in its chunk
    {
        const std::size_t n = sizeof(Message) + (is(kCopied) ? bytes : sizeof(void *));
        return static_cast<std::uint32_t>((n + 7) & ~std::size_t{7});
    }
};
static_assert(sizeof(Message) == 24, "three words a message");

class Kept
{
public:
    Kept() noexcept = default;
    Kept(const Kept &) = delete;
    Kept &operator=(const Kept &) = delete;

    std::uint32_t count() const noexcept { return count_; }
    bool has_memory() const noexcept { return nullptr != head_; }
    // The order of the oldest, and the bytes before it; or less. There must be one.
    void oldest(std::uint32_t *order, std::uint32_t *behind) noexcept;

    Message *front() noexcept
    {
        return 0 == count_ ? nullptr : reinterpret_cast<Message *>(head_->data + head_->begin);
    }
    // What was appended last, if it is known: not after pop_back() at a chunk's beginning.
    Message *back() noexcept
    {
        return 0 == count_ || tail_->begin == tail_->end
                   ? nullptr
                   : reinterpret_cast<Message *>(tail_->data + tail_->last);
    }
    // Appends a copy of the record, whose bytes come from the parts, or which has the handle. nullptr: no
    // memory.
    Message *append(Store &store, const Message &record, const fsbml_delivery_part_t *parts, unsigned n_parts,
                    void *handle, bool beyond) noexcept
    {
        const std::uint32_t span = record.span();
        if ((nullptr == tail_ || Chunk::kData - tail_->end < span) && !more(store, beyond)) {
            return nullptr;
        }
        Message *const m = reinterpret_cast<Message *>(tail_->data + tail_->end);
        *m = record;
        m->back = static_cast<std::uint16_t>(tail_->end - tail_->last);
        if (record.is(Message::kCopied)) {
            std::uint8_t *at = m->data();
            for (unsigned i = 0; i < n_parts; ++i) {
                if (parts[i].bytes > 0) { // else it may have no address
                    std::memcpy(at, parts[i].data, parts[i].bytes);
                    at += parts[i].bytes;
                }
            }
        } else {
            std::memcpy(m->data(), &handle, sizeof handle);
        }
        tail_->last = tail_->end;
        tail_->end += span;
        ++count_;
        if (count_ > 1 && frame::before(record.order, last_order_)) {
            came_late(record);
        }
        last_order_ = record.order;
        return m;
    }
    void pop_front(Store &store) noexcept
    {
        head_->begin += front()->span();
        --count_;
        low_count_ -= low_count_ > 0 ? 1 : 0;
        if (head_->begin == head_->end) {
            emptied(store);
        }
    }
    // Takes back what was appended last.
    void pop_back() noexcept;
    // Appends all of another queue, which is empty then.
    void splice(Store &store, Kept &other) noexcept;
    // Forgets all.
    void drop(Store &store) noexcept
    {
        count_ = low_count_ = 0;
        trim(store);
    }
    // Gives back a chunk that is kept ready although there is no message.
    void trim(Store &store) noexcept;

    // Calls a function for each, the oldest first, until it returns false.
    template <class F>
    void each(F &&fn) noexcept
    {
        std::uint32_t left = count_;
        for (Chunk *chunk = head_; left > 0; chunk = chunk->next) {
            for (std::uint32_t at = chunk->begin; at < chunk->end; --left) {
                Message *const m = reinterpret_cast<Message *>(chunk->data + at);
                at += m->span();
                if (!fn(*m)) {
                    return;
                }
            }
        }
    }
    std::size_t bytes() const noexcept; // of its chunks

private:
    bool more(Store &store, bool beyond) noexcept;
    void emptied(Store &store) noexcept;
    void came_late(const Message &record) noexcept;

    Chunk *head_ = nullptr, *tail_ = nullptr;
    std::uint32_t count_ = 0;
    std::uint32_t last_order_ = 0; // appended last
    // What was sent again comes behind newer ones: until so many are gone, the oldest is no older than this.
    std::uint32_t low_count_ = 0, low_order_ = 0, low_behind_ = 0;
};

} // namespace fsbml

#endif
