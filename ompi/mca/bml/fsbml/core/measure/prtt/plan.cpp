// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/prtt/prtt.hpp"

#include "measure/fit/fit.hpp"
#include "model/model.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

enum class Extras { none, some, all }; // beside THERE and BACK

struct Rung {
    std::uint32_t largest; // bytes at most
    std::uint32_t sizes;   // at most
    std::uint32_t samples; // at least (as far as the user wants that many)
    std::uint32_t back;    // sizes of the other direction
    Extras extras;
};

constexpr std::uint32_t kAll = ~std::uint32_t{0};
constexpr std::uint32_t kKiB = 1024;
constexpr std::uint32_t kSingles = 4;   // times as many of a single small message
constexpr std::uint32_t kTakeSmall = 8; // messages that wait in the socket's buffers until they are taken in:
constexpr std::uint32_t kTakeLarge = 4; // 16 KiB at most
constexpr std::uint32_t kOverheadLarge = 8; // messages with a delay, of a larger size
constexpr double kHeader = 66.0;            // bytes of a TCP frame beside the payload
constexpr std::uint32_t kSmallGrid = 64;    // bytes
constexpr double kTogether = 800e3;        // ns that the packets of a probe take together, if they are enough
constexpr double kOverheadShows = 100e3;   // ns of a message, beyond which its CPU time is lost in noise
constexpr std::size_t kSizesForLimits = 5; // fewer leave none over for what is only suspected

// Downwards each rung costs less. Slow rails need fewer samples, because their transfer times dwarf the
// noise: two that agree are worth more than a longer wait. Two sizes are given up last.
// Sizes of the line are at least 4 KiB, because a burst can hide smaller ones altogether; what those take is
// told by one of them in such numbers that it cannot (add_small).
constexpr Rung kLadder[] = {
    {kAll, 8, 3, 2, Extras::all},
    {kAll, 6, 3, 2, Extras::all},
    {64 * kKiB, 5, 3, 2, Extras::all},
    {32 * kKiB, 5, 3, 2, Extras::some},
    {32 * kKiB, 4, 3, 2, Extras::some},
    {16 * kKiB, 4, 3, 2, Extras::some},
    {16 * kKiB, 3, 3, 2, Extras::some},
    {12 * kKiB, 3, 3, 1, Extras::some},
    {12 * kKiB, 3, 2, 1, Extras::some},
    {7 * kKiB, 2, 2, 1, Extras::some},
    {7 * kKiB, 2, 2, 1, Extras::none},
    {7 * kKiB, 2, 2, 0, Extras::none}, // the other direction goes before small messages
    {12 * kKiB, 3, 1, 0, Extras::none},
    {8 * kKiB, 2, 1, 0, Extras::none},
    {6 * kKiB, 2, 1, 0, Extras::none},
    {4 * kKiB, 1, 1, 0, Extras::none},
    {0, 0, 1, 0, Extras::none}, // small messages only: what the pilot has seen of the rail's pace is as good
                                // as it gets
};

double foretold_gap(const Pace &pace, std::uint32_t bytes) noexcept
{
    return pace.small_gap_ns + bytes * pace.per_byte_ns;
}

// What small messages take when a bucket hides them no longer (gaps_beyond_burst): PRTT(n,0,s) with the
// greatest n and the least size of which so many empty one of kBulkBytes, although it fills while the
// processor is busy with them. No larger one: TCP joins messages that wait, the longer they wait the more.
void add_small(Plan &plan, const Limits &limits, const Pace &pace)
{
    const double fills = pace.small_gap_ns / std::max(pace.per_byte_ns, kMinG);
    const double bytes = std::max(double{kBulkBytes} / limits.packets + fills - kHeader, 1.0);
    if (bytes > kBulkBytes / 2.0) {
        return; // the line is as good
    }
    const std::uint32_t s = (static_cast<std::uint32_t>(bytes) / kSmallGrid + 1) * kSmallGrid;
    if (s > limits.small_size && s <= limits.max_bytes) {
        plan.cells.push_back({Prtt{limits.packets, 0, s}, 1});
    }
}

