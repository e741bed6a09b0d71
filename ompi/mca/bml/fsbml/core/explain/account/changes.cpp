// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/account/account.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fsbml
{

namespace
{

constexpr double kLeastMbps = 1e-6, kMostMbps = 1e9;
constexpr std::uint64_t kTogetherNs = 1'000'000'000; // ranks notice it so far apart
constexpr double kAlike = 1.25;                      // rates, as ranks know them

// Octaves.
double size_of(const fsbml_change_t &c) noexcept
{
    return std::fabs(std::log2(c.after_mbps / c.before_mbps));
}

bool is_same_change(const fsbml_change_t &a, const fsbml_change_t &b) noexcept
{
    const bool both_fell = a.after_mbps < a.before_mbps && b.after_mbps < b.before_mbps;
    const bool both_rose = a.after_mbps > a.before_mbps && b.after_mbps > b.before_mbps;
    return a.rail == b.rail && 0 == std::strcmp(a.node, b.node) && (both_fell || both_rose)
           && (a.ns > b.ns ? a.ns - b.ns : b.ns - a.ns) <= kTogetherNs
           && std::max(a.before_mbps, b.before_mbps) <= kAlike * std::min(a.before_mbps, b.before_mbps);
}

} // namespace

bool is_change(const fsbml_change_t &c) noexcept
{
    const auto is_rate = [](double mbps) { return mbps >= kLeastMbps && mbps <= kMostMbps; }; // no NaN
    return is_rate(c.before_mbps) && is_rate(c.after_mbps);
}

void add_change(fsbml_changes_t &into, const fsbml_change_t &c) noexcept
{
    fsbml_change_t *end = into.change + into.n;
    if (!is_change(c)) {
        return;
    }
    if (FSBML_MOST_CHANGES == into.n) {
        fsbml_change_t *const least = std::min_element(
            into.change, end, [](const auto &a, const auto &b) { return size_of(a) < size_of(b); });
        ++into.more;
        if (size_of(c) <= size_of(*least)) {
            return;
        }
        end = std::move(least + 1, end, least);
        --into.n;
    }
    fsbml_change_t *const at =
        std::upper_bound(into.change, end, c, [](const auto &a, const auto &b) { return a.ns < b.ns; });
    std::move_backward(at, end, end + 1);
    *at = c;
    ++into.n;
}

void merge_changes(fsbml_changes_t &into, const fsbml_change_t *other, std::uint32_t n) noexcept
{
    const std::uint32_t had = into.n;
    bool taken[FSBML_MOST_CHANGES] = {}; // of those that `into` had: the same as one of the other's
    bool known[FSBML_MOST_CHANGES] = {};
    for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t k = 0; k < had && !known[i]; ++k) {
            known[i] = !taken[k] && is_same_change(into.change[k], other[i]);
            taken[k] = taken[k] || known[i];
            // Not beyond its neighbours, as the list is in order.
            if (known[i] && other[i].ns < into.change[k].ns) {
                into.change[k].ns = std::max(other[i].ns, k > 0 ? into.change[k - 1].ns : 0);
            }
        }
    }
    for (std::uint32_t i = 0; i < n; ++i) {
        if (!known[i]) {
            add_change(into, other[i]);
        }
    }
}

} // namespace fsbml
