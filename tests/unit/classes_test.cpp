// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Which pairs measure which rails, on made-up jobs of up to 10,000 ranks.
#include "measure/start/start.hpp"

#include "api/fsbml_core.h"

#include "test.hpp"

namespace
{

using Names = std::vector<std::string>;
using Pairs = fsbml_pairs_t;

// A job: a node of each rank, and the rails of each node; "A" is of level 10, "a" of level 5, "-A" is left
// out.
struct Job {
    std::vector<std::size_t> node_of;
    std::vector<Names> rails;
    std::set<std::uint32_t> silent;
    std::uint32_t looks = 0;
    std::uint64_t work = 0;

    fsbml_hello_t hello(std::uint32_t rank) const
    {
        const std::size_t node = node_of[rank];
        fsbml_hello_t h{};
        std::snprintf(h.node, sizeof h.node, "node%zu", node);
        for (const std::string &name : rails[node]) {
            auto &rail = h.rail[h.n_rails++];
            const bool out = '-' == name[0];
            const std::string key = out ? name.substr(1) : name;
            rail.exclusivity = out ? FSBML_LEFT_OUT : (key[0] >= 'a' ? 5 : 10);
            std::snprintf(rail.key, sizeof rail.key, "%s", key.c_str());
        }
        h.node_ranks = static_cast<std::uint32_t>(std::count(node_of.begin(), node_of.end(), node));
        if (std::find(node_of.begin(), node_of.begin() + rank, node) == node_of.begin() + rank) {
            h.flags = FSBML_HELLO_FIRST;
        }
        while (rank + h.run < node_of.size() && node_of[rank + h.run] == node) {
            ++h.run;
        }
        return h;
    }

    std::unique_ptr<Pairs> pairs(bool one_node = false)
    {
        fsbml::Classes c(static_cast<std::uint32_t>(node_of.size()), one_node);
        std::uint32_t rank = 0;
        for (looks = 0; c.next(rank); ++looks) {
            if (silent.count(rank) > 0) {
                c.tell(rank, nullptr);
            } else {
                const fsbml_hello_t h = hello(rank);
                c.tell(rank, &h);
            }
        }
        auto out = std::make_unique<Pairs>();
        c.plan(*out);
        work = c.work();
        fsbml_pair_t first{};
        EXPECT_EQ(c.first(first), out->n > 0);
        if (out->n > 0) {
            EXPECT_EQ(first.rank[0], out->pair[0].rank[0]);
            EXPECT_EQ(first.rank[1], out->pair[0].rank[1]);
        }
        return out;
    }
};

// `ranks` on each node: one node after the other, or dealt like cards.
Job job_of(const std::vector<Names> &rails, std::size_t ranks = 1, bool dealt = false)
{
    Job job;
    job.rails = rails;
    for (std::size_t i = 0; i < rails.size() * ranks; ++i) {
        job.node_of.push_back(dealt ? i % rails.size() : i / ranks);
    }
    return job;
}

// "0-1 AB", and "/1" behind if it is not of the first round.
std::string text_of(const fsbml_pair_t &pair, const Job &job)
{
    std::map<std::uint32_t, std::string> name;
    for (const Names &rails : job.rails) {
        for (const std::string &rail : rails) {
            name[fsbml_digest(rail.c_str())] = rail;
        }
    }
    std::string s = std::to_string(pair.rank[0]) + "-" + std::to_string(pair.rank[1]) + " ";
    for (std::uint32_t i = 0; i < pair.n_rails; ++i) {
        s += name[pair.key[i]];
    }
    return s + (pair.round > 0 ? "/" + std::to_string(pair.round) : "");
}

Names texts(Job &job)
{
    Names out;
    const auto pairs = job.pairs();
    for (std::uint32_t i = 0; i < pairs->n; ++i) {
        out.push_back(text_of(pairs->pair[i], job));
    }
    return out;
}

Names texts(const std::vector<Names> &rails, std::size_t ranks = 1, bool dealt = false)
{
    Job job = job_of(rails, ranks, dealt);
    return texts(job);
}

// What must hold of any job: each rail that some two nodes share beside another is measured once, by two
// nodes that have it and one more; no node is in two pairs of one round.
void check(const Job &job, const Pairs &pairs, const std::string &what)
{
    std::map<std::uint32_t, int> measured;
    std::set<std::pair<std::uint32_t, std::size_t>> busy;
    const auto common = [&](std::size_t a, std::size_t b) {
        Names both;
        for (const std::string &rail : job.rails[a]) {
            if (std::count(job.rails[b].begin(), job.rails[b].end(), rail) > 0) {
                both.push_back(rail);
            }
        }
        return both;
    };
    for (std::uint32_t i = 0; i < pairs.n; ++i) {
        const fsbml_pair_t &p = pairs.pair[i];
        ASSERT_LT(p.rank[0], p.rank[1]) << what;
        const std::size_t node[2] = {job.node_of[p.rank[0]], job.node_of[p.rank[1]]};
        const Names both = common(node[0], node[1]);
        ASSERT_NE(node[0], node[1]) << what;
        ASSERT_GE(both.size(), 2U) << what;
        ASSERT_GE(p.n_rails, 1U) << what;
        for (std::uint32_t k = 0; k < p.n_rails; ++k) {
            ++measured[p.key[k]];
            ASSERT_TRUE(std::any_of(both.begin(), both.end(), [&](const std::string &s) {
                return fsbml_digest(s.c_str()) == p.key[k];
            })) << what;
        }
        for (const std::size_t n : node) {
            ASSERT_TRUE(busy.emplace(p.round, n).second)
                << what << ": node " << n << " is in two pairs at once";
        }
    }
    std::set<std::uint32_t> wanted;
    for (std::size_t a = 0; a < job.rails.size(); ++a) {
        for (std::size_t b = a + 1; b < job.rails.size(); ++b) {
            const Names both = common(a, b);
            for (std::size_t i = 0; both.size() >= 2 && i < both.size(); ++i) {
                wanted.insert(fsbml_digest(both[i].c_str()));
            }
        }
    }
    for (const auto &m : measured) {
        ASSERT_EQ(m.second, 1) << what;
    }
    ASSERT_EQ(measured.size(), wanted.size()) << what;
}

} // namespace

