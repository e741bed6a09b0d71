// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/account/account.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace fsbml
{

namespace
{

constexpr std::uint32_t kNowhere = FSBML_MAX_RAILS;

// Rails' places in `into` by those in `other`.
struct Places {
    std::uint32_t at[FSBML_MAX_RAILS];
};

void add(fsbml_class_t &into, const fsbml_class_t &c) noexcept
{
    into.messages += c.messages;
    into.bytes += c.bytes;
    into.arrivals += c.arrivals;
    into.predicted_ns += c.predicted_ns;
    into.observed_ns += c.observed_ns;
}

void add(fsbml_summary_rail_t &into, const fsbml_summary_rail_t &r) noexcept
{
    into.processes += r.processes;
    into.far_numa += r.far_numa;
    into.messages += r.messages;
    into.bytes += r.bytes;
    into.passed_over += r.passed_over;
    into.busy_ns += r.busy_ns;
    into.kernel_busy_ns += r.kernel_busy_ns;
    into.retransmitted += r.retransmitted;
    if (r.backlog_max_ns > into.backlog_max_ns) {
        into.backlog_max_ns = r.backlog_max_ns;
        into.backlog_max_rank = r.backlog_max_rank;
    }
    into.interfaces += r.interfaces;
    into.interface_bytes += r.interface_bytes;
    into.alone_processes += r.alone_processes;
    into.alone_ns += r.alone_ns;
    for (std::size_t c = 0; c < FSBML_CLASSES; ++c) {
        add(into.by_size[c], r.by_size[c]);
    }
    for (std::size_t b = 0; b < FSBML_RATIO_BINS; ++b) {
        into.ratio[b] += r.ratio[b];
    }
}

// The first rail from `at` on that has this key; s.n_rails: none.
std::uint32_t next_of(const fsbml_summary_t &s, const char *key, std::uint32_t at) noexcept
{
    while (at < s.n_rails && 0 != std::strcmp(s.rail[at].key, key)) {
        ++at;
    }
    return at;
}

// Interfaces in one network have one key: of these, the first is the other's first, the second its second.
Places merge_rails(fsbml_summary_t &into, const fsbml_summary_t &other) noexcept
{
    Places places{};
    for (std::uint32_t i = 0; i < other.n_rails; ++i) {
        const char *const key = other.rail[i].key;
        std::uint32_t at = next_of(into, key, 0);
        for (std::uint32_t before = next_of(other, key, 0); before < i;
             before = next_of(other, key, before + 1)) {
            at = at < into.n_rails ? next_of(into, key, at + 1) : at;
        }
        if (at < into.n_rails) {
            add(into.rail[at], other.rail[i]);
        } else if (at < FSBML_MAX_RAILS) {
            into.rail[at] = other.rail[i];
            ++into.n_rails;
        }
        places.at[i] = at < FSBML_MAX_RAILS ? at : kNowhere;
    }
    return places;
}

bool is_same_fault(const fsbml_summary_fault_t &a, const fsbml_summary_fault_t &b) noexcept
{
    return 0 == std::strcmp(a.rail, b.rail) && 0 == std::strcmp(a.from, b.from)
           && 0 == std::strcmp(a.to, b.to);
}

// That a rail carries nothing says more than that it is slow, and a cause more than none.
bool tells_more(const fsbml_summary_fault_t &a, const fsbml_summary_fault_t &b) noexcept
{
    const auto little = [](const fsbml_summary_fault_t &f) {
        return f.kind >= FSBML_FAULT_ONLY_SLOW ? 2 : FSBML_FAULT_OTHER == f.kind ? 1 : 0;
    };
    return little(a) < little(b);
}

// Several ranks of a node tell of the same, and each knows what it has seen.
void merge_faults(fsbml_summary_t &into, const fsbml_summary_t &other) noexcept
{
    into.more_faults += other.more_faults;
    for (std::uint32_t i = 0; i < other.n_faults; ++i) {
        const fsbml_summary_fault_t &f = other.fault[i];
        fsbml_summary_fault_t *end = into.fault + into.n_faults;
        fsbml_summary_fault_t *const known =
            std::find_if(into.fault, end, [&](const auto &one) { return is_same_fault(one, f); });
        if (known != end) {
            if (!tells_more(f, *known)) {
                continue;
            }
            std::move(known + 1, end, known);
            --end;
            --into.n_faults;
        }
        fsbml_summary_fault_t *const at =
            std::find_if(into.fault, end, [&](const auto &one) { return f.kind < one.kind; });
        const bool full = FSBML_MOST_FAULTS == into.n_faults;
        into.more_faults += full;
        if (at == end && full) {
            continue;
        }
        std::move_backward(at, full ? end - 1 : end, full ? end : end + 1);
        *at = f;
        into.n_faults += !full;
    }
}

// Keeps the largest of both lists, which are in falling order.
template <std::size_t N, class T, class Key>
std::uint32_t merge_largest(T (&into)[N], std::uint32_t n, const T *other, std::uint32_t n_other,
                            Key key) noexcept
{
    for (std::uint32_t i = 0; i < n_other; ++i) {
        std::uint32_t at = n;
        while (at > 0 && key(into[at - 1]) < key(other[i])) {
            --at;
        }
        if (at < N) {
            n = std::min<std::uint32_t>(n + 1, N);
            std::move_backward(into + at, into + n - 1, into + n);
            into[at] = other[i];
        }
    }
    return n;
}

void merge_ranks(fsbml_summary_t &into, const fsbml_summary_t &other, const Places &places) noexcept
{
    fsbml_summary_rank_t moved[FSBML_MOST_RANKS];
    for (std::uint32_t i = 0; i < other.n_ranks; ++i) {
        moved[i] = other.rank[i];
        std::fill(std::begin(moved[i].rail_share), std::end(moved[i].rail_share), 0);
        for (std::uint32_t r = 0; r < other.n_rails; ++r) {
            if (kNowhere != places.at[r]) {
                moved[i].rail_share[places.at[r]] = other.rank[i].rail_share[r];
            }
        }
    }
    into.n_ranks = merge_largest(into.rank, into.n_ranks, moved, other.n_ranks,
                                 [](const fsbml_summary_rank_t &r) { return r.time_ns; });
}

// Several ranks of a node tell of the same change, each a little later or earlier.
void merge_rates(fsbml_changes_t &into, const fsbml_changes_t &other, const Places &places) noexcept
{
    fsbml_change_t moved[FSBML_MOST_CHANGES];
    std::uint32_t n = 0;
    into.more += other.more;
    for (std::uint32_t i = 0; i < other.n; ++i) {
        moved[n] = other.change[i];
        moved[n].rail = places.at[other.change[i].rail];
        if (kNowhere == moved[n].rail) {
            ++into.more;
        } else {
            ++n;
        }
    }
    merge_changes(into, moved, n);
}

} // namespace

void add_peer(fsbml_summary_t &into, const fsbml_summary_peer_t &peer) noexcept
{
    const std::uint32_t peers = into.n_peers + 1;
    into.n_peers = merge_largest(into.peer, into.n_peers, &peer, 1,
                                 [](const fsbml_summary_peer_t &p) { return p.extra_ns; });
    into.more_peers += peers - into.n_peers;
}

void merge(fsbml_summary_t &into, const fsbml_summary_t &other) noexcept
{
    into.ranks = std::max(into.ranks, other.ranks);
    into.heard += other.heard;
    into.nodes += other.nodes;
    into.chose += other.chose;
    into.duration_ns = std::max(into.duration_ns, other.duration_ns);
    into.messages += other.messages;
    into.bytes += other.bytes;
    into.time_ns += other.time_ns;
    into.r2_ns += other.r2_ns;
    const Places places = merge_rails(into, other);
    merge_ranks(into, other, places);
    merge_rates(into.changes, other.changes, places);
    merge_faults(into, other);
    const std::uint32_t peers = into.n_peers + other.n_peers;
    into.n_peers = merge_largest(into.peer, into.n_peers, other.peer, other.n_peers,
                                 [](const fsbml_summary_peer_t &p) { return p.extra_ns; });
    into.more_peers += other.more_peers + (peers - into.n_peers);
}

} // namespace fsbml
