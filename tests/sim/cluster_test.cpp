// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// The simulator of a cluster against schedules that were worked out by hand.
#include "cluster/rule_fsbml.hpp"
#include "cluster/simulate.hpp"
#include "loggp.hpp"
#include "predict.hpp"

#include "../unit/model.hpp"

#include <gtest/gtest.h>

using namespace fsbml::sim;

namespace
{

constexpr Time us(Time n)
{
    return 1000 * kPsPerNs * n;
}

// 1001 bytes: gap 3 us, of which one byte's is 1 us; 2 us to send, 4 us to take in, 10 us on the way.
constexpr fsbml_loggp_t kRail = loggp(10e3, 2e3, 4e3, 1e3, 2.0);

Op send(std::uint32_t peer, std::uint64_t bytes)
{
    return {Op::Kind::send, peer, bytes, 0};
}

Op recv(std::uint32_t peer)
{
    return {Op::Kind::recv, peer, 0, 0};
}

Cluster cluster_of(const std::vector<fsbml_loggp_t> &rails, std::uint32_t nodes = 2)
{
    Cluster c;
    c.nodes = nodes;
    for (const fsbml_loggp_t &p : rails) {
        RailSpec rail;
        rail.name = "rail" + std::to_string(c.rails.size());
        rail.real = rail.believed = p;
        c.rails.push_back(rail);
    }
    return c;
}

Outcome run(const Cluster &c, const std::vector<std::vector<Op>> &process)
{
    Workload w{"by hand", process};
    FsbmlRules rules;
    Simulation s;
    s.cluster = &c;
    s.workload = &w;
    s.rules = &rules;
    s.keep_passages = true;
    return simulate(s);
}

} // namespace

TEST(Cluster, OneMessageTakesWhatTheModelSays)
{
    const Outcome o = run(cluster_of({kRail}), {{send(1, 1001)}, {recv(0)}});
    ASSERT_EQ(o.passages.size(), 1U);
    EXPECT_EQ(o.passages[0].begins, us(2));
    EXPECT_EQ(o.passages[0].ends, us(5));
    EXPECT_EQ(o.passages[0].arrives, us(14));
    EXPECT_EQ(o.passages[0].received, us(18));
    EXPECT_EQ(o.done, (std::vector<Time>{us(2), us(18)}));
    EXPECT_EQ(o.makespan, us(18));
    EXPECT_DOUBLE_EQ(fsbml::predict_arrival(kRail, 1, 0, 1001), 18e3);
}