// Where all nodes are alike, the first rank and the first one of the next node measure everything.
TEST(Classes, HomogeneousJobHasOnePair)
{
    EXPECT_EQ(texts({{"A", "B"}, {"A", "B"}}), Names{"0-1 AB"});
    EXPECT_EQ(texts({4, Names{"A", "B"}}, 6), Names{"0-6 AB"});
    EXPECT_EQ(texts({4, Names{"A", "B"}}, 6, true), Names{"0-1 AB"});
    EXPECT_EQ(texts({{"A", "B"}, {"B", "A"}, {"A", "B"}}),
              Names{"0-1 AB"}); // the order of names says nothing
}

TEST(Classes, NothingToMeasure)
{
    EXPECT_EQ(texts({{"A", "B"}}), Names{});
    EXPECT_EQ(texts({{"A"}, {"A"}}), Names{});
    EXPECT_EQ(texts({{"A", "B"}, {"B", "C"}, {"C", "A"}}), Names{}); // nowhere is there a choice
    EXPECT_EQ(texts({{"A", "b"}, {"A", "b"}}), Names{}); // of two levels: the higher one is used alone
    EXPECT_EQ(texts({{"A", "-B"}, {"A", "B"}}), Names{});
}

// Rails of other nodes get a pair of their own, at the same time where other nodes have them.
TEST(Classes, EachRailIsMeasuredOnce)
{
    EXPECT_EQ(texts({{"A", "B"}, {"A", "B"}, {"B", "C"}, {"B", "C"}}), (Names{"0-1 AB", "2-3 C"}));
    EXPECT_EQ(texts({{"A", "B"}, {"C", "D"}, {"C", "D"}, {"A", "B"}}), (Names{"1-2 CD", "0-3 AB"}));
    // a node that shares its rails with no other takes no part
    EXPECT_EQ(texts({{"X", "Y"}, {"A", "B"}, {"A", "B"}}), Names{"1-2 AB"});
    // fewest pairs: the one that has C, D and E goes before those that have one of them
    EXPECT_EQ(
        texts({{"A", "B"}, {"A", "B"}, {"B", "C"}, {"B", "C"}, {"B", "C", "D", "E"}, {"B", "C", "D", "E"}}),
        (Names{"0-1 AB", "4-5 CDE"}));
    // the level that two nodes use between them
    EXPECT_EQ(texts({{"A", "B", "c", "d"}, {"A", "B", "c", "d"}, {"c", "d"}}), (Names{"0-1 AB", "0-2 cd/1"}));
}

// A node that must measure twice does so in two rounds; where its class has another node, that one takes the
// second.
TEST(Classes, Rounds)
{
    EXPECT_EQ(texts({{"A", "B", "C"}, {"A", "B"}, {"B", "C"}}), (Names{"0-1 AB", "0-2 C/1"}));
    EXPECT_EQ(texts({{"A", "B", "C"}, {"A", "B"}, {"B", "C"}, {"A", "B", "C"}}), (Names{"0-1 AB", "2-3 C"}));
}

