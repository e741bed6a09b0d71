// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// How far the newest message to a peer may be ahead of the oldest that is not acknowledged.
#ifndef FSBML_LEAD_HPP
#define FSBML_LEAD_HPP

#include "api/fsbml_delivery.h"

namespace fsbml
{

class Lead
{
public:
    // Of the next message: its order, and the bytes before it; both wrap around.
    std::uint32_t order() const noexcept { return order_; }
    std::uint32_t behind() const noexcept { return behind_; }

    bool has_room(std::uint32_t bytes, const fsbml_delivery_limits_t &l) const noexcept
    {
        const std::uint32_t messages = order_ - oldest_order_, ahead = behind_ - oldest_behind_;
        return 0 == messages || (messages < l.lead_messages && std::uint64_t{ahead} + bytes <= l.lead_bytes);
    }
    void oldest(std::uint32_t order, std::uint32_t behind) noexcept
    {
        oldest_order_ = order;
        oldest_behind_ = behind;
    }
    void add(std::uint32_t bytes) noexcept
    {
        ++order_;
        behind_ += bytes;
    }
    // The message was not sent; it counts no more if it was the last one.
    void take_back(std::uint32_t order, std::uint32_t bytes) noexcept
    {
        if (order_ - 1 == order) {
            --order_;
            behind_ -= bytes;
        }
    }

private:
    std::uint32_t order_ = 0, behind_ = 0;
    std::uint32_t oldest_order_ = 0, oldest_behind_ = 0; // of the oldest, or of one that was older
};

} // namespace fsbml

#endif
