// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// Predictions of patterns against all numbers that paper 004's text prints: the example of III-E, table II
// and what IV-B says of it, and its inequalities. Its figures 5 and 17, the predicted and the real times of
// Alltoall_A and B, are curves, and g(m), L and the errors of its network are printed nowhere.
#include "cluster/patterns_run.hpp"
#include "cluster/traffic.hpp"

#include "../unit/model.hpp"
#include "model/predict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace fsbml::sim
{

namespace
{

using Kind = Operation::Kind;

constexpr double kPerMbps = 1e6 / 8.0 / 1e9; // bytes by ns
constexpr double kUs = 1e3, kMs = 1e6;

// Table II, bidirectional: b(h) / 2^(h-1) in Mbps, 2 d(h) in us.
constexpr double kMbps[] = {580.2, 580.1, 576.0, 579.2, 485.0};
constexpr double kTwiceUs[] = {502, 902, 913, 910, 909};
// Unidirectional: d(h) in us.
constexpr double kMbpsOneWay[] = {936.4, 935.6, 936.1, 934.1, 625.0};
constexpr double kUsOneWay[] = {500, 517, 535, 527, 543};

std::vector<Level> table_ii(bool both_ways = true)
{
    std::vector<Level> level;
    for (int h = 1; h <= 5; ++h) {
        const double mbps = both_ways ? kMbps[h - 1] : kMbpsOneWay[h - 1];
        level.push_back({std::ldexp(mbps * kPerMbps, h - 1),
                         (both_ways ? kTwiceUs[h - 1] / 2.0 : kUsOneWay[h - 1]) * kUs});
    }
    return level;
}

// The paper's g(m) is in a figure only: any line will do for what does not depend on it.
PlogP some_rail(double L = 50 * kUs)
{
    return {L, [](double m) { return 20 * kUs + m / (580.2 * kPerMbps); }};
}

// Same bandwidth for all, so that a delay of one changes nothing for others; a switch at each height.
std::vector<Level> full_bisection(std::uint32_t depth)
{
    std::vector<Level> level;
    for (std::uint32_t h = 1; h <= depth; ++h) {
        level.push_back({std::ldexp(0.1, static_cast<int>(h) - 1), 1e5 * h});
    }
    return level;
}

Program alltoall(std::uint32_t depth, AllToAll algorithm, std::uint64_t m)
{
    return program_of(all_to_all(std::uint32_t{1} << depth, algorithm, Sizes::all(m), 1));
}

// Figure 9.
Program figure_9()
{
    Program p(4);
    for (std::uint32_t r = 0; r < 4; ++r) {
        p[r] = {{Kind::irecv, r ^ 2U, 0, 0},
                {Kind::isend, r ^ 2U, 1, 0},
                {Kind::wait, 0, 0, 1},
                {Kind::wait, 0, 0, 0}};
    }
    p[0].insert(p[0].end(), {{Kind::isend, 3, 1, 0}, {Kind::wait, 0, 0, 4}});
    p[3].insert(p[3].end(), {{Kind::irecv, 0, 0, 0}, {Kind::wait, 0, 0, 4}});
    return p;
}

} // namespace

// ------------------------------------------------------------------ published

// III-E, equations 16 and 17, and figure 12: b(1) = 3, b(2) = 4, g(m) = 8, L = 3.
TEST(Patterns, ThePapersExample)
{
    const PlogPT model(PlogP{3.0, [](double) { return 8.0; }}, {{3, 1}, {4, 1}});
    EXPECT_DOUBLE_EQ(model.throughput(2), 2.0); // b_c = b(2) / 2
    const PatternTimes t = run_pattern(model, figure_9());
    for (std::uint32_t r = 0; r < 4; ++r) {
        EXPECT_DOUBLE_EQ(t.of[r][1].f, 12.0) << r; // (17)
        EXPECT_DOUBLE_EQ(t.of[r][2].l, 12.0) << r;
        EXPECT_DOUBLE_EQ(t.of[r][3].l, 15.0) << r;
        for (std::uint32_t i = 0; i < 3; ++i) {
            EXPECT_EQ(t.of[r][i].e, 0.0) << r;
        }
    }
    EXPECT_DOUBLE_EQ(t.of[0][4].f, 23.0); // alone, at b(1)
    EXPECT_DOUBLE_EQ(t.of[3][5].l, 26.0);
    EXPECT_DOUBLE_EQ(t.end, 26.0);
    EXPECT_EQ(t.timeouts, 0U);
}

// IV-B: "P_S(h, h+1) = false is satisfied when h is 2 or 3". The paper has no value of the error: all between
// 2.0e-4 and 2.9e-2 say so, a span of more than a hundred.
TEST(Patterns, TableTwoHasSwitchesAtHeightsOneAndFour)
{
    const PlogPT model(some_rail(), table_ii());
    EXPECT_NEAR(model.switch_distance(1, 2), 0.3434, 5e-5);
    EXPECT_NEAR(model.switch_distance(2, 3), 1.972e-4, 5e-8);
    EXPECT_NEAR(model.switch_distance(4, 5), 0.02957, 5e-6);
    for (const double error : {2.0e-4, 1e-3, 1e-2, 2.9e-2}) {
        const PlogPT m(some_rail(), table_ii(), 200 * kMs, error);
        EXPECT_TRUE(m.switch_between(1, 2)) << error;
        EXPECT_FALSE(m.switch_between(2, 3)) << error;
        EXPECT_FALSE(m.switch_between(3, 4)) << error;
        EXPECT_TRUE(m.switch_between(4, 5)) << error;
    }
    // It is of the columns of both ways: of those of one way, no error says so.
    const PlogPT one_way(some_rail(), table_ii(false));
    EXPECT_LT(one_way.switch_distance(1, 2), one_way.switch_distance(2, 3));
}

// What table II predicts of time-outs: none for small messages; at most one with 4 nodes, two with 32 (IV-B:
// "doesn't occur when the message size is smaller than a particular size", of which it prints no value).
TEST(Patterns, TableTwoLosesLargeMessagesOnly)
{
    const PlogPT model(some_rail(), table_ii());
    EXPECT_NEAR(model.d(1) * model.throughput(1), 18203.8, 0.1); // B = d b_c: 251 us at 580.2 Mbps
    EXPECT_NEAR(model.d(4) * model.throughput(4), 32760.0, 0.1); // 455 us at the 576.0 Mbps of height 3
    for (const std::uint32_t depth : {2U, 5U}) {
        EXPECT_EQ(model.timeouts(depth, 18203), 0U);
        EXPECT_EQ(model.timeouts(depth, 18204), 1U);
    }
    EXPECT_EQ(model.timeouts(5, 32760), 1U);
    EXPECT_EQ(model.timeouts(5, 32761), 2U);
    EXPECT_EQ(model.timeouts(2, 1e9), 1U);
}

// A measured b(h+1) of more than 2 b(h) is taken as 2 b(h): of table II that of height 3 one way, 4 both
// ways.
TEST(Patterns, AnEdgeCarriesNoMoreThanTwoBelow)
{
    EXPECT_DOUBLE_EQ(PlogPT(some_rail(), table_ii()).throughput(4), 576.0 * kPerMbps);
    EXPECT_DOUBLE_EQ(PlogPT(some_rail(), table_ii(false)).throughput(3), 935.6 * kPerMbps);
    EXPECT_DOUBLE_EQ(PlogPT(some_rail(), table_ii(false)).throughput(5), 625.0 * kPerMbps);
}

// What height 5 costs, whatever g(m): 580.2 / 485.0 of a gap; all of Alltoall's 31 messages, 34.2 gaps.
TEST(Patterns, TableTwoStretchesTheGaps)
{
    const PlogPT model(some_rail(0.0), table_ii());
    const double g = model.rail().g(1e6);
    EXPECT_NEAR(model.gap(5, 1e6) / g, 1.19629, 5e-6);
    EXPECT_NEAR(model.all_to_all_a(2, 1e6) / g, 3.00034, 5e-6);  // 1 + 2 x 580.2 / 580.1
    EXPECT_NEAR(model.all_to_all_a(5, 1e6) / g, 34.22847, 1e-5); // and 12 x 580.2 / 576 + 16 x 580.2 / 485
    EXPECT_DOUBLE_EQ(model.gap(2, 1e6), 2.0 * model.b(1) / model.b(2) * g); // (22)
}

// (20), (26) and (27); and A and B differ by a number of 200 ms, less latencies.
TEST(Patterns, WhichAlgorithmIsFaster)
{
    const PlogPT model(some_rail(), table_ii());
    for (const std::uint32_t depth : {2U, 5U}) {
        const std::uint32_t ranks = 1U << depth;
        for (double m = 1; m < 1e6; m *= 2) {
            EXPECT_GT(model.rail().all_to_all_a(ranks, m), model.rail().all_to_all_b(ranks, m));
            const double a = model.all_to_all_a(depth, m), b = model.all_to_all_b(depth, m);
            EXPECT_EQ(a<b, model.timeouts(depth, m)> 0) << m;
            EXPECT_NEAR(b - a, 200 * kMs * model.timeouts(depth, m) - (ranks - 2) * 50 * kUs, 1.0) << m;
        }
    }
}

// ------------------------------------------------------- closed forms and III-D

// (23), and (25) without time-outs, are what III-D's times of operations come to.
TEST(Patterns, ClosedFormsAreTheOperationsTimes)
{
    for (std::uint32_t depth = 1; depth <= 5; ++depth) {
        std::vector<Level> level = table_ii();
        level.resize(depth);
        const PlogPT model(some_rail(), level);
        for (const std::uint64_t m : {1ULL, 20000ULL, 1000000ULL}) {
            const double a = run_pattern(model, alltoall(depth, AllToAll::xor_steps, m)).end;
            EXPECT_NEAR(a / model.all_to_all_a(depth, static_cast<double>(m)), 1.0, 1e-9)
                << depth << " " << m;
            const double b = run_pattern(model, alltoall(depth, AllToAll::xor_sends, m)).end;
            const double lost = model.timeouts(depth, static_cast<double>(m)) * model.timeout();
            EXPECT_NEAR(b / (model.all_to_all_b(depth, static_cast<double>(m)) - lost), 1.0, 1e-9)
                << depth << " " << m;
        }
    }
}

// Alltoall_A loses nothing, even if all messages are unlucky: latency keeps the steps apart.
TEST(Patterns, ALatencyKeepsStepsApart)
{
    const auto all = [](std::uint32_t, std::uint32_t) { return true; };
    const PlogPT model(some_rail(), table_ii());
    EXPECT_EQ(run_pattern(model, alltoall(5, AllToAll::xor_steps, 1000000), all).timeouts, 0U);
    EXPECT_GT(run_pattern(model, alltoall(5, AllToAll::xor_sends, 1000000), all).timeouts, 0U);
    EXPECT_EQ(run_pattern(model, alltoall(5, AllToAll::xor_sends, 18000), all).timeouts, 0U); // fits
}

// (25) is the worst case: "a pattern that all RTO delays occur in one certain node". For rank 0 to be hit at
// heights 1 and 2, rank 7, which sends to 3 after it, must have been as late, and their peers must not.
TEST(Patterns, TheWorstCaseHappens)
{
    const PlogPT model(some_rail(), full_bisection(3), 200 * kMs);
    ASSERT_EQ(model.timeouts(3, 1e6), 2U);
    const auto unlucky = [](std::uint32_t rank, std::uint32_t h) {
        return h == 1 ? rank == 0 || rank == 7 : rank == 0;
    };
    const PatternTimes t = run_pattern(model, alltoall(3, AllToAll::xor_sends, 1000000), unlucky);
    EXPECT_EQ(t.timeouts, 3U);
    EXPECT_NEAR(t.end / model.all_to_all_b(3, 1e6), 1.0, 1e-9);
    // With rank 0 alone out of step, no other is late enough to hit it again.
    const auto one = [](std::uint32_t rank, std::uint32_t) { return rank == 0; };
    const PatternTimes once = run_pattern(model, alltoall(3, AllToAll::xor_sends, 1000000), one);
    EXPECT_EQ(once.timeouts, 1U);
    EXPECT_NEAR(once.end, model.all_to_all_b(3, 1e6) - model.timeout(), 1.0);
}

// (14), of 0's message to 1, when 2 begins one of another height to 1, or to 0, at its end or shortly before.
TEST(Patterns, WhoIsHit)
{
    const auto rank_0 = [](std::uint32_t rank, std::uint32_t) { return rank == 0; };
    const auto timeouts = [&](const PlogPT &model, std::uint32_t to, double first, double jitter) {
        const Program p = {{{Kind::isend, 1, 1e6, 0}, {Kind::wait, 0, 0, 0}},
                           {},
                           {{Kind::isend, 3, first, 0}, {Kind::wait, 0, 0, 0}, {Kind::isend, to, 1e6, 0}},
                           {}};
        return run_pattern(model, p, rank_0, jitter).timeouts;
    };
    const PlogPT model(some_rail(), full_bisection(2));
    EXPECT_EQ(timeouts(model, 1, 1e6, 0.0), 1U);
    EXPECT_EQ(timeouts(model, 0, 1e6, 0.0), 0U); // another receiver
    EXPECT_EQ(timeouts(model, 1, 999e3, 0.0), 0U);
    EXPECT_EQ(timeouts(model, 1, 999e3, 1 * kUs), 0U);
    EXPECT_EQ(timeouts(model, 1, 999e3, 50 * kUs),
              1U); // 1000 bytes take 14 us, and as long again as two share
    std::vector<Level> no_switch = full_bisection(2);
    no_switch[1].d = no_switch[0].d;
    EXPECT_EQ(timeouts(PlogPT(some_rail(), no_switch), 1, 1e6, 0.0), 0U);
}

// (7) counts the messages that share the receiver's edge, as those that share the sender's.
TEST(Patterns, ReceiversAreShared)
{
    const PlogPT model(some_rail(), full_bisection(2));
    const double time = 3.0 * model.rail().g(1e6);
    Program to_0(4), from_0(4);
    for (std::uint32_t rank = 1; rank < 4; ++rank) {
        to_0[rank] = {{Kind::isend, 0, 1e6, 0}, {Kind::wait, 0, 0, 0}};
        from_0[0].push_back({Kind::isend, rank, 1e6, 0});
    }
    for (std::uint32_t i = 0; i < 3; ++i) {
        from_0[0].push_back({Kind::wait, 0, 0, i});
    }
    EXPECT_NEAR(run_pattern(model, to_0).end, time, 1e-3);
    EXPECT_NEAR(run_pattern(model, from_0).end, time, 1e-3);
}

// Other patterns need no formula: a ring has one message on each edge, doubling is Alltoall's steps 2^k.
TEST(Patterns, OtherPatterns)
{
    const PlogPT model(some_rail(), table_ii());
    const double L = model.rail().L, m = 80000;
    double steps = 0.0;
    for (std::uint32_t h = 1; h <= 5; ++h) {
        steps += model.gap(h, m) + L;
    }
    EXPECT_NEAR(run_pattern(model, program_of(doubling(32, {1, 80000, 0}, 1))).end, steps, 1e-3);
    const double piece = model.rail().g(80000.0 / 32);
    EXPECT_NEAR(run_pattern(model, program_of(ring(32, {1, 80000, 0}, 1))).end, 62 * (piece + L), 1e-3);
}

TEST(Patterns, RefusesWhatItCannotSay)
{
    const PlogPT model(some_rail(), full_bisection(2));
    EXPECT_THROW(program_of({"", {{{Op::Kind::compute, 0, 0, 5}}, {}}}), std::invalid_argument);
    EXPECT_THROW(program_of({"", {{{Op::Kind::recv, kAnyPeer, 0, 0}}, {}}}), std::invalid_argument);
    EXPECT_THROW(run_pattern(model, alltoall(3, AllToAll::xor_steps, 1)), std::invalid_argument);
    EXPECT_THROW(run_pattern(model, {{{Kind::wait, 0, 0, 0}}}), std::invalid_argument);
    EXPECT_THROW(run_pattern(model, {{{Kind::isend, 0, 0, 0}}}), std::invalid_argument);
    EXPECT_THROW(run_pattern(model, {{{Kind::irecv, 1, 0, 0}, {Kind::wait, 0, 0, 0}}, {}}),
                 std::runtime_error);
    EXPECT_THROW(PlogPT(some_rail(), {}), std::invalid_argument);
    EXPECT_THROW(PlogPT(some_rail(), {{0, 1}}), std::invalid_argument);
    EXPECT_THROW(PlogPT(PlogP{}, full_bisection(1)), std::invalid_argument);
}

// ------------------------------------------------------------- FSBML's table

// (1): a message of any size is under way as long in PLogP as in FSBML's LogGP, where no byte adds to the
// overheads; where they do, by the paper's way to measure g(m), but then its gap is too long.
TEST(Patterns, PlogpOfATable)
{
    fsbml_loggp_t p = loggp(30e3, 2e3, 4e3, 1e3, 2.0);
    EXPECT_DOUBLE_EQ(plogp_of(p).L, 35e3); // 2 + 30 + 4 - 1 us
    p = broken(p, 4096, 9.5e3, 1.8);
    for (const double m : {1.0, 100.0, 4095.0, 4096.0, 1e6}) {
        EXPECT_NEAR(plogp_of(p).g(m) + plogp_of(p).L, predict_arrival(p, 1, 0, m), 1e-6) << m;
        EXPECT_NEAR(plogp_by_round_trips(p).g(m), plogp_of(p).g(m), 1e-6) << m;
    }
    p.O_s_ns_per_byte = 0.25;
    p.O_r_ns_per_byte = 0.5;
    for (const double m : {1.0, 100.0, 1e6}) {
        EXPECT_NEAR(plogp_by_round_trips(p).g(m) + plogp_of(p).L, predict_arrival(p, 1, 0, m), 1e-6) << m;
        EXPECT_NEAR(plogp_by_round_trips(p).g(m) - plogp_of(p).g(m), 0.75 * (m - 1), 1e-6) << m;
    }
}

TEST(Patterns, PlogpBothWays)
{
    fsbml_fit_t fit{};
    fit.params = loggp(30e3, 2e3, 4e3, 1e3, 2.0);
    EXPECT_DOUBLE_EQ(plogp_both_ways(fit).g(1001), 3e3); // nothing is known of it
    EXPECT_DOUBLE_EQ(plogp_both_ways(fit).L, plogp_of(fit.params).L);
    fit.duplex = 1.6;
    EXPECT_DOUBLE_EQ(plogp_both_ways(fit).g(1001), 4.8e3);
    EXPECT_DOUBLE_EQ(plogp_both_ways(fit).L, 1.6 * 35e3);
    fit.back = loggp(0, 3e3, 0, 2e3, 5.0); // the slower direction
    EXPECT_DOUBLE_EQ(plogp_both_ways(fit).g(1001), 1.6 * 7e3);
    EXPECT_DOUBLE_EQ(plogp_both_ways(fit).L, 1.6 * (3e3 + 30e3 + 4e3 - 2e3));
}

} // namespace fsbml::sim
