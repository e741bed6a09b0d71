// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "delivery/path/path.hpp"

namespace fsbml
{

namespace
{

constexpr unsigned kAhead = 64;

// Bits up to the highest one of a word that is not zero.
unsigned width(std::uint64_t word) noexcept
{
    unsigned n = 0;
    for (; 0 != word; word >>= 1) {
        ++n;
    }
    return n;
}

} // namespace

void Incoming::begin(std::uint64_t direction, std::uint8_t path) noexcept
{
    generation_ = frame::first_generation(direction, path);
    next_ = frame::first_number(direction, path, generation_);
}

Incoming::Verdict Incoming::accept_out_of_order(std::uint16_t ahead) noexcept
{
    if (0 == ahead) {
        ++next_;
        while (0 != (ahead_ & 1)) {
            ahead_ >>= 1;
            ++next_;
        }
        ahead_ >>= 1; // bit 0 is of the number that is missing now
        return Verdict::kNew;
    }
    if (ahead >= 0x8000U) {
        return Verdict::kRepeated;
    }
    if (ahead > kAhead) {
        wants |= kGap;
        return Verdict::kBeyond;
    }
    const std::uint64_t bit = std::uint64_t{1} << (ahead - 1U);
    if (0 != (ahead_ & bit)) {
        return Verdict::kRepeated;
    }
    ahead_ |= bit;
    return Verdict::kNew;
}

Incoming::Close Incoming::close(std::uint64_t direction, std::uint8_t path, std::uint8_t generation,
                                std::uint16_t end) noexcept
{
    if (is_closed(generation)) {
        wants |= was(generation) ? kResume : 0; // the first answer was lost
        return Close::kBefore;
    }
    const auto missing = static_cast<std::uint16_t>(end - next_);
    if (generation != generation_ || missing >= 0x8000U || (0 != ahead_ && width(ahead_) >= missing)) {
        return Close::kFalse; // more has arrived than was sent
    }
    closed_next_ = next_;
    closed_ahead_ = ahead_;
    n_closed_ += n_closed_ < frame::kMostClosed ? 1 : 0;
    ++generation_;
    next_ = frame::first_number(direction, path, generation_);
    ahead_ = 0;
    acknowledged();
    wants = kResume;
    return Close::kNow;
}

std::uint64_t Incoming::tick(std::uint64_t now, const fsbml_delivery_limits_t &l, bool *half) noexcept
{
    *half = false;
    if (0 == owed_) {
        return FSBML_DELIVERY_NEVER;
    }
    const std::uint64_t patience = owed_large_ ? l.ack_ns : l.ack_idle_ns;
    if (now >= owed_since_ + patience) {
        wants |= 0 != ahead_ ? kAck | kGap : kAck;
        return FSBML_DELIVERY_NEVER;
    }
    *half = now >= owed_since_ + patience / 2;
    return owed_since_ + (*half ? patience : patience / 2);
}

} // namespace fsbml
