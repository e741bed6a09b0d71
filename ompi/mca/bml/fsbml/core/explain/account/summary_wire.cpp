// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/account/account.hpp"

#include "formats/wire.hpp"

namespace fsbml
{

namespace
{

constexpr std::uint32_t kMagic = 0x52425346; // "FSBR"
constexpr std::uint16_t kVersion = 3;

template <class Visit, class Rail>
void walk_rail(const Visit &v, Rail &r)
{
    v(r.key), v(r.name), v(r.about);
    v(r.processes), v(r.far_numa), v(r.messages), v(r.bytes), v(r.passed_over), v(r.busy_ns),
        v(r.kernel_busy_ns);
    v(r.retransmitted), v(r.backlog_max_ns), v(r.backlog_max_rank), v(r.interfaces), v(r.interface_bytes);
    v(r.alone_processes), v(r.alone_ns);
    for (auto &c : r.by_size) {
        v(c.messages), v(c.bytes), v(c.arrivals), v(c.predicted_ns), v(c.observed_ns);
    }
    for (auto &n : r.ratio) {
        v(n);
    }
}

constexpr auto kSummary = [](const auto &v, auto &s) {
    v(s.ranks), v(s.heard), v(s.nodes), v(s.chose), v(s.duration_ns), v(s.messages), v(s.bytes), v(s.time_ns);
    v(s.r2_ns), v(s.more_faults), v(s.more_peers);
    if (!v.at_most(s.n_rails, FSBML_MAX_RAILS)) {
        return false;
    }
    for (std::uint32_t i = 0; i < s.n_rails; ++i) {
        walk_rail(v, s.rail[i]);
    }
    if (!v.at_most(s.n_faults, FSBML_MOST_FAULTS)) {
        return false;
    }
    for (std::uint32_t i = 0; i < s.n_faults; ++i) {
        auto &f = s.fault[i];
        v(f.rail), v(f.from), v(f.to), v(f.kind), v(f.why);
    }
    if (!v.at_most(s.n_peers, FSBML_MOST_PEERS)) {
        return false;
    }
    for (std::uint32_t i = 0; i < s.n_peers; ++i) {
        auto &p = s.peer[i];
        v(p.from), v(p.to), v(p.rail), v(p.extra_ns);
    }
    if (!v.at_most(s.n_ranks, FSBML_MOST_RANKS)) {
        return false;
    }
    for (std::uint32_t i = 0; i < s.n_ranks; ++i) {
        auto &r = s.rank[i];
        v(r.rank), v(r.node), v(r.messages), v(r.bytes), v(r.time_ns);
        for (std::uint32_t k = 0; k < s.n_rails; ++k) {
            v(r.rail_share[k]);
        }
    }
    v(s.changes.more);
    if (!v.at_most(s.changes.n, FSBML_MOST_CHANGES)) {
        return false;
    }
    std::uint64_t before = 0;
    for (std::uint32_t i = 0; i < s.changes.n; ++i) {
        auto &c = s.changes.change[i];
        v(c.rail), v(c.name), v(c.node), v(c.ns), v(c.before_mbps), v(c.after_mbps);
        if (c.rail >= s.n_rails || c.ns < before || !is_change(c)) {
            return false;
        }
        before = c.ns;
    }
    return true;
};

} // namespace

long summary_pack(const fsbml_summary_t &s, void *buf, std::size_t len) noexcept
{
    return wire::pack(kMagic, kVersion, s, buf, len, kSummary);
}

int summary_unpack(fsbml_summary_t &s, const void *buf, std::size_t len) noexcept
{
    return wire::unpack(kMagic, kVersion, s, buf, len, kSummary);
}

} // namespace fsbml
