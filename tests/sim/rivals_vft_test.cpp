// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The rivals with a virtual finishing time: by hand, and side by side with the component.
#include "rivals.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace rivals_test;

TEST(Thesis, AddsLatencyToTheLaterOfNowAndVft)
{
    const Cluster c =
        cluster_of({loggp(800.0, 100.0, 100.0, 100.0, 10.0), loggp(1800.0, 100.0, 100.0, 100.0, 1.0)});
    Process p("thesis", c);
    // 101 bytes cost 1100 and 200 ns: keys 1000/2000, 2100/2000, 2100/2200, 3200/2200 ... 3200/3200.
    EXPECT_EQ(p.send_each(9, 101), (Rails{0, 1, 0, 1, 1, 1, 1, 1, 0}));
    p.now(1000000 * kPsPerNs);
    EXPECT_EQ(p.send_each(2, 101), (Rails{0, 1})); // no credit for the time in between
}

TEST(Thesis, LeavesOutTheMessageItself)
{
    const Cluster c =
        cluster_of({loggp(800.0, 100.0, 100.0, 100.0, 10.0), loggp(900.0, 100.0, 100.0, 100.0, 1.0)});
    EXPECT_EQ(Process("thesis", c).choose(65536), 0);
    EXPECT_EQ(Process(formula(), c).choose(65536), 1);
}

TEST(Ablation, WithoutBacklogOneRailTakesAllOfASize)
{
    const Cluster c =
        cluster_of({loggp(800.0, 100.0, 100.0, 100.0, 10.0), loggp(2600.0, 100.0, 100.0, 100.0, 1.0)});
    Process p("no-backlog", c);                             // 1000 + 10 (s-1) or 2800 + (s-1)
    EXPECT_EQ(p.send_each(5, 201), (Rails{0, 0, 0, 0, 0})); // of equal ones the first
    EXPECT_EQ(p.send_each(5, 202), (Rails{1, 1, 1, 1, 1}));
    EXPECT_EQ(Process(formula(), c).send_each(4, 101), (Rails{0, 1, 0, 1}));
}

TEST(Ablation, WithoutLatencyAFarRailIsAsGood)
{
    const Cluster c =
        cluster_of({loggp(9e6, 100.0, 100.0, 100.0, 1.0), loggp(1.0, 100.0, 100.0, 100.0, 1.1)});
    EXPECT_EQ(Process("no-latency", c).send_each(3, 1000), (Rails{0, 1, 0}));
    EXPECT_EQ(Process(formula(), c).send_each(3, 1000), (Rails{1, 1, 1}));
}

TEST(Ablation, RanksOfANodeShareALedger)
{
    Cluster c = of_gaps({1.0, 1.0});
    c.ledger = true;
    c.ranks_per_node = 2;
    {
        Process first("no-latency", c, 0), other_node("no-latency", c, 1), second("no-latency", c, 2);
        EXPECT_EQ(first.send(1000), 0);
        EXPECT_EQ(second.send(1000), 1);
        EXPECT_EQ(other_node.send(1000), 0);
    }
    EXPECT_EQ(Process("no-latency", c, 2).send(1000), 0); // the next job
    c.ledger = false;
    Process first("no-latency", c, 0), second("no-latency", c, 2);
    EXPECT_EQ(first.send(1000), 0);
    EXPECT_EQ(second.send(1000), 0);
}

// Side by side with the component: they choose alike, but for a tie in its rounding.
void compare(RuleMaker &maker, fsbml_policy_t policy, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    Cluster c = random_cluster(random, 1 + seed % 6);
    std::vector<fsbml_loggp_t> models;
    for (RailSpec &rail : c.rails) {
        for (const auto member : {&fsbml_loggp_t::L_ns, &fsbml_loggp_t::o_s_ns, &fsbml_loggp_t::o_r_ns,
                                  &fsbml_loggp_t::g_ns, &fsbml_loggp_t::G_ns_per_byte,
                                  &fsbml_loggp_t::g_above_ns, &fsbml_loggp_t::G_above_ns_per_byte}) {
            rail.believed.*member = std::ceil(rail.believed.*member * 64.0) / 64.0; // exact in either's units
        }
        models.push_back(rail.believed);
    }
    const SchedPtr component = make_sched(models, policy);
    Process p(maker, c);
    std::uint64_t now = 1000;
    int different = 0;
    for (int i = 0; i < 500; ++i) {
        now += random() % 20000;
        const auto bytes = static_cast<std::size_t>(1 + random_size(random) % 131072);
        p.now(static_cast<Time>(now) * kPsPerNs);
        // It may be a part of a longer message.
        const std::size_t whole = bytes + (i % 2) * (random() % 1000000);
        const int own = p.choose(bytes, whole);
        const int chosen =
            fsbml_sched_choose_part(component.get(), now, bytes, whole, all_rails(models.size()), nullptr);
        if (own != chosen && FSBML_POLICY_ARRIVAL == policy) {
            const auto arrival = [&](int rail) {
                const auto r = static_cast<std::size_t>(rail);
                return static_cast<double>(fsbml_sched_predict(component.get(), r, now, bytes));
            };
            ASSERT_NEAR(arrival(own), arrival(chosen), 2.0) << "seed " << seed << ", message " << i;
        }
        different += own != chosen ? 1 : 0;
        fsbml_sched_charge(component.get(), static_cast<std::size_t>(chosen), now, bytes);
        p.give(chosen, bytes);
    }
    EXPECT_EQ(different, 0) << maker.name() << ", seed " << seed;
}

TEST(Formula, IsTheComponents)
{
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        compare(formula(), FSBML_POLICY_ARRIVAL, seed);
    }
}

TEST(Thesis, IsTheComponentsPolicy)
{
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        compare(*rival("thesis"), FSBML_POLICY_THESIS, seed);
    }
}

} // namespace