void add_back(Plan &plan, const Rung &rung, const Limits &limits, const Pace &pace, const Prtt &small_gap,
              const Prtt &overhead)
{
    if (0 == rung.back) {
        return;
    }
    const Prtt one{1, 0, limits.small_size, FSBML_PROBE_BACK};
    plan.cells.push_back({one, 1});
    for (const Prtt *there : {&small_gap, &overhead}) {
        Prtt back = *there;
        back.kind = FSBML_PROBE_BACK;
        plan.cells.push_back({back, 1});
    }
    const std::size_t count = std::min<std::size_t>(rung.back, plan.sizes.size());
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = 1 == count ? 0 : i * (plan.sizes.size() - 1) / (count - 1);
        const std::uint32_t bytes = plan.sizes[at];
        const std::uint32_t n = packets_for(pace, bytes, limits.packets);
        plan.cells.push_back({Prtt{1, 0, bytes, FSBML_PROBE_BACK}, 1});
        plan.cells.push_back({Prtt{n, 0, bytes, FSBML_PROBE_BACK}, 1});
    }
}

void add_other(Plan &plan, std::uint32_t packets, std::uint32_t bytes)
{
    const Prtt prtt{packets, 0, bytes, FSBML_PROBE_BACK};
    const auto same = [&](const PlannedCell &c) { return c.prtt == prtt; };
    if (std::none_of(plan.cells.begin(), plan.cells.end(), same)) {
        plan.cells.push_back({prtt, 1});
    }
}

// T(n) and T(1) with one delay, after which the n messages have come in any case.
void add_take(Plan &plan, const Pace &pace, std::uint32_t packets, std::uint32_t bytes)
{
    if (packets < 2) {
        return;
    }
    const double arrived = pace.base_ns + 2.0 * packets * foretold_gap(pace, bytes) + kDelayBeyond;
    const auto delay = static_cast<std::uint64_t>(std::ceil(arrived));
    plan.cells.push_back({Prtt{1, delay, bytes, FSBML_PROBE_TAKE}, 1});
    plan.cells.push_back({Prtt{packets, delay, bytes, FSBML_PROBE_TAKE}, 1});
}

void add_extras(Plan &plan, const Rung &rung, const Limits &limits, const Pace &pace)
{
    if (Extras::none == rung.extras) {
        return;
    }
    add_take(plan, pace, std::min(kTakeSmall, limits.packets), limits.small_size);
    if (plan.sizes.empty()) {
        return;
    }
    const std::uint32_t middle = plan.sizes[plan.sizes.size() / 3];
    const std::uint32_t most = limits.packets;
    plan.cells.push_back({Prtt{packets_for(pace, middle, most), 0, middle, FSBML_PROBE_BOTH}, 1});
    // Overheads by size: only where they are more than a sliver of what the message takes.
    const auto shows = std::find_if(plan.sizes.rbegin(), plan.sizes.rend(), [&](std::uint32_t bytes) {
        return bytes <= 16 * kKiB && foretold_gap(pace, bytes) <= kOverheadShows;
    });
    if (Extras::all != rung.extras || plan.sizes.rend() == shows) {
        return;
    }
    const auto delay = static_cast<std::uint64_t>(std::ceil(2.0 * foretold_gap(pace, *shows) + kDelayBeyond));
    plan.cells.push_back({Prtt{std::min(kOverheadLarge, most), delay, *shows}, 1});
    add_take(plan, pace, std::min(kTakeLarge, limits.packets), std::min(*shows, kBulkBytes));
}

// From `bottom` to `largest`, each the same factor above the one before. The first one stays, whatever the
// step: a line needs two.
std::vector<std::uint32_t> grow(std::uint32_t bottom, std::uint32_t largest, std::uint32_t step,
                                std::uint32_t count)
{
    std::vector<std::uint32_t> sizes;
    const double factor =
        count > 1 ? std::pow(static_cast<double>(largest) / bottom, 1.0 / (count - 1.0)) : 1.0;
    for (std::uint32_t i = 0; i + 1 < count; ++i) {
        auto bytes = static_cast<std::uint32_t>(std::lround(bottom * std::pow(factor, i)));
        bytes = bytes >= 2 * kKiB ? (bytes + kKiB / 2) / kKiB * kKiB : bytes;
        if (bytes < largest && (sizes.empty() || (bytes - sizes.back() >= step && largest - bytes >= step))) {
            sizes.push_back(bytes);
        }
    }
    sizes.push_back(largest);
    return sizes;
}

