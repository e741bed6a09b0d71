// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A process with a rule, for tests: what an engine does with it, without the time.
#ifndef FSBML_TESTS_SIM_RIVALS_HPP
#define FSBML_TESTS_SIM_RIVALS_HPP

#include "../unit/sched.hpp"
#include "sim/rules/rules.hpp"

#include <cmath>
#include <random>

namespace rivals_test
{

using namespace fsbml::sim;
using Pieces = std::vector<std::pair<int, std::uint64_t>>; // rail and bytes
using Rails = std::vector<int>;

inline Cluster cluster_of(const std::vector<fsbml_loggp_t> &rails)
{
    Cluster c;
    for (const fsbml_loggp_t &p : rails) {
        RailSpec rail;
        rail.name = std::to_string(c.rails.size());
        rail.real = rail.believed = p;
        c.rails.push_back(rail);
    }
    return c;
}

// Alike but for G, in ns a byte.
inline Cluster of_gaps(const std::vector<double> &gaps)
{
    std::vector<fsbml_loggp_t> rails;
    for (const double G : gaps) {
        rails.push_back(loggp(1000.0, 100.0, 100.0, 100.0, G));
    }
    return cluster_of(rails);
}

class Process
{
public:
    Process(const char *name, const Cluster &cluster, std::uint32_t rank = 0)
        : Process(*rival(name), cluster, rank)
    {
    }
    Process(RuleMaker &maker, const Cluster &cluster, std::uint32_t rank = 0, std::uint64_t seed = 1)
        : rule_(maker.make(cluster, rank, seed)), all_(all_rails(cluster.rails.size()))
    {
        at_.rank = rank;
        at_.node = rank % cluster.nodes;
        to(1);
    }

    Process &to(std::uint32_t peer) { return at_.peer = peer, at_.rails = all_, *this; }
    Process &by(std::uint32_t mask) { return at_.rails = mask, *this; }
    Process &now(Time t) { return at_.now = t, *this; }

    std::vector<Rule::Piece> cut(std::uint64_t bytes)
    {
        std::vector<Rule::Piece> pieces;
        rule_->cut(situation(bytes), pieces);
        return pieces;
    }
    int choose(std::uint64_t bytes, std::uint64_t whole = 0)
    {
        Situation s = situation(bytes);
        s.whole = std::max(bytes, whole);
        return rule_->choose(s);
    }
    void give(int rail, std::uint64_t bytes) { rule_->given(rail, situation(bytes)); }
    void sent(int rail, std::uint64_t bytes, Time when) { rule_->sent(rail, situation(bytes), when); }

    // One fragment.
    int send(std::uint64_t bytes)
    {
        const int rail = choose(bytes);
        give(rail, bytes);
        return rail;
    }
    Rails send_each(std::size_t n, std::uint64_t bytes)
    {
        Rails rails(n);
        for (int &rail : rails) {
            rail = send(bytes);
        }
        return rails;
    }
    // A whole message.
    Pieces message(std::uint64_t bytes)
    {
        Pieces gone;
        for (const Rule::Piece &piece : cut(bytes)) {
            const int rail = piece.rail < 0 ? choose(piece.bytes, bytes) : piece.rail;
            give(rail, piece.bytes);
            gone.emplace_back(rail, piece.bytes);
        }
        return gone;
    }

private:
    Situation situation(std::uint64_t bytes) const
    {
        Situation s = at_;
        s.bytes = bytes;
        return s;
    }

    std::unique_ptr<Rule> rule_;
    std::uint32_t all_;
    Situation at_;
};

inline double real(std::mt19937_64 &random, double low, double high)
{
    return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

inline Cluster random_cluster(std::mt19937_64 &random, std::size_t n)
{
    std::vector<fsbml_loggp_t> rails;
    for (std::size_t i = 0; i < n; ++i) {
        fsbml_loggp_t p =
            loggp(real(random, 500.0, 50e3), real(random, 100.0, 3e3), real(random, 100.0, 3e3),
                  real(random, 100.0, 5e3), std::exp(real(random, std::log(0.04), std::log(400.0))));
        p.O_s_ns_per_byte = real(random, 0.0, 0.1);
        p.O_r_ns_per_byte = real(random, 0.0, 0.1);
        if (0 == random() % 3) {
            p.break_bytes = 8192.0;
            p.g_above_ns = p.g_ns + 1.2 * p.G_ns_per_byte * 8191.0;
            p.G_above_ns_per_byte = 0.9 * p.G_ns_per_byte;
        }
        if (0 == random() % 3) {
            p.burst_ns = real(random, 0.0, 100e3);
        }
        rails.push_back(p);
    }
    return cluster_of(rails);
}

inline std::uint64_t random_size(std::mt19937_64 &random)
{
    return (random() % 3 ? random() & 0xffff : random() & 0x3fffff) >> random() % 17;
}

} // namespace rivals_test

#endif
