// Messages, the memory that they are sent from, and whether they arrived.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "btl.hpp"

#include "tools/points/points.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace fsbml::bench
{

namespace
{

const std::size_t page = 4096;

} // namespace

void Outgoing::Free::operator()(unsigned char *memory) const
{
    std::free(memory);
}

Outgoing::Outgoing(std::size_t bytes, int slots, int pieces)
    : bytes_(bytes), slots_(slots), pieces_(static_cast<std::size_t>(pieces)),
      extent_(pieces == 1 ? bytes : 2 * bytes), distance_((extent_ + page - 1) / page * page)
{
    const std::size_t all = static_cast<std::size_t>(slots) * distance_;
    memory_.reset(static_cast<unsigned char *>(std::aligned_alloc(page, all)));
    if (pieces > 1) {
        const int piece = static_cast<int>(bytes / pieces_);
        layout_.reset(port_layout(pieces, piece, 2 * piece));
    }
    if (!memory_ || (pieces > 1 && !layout_)) {
        throw std::bad_alloc();
    }
    std::memset(memory_.get(), 1, all);
}

Message Outgoing::message(int slot, Path path, bool callback) const
{
    return {at(slot), layout_.get(), bytes_, path, callback};
}

void Outgoing::fill(int slot, std::uint32_t round, std::uint32_t number)
{
    const std::size_t piece = bytes_ / pieces_;
    unsigned char *to = at(slot);
    for (std::size_t offset = 0; offset < bytes_; ++offset) {
        const unsigned char value = pattern(round, number, offset);
        if (pieces_ == 1) {
            to[offset] = value;
            continue;
        }
        const std::size_t place = offset / piece * 2 * piece + offset % piece;
        to[place] = value;
        to[place + piece] = static_cast<unsigned char>(~value);
    }
}

Inbox::Inbox(int rank, std::size_t bytes, int count)
    : rank_(rank), bytes_(bytes), memory_(bytes * static_cast<std::size_t>(count)),
      lengths_(static_cast<std::size_t>(count))
{
    port_keep(rank, memory_.data(), bytes, lengths_.size(), lengths_.data());
}

Inbox::~Inbox()
{
    port_keep(rank_, nullptr, 0, 0, nullptr);
}

bool Inbox::right(std::uint32_t round) const
{
    std::vector<bool> seen(lengths_.size());
    for (std::size_t slot = 0; slot < lengths_.size(); ++slot) {
        const unsigned char *message = memory_.data() + slot * bytes_;
        std::size_t number = 0;
        // Short messages can be alike; then it does not matter which one this is.
        while (number < seen.size()
               && (seen[number]
                   || first_wrong(message, bytes_, round, static_cast<std::uint32_t>(number)) < bytes_)) {
            ++number;
        }
        if (lengths_[slot] != bytes_ || number == seen.size()) {
            return false;
        }
        seen[number] = true;
    }
    return true;
}

} // namespace fsbml::bench
