// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// All rivals: they keep to the rails they may use, lose no byte, and decide alike for a seed.
#include "rivals.hpp"

#include "sim/bound/bound.hpp"
#include "sim/engine/engine.hpp"
#include "sim/traffic/traffic.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace rivals_test;

struct Given {
    std::uint32_t peer, mask;
    int rail;
    std::uint64_t bytes;
    Time since;
};

// Sends at random, to peers that masks of rails reach, and tells what is sent some time later.
Pieces wander(RuleMaker &maker, std::uint64_t seed, std::size_t n_rails)
{
    std::mt19937_64 random(seed);
    const Cluster c = random_cluster(random, n_rails);
    const std::uint32_t all = all_rails(n_rails);
    std::vector<std::uint32_t> masks;
    while (masks.size() < 5) {
        const auto mask = static_cast<std::uint32_t>(random()) & all;
        masks.push_back(0 == mask ? std::uint32_t{1} << random() % n_rails : mask);
    }
    Process p(maker, c, 0, seed);
    std::vector<std::deque<Given>> flying(n_rails);
    Pieces gone;
    Time now = 0;
    for (int i = 0; i < 400; ++i) {
        now += static_cast<Time>(random() % 50'000'000);
        const auto peer = static_cast<std::uint32_t>(random() % masks.size());
        if (0 == random() % 50) {
            masks[peer] = std::uint32_t{1} << random() % n_rails; // the others are lost
        }
        p.to(peer).by(masks[peer]).now(now);
        const std::uint64_t bytes = 0 == i ? 0 : random_size(random);
        const std::vector<Rule::Piece> pieces = p.cut(bytes);
        std::uint64_t sum = 0;
        for (const Rule::Piece &piece : pieces) {
            const int rail = piece.rail < 0 ? p.choose(piece.bytes) : piece.rail;
            if (rail < 0 || 0 == (masks[peer] >> rail & 1U)) {
                ADD_FAILURE() << maker.name() << ": rail " << rail << " of mask " << masks[peer] << ", seed "
                              << seed;
                return gone;
            }
            p.give(rail, piece.bytes);
            flying[static_cast<std::size_t>(rail)].push_back({peer, masks[peer], rail, piece.bytes, now});
            gone.emplace_back(rail, piece.bytes);
            sum += piece.bytes;
        }
        EXPECT_EQ(sum, bytes) << maker.name() << ", seed " << seed;
        EXPECT_FALSE(pieces.empty()) << maker.name() << ", seed " << seed;
        for (auto &rail : flying) {
            for (std::size_t n = random() % 4; n > 0 && !rail.empty(); --n) {
                const Given g = rail.front();
                rail.pop_front();
                p.to(g.peer).by(g.mask).now(g.since).sent(g.rail, g.bytes,
                                                          now + static_cast<Time>(random() % 1000));
            }
        }
    }
    return gone;
}

TEST(Rivals, KeepToTheirRailsAndLoseNoByte)
{
    for (RuleMaker *maker : rivals()) {
        for (std::uint64_t seed = 1; seed <= 30; ++seed) {
            wander(*maker, seed, 1 + seed % 6);
        }
        wander(*maker, 99, FSBML_MAX_RAILS);
    }
}

TEST(Rivals, DecideAlikeForASeed)
{
    for (RuleMaker *maker : rivals()) {
        EXPECT_EQ(wander(*maker, 7, 4), wander(*maker, 7, 4)) << maker->name();
    }
}

// A rule that cuts as the component does is no sooner than what no such rule can beat. (UCX and MVAPICH cut
// messages that are eager in Open MPI.)
TEST(Rivals, AreNotBelowTheBound)
{
    BoundOptions as_the_component;
    as_the_component.whole_up_to = kEager;
    as_the_component.least_fragment = FSBML_QUANTUM_LEAST;
    Cluster c = cluster_of({loggp(60e3, 2500, 3000, 1e3, 42.5), loggp(250e3, 2500, 3000, 1e3, 425),
                            loggp(40e3, 2500, 3000, 1e3, 42.5)});
    c.nodes = 4;
    for (const Traffic &traffic : all_traffic()) {
        const Workload workload = traffic.make(4, 1);
        const Time bound = lower_bound(c, workload, as_the_component).makespan;
        ASSERT_GT(bound, 0) << traffic.name;
        for (RuleMaker *maker : rivals()) {
            const std::string name = maker->name();
            if (0 != name.rfind("ucx", 0) && 0 != name.rfind("mvapich", 0)) {
                EXPECT_GE(simulate({&c, &workload, maker, 1, false, {}}).makespan, bound)
                    << name << ", " << traffic.name;
            }
        }
    }
}

TEST(Rivals, HaveNamesAndSources)
{
    std::set<std::string> names;
    for (RuleMaker *maker : rivals()) {
        EXPECT_TRUE(names.insert(maker->name()).second) << maker->name();
        EXPECT_GT(std::string(maker->source()).size(), 10U) << maker->name();
        EXPECT_EQ(rival(maker->name()), maker);
    }
    EXPECT_EQ(names.size(), 17U);
    EXPECT_EQ(rival("none"), nullptr);
}

} // namespace