// Below some size a fast rail shows what a message costs the processor, and nothing of the bytes: two sizes
// are enough for that.
std::vector<std::uint32_t> sizes_of(const Rung &rung, const Limits &limits, const Pace &pace)
{
    const std::uint32_t largest = std::min(rung.largest, limits.max_bytes);
    const double even = pace.small_gap_ns / std::max(pace.per_byte_ns, kMinG);
    if (rung.sizes < kSizesForLimits || even < 2.0 * kBulkBytes || even > largest / 2) {
        return line_sizes(limits.size_step, limits.small_size, largest, rung.sizes);
    }
    const auto flat = static_cast<std::uint32_t>(even);
    std::vector<std::uint32_t> sizes = grow(kBulkBytes, flat, limits.size_step, 3);
    sizes.pop_back();
    const std::uint32_t from = flat + limits.size_step;
    const std::vector<std::uint32_t> above = grow(from, largest, limits.size_step, rung.sizes - 2);
    sizes.insert(sizes.end(), above.begin(), above.end());
    return sizes;
}

} // namespace

std::size_t rungs() noexcept
{
    return sizeof kLadder / sizeof kLadder[0];
}

std::size_t last_rung_of(std::uint32_t samples) noexcept
{
    std::size_t rung = rungs() - 1;
    while (rung > 0 && kLadder[rung].samples < samples) {
        --rung;
    }
    return rung;
}

double predict_ns(const Pace &pace, const Prtt &p) noexcept
{
    const double between = static_cast<double>(p.delay_ns) + pace.small_gap_ns;
    const double there_ns = p.bytes * pace.per_byte_ns;
    const double back_ns = p.bytes * pace.slower_per_byte_ns();
    switch (p.kind) {
    case FSBML_PROBE_BACK:
        return pace.base_ns + (p.packets - 1.0) * between + p.packets * back_ns;
    case FSBML_PROBE_TAKE: // the delay is for all of them
        return pace.base_ns + static_cast<double>(p.delay_ns) + p.packets * pace.small_gap_ns;
    case FSBML_PROBE_BOTH: // as if one way had to wait for the other
        return pace.base_ns + (p.packets - 1.0) * between + p.packets * (there_ns + back_ns);
    default:
        return pace.base_ns + (p.packets - 1.0) * between + p.packets * there_ns + back_ns;
    }
}

std::uint32_t packets_for(const Pace &pace, std::uint32_t bytes, std::uint32_t most) noexcept
{
    const double wanted = 1.0 + std::ceil(kTogether / std::max(foretold_gap(pace, bytes), 1.0));
    return static_cast<std::uint32_t>(std::clamp(wanted, 2.0, std::max(2.0, static_cast<double>(most))));
}

std::vector<std::uint32_t> line_sizes(std::uint32_t step, std::uint32_t small, std::uint32_t largest,
                                      std::uint32_t count)
{
    if (largest <= small || 0 == count) {
        return {};
    }
    const std::uint32_t bottom = largest >= kBulkBytes / 2 * 3 ? kBulkBytes : std::max(largest / 2, 1U);
    std::vector<std::uint32_t> sizes = grow(bottom, largest, step, count);
    sizes.erase(sizes.begin(), std::upper_bound(sizes.begin(), sizes.end(), small));
    return sizes;
}

namespace
{
std::uint32_t between(std::uint32_t a, std::uint32_t b)
{
    return static_cast<std::uint32_t>(std::lround(std::sqrt(static_cast<double>(a) * b)));
}
} // namespace

