// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A message in pieces: how much of it each rail takes, so that all of them deliver at the same time.
//
// The rest of the message is dealt out in shares, an eighth of it at a time, each to the rail that would then
// deliver first: the same rule as for messages (thesis 4.4), whatever a rail's model looks like. As shares
// become small, rails end together.
#include "schedule/schedule.hpp"

#include <algorithm>

namespace fsbml
{

namespace
{

constexpr std::size_t kRest = 8;     // of the rest a share takes a part of
constexpr std::size_t kLeast = 128;  // ... and of the message at least
constexpr std::size_t kGranule = 64; // bytes

constexpr Ticks kCopy = kTicksPerNs / 8; // a byte: the receiver puts pieces together
// What must be gained: a sixteenth of the time that the message takes as a whole, without what it waits for
// others anyway; and several times what pieces cost, up to twice as many behind a queue, or a quarter of all:
// in a stream of short messages rails are busy anyway, and the processors have no time to give away.
constexpr Ticks kLittle = 16;
constexpr Ticks kMuch = 4;
constexpr Ticks kTolls = 4;
// What a further piece costs at either end besides its own overheads: it is made, found, and waited for.
constexpr Ticks kPiece = 2000 * kTicksPerNs;

// Of frames, in bytes: so small a bucket may have given all away to acknowledgements.
constexpr std::size_t kFew = 8 * 1500;

// Of what a bucket lets pass at once, nothing is worth cutting: the processors do one piece after the other.
// Of a small bucket, only a part counts (kBucketPart).
bool passes_at_once(const Rail &r, Ticks backlog, std::uint64_t steps) noexcept
{
    const std::uint64_t gap_per_byte = r.gap_per_byte.load(std::memory_order_relaxed);
    const Ticks bucket = r.bucket(), gap = bytes_cost_floor(gap_per_byte, steps);
    const Ticks part = bucket < bytes_cost_floor(gap_per_byte, byte_steps(kFew)) ? Rail::kBucketPart : 1;
    return part * gap + backlog <= bucket;
}

} // namespace

std::size_t Scheduler::cut(std::uint64_t now_ns, std::size_t bytes, std::uint32_t mask,
                           const fsbml_far_t *far, std::size_t *share) const noexcept
{
    for (std::uint32_t left = mask; 0 != left; left &= left - 1) {
        share[__builtin_ctz(left)] = 0;
    }
    std::uint32_t rails = mask & models_.measured() & existing_ & ~guessed_.load(std::memory_order_relaxed);
    if (FSBML_POLICY_ARRIVAL != policy_ || 0 == (rails & (rails - 1)) || bytes < FSBML_CUT_LEAST) {
        return 0;
    }
    const VftSlot *const slots = vfts_.load(std::memory_order_acquire);
    const Ticks now = clock(now_ns), beyond = this->beyond();
    Ticks vft[FSBML_MAX_RAILS], extra[FSBML_MAX_RAILS];
    const auto delivery = [&](std::size_t rail, Ticks busy_until, std::size_t size) {
        const std::uint64_t steps = byte_steps(size);
        return models_.row(steps)[rail].delivery<true>(busy_until, now, beyond, steps);
    };
    const auto arrival = [&](std::size_t rail, std::size_t size) {
        return delivery(rail, vft[rail], size) - models_.handicap(rail) + extra[rail];
    };
    std::size_t first = 0;
    Ticks whole = ~Ticks{0};
    for (std::uint32_t left = rails; 0 != left; left &= left - 1) {
        const auto rail = static_cast<std::size_t>(__builtin_ctz(left));
        vft[rail] = slots[rail].vft.load(std::memory_order_relaxed);
        extra[rail] = nullptr != far ? extra_of(*far, rail) : 0;
        const Ticks then = arrival(rail, bytes);
        first = then < whole ? rail : first;
        whole = std::min(whole, then);
    }
    const std::uint64_t steps = byte_steps(bytes);
    const Ticks queue = fsbml::backlog(vft[first], now, beyond);
    if (passes_at_once(models_.row(steps)[first], queue, steps)) {
        return 0;
    }
    // The processors at both ends do one piece after the other.
    const Ticks toll = 2 * models_.row()[first].o_s.load(std::memory_order_relaxed) + kPiece;
    Ticks wait = ~Ticks{0};
    for (std::uint32_t left = rails; 0 != left; left &= left - 1) {
        const auto rail = static_cast<std::size_t>(__builtin_ctz(left));
        wait = std::min(wait, delivery(rail, vft[rail], bytes) - delivery(rail, now, bytes));
    }
    const Ticks own = whole - wait;
    const Ticks tolls = kTolls * toll + std::min(queue / kLittle, kTolls * toll);
    const Ticks cost = kCopy * bytes + std::max(own / kLittle, std::min(whole / kMuch, tolls));
    const Ticks limit = whole > cost ? whole - cost : 0;
    const std::size_t least = std::max(kGranule, bytes / kLeast);
    for (std::uint32_t left = rails & ~(std::uint32_t{1} << first); 0 != left; left &= left - 1) {
        const auto rail = static_cast<std::size_t>(__builtin_ctz(left));
        extra[rail] += toll;
        if (arrival(rail, least) >= limit) {
            rails &= ~(std::uint32_t{1} << rail); // even the least is too much
        }
    }
    if (0 == (rails & (rails - 1))) {
        return 0;
    }
    for (std::size_t rest = bytes; 0 != rest;) {
        const std::size_t some = std::min(rest, std::max(least, rest / kRest));
        std::size_t best = first;
        Ticks soonest = ~Ticks{0};
        for (std::uint32_t left = rails; 0 != left; left &= left - 1) {
            const auto rail = static_cast<std::size_t>(__builtin_ctz(left));
            const Ticks then = arrival(rail, share[rail] + some);
            best = then < soonest ? rail : best;
            soonest = std::min(soonest, then);
        }
        share[best] += some;
        rest -= some;
    }
    std::size_t pieces = 0;
    for (std::uint32_t left = rails; 0 != left; left &= left - 1) {
        const auto rail = static_cast<std::size_t>(__builtin_ctz(left));
        pieces += 0 != share[rail] ? 1 : 0;
        if (0 != share[rail] && arrival(rail, share[rail]) > limit) {
            return 0;
        }
    }
    return pieces > 1 ? pieces : 0;
}

} // namespace fsbml
