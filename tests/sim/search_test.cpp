// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The search for better schedules: it finds what is known to be there, and nothing that cannot be.
#include "rivals.hpp"

#include "sim/bound/bound.hpp"
#include "sim/optimum/optimum.hpp"
#include "sim/rules/rules.hpp"
#include "sim/traffic/traffic.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace rivals_test;

// A wide rail that is far and a narrow one that is near.
Cluster crossed(std::uint32_t nodes)
{
    Cluster c = cluster_of({loggp(500e3, 2500, 3000, 1e3, 0.85), loggp(20e3, 2500, 3000, 1700, 8.5)});
    c.nodes = nodes;
    return c;
}

const Traffic &traffic_of(const std::string &name)
{
    for (const Traffic &traffic : all_traffic()) {
        if (name == traffic.name) {
            return traffic;
        }
    }
    throw std::invalid_argument(name);
}

TEST(Search, FindsWhatSendersCannotKnow)
{
    const Cluster c = crossed(8);
    const Workload workload = traffic_of("many_to_one").make(8, 1);
    const Time bound = lower_bound(c, workload, {4096, 65536}).makespan;
    FsbmlRules rules;
    const Simulation simulation{&c, &workload, &rules, 1, false, {}};
    EXPECT_GT(simulate(simulation).makespan, 2 * bound);
    EXPECT_LE(searched(simulation, 2000, bound), bound + bound / 100);
}

TEST(Search, IsNeverWorseAndNeverBelowTheBound)
{
    for (const Traffic &traffic : all_traffic()) {
        Cluster c = crossed(4);
        c.rails.push_back(c.rails[0]);
        c.rails.back().nodes = {0, 1}; // not all peers have it
        const Workload workload = traffic.make(4, 3);
        const Time bound = lower_bound(c, workload, {4096, 65536}).makespan;
        for (RuleMaker *rules : {rival("thesis"), rival("ob1"), rival("round-robin")}) {
            const Simulation simulation{&c, &workload, rules, 7, false, {}};
            const Time own = simulate(simulation).makespan, found = searched(simulation, 30);
            EXPECT_LE(found, own) << traffic.name << ", " << rules->name();
            EXPECT_GE(found, bound) << traffic.name << ", " << rules->name();
            EXPECT_EQ(found, searched(simulation, 30)) << "not the same again";
            EXPECT_EQ(own, searched(simulation, 0)) << "the plan is not what the rule did";
        }
    }
}

TEST(Search, NeedsAChoice)
{
    const Cluster one = of_gaps({1.0});
    const Workload workload = traffic_of("ping_pong").make(2, 1);
    FsbmlRules rules;
    Simulation simulation{&one, &workload, &rules, 1, false, {}};
    EXPECT_EQ(searched(simulation, 100), simulate(simulation).makespan);
    simulation.rendezvous.above = 65536;
    EXPECT_THROW(searched(simulation, 1), std::invalid_argument);
}

} // namespace