void add_changes(std::vector<std::uint32_t> &sizes, const Limits &limits)
{
    if (sizes.size() < kSizesForLimits) {
        return;
    }
    const std::uint32_t first = sizes.front();
    const std::uint32_t last = sizes.back();
    for (const std::uint32_t below : limits.change) {
        const std::uint32_t above = below + std::max(1U, below / 16);
        if (below <= first || above < below || above > last) {
            continue;
        }
        sizes.erase(std::remove_if(sizes.begin(), sizes.end(),
                                   [&](std::uint32_t s) {
                                       return s != first && s != last && s >= below - below / 8
                                              && s <= above + above / 8;
                                   }),
                    sizes.end());
        sizes.insert(sizes.end(), {below, above});
        // Three on either side: fewer make no piece of a line.
        const auto lower =
            std::count_if(sizes.begin(), sizes.end(), [&](std::uint32_t s) { return s <= below; });
        const auto upper =
            std::count_if(sizes.begin(), sizes.end(), [&](std::uint32_t s) { return s >= above; });
        if (lower < 3) {
            sizes.push_back(between(first, below));
        }
        if (upper < 3) {
            sizes.push_back(between(above, last));
        }
        std::sort(sizes.begin(), sizes.end());
    }
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
}

void add_size(Plan &plan, const Pace &pace, std::uint32_t bytes, std::uint32_t most_packets)
{
    plan.sizes.insert(std::upper_bound(plan.sizes.begin(), plan.sizes.end(), bytes), bytes);
    plan.cells.push_back({Prtt{1, 0, bytes}, 1});
    plan.cells.push_back({Prtt{packets_for(pace, bytes, most_packets), 0, bytes}, 1});
}

Plan make_plan(std::size_t rung, const Limits &limits, const Pace &pace, const Prtt &small_gap,
               const Prtt &overhead)
{
    const Rung &r = kLadder[std::min(rung, rungs() - 1)];
    const std::uint32_t most = limits.packets;
    Plan plan;
    plan.samples = std::min(r.samples, limits.samples);
    plan.cells.push_back({Prtt{1, 0, limits.small_size}, kSingles}); // L rests on it alone
    plan.cells.push_back({small_gap, 1});
    plan.cells.push_back({overhead, 1});
    std::vector<std::uint32_t> sizes = sizes_of(r, limits, pace);
    add_changes(sizes, limits);
    for (const std::uint32_t bytes : sizes) {
        add_size(plan, pace, bytes, most);
    }
    if (r.samples > 1) {
        add_small(plan, limits, pace);
    }
    add_back(plan, r, limits, pace, small_gap, overhead);
    add_extras(plan, r, limits, pace);
    if (pace.answer_per_byte_ns > 0.0 && plan.sizes.size() >= 2 && !tells_other_way(plan)) {
        add_other_way(plan, limits.small_size);
    }
    // A shaper lets a few KiB pass at line speed after a pause. Each probe starts after such a pause: then it
    // cancels in PRTT(n,0,s) - PRTT(1,0,s).
    plan.rest_ns = kBulkBytes * pace.slower_per_byte_ns();
    for (const PlannedCell &cell : plan.cells) {
        // Half of the pause is expected back from the burst, on both ways. Where there is none, time runs out
        // before the last samples, and what the pilot has measured is all the better.
        const double both_ways = std::max(1.0, cell.prtt.packets / 2.0) * cell.prtt.bytes;
        const double bytes = cell.prtt.bytes >= kBulkBytes         ? cell.prtt.bytes
                             : cell.prtt.bytes > limits.small_size ? both_ways
                                                                   : kBulkBytes;
        const double cost = predict_ns(pace, cell.prtt) + plan.rest_ns
                            - std::min<double>(bytes, kBulkBytes) * pace.slower_per_byte_ns();
        plan.cost_ns += cell.times * cost;
    }
    plan.cost_ns *= plan.samples;
    return plan;
}

bool tells_other_way(const Plan &plan) noexcept
{
    return std::any_of(plan.cells.begin(), plan.cells.end(), [](const PlannedCell &c) {
        return FSBML_PROBE_BACK == c.prtt.kind && c.prtt.bytes >= kBulkBytes;
    });
}

void add_other_way(Plan &plan, std::uint32_t small)
{
    add_other(plan, 1, small);
    for (const std::uint32_t bytes : {plan.sizes.front(), plan.sizes.back()}) {
        add_other(plan, 1, bytes);
        add_other(plan, 2, bytes);
    }
}

} // namespace fsbml
