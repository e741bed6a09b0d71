// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// Predictions of all-to-all (cluster/patterns.hpp) against the simulated cluster, whose bottlenecks are the
// edges of the paper's tree. What both say alike, within what bounds, and where they part and why.
#include "cluster_job.hpp"
#include "sim/patterns/run.hpp"
#include "sim/traffic/traffic.hpp"

#include "../unit/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace fsbml::sim
{

namespace
{

// 1 Gbit/s. The link takes bytes only, no gap per message, so that this is small.
constexpr fsbml_loggp_t kRail = loggp(30e3, 100, 100, 100, 8.0);
constexpr double kPerNs = 1.0 / 8.0; // b(1)
constexpr std::uint64_t kPacket = 1000;
constexpr Time kTimeout = us(2e6); // much longer than all that is sent, so that their number is seen

// All edges of full bisection but the highest, which have a part of it.
std::vector<Level> tree(std::uint32_t depth, double part, double d)
{
    std::vector<Level> level;
    for (std::uint32_t h = 1; h <= depth; ++h) {
        const bool top = h == depth;
        level.push_back(
            {std::ldexp(kPerNs, static_cast<int>(h) - 1) * (top ? part : 1.0), top ? 2.0 * d : d});
    }
    return level;
}

// Edges of height 1 are the NICs. With time-outs, an edge's buffer is d(h) b(h), what is sent in the delay.
Cluster cluster_of_tree(const std::vector<Level> &level, Time timeout)
{
    Cluster c = cluster_of({kRail}, std::uint32_t{1} << level.size());
    for (std::uint32_t h = 2; h <= level.size(); ++h) {
        const Level &l = level[h - 1];
        const std::uint32_t leaves = 1U << (h - 1);
        for (std::uint32_t first = 0; first < c.nodes; first += leaves) {
            Bottleneck edge{0, {}, 1.0 / l.b, 0, timeout};
            edge.buffer_bytes = timeout > 0 ? static_cast<std::uint64_t>(l.b * l.d) : 0;
            for (std::uint32_t node = first; node < first + leaves; ++node) {
                edge.side.push_back(node);
            }
            c.bottlenecks.push_back(edge);
        }
    }
    return c;
}

void packets(const Situation &whole, std::vector<Rule::Piece> &out)
{
    for (std::uint64_t left = whole.bytes; left > 0; left -= out.back().bytes) {
        out.push_back({std::min(left, kPacket), -1});
    }
}

struct Simulated {
    double ns = 0.0;
    std::uint64_t lost = 0;
};

Simulated simulated(const Cluster &cluster, const Workload &workload, ToldRules::Cut cut = packets)
{
    ToldRules rules({0}, std::move(cut));
    Simulation s;
    s.cluster = &cluster;
    s.workload = &workload;
    s.rules = &rules;
    const Outcome o = simulate(s);
    EXPECT_EQ(o.undelivered, 0U);
    return {static_cast<double>(o.makespan) / 1e3, o.rails[0].retransmitted};
}

Simulated simulated(const Cluster &cluster, AllToAll algorithm, std::uint64_t m, ToldRules::Cut cut = packets)
{
    return simulated(cluster, all_to_all(cluster.nodes, algorithm, Sizes::all(m), 1), std::move(cut));
}

// A message in packets keeps its rail for so many gaps.
PlogP in_packets()
{
    PlogP rail = plogp_of(kRail);
    rail.g = [](double m) { return m / kPacket * LogGP{kRail}.gap(kPacket); };
    return rail;
}

PlogPT model_of(const std::vector<Level> &level)
{
    return {in_packets(), level, static_cast<double>(kTimeout) / 1e3};
}

// III-C: in trees of height h, each node of one half sends a burst to its like of the other, both ways at
// once.
double measured_b(const Cluster &cluster, std::uint32_t h)
{
    constexpr std::uint64_t kBytes = 1000000;
    std::vector<std::vector<Op>> process(cluster.nodes);
    const std::uint32_t half = 1U << (h - 1);
    for (std::uint32_t rank = 0; rank < 2 * half; ++rank) {
        process[rank] = {send(rank ^ half, kBytes), recv(rank ^ half)};
    }
    return half * static_cast<double>(kBytes) / simulated(cluster, Workload{"burst", process}).ns;
}

// What the highest edge is still to send at most: in A after one step, in B after all steps of its height.
// More than its buffer is lost.
double held(std::uint32_t depth, double part, AllToAll algorithm, double m)
{
    const double senders = std::ldexp(1.0, static_cast<int>(depth) - 1);
    return senders * m * (1.0 - part) * (AllToAll::xor_sends == algorithm ? senders : 1.0);
}

} // namespace

// Without bottlenecks LogGP's two formulae are exact. PLogP's lack overheads, here less than 1 %.
TEST(PatternsTraffic, LoggpIsWhatAnIdealSwitchTakes)
{
    const LogGP model{kRail};
    for (const std::uint32_t ranks : {2U, 4U, 32U}) {
        for (const std::uint64_t m : {100U, 10000U, 200000U}) {
            const Cluster c = cluster_of({kRail}, ranks);
            const double size = static_cast<double>(m);
            EXPECT_NEAR(simulated(c, AllToAll::xor_steps, m, nullptr).ns, model.all_to_all_a(ranks, size),
                        0.1);
            EXPECT_NEAR(simulated(c, AllToAll::xor_sends, m, nullptr).ns, model.all_to_all_b(ranks, size),
                        0.1);
            if (m >= 10000U) {
                const PlogP rail = in_packets();
                EXPECT_NEAR(simulated(c, AllToAll::xor_steps, m).ns / rail.all_to_all_a(ranks, size), 1.0,
                            0.01);
                EXPECT_NEAR(simulated(c, AllToAll::xor_sends, m).ns / rail.all_to_all_b(ranks, size), 1.0,
                            0.01);
            }
        }
    }
}

// b(h) is measured as the paper does it, then used for the prediction of (23) and (25).
TEST(PatternsTraffic, BandwidthsAreMeasuredThenPredict)
{
    for (const double part : {1.0, 0.5, 0.25}) {
        std::vector<Level> level = tree(3, part, 1e5);
        const Cluster c = cluster_of_tree(level, 0);
        for (std::uint32_t h = 1; h <= 3; ++h) {
            const double b = measured_b(c, h);
            EXPECT_NEAR(b / level[h - 1].b, 1.0, 0.02) << h;
            level[h - 1].b = b;
        }
        const PlogPT model = model_of(level);
        EXPECT_NEAR(simulated(c, AllToAll::xor_steps, 100000).ns / model.all_to_all_a(3, 1e5), 1.0, 0.03);
    }
}

// Nothing is lost. B is within 2 %, from 1 % of overheads that the formula lacks to 1 % of gaps that the link
// does not take. A is never much slower than its formula, but up to 10 % faster where latency counts: a link
// serves packets in turn, so that pairs get through one after the other, and some wait while others send.
TEST(PatternsTraffic, BottlenecksTakeWhatPlogptSays)
{
    for (const std::uint32_t depth : {2U, 3U, 5U}) {
        for (const double part : {1.0, 0.5, 0.25}) {
            const std::vector<Level> level = tree(depth, part, 1e5);
            const PlogPT model = model_of(level);
            const Cluster c = cluster_of_tree(level, 0);
            for (const std::uint64_t m : {10000U, 100000U}) {
                const double size = static_cast<double>(m);
                const double a = simulated(c, AllToAll::xor_steps, m).ns / model.all_to_all_a(depth, size);
                const double nothing_lost =
                    model.all_to_all_b(depth, size) - model.timeouts(depth, size) * model.timeout();
                const double b = simulated(c, AllToAll::xor_sends, m).ns / nothing_lost;
                EXPECT_GT(a, m == 10000U ? 0.90 : 0.98) << depth << " " << part << " " << m;
                EXPECT_LT(a, 1.02) << depth << " " << part << " " << m;
                EXPECT_NEAR(b, 1.0, 0.02) << depth << " " << part << " " << m;
                if (part < 1.0) { // where PLogP is far off
                    EXPECT_GT(b * nothing_lost, 1.4 * model.rail().all_to_all_b(c.nodes, size));
                }
            }
        }
    }
}

// Four nodes: the paper's case of A that is faster than B, by a time-out.
TEST(PatternsTraffic, ATimeoutMakesBSlower)
{
    const std::vector<Level> level = tree(2, 0.5, 2e5); // buffers: 25,000 bytes a node, 50,000 the edge
    const PlogPT model = model_of(level);
    const Cluster c = cluster_of_tree(level, kTimeout);
    for (const std::uint64_t m : {10000U, 24000U, 26000U, 40000U, 48000U}) {
        const double size = static_cast<double>(m);
        const Simulated a = simulated(c, AllToAll::xor_steps, m), b = simulated(c, AllToAll::xor_sends, m);
        EXPECT_EQ(a.lost, 0U) << m;
        EXPECT_NEAR(a.ns / model.all_to_all_a(2, size), 1.0, 0.03) << m;
        EXPECT_EQ(model.timeouts(2, size), m > 25000U ? 1U : 0U);
        EXPECT_EQ(b.lost > 0, m > 25000U) << m;
        EXPECT_NEAR(b.ns / model.all_to_all_b(2, size), 1.0, 0.02) << m;
        EXPECT_EQ(a.ns<b.ns, m> 25000U);
    }
}

// The messages that lose in the simulator, which knows no TCP's window: those whose packets in the highest
// edge are more than its buffer. The paper asks what the last message leaves in the buffer of the height
// before. So
// - A, which never loses in the paper, does here once a step's excess does not fit;
// - B, of more ranks, does here although each message by itself would fit;
// - with full bisection nothing is lost here, where the paper's worst case has time-outs, as d(h) differs.
// Where both lose, (25) is right: time-outs of one height pass at the same time.
TEST(PatternsTraffic, WhoLoses)
{
    std::uint32_t differ_a = 0, more_b = 0, less_b = 0, alike_b = 0;
    for (const std::uint32_t depth : {2U, 3U, 4U}) {
        for (const double part : {1.0, 0.5}) {
            for (const double d : {5e4, 2e5, 8e5, 4e6}) {
                const std::vector<Level> level = tree(depth, part, d);
                const PlogPT model = model_of(level);
                const Cluster c = cluster_of_tree(level, kTimeout);
                const double room = static_cast<double>(c.bottlenecks.back().buffer_bytes);
                for (const std::uint64_t m : {10000U, 40000U, 100000U}) {
                    const double size = static_cast<double>(m);
                    const Simulated a = simulated(c, AllToAll::xor_steps, m);
                    const Simulated b = simulated(c, AllToAll::xor_sends, m);
                    const std::string what = std::to_string(depth) + " " + std::to_string(part) + " "
                                             + std::to_string(d) + " " + std::to_string(m);
                    EXPECT_EQ(a.lost > 0, held(depth, part, AllToAll::xor_steps, size) > room) << what;
                    EXPECT_EQ(b.lost > 0, held(depth, part, AllToAll::xor_sends, size) > room) << what;
                    differ_a += a.lost > 0 ? 1 : 0;
                    const bool said = model.timeouts(depth, size) > 0;
                    less_b += said && 0 == b.lost ? 1 : 0;
                    more_b += !said && b.lost > 0 ? 1 : 0;
                    if (said == (b.lost > 0)) {
                        ++alike_b;
                        EXPECT_NEAR(b.ns / model.all_to_all_b(depth, size), 1.0, 0.02) << what;
                    } else if (said) {
                        EXPECT_EQ(part, 1.0) << what;
                    }
                }
            }
        }
    }
    // Of 72: 53 alike, 4 that only the simulator loses, 15 that only the paper does; A loses in 9.
    EXPECT_GT(alike_b, 2 * (more_b + less_b));
    EXPECT_GT(more_b, 0U);
    EXPECT_GT(less_b, 0U);
    EXPECT_GT(differ_a, 0U);
}

// Messages that are not cut take turns at a link, so that one waits for the whole other: up to 1.3 times
// what (23) says, in which they share it.
TEST(PatternsTraffic, WholeMessagesWaitForEachOther)
{
    for (const std::uint32_t depth : {2U, 3U, 5U}) {
        const std::vector<Level> level = tree(depth, 1.0, 1e5);
        const PlogPT model(plogp_of(kRail), level);
        const double whole = simulated(cluster_of_tree(level, 0), AllToAll::xor_steps, 1000000, nullptr).ns;
        EXPECT_GT(whole / model.all_to_all_a(depth, 1e6), 1.15) << depth;
        EXPECT_LT(whole / model.all_to_all_a(depth, 1e6), 1.30) << depth;
    }
}

} // namespace fsbml::sim
