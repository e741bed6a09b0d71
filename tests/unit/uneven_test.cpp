// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Peers with different rails (thesis 4.3.3.2): process A is only reachable over interconnect 1, process B
// over 1 and 2, the two are alike. A scheduler that looks at one peer at a time halves B's message, so that
// interconnect 1 has to carry three times as much as 2. In virtual time, with figures.
#include "sched.hpp"

#include "test.hpp"

namespace
{

constexpr fsbml_loggp_t kRail = loggp(20e3, 2e3, 2e3, 3e3, 80.0, 0.0); // 100 Mbit/s
constexpr fsbml_loggp_t kWide = loggp(20e3, 2e3, 2e3, 3e3, 20.0, 0.0); // 400 Mbit/s
constexpr std::uint32_t kToA = 1;                                      // the first rail only
constexpr std::uint32_t kToB = 3;                                      // both

double charge_of(const fsbml_loggp_t &p, std::size_t bytes)
{
    return p.g_ns + p.G_ns_per_byte * static_cast<double>(bytes - 1);
}

double last_done(const fsbml_sched_t *s)
{
    return static_cast<double>(std::max(fsbml_sched_backlog(s, 0, 0), fsbml_sched_backlog(s, 1, 0)));
}

// Two streams of n messages each, handed over in turns at one moment. The bytes of B's on each rail.
struct Shares {
    std::size_t b[2] = {0, 0};
};

Shares in_turns(fsbml_sched_t *s, int n, std::size_t bytes)
{
    Shares shares;
    for (int i = 0; i < n; ++i) {
        EXPECT_EQ(send_one(s, 0, bytes, kToA), 0);
        const int rail = send_one(s, 0, bytes, kToB);
        shares.b[rail] += bytes;
    }
    return shares;
}

} // namespace

// The thesis' example: as much to B as to A. All of B's goes to the second rail, and the two end at the same
// time; taking turns for B alone gives the first rail three times as much as the second, and ends 1.5 times
// as late.
TEST(Uneven, TheThesisExample)
{
    for (const std::size_t bytes : {1024U, 16384U, 65536U}) {
        const int n = 128;
        const SchedPtr arrival = make_sched({kRail, kRail});
        const Shares ours = in_turns(arrival.get(), n, bytes);
        EXPECT_EQ(ours.b[0], 0U);
        EXPECT_EQ(counters(arrival.get(), 0).bytes, counters(arrival.get(), 1).bytes);
        EXPECT_NEAR(last_done(arrival.get()), n * charge_of(kRail, bytes), 1.0);

        const SchedPtr blind = make_sched({kRail, kRail});
        for (int i = 0; i < n; ++i) {
            fsbml_sched_charge(blind.get(), 0, 0, bytes);                               // to A
            fsbml_sched_charge(blind.get(), static_cast<std::size_t>(i % 2), 0, bytes); // to B, in turns
        }
        EXPECT_EQ(counters(blind.get(), 0).bytes, 3 * counters(blind.get(), 1).bytes);
        std::printf("%zu bytes: B's on rail 2: 100 %%, time of all %.2f of what turns for B alone take\n",
                    bytes, last_done(arrival.get()) / last_done(blind.get()));
        EXPECT_NEAR(last_done(arrival.get()) / last_done(blind.get()), 2.0 / 3.0, 0.001);
    }
}

// Each policy that does not see the other peer's traffic leaves more on the first rail than arrival time
// does.
TEST(Uneven, OtherPoliciesOveruseTheSharedRail)
{
    const SchedPtr single = make_sched({kRail, kRail}, FSBML_POLICY_SINGLE);
    EXPECT_EQ(in_turns(single.get(), 100, 16384).b[1], 0U) << "one rail for all: the shared one";
    // Round robin takes the rail whose last message is the longest ago, so it sees that the first one is
    // used, but not for how much: A's are ten times as long here, and B's more.
    const auto makespan = [](fsbml_policy_t policy) {
        const SchedPtr s = make_sched({kRail, kRail}, policy);
        for (int i = 0; i < 40; ++i) {
            send_one(s.get(), 0, 40960, kToA);
            for (int j = 0; j < 4; ++j) {
                send_one(s.get(), 0, 4096, kToB);
            }
        }
        return last_done(s.get());
    };
    EXPECT_NEAR(makespan(FSBML_POLICY_ARRIVAL), 40 * charge_of(kRail, 40960), 1.0) << "A's own time, no more";
    EXPECT_GT(makespan(FSBML_POLICY_ROUNDROBIN), 1.1 * makespan(FSBML_POLICY_ARRIVAL));
}

// Without traffic to A, B's takes both rails alike.
TEST(Uneven, WithoutLoadBothRails)
{
    const SchedPtr s = make_sched({kRail, kRail});
    for (int i = 0; i < 100; ++i) {
        send_one(s.get(), 0, 16384, kToB);
    }
    EXPECT_EQ(counters(s.get(), 0).messages, 50U);
    EXPECT_EQ(counters(s.get(), 1).messages, 50U);
}

