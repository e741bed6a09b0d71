// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "delivery/path/kept.hpp"

#include <algorithm>

namespace fsbml
{

void Kept::oldest(std::uint32_t *order, std::uint32_t *behind) noexcept
{
    const Message *const first = front();
    const bool is_low = low_count_ > 0 && frame::before(low_order_, first->order);
    *order = is_low ? low_order_ : first->order;
    *behind = is_low ? low_behind_ : first->behind;
}

// Begins another chunk.
bool Kept::more(Store &store, bool beyond) noexcept
{
    Chunk *const chunk = store.take(beyond);
    if (nullptr == chunk) {
        return false;
    }
    if (0 == count_) {
        trim(store);
    }
    (nullptr == tail_ ? head_ : tail_->next) = chunk;
    tail_ = chunk;
    return true;
}

// Nothing is left in the first chunk.
void Kept::emptied(Store &store) noexcept
{
    while (head_->begin == head_->end) {
        if (head_ == tail_) {
            head_->begin = head_->end = head_->last = 0; // it is warm: the next message may have it
            return;
        }
        Chunk *const empty = head_;
        head_ = head_->next;
        store.give(empty);
    }
}

// What was appended last is older than the one before it.
void Kept::came_late(const Message &record) noexcept
{
    if (0 == low_count_ || frame::before(record.order, low_order_)) {
        low_order_ = record.order;
        low_behind_ = record.behind;
    }
    low_count_ = count_;
}

void Kept::pop_back() noexcept
{
    Message *const m = back();
    tail_->end = tail_->last;
    tail_->last -= m->back;
    --count_;
    low_count_ = std::min(low_count_, count_);
    if (0 == count_) {
        tail_->begin = tail_->end = tail_->last = 0;
    }
}

void Kept::splice(Store &store, Kept &other) noexcept
{
    if (0 == other.count_) {
        return;
    }
    std::uint32_t order = 0, behind = 0;
    other.oldest(&order, &behind);
    if (0 == count_) {
        trim(store);
    } else {
        std::uint32_t own_order = 0, own_behind = 0;
        oldest(&own_order, &own_behind);
        if (frame::before(own_order, order)) {
            order = own_order;
            behind = own_behind;
        }
    }
    (nullptr == tail_ ? head_ : tail_->next) = other.head_;
    tail_ = other.tail_;
    count_ += other.count_;
    last_order_ = other.last_order_;
    low_count_ = count_;
    low_order_ = order;
    low_behind_ = behind;
    other.head_ = other.tail_ = nullptr;
    other.count_ = other.low_count_ = 0;
}

void Kept::trim(Store &store) noexcept
{
    while (0 == count_ && nullptr != head_) {
        Chunk *const chunk = head_;
        head_ = chunk->next;
        store.give(chunk);
    }
    if (nullptr == head_) {
        tail_ = nullptr;
    }
}

std::size_t Kept::bytes() const noexcept
{
    std::size_t n = 0;
    for (const Chunk *chunk = head_; nullptr != chunk; chunk = chunk->next) {
        n += Chunk::kBytes;
    }
    return n;
}

} // namespace fsbml
