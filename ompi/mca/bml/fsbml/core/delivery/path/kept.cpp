// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "delivery/path/path.hpp"

namespace fsbml
{

// The others are the caller's.
Kept::~Kept()
{
    for (Message *m = first_, *after = nullptr; nullptr != m; m = after) {
        after = m->next;
        if (is(*m, Mark::kVoid)) {
            delete m;
        }
    }
}

void Kept::oldest(std::uint32_t *order, std::uint32_t *behind) const noexcept
{
    const bool is_low = low_count_ > 0 && frame::before(low_order_, first_->order);
    *order = is_low ? low_order_ : first_->order;
    *behind = is_low ? low_behind_ : first_->behind;
}

// What is appended is older than the one before it.
void Kept::came_late(const Message &m) noexcept
{
    if (0 == low_count_ || frame::before(m.order, low_order_)) {
        low_order_ = m.order;
        low_behind_ = m.behind;
    }
    low_count_ = count_ + 1;
}

void Kept::hollow(Message &m, Message &hole) noexcept
{
    hole = m;
    hole.flags = 0;
    mark(hole, Mark::kDone);
    mark(hole, Mark::kVoid);
    (nullptr == m.before ? first_ : m.before->next) = &hole;
    (nullptr == m.next ? last_ : m.next->before) = &hole;
}

void Kept::splice(Kept &other) noexcept
{
    if (0 == other.count_) {
        return;
    }
    std::uint32_t order = 0, behind = 0;
    other.oldest(&order, &behind);
    if (count_ > 0) {
        std::uint32_t own_order = 0, own_behind = 0;
        oldest(&own_order, &own_behind);
        if (frame::before(own_order, order)) {
            order = own_order;
            behind = own_behind;
        }
    }
    other.first_->before = last_;
    (nullptr == last_ ? first_ : last_->next) = other.first_;
    last_ = other.last_;
    count_ += other.count_;
    low_count_ = count_;
    low_order_ = order;
    low_behind_ = behind;
    other.first_ = other.last_ = nullptr;
    other.count_ = other.low_count_ = 0;
}

} // namespace fsbml
