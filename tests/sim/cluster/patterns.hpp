// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// Models that say what a pattern of communication takes, from measured parameters: LogGP, PLogP and PlogPT
// (paper 004: Nomura, Matsuba, Ishikawa, "Network Performance Model for TCP/IP Based Cluster Computing",
// 2008). Numbers in brackets are its equations; patterns_run.hpp has its section III-D.
//
// Times are in any unit, here mostly ns; amounts in any other, here bytes; bandwidths are amounts by time.
// Alltoall_A exchanges with rank xor 1, 2, ..., P - 1, one after the other; Alltoall_B sends in that order
// without waiting for what it receives (its figures 13 and 14).
#ifndef FSBML_TESTS_SIM_CLUSTER_PATTERNS_HPP
#define FSBML_TESTS_SIM_CLUSTER_PATTERNS_HPP

#include "api/fsbml_calibration.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace fsbml::sim
{

// As FSBML has it (fsbml_loggp_t): the paper's g + m G (II-B) with m - 1 for m, what the thesis measures. The
// paper has no equations for all-to-all in it; these are what follows from the model for P ranks whose gaps
// are longer than their overheads, a switch that is never in the way, and no burst.
struct LogGP {
    fsbml_loggp_t p{};

    double gap(double m) const; // 0 bytes as 1
    double way(double m) const; // from the call to send until the receiver's processor has it
    double all_to_all_a(std::uint32_t ranks, double m) const;
    double all_to_all_b(std::uint32_t ranks, double m) const;
};

// II-C. o_s(m) and o_r(m) are measured with it, but in none of the paper's predictions.
struct PlogP {
    double L = 0.0;
    std::function<double(double)> g;

    static double latency(double round_trip_of_0, double g_of_0);          // (1)
    double all_to_all_a(std::uint32_t ranks, double m) const;              // (18)
    double all_to_all_b(std::uint32_t ranks, double m) const;              // (19)
    double gap_by_round_trip(double round_trip_of_m, double g_of_0) const; // as (1), with g(m) one way
};

// LogGP's as PLogP's. A gap is what a saturated rail takes, L what (1) makes of a round trip; it is below 0
// on a rail whose gap is longer than a small message's way.
PlogP plogp_of(const fsbml_loggp_t &p);
// As the paper's method measures it, by single round trips: what a byte adds to the overheads is in g(m).
PlogP plogp_by_round_trips(const fsbml_loggp_t &p);
// As PlogPT wants it, with both directions at once: of a rail in FSBML's table the slower direction, times
// `duplex`. What the table does not know (0) is taken as full duplex, alike both ways.
PlogP plogp_both_ways(const fsbml_fit_t &fit);

// The network as a perfect binary tree (III-A), whose leaves are the nodes. An edge at height h has the
// leaves of a tree of height h - 1 below it. FSBML's table has neither: it knows pairs of nodes, not the
// switches between them.
struct Level {
    double b = 0.0; // bandwidth of an edge, each direction; b(1) is a node's
    double d = 0.0; // buffer delay: how much longer a message is under way when the network is full
};

class PlogPT
{
public:
    // `level[h - 1]` is that of height h. b(h + 1) is taken as 2 b(h) at most (III-A). Throws
    // std::invalid_argument for no levels, and those that are not above 0.
    PlogPT(PlogP both_ways, const std::vector<Level> &level, double timeout = 200e6, double error = 1e-3);

    const PlogP &rail() const { return rail_; }
    std::uint32_t depth() const { return static_cast<std::uint32_t>(level_.size()); }
    double b(std::uint32_t h) const { return level_[h - 1].b; }
    double d(std::uint32_t h) const { return level_[h - 1].d; }
    double timeout() const { return timeout_; }

    // P_S: a real switch is between the heights (5); with no error (4).
    double switch_distance(std::uint32_t h, std::uint32_t h2) const;
    bool switch_between(std::uint32_t h, std::uint32_t h2) const { return switch_distance(h, h2) > error_; }

    // B(C) < m(C), with the throughput that it ends with (8, 9).
    bool fills_buffer(std::uint32_t h, double throughput, double m) const { return d(h) * throughput < m; }

    // Where all ranks of a tree send at height h (rank xor something): b_c and g_c by (6) and (7). (21) and
    // (22) are those of h = 2.
    double throughput(std::uint32_t h) const;
    double gap(std::uint32_t h, double m) const;

    // Of 2^depth ranks, a tree of that height.
    std::uint32_t timeouts(std::uint32_t depth, double m) const; // N_RTO: heights that satisfy (24)
    double all_to_all_a(std::uint32_t depth, double m) const;    // (23)
    double all_to_all_b(std::uint32_t depth, double m) const;    // (25): the worst case

private:
    double all_gaps(std::uint32_t depth, double m) const;

    PlogP rail_;
    std::vector<Level> level_;
    double timeout_, error_;
};

// The height of what two ranks exchange: of the least tree that has both; 0 for one and the same.
std::uint32_t height(std::uint32_t rank, std::uint32_t peer);

} // namespace fsbml::sim

#endif