// On one node every rank stands for itself, and the search ends with the first pair.
TEST(Classes, OneNode)
{
    Job job = job_of({{"A", "B"}}, 5000);
    const auto pairs = job.pairs(true);
    ASSERT_EQ(pairs->n, 1U);
    EXPECT_EQ(text_of(pairs->pair[0], job), "0-1 AB");
    EXPECT_EQ(job.looks, 2U);
}

TEST(Classes, RanksWithoutHello)
{
    Job job = job_of({4, Names{"A", "B"}}, 1);
    job.silent = {0, 2};
    EXPECT_EQ(texts(job), Names{"1-3 AB"});
    job = job_of({1000, Names{"A", "B"}}, 1);
    for (std::uint32_t r = 0; r < 1000; ++r) {
        job.silent.insert(r);
    }
    EXPECT_EQ(texts(job), Names{});
    EXPECT_EQ(job.looks, fsbml::Classes::kMostSilent);
}

// A node that does not run FSBML has more ranks than are asked in vain.
TEST(Classes, NodeWithoutHello)
{
    Job job = job_of({8, Names{"A", "B"}}, 16);
    for (std::uint32_t r = 0; r < 16; ++r) {
        job.silent.insert(r);
    }
    EXPECT_EQ(texts(job), Names{"32-48 AB"});
}

// What is looked at goes with the nodes, not with the ranks, however these are dealt; then with the bound.
TEST(Classes, LooksGoWithNodes)
{
    for (const bool dealt : {false, true}) {
        Job job = job_of({50, Names{"A", "B"}}, 200, dealt);
        EXPECT_EQ(texts(job), (Names{dealt ? "0-1 AB" : "0-200 AB"}));
        EXPECT_EQ(job.looks, 50U);
        EXPECT_LE(job.work, 50U * 10);
    }
    Job job = job_of({5000, Names{"A", "B", "C", "D"}}, 2);
    EXPECT_EQ(texts(job), Names{"0-2 ABCD"});
    EXPECT_EQ(job.looks, fsbml::Classes::kMostNodes);
}

// 10,000 ranks on 250 nodes of which each has 32 rails, most of them shared with few: the worst that the
// bounds let through.
TEST(Classes, WorkIsBounded)
{
    std::mt19937 random(20261121);
    std::vector<Names> rails(250);
    for (Names &node : rails) {
        std::set<std::string> some;
        while (some.size() < FSBML_MAX_RAILS) {
            some.insert("R" + std::to_string(random() % 800));
        }
        node.assign(some.begin(), some.end());
    }
    Job job = job_of(rails, 40);
    const auto pairs = job.pairs();
    RecordProperty("seed", 20261121);
    EXPECT_EQ(job.looks, 250U);
    EXPECT_EQ(pairs->n, static_cast<std::uint32_t>(FSBML_MAX_PAIRS));
    EXPECT_LT(job.work, 3000000U); // of pairs of nodes alone there are 31125, each of 32 x 32 rails
}

// Random jobs of few kinds of nodes.
TEST(Classes, RandomJobs)
{
    std::mt19937 random(1);
    for (int i = 0; i < 2000; ++i) {
        std::vector<Names> kinds(1 + random() % 4);
        for (Names &kind : kinds) {
            for (char rail = 'A'; rail < 'H'; ++rail) {
                if (0 == random() % 2) {
                    kind.emplace_back(1, rail);
                }
            }
        }
        std::vector<Names> rails(2 + random() % 12);
        for (Names &node : rails) {
            node = kinds[random() % kinds.size()];
        }
        Job job = job_of(rails, 1 + random() % 3, 0 == random() % 2);
        const auto pairs = job.pairs();
        check(job, *pairs, "seed 1, job " + std::to_string(i));
        if (HasFatalFailure()) {
            return;
        }
    }
}

// Ranks that a hostile or damaged hello could lead to.
TEST(Classes, OddNumbersInHellos)
{
    fsbml::Classes c(3, false);
    std::uint32_t rank = 0;
    fsbml_hello_t h{};
    h.run = UINT32_MAX;
    h.flags = FSBML_HELLO_FIRST;
    h.node_ranks = 1;
    ASSERT_TRUE(c.next(rank));
    c.tell(rank, &h);
    EXPECT_FALSE(c.next(rank)); // at the end
    c.tell(7, &h);              // no such rank: nothing happens
    fsbml_pair_t pair{};
    EXPECT_FALSE(c.first(pair));
}
