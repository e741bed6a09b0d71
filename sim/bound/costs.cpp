// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace fsbml::sim::bound
{

namespace
{

constexpr double kNs = static_cast<double>(kPsPerNs);

// The fastest that a rail ever is: what a bound for all times may rest on.
double best_factor(const RailSpec &spec)
{
    double best = 1.0;
    bool from_start = false;
    for (const Change &c : spec.changes) {
        from_start = from_start || c.at <= 0;
    }
    if (from_start) {
        best = std::numeric_limits<double>::infinity();
    }
    for (const Change &c : spec.changes) {
        if (c.factor > 0.0) {
            best = std::min(best, c.factor);
        }
    }
    return std::isfinite(best) ? best : 1.0;
}

double gap_of(const fsbml_loggp_t &p, double bytes)
{
    return p.break_bytes > 0 && bytes >= p.break_bytes
               ? p.g_above_ns + p.G_above_ns_per_byte * (bytes - p.break_bytes)
               : p.g_ns + p.G_ns_per_byte * (bytes - 1);
}

// A rule that counts in integers may round down.
Ps whole_ps(double ns)
{
    return std::floor(ns * kNs * (1 + 1e-12));
}

} // namespace

Costs::Costs(const Cluster &cluster, const BoundOptions &options) : options_(options)
{
    if (options.least_fragment == 0) {
        throw std::invalid_argument("bound: a fragment has a byte at least");
    }
    for (const RailSpec &spec : cluster.rails) {
        if (!fsbml_loggp_valid(&spec.real)) {
            throw std::invalid_argument("bound: rail " + spec.name + " has nonsensical parameters");
        }
        fsbml_loggp_t p = spec.real;
        const double factor = best_factor(spec);
        for (double *gap : {&p.g_ns, &p.G_ns_per_byte, &p.g_above_ns, &p.G_above_ns_per_byte}) {
            *gap *= factor;
        }
        real_.push_back(p);
        rails_.push_back({whole_ps(p.L_ns), std::ceil(gap_of(p, 1) * kNs), std::ceil(p.burst_ns * kNs)});
    }
}

void Costs::fill_in(Kind &kind) const
{
    const std::size_t n = rails_.size();
    const std::uint64_t size = std::max<std::uint64_t>(kind.bytes, 1);
    const std::uint64_t piece = size <= options_.whole_up_to ? size : std::min(options_.least_fragment, size);
    kind.cut = piece < size;
    const auto s = static_cast<double>(size);
    for (std::vector<Ps> *v :
         {&kind.gap, &kind.out, &kind.in, &kind.first_out, &kind.first_in, &kind.first_gap}) {
        v->assign(n, 0.0);
    }
    kind.least_out = kind.least_in = kind.rails == 0 ? 0.0 : std::numeric_limits<Ps>::infinity();
    for (std::size_t r = 0; r < n; ++r) {
        if ((kind.rails >> r & 1U) == 0) {
            continue;
        }
        const fsbml_loggp_t &p = real_[r];
        kind.gap[r] = kind.out[r] = kind.in[r] = std::numeric_limits<Ps>::infinity();
        const double ends[] = {static_cast<double>(piece), s, p.break_bytes - 1, p.break_bytes};
        for (const double x : ends) {
            if (x < static_cast<double>(piece) || x > s) {
                continue;
            }
            kind.gap[r] = std::min(kind.gap[r], whole_ps(gap_of(p, x) * s / x));
            kind.out[r] = std::min(kind.out[r], whole_ps((p.o_s_ns + p.O_s_ns_per_byte * (x - 1)) * s / x));
            kind.in[r] = std::min(kind.in[r], whole_ps((p.o_r_ns + p.O_r_ns_per_byte * (x - 1)) * s / x));
        }
        const double first = kind.cut ? 0.0 : s - 1; // or last, which may be a rest
        kind.first_out[r] = whole_ps(p.o_s_ns + p.O_s_ns_per_byte * first);
        kind.first_in[r] = whole_ps(p.o_r_ns + p.O_r_ns_per_byte * first);
        // Above a break a gap may be smaller than just below it.
        kind.first_gap[r] = whole_ps(gap_of(p, first + 1));
        if (p.break_bytes > first + 1 && p.break_bytes <= s) {
            kind.first_gap[r] = std::min(kind.first_gap[r], whole_ps(p.g_above_ns));
        }
        kind.first_gap[r] = std::max(kind.first_gap[r], rails_[r].gap1);
        kind.least_out = std::min(kind.least_out, kind.out[r]);
        kind.least_in = std::min(kind.least_in, kind.in[r]);
    }
}

std::uint32_t Costs::kind(std::uint64_t bytes, std::uint32_t rails)
{
    const auto [at, fresh] = index_.try_emplace({bytes, rails}, static_cast<std::uint32_t>(kinds_.size()));
    if (fresh) {
        kinds_.emplace_back();
        kinds_.back().bytes = bytes;
        kinds_.back().rails = rails;
        fill_in(kinds_.back());
        if (rails != 0) {
            kinds_.back().idle = Fill(*this).time({{at->second, 1.0}}, {true, true, false});
        }
    }
    return at->second;
}

Costs Costs::reversed() const
{
    Costs back = *this;
    for (fsbml_loggp_t &p : back.real_) {
        std::swap(p.o_s_ns, p.o_r_ns);
        std::swap(p.O_s_ns_per_byte, p.O_r_ns_per_byte);
    }
    for (Kind &k : back.kinds_) {
        std::swap(k.out, k.in);
        std::swap(k.first_out, k.first_in);
        std::swap(k.least_out, k.least_in);
    }
    return back;
}

std::vector<std::uint32_t> rails_of_nodes(const Cluster &cluster)
{
    if (cluster.rails.empty() || cluster.rails.size() > 32 || cluster.nodes == 0
        || cluster.ranks_per_node == 0) {
        throw std::invalid_argument("bound: a cluster has nodes, ranks, and 1 to 32 rails");
    }
    std::vector<std::uint32_t> rails(cluster.nodes, 0);
    for (std::size_t r = 0; r < cluster.rails.size(); ++r) {
        for (const std::uint32_t n : cluster.rails[r].nodes) {
            if (n >= cluster.nodes) {
                throw std::invalid_argument("bound: no node " + std::to_string(n) + " for rail "
                                            + cluster.rails[r].name);
            }
            rails[n] |= 1U << r;
        }
        if (cluster.rails[r].nodes.empty()) {
            for (std::uint32_t &of : rails) {
                of |= 1U << r;
            }
        }
    }
    return rails;
}

} // namespace fsbml::sim::bound