// A's traffic keeps coming, at a share of the first rail's rate; B's fills what is left of the two. Its bytes
// on the first rail are what A left there, whatever the share.
TEST(Uneven, FillsWhatTheOtherPeerLeaves)
{
    constexpr std::size_t kBytes = 8192;
    const double slot = charge_of(kRail, kBytes);
    for (const double load : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        const SchedPtr s = make_sched({kRail, kRail});
        double now = 0.0;
        double due_a = 0.0; // messages to A that are owed
        double to_b = 0.0;
        std::uint64_t b_on_first = 0;
        std::uint64_t b_in_all = 0;
        for (int i = 0; i < 20000; ++i) {
            due_a += load / 10;
            to_b += (2.0 - load) / 10;
            for (; due_a >= 1.0; due_a -= 1.0) {
                send_one(s.get(), static_cast<std::uint64_t>(now), kBytes, kToA);
            }
            for (; to_b >= 1.0; to_b -= 1.0, ++b_in_all) {
                b_on_first += 0 == send_one(s.get(), static_cast<std::uint64_t>(now), kBytes, kToB) ? 1 : 0;
            }
            now += slot / 10;
        }
        const double share = static_cast<double>(b_on_first) / static_cast<double>(b_in_all);
        std::printf("load of A's on rail 1: %3.0f %%; B's on rail 1: %4.1f %%\n", 100 * load, 100 * share);
        EXPECT_NEAR(share, (1.0 - load) / (2.0 - load), 0.01) << load;
        // Both rails were kept busy and neither ran away: at the end each owes a few messages at most.
        for (const std::size_t rail : {std::size_t{0}, std::size_t{1}}) {
            EXPECT_LE(
                static_cast<double>(fsbml_sched_backlog(s.get(), rail, static_cast<std::uint64_t>(now))),
                4 * slot);
        }
    }
}

// A fast shared rail beside a slow one: B leaves the fast one when A has filled it, and only for as long.
TEST(Uneven, AFastSharedRail)
{
    const SchedPtr s = make_sched({kWide, kRail});
    const double a = charge_of(kWide, 65536);
    for (int i = 0; i < 8; ++i) {
        send_one(s.get(), 0, 65536, kToA);
    }
    // To wait for A's on the fast rail, or not on the slow one: the slow one until it would be as late.
    int on_slow = 0;
    while (1 == send_one(s.get(), 0, 65536, kToB)) {
        ++on_slow;
    }
    const double waits = 8 * a;
    const double cost = charge_of(kRail, 65536);
    EXPECT_EQ(on_slow, static_cast<int>(std::floor((waits + a - cost) / cost)) + 1);
    // When A's are through, the fast one is the best again.
    EXPECT_EQ(send_one(s.get(), static_cast<std::uint64_t>(20 * waits), 65536, kToB), 0);
}

// Many peers, each with rails of its own, random sizes: the last rail is never later than in the best of all
// assignments by more than the largest message (a greedy rule's bound), as long as peers with few rails come
// first.
TEST(Uneven, ManyPeersNearTheLowerBound)
{
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed);
        const SchedPtr s = make_sched({kRail, kRail, kRail, kRail});
        double total = 0.0;
        double largest = 0.0;
        for (const std::uint32_t mask : {1U, 2U, 3U, 0xcU, 0xfU}) {
            // Each new peer brings more than the imbalance before it.
            for (int i = 0; i < 40 * __builtin_popcount(mask); ++i) {
                const std::size_t bytes = 1 + random() % 65536;
                send_one(s.get(), 0, bytes, mask);
                total += charge_of(kRail, bytes);
                largest = std::max(largest, charge_of(kRail, bytes));
            }
        }
        for (std::size_t rail = 0; rail < 4; ++rail) {
            EXPECT_NEAR(static_cast<double>(fsbml_sched_backlog(s.get(), rail, 0)), total / 4, largest + 4.0)
                << "seed " << seed << " rail " << rail;
        }
    }
}

// Another connection is other work for the processors, by which a rail that is as good has to be ahead: where
// they are what limits a stream, it stays on one.
TEST(Alike, AnotherRailThatIsAsGoodHasToGainItsOverhead)
{
    const fsbml_loggp_t p = loggp(20e3, 2e3, 2e3, 0.0, 1.0);
    for (const std::size_t bytes : {5900U, 6100U}) {
        const SchedPtr s = make_sched({p, p, p});
        fsbml_sched_charge(s.get(), 0, 0, bytes); // of which the overhead of the next one hides 2 us
        EXPECT_EQ(fsbml_sched_choose(s.get(), 0, 64, 7), bytes < 6000 ? 0 : 1) << bytes;
    }
}
