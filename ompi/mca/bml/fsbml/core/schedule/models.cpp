// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "schedule/models.hpp"

#include "model/model.hpp"

#include <algorithm>

namespace fsbml
{

namespace
{

// Differences of o + L below this, if that is less than a sixth, or below 3 %, are none.
constexpr double kTieNs = 1500.0;

// A model in integers.
struct Fixed {
    Fixed() = default;
    explicit Fixed(const fsbml_loggp_t &p) noexcept
        : o_s(ticks_from_ns(p.o_s_ns)), base(o_s + ticks_from_ns(p.L_ns) + ticks_from_ns(p.o_r_ns)),
          o_r(ticks_from_ns(p.o_r_ns)), burst(ticks_from_ns(p.burst_ns)),
          g(std::max(ticks_from_ns(p.g_ns), Ticks{1})), G(gap_from_ns_per_byte(p.G_ns_per_byte)),
          O_s(gap_from_ns_per_byte(p.O_s_ns_per_byte)), O_r(gap_from_ns_per_byte(p.O_r_ns_per_byte))
    {
        if (p.break_bytes > 0.0) {
            const auto first = static_cast<std::size_t>(std::llround(p.break_bytes));
            from = byte_steps(first);
            G_above = gap_from_ns_per_byte(p.G_above_ns_per_byte);
            // A larger message never costs less: a fit that says so gets the gap of the last size
            // below.
            g_above = std::max(ticks_from_ns(p.g_above_ns), g + bytes_cost(G, byte_steps(first - 1)));
        }
    }

    Ticks o_s = 0;
    Ticks base = 0; // o_s + L + o_r
    Ticks o_r = 0;
    Ticks burst = 0;
    Ticks g = 1;
    std::uint64_t G = 0;
    std::uint64_t O_s = 0;
    std::uint64_t O_r = 0;
    std::uint64_t from = 0; // byte_steps() of the break; 0: there is none
    Ticks g_above = 0;
    std::uint64_t G_above = 0;
};

// What is measured of L and o differs by as much from job to job. A small message must not depend on that: of
// two idle rails that deliver it equally soon, the one with the lower G takes it, since it will be free
// sooner. The other one must gain what another connection costs the processors, o_s + o_r: a stream that
// they limit gains nothing by it. *handicap: how much of what is returned is that. (On a shaped rail, the
// bucket hides that small messages keep it busy, too; a model that took them for free put 60 % of one-byte
// messages on a rail ten times slower.)
Ticks settled_base(const Fixed *all, std::uint32_t measured, std::size_t rail, Ticks &handicap) noexcept
{
    const Ticks own = all[rail].base;
    const Ticks both = all[rail].o_s + all[rail].o_r;
    Ticks settled = own;
    handicap = 0;
    for (std::size_t j = 0; j < FSBML_MAX_RAILS; ++j) {
        if (0 == (measured >> j & 1) || j == rail || all[j].G > all[rail].G
            || (all[j].G == all[rail].G && j > rail)) {
            continue;
        }
        const Ticks other = all[j].base;
        const Ticks slack = std::max(other / 32, std::min(other / 6, ticks_from_ns(kTieNs)));
        if ((own > other ? own - other : other - own) <= slack && settled <= other + both) {
            settled = other + both + 1;
            handicap = both;
        }
    }
    return settled;
}

// The rail's line for sizes from `start` on.
void put(Rail &r, const Fixed &m, std::uint64_t start, Ticks base) noexcept
{
    constexpr auto relaxed = std::memory_order_relaxed;
    const bool above = 0 != m.from && m.from <= start;
    const std::uint64_t per_byte = above ? m.G_above : m.G;
    r.base.store(above ? base + (m.g_above - m.g) - bytes_cost_floor(per_byte, m.from) : base, relaxed);
    r.o_s.store(m.o_s, relaxed);
    r.set_bucket(m.burst);
    r.gap.store(above ? m.g_above - bytes_cost(per_byte, m.from) : m.g, relaxed);
    r.gap_per_byte.store(per_byte, relaxed);
    r.per_byte.store(per_byte + m.O_s + m.O_r, std::memory_order_release);
}

} // namespace

bool Models::set(std::size_t rail, const fsbml_loggp_t &p, fsbml_policy_t policy) noexcept
{
    const std::lock_guard<std::mutex> lock(setting_);
    given_[rail] = model_[rail] = p;
    return renew(policy, measured_.load(std::memory_order_relaxed) | std::uint32_t{1} << rail);
}

bool Models::scale(std::size_t rail, double factor, fsbml_policy_t policy) noexcept
{
    const std::lock_guard<std::mutex> lock(setting_);
    const std::uint32_t measured = measured_.load(std::memory_order_relaxed);
    const fsbml_loggp_t p = slowed(given_[rail], factor);
    if (0 != (measured >> rail & 1) && valid(p)) {
        model_[rail] = p;
    }
    return renew(policy, measured);
}

bool Models::get(std::size_t rail, fsbml_loggp_t &p) noexcept
{
    const std::lock_guard<std::mutex> lock(setting_);
    p = given_[rail];
    return 0 != (measured_.load(std::memory_order_relaxed) >> rail & 1);
}

// Everything that decisions read, from all rails' models; with setting_ held.
bool Models::renew(fsbml_policy_t policy, std::uint32_t measured) noexcept
{
    Fixed all[FSBML_MAX_RAILS];
    std::uint64_t start[FSBML_MAX_RAILS + 1] = {0};
    std::size_t rows = 1;
    bool shaped = false;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (0 != (measured >> i & 1)) {
            all[i] = Fixed(model_[i]);
            shaped |= 0 != all[i].burst;
            start[rows] = all[i].from;
            rows += 0 != all[i].from ? 1 : 0;
        }
    }
    std::sort(start, start + rows);
    rows = static_cast<std::size_t>(std::unique(start, start + rows) - start);

    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (0 != (measured >> i & 1)) {
            Ticks handicap = 0;
            const Ticks base =
                FSBML_POLICY_ARRIVAL == policy ? settled_base(all, measured, i, handicap) : all[i].base;
            handicap_[i].store(handicap, std::memory_order_relaxed);
            for (std::size_t k = 0; k < rows; ++k) {
                put(row_[k][i], all[i], start[k], base);
            }
            if (FSBML_POLICY_SINGLE == policy) {
                const auto bulk = static_cast<double>(kBulkMessage);
                row_[0][i].turn.store(ticks_from_ns(gap_ns(model_[i], bulk)), std::memory_order_relaxed);
            }
        }
    }
    for (std::size_t k = 1; k < rows; ++k) {
        break_[k - 1].store(start[k], std::memory_order_relaxed);
    }
    breaks_.store(static_cast<std::uint32_t>(rows - 1), std::memory_order_release);
    measured_.store(measured, std::memory_order_release);
    return shaped;
}

} // namespace fsbml
