// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "rules.hpp"

#include <algorithm>
#include <limits>

namespace fsbml::sim
{

Knowledge::Knowledge(const Cluster &cluster)
{
    for (const RailSpec &rail : cluster.rails) {
        rails_.push_back(rail.believed);
    }
}

double Knowledge::bandwidth(std::size_t rail) const
{
    const fsbml_loggp_t &p = rails_[rail];
    const double slope = p.break_bytes > 0.0 ? p.G_above_ns_per_byte : p.G_ns_per_byte;
    return 1.0 / std::max(slope, 1e-9); // no rail is faster than 1e18 B/s
}

double Knowledge::small(std::size_t rail) const
{
    const fsbml_loggp_t &p = rails_[rail];
    return p.o_s_ns + p.L_ns + p.o_r_ns;
}

double Knowledge::gap(std::size_t rail, std::uint64_t bytes) const
{
    const fsbml_loggp_t &p = rails_[rail];
    const double s = std::max(1.0, static_cast<double>(bytes));
    return p.break_bytes > 0.0 && s >= p.break_bytes
               ? p.g_above_ns + p.G_above_ns_per_byte * (s - p.break_bytes)
               : p.g_ns + p.G_ns_per_byte * (s - 1.0);
}

std::vector<int> Knowledge::in(std::uint32_t mask) const
{
    std::vector<int> rails;
    for (std::size_t i = 0; i < rails_.size() && i < std::numeric_limits<std::uint32_t>::digits; ++i) {
        if (0 != (mask >> i & 1U)) {
            rails.push_back(static_cast<int>(i));
        }
    }
    return rails;
}

std::vector<int> Knowledge::by_bandwidth(std::uint32_t mask) const
{
    std::vector<int> rails = in(mask);
    std::stable_sort(rails.begin(), rails.end(), [&](int a, int b) {
        return bandwidth(static_cast<std::size_t>(a)) > bandwidth(static_cast<std::size_t>(b));
    });
    return rails;
}

std::uint64_t Knowledge::quantum(std::uint32_t mask) const
{
    std::vector<fsbml_loggp_t> params;
    for (const int rail : in(mask)) {
        params.push_back(rails_[static_cast<std::size_t>(rail)]);
    }
    return fsbml_quantum(params.data(), params.size(), FSBML_QUANTUM_LOSS, FSBML_QUANTUM_LEAST, kQuantumMost);
}

void Knowledge::cut(const Situation &whole, std::vector<Rule::Piece> &out) const
{
    cut_every(whole.bytes, whole.bytes <= kEager ? kEager : quantum(whole.rails), out);
}

void cut_every(std::uint64_t bytes, std::uint64_t size, std::vector<Rule::Piece> &out)
{
    for (; bytes > size; bytes -= size) {
        out.push_back({size, -1});
    }
    out.push_back({bytes, -1});
}

void InFlight::add(int rail, const Entry &entry)
{
    queues_[static_cast<std::size_t>(rail)].push_back(entry);
    bytes_[static_cast<std::size_t>(rail)] += entry.bytes;
}

std::optional<InFlight::Entry> InFlight::take(int rail, const Situation &fragment)
{
    std::deque<Entry> &queue = queues_[static_cast<std::size_t>(rail)];
    const auto found = std::find_if(queue.begin(), queue.end(), [&](const Entry &e) {
        return e.peer == fragment.peer && e.bytes == fragment.bytes;
    });
    if (found == queue.end()) {
        return std::nullopt;
    }
    const Entry entry = *found;
    queue.erase(found);
    bytes_[static_cast<std::size_t>(rail)] -= entry.bytes;
    return entry;
}

const std::vector<RuleMaker *> &rivals()
{
    static const std::vector<RuleMaker *> all = [] {
        std::vector<RuleMaker *> makers;
        for (const auto add :
             {add_turns, add_ob1, add_ucx, add_mvapich, add_mptcp, add_ecf, add_tent, add_vft}) {
            add(makers);
        }
        return makers;
    }();
    return all;
}

RuleMaker *rival(const std::string &name)
{
    for (RuleMaker *maker : rivals()) {
        if (name == maker->name()) {
            return maker;
        }
    }
    return nullptr;
}

} // namespace fsbml::sim
