// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "plan.hpp"

#include "loggp_fit.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

struct Rung {
    std::uint32_t packets; // n at most
    std::uint32_t largest; // bytes at most
    std::uint32_t sizes;   // at most
    std::uint32_t samples; // at least (as far as the user wants that many)
};

constexpr std::uint32_t kAll = ~std::uint32_t{0};
constexpr std::uint32_t kKiB = 1024;
constexpr double kBurstMatters = 512.0 * kKiB; // bytes of a probe

// Downwards each rung costs less. Slow rails need fewer packets, because their transfer times dwarf the
// noise; three samples and three sizes are given up last, because without them one disturbed probe spoils the
// line.
// Sizes below 4 KiB would be worse than the pilot's pair, because a burst can hide them altogether.
constexpr Rung kLadder[] = {
    {kAll, kAll, 16, kAll}, {kAll, kAll, 8, 5},   {16, 64 * kKiB, 5, 3}, {16, 32 * kKiB, 5, 3},
    {8, 32 * kKiB, 5, 3},   {8, 24 * kKiB, 4, 3}, {8, 16 * kKiB, 4, 3},  {4, 16 * kKiB, 4, 3},
    {4, 12 * kKiB, 3, 3},   {4, 12 * kKiB, 3, 2}, {3, 12 * kKiB, 3, 2},  {3, 12 * kKiB, 3, 1},
    {2, 12 * kKiB, 3, 1},   {2, 8 * kKiB, 2, 1},  {2, 6 * kKiB, 2, 1},   {2, 4 * kKiB, 1, 1},
    {2, 0, 0, 1}, // small messages only: what the pilot has seen of the rail's pace is as good as it gets
};

} // namespace

std::size_t rungs() noexcept
{
    return sizeof kLadder / sizeof kLadder[0];
}

double predict_ns(const Pace &pace, const Prtt &p) noexcept
{
    const double between = static_cast<double>(p.delay_ns) + pace.small_gap_ns;
    return pace.base_ns + (p.packets - 1.0) * between + (p.packets + 1.0) * p.bytes * pace.per_byte_ns;
}

std::vector<std::uint32_t> line_sizes(std::uint32_t step, std::uint32_t small, std::uint32_t largest,
                                      std::uint32_t count)
{
    std::vector<std::uint32_t> sizes;
    if (largest <= small || 0 == count) {
        return sizes;
    }
    // Too small for two multiples: halves of what there is.
    const std::uint32_t unit = step <= largest / 2 ? step : std::max(largest / 2, 1U);
    const std::uint32_t top = largest / unit;
    std::uint32_t bottom = (kBulkBytes + unit - 1) / unit;
    if (bottom >= top) {
        bottom = 1;
    }
    const std::uint32_t steps = top - bottom;
    const std::uint32_t points = std::min(count, steps + 1);
    for (std::uint32_t i = 0; i < points; ++i) {
        const double part = 1 == points ? 1.0 : static_cast<double>(i) / (points - 1.0);
        const std::uint32_t multiple = bottom + static_cast<std::uint32_t>(std::lround(part * steps));
        if (multiple * unit > small) {
            sizes.push_back(multiple * unit);
        }
    }
    return sizes;
}

Plan make_plan(std::size_t rung, const Limits &limits, const Pace &pace, const Prtt &small_gap,
               const Prtt &overhead)
{
    const Rung &r = kLadder[std::min(rung, rungs() - 1)];
    Plan plan;
    plan.packets = std::min(r.packets, limits.packets);
    plan.largest = std::min(r.largest, limits.max_bytes);
    plan.samples = std::min(r.samples, limits.samples);
    plan.cells.push_back(Prtt{1, 0, limits.small_size});
    plan.cells.push_back(small_gap);
    plan.cells.push_back(overhead);
    for (const std::uint32_t bytes : line_sizes(limits.size_step, limits.small_size, plan.largest, r.sizes)) {
        plan.cells.push_back(Prtt{1, 0, bytes});
        plan.cells.push_back(Prtt{plan.packets, 0, bytes});
    }
    // A shaper lets a few KiB pass at line speed after a pause. Where that is more than noise, that is for
    // few and small packets, each probe starts after such a pause: then it cancels in PRTT(n,0,s) -
    // PRTT(1,0,s).
    const bool rested = static_cast<double>(plan.packets) * plan.largest < kBurstMatters;
    if (rested) {
        plan.rest_ns = kBulkBytes * pace.per_byte_ns;
    }
    for (const Prtt &cell : plan.cells) {
        plan.cost_ns += predict_ns(pace, cell);
        if (rested && cell.bytes > limits.small_size) {
            // Half of that is expected back from the burst, on both ways. Where there is none, time runs out
            // before the last samples, and what the pilot has measured is all the better.
            plan.cost_ns += plan.rest_ns - std::min(cell.bytes, kBulkBytes) * pace.per_byte_ns;
        }
    }
    plan.cost_ns *= plan.samples;
    return plan;
}

} // namespace fsbml
