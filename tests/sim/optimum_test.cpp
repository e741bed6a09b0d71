// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Lower bounds of clusters and workloads drawn by lot, compared with the best of all assignments and against
// each other.
#include "bound_job.hpp"

#include "sim/engine/engine.hpp"

#include "../unit/test.hpp"

using namespace fsbml::sim;

namespace
{

class Dice
{
public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    double real(double from, double to)
    {
        return from + (to - from) * static_cast<double>(random_() >> 11) * 0x1p-53;
    }

private:
    std::mt19937_64 random_;
};

RailSpec any_rail(Dice &dice)
{
    RailSpec spec = rail(dice.real(0, 5000), dice.real(1, 800), dice.real(1, 800), dice.real(10, 2000),
                         dice.real(0.01, 3));
    if (dice.below(3) == 0) {
        spec.real.O_s_ns_per_byte = dice.real(0, 0.2);
        spec.real.O_r_ns_per_byte = dice.real(0, 0.2);
    }
    if (dice.below(4) == 0) {
        spec.real.burst_ns = dice.real(0, 5000);
    }
    if (dice.below(4) == 0) {
        spec.real.break_bytes = 1024;
        spec.real.g_above_ns = spec.real.g_ns + spec.real.G_ns_per_byte * 1023 * dice.real(0.7, 2);
        spec.real.G_above_ns_per_byte = dice.real(0.01, 3);
    }
    return spec;
}

Cluster any_cluster(Dice &dice, std::uint32_t most_rails)
{
    Cluster c;
    c.nodes = static_cast<std::uint32_t>(2 + dice.below(3));
    c.ranks_per_node = static_cast<std::uint32_t>(1 + dice.below(2));
    const std::uint64_t rails = 1 + dice.below(most_rails);
    for (std::uint64_t r = 0; r < rails; ++r) {
        c.rails.push_back(any_rail(dice));
        if (r > 0 && c.nodes > 2 && dice.below(4) == 0) {
            c.rails.back().nodes = {0, 1};
        }
    }
    return c;
}

// Rounds of a few messages, which are received in the same round or later; now and then from any rank.
Workload any_workload(Dice &dice, const Cluster &c, std::uint64_t most, bool may_be_any = true)
{
    const std::uint32_t ranks = c.nodes * c.ranks_per_node;
    Workload w = workload(std::vector<std::vector<Op>>(ranks));
    std::uint64_t left = 1 + dice.below(most);
    const bool any_rank = may_be_any && dice.below(6) == 0;
    std::vector<std::vector<std::uint32_t>> owed(ranks);
    while (left > 0) {
        const std::uint64_t now = 1 + dice.below(left);
        left -= now;
        const std::uint64_t bytes = 1 + dice.below(1U << (2 + dice.below(13)));
        const auto from = static_cast<std::uint32_t>(dice.below(ranks));
        const bool fixed = dice.below(2) == 0;
        for (std::uint64_t i = 0; i < now; ++i) {
            const auto p = fixed ? from : static_cast<std::uint32_t>(dice.below(ranks));
            const auto q = static_cast<std::uint32_t>((p + 1 + dice.below(ranks - 1)) % ranks);
            w.process[p].push_back(send(q, fixed ? bytes : 1 + dice.below(2 * bytes)));
            owed[q].push_back(p);
        }
        for (std::uint32_t q = 0; q < ranks; ++q) {
            if (dice.below(4) == 0) {
                w.process[q].push_back(compute(dice.real(0, 3000)));
            }
            if (dice.below(5) == 0) {
                continue;
            }
            for (const std::uint32_t p : owed[q]) {
                w.process[q].push_back(recv(any_rank ? kAnyPeer : p));
            }
            owed[q].clear();
        }
    }
    return w;
}

// The rail of each message in the order of the sends of rank 0, then of rank 1, ...; of those within a node
// any.
using Assignment = std::vector<std::uint32_t>;

class Assigned final : public RuleMaker
{
public:
    Assigned(const Cluster &c, const Workload &w, const Assignment &rails) : of_rank_(w.process.size())
    {
        std::size_t m = 0;
        for (std::size_t p = 0; p < w.process.size(); ++p) {
            for (const Op &op : w.process[p]) {
                if (op.kind == Op::Kind::send && p % c.nodes == op.peer % c.nodes) {
                    ++m; // no rule is asked
                } else if (op.kind == Op::Kind::send) {
                    of_rank_[p].push_back(rails.at(m++));
                }
            }
        }
    }
    const char *name() const override { return "assigned"; }
    const char *source() const override { return "tests"; }
    std::unique_ptr<Rule> make(const Cluster &, std::uint32_t rank, std::uint64_t) override
    {
        return std::make_unique<Follows>(of_rank_.at(rank));
    }

private:
    struct Follows final : Rule {
        explicit Follows(const Assignment &rails) : rails_(rails) {}
        int choose(const Situation &) override { return static_cast<int>(rails_.at(next_++)); }
        const Assignment &rails_;
        std::size_t next_ = 0;
    };
    std::vector<Assignment> of_rank_;
};

Time makespan_of(const Cluster &c, const Workload &w, const Assignment &rails)
{
    Assigned rules(c, w, rails);
    return simulate({&c, &w, &rules, 1, false, {}}).makespan;
}

// All assignments are tried: an oracle that shares nothing with the bound.
Time optimum(const Cluster &c, const Workload &w)
{
    std::vector<Assignment> ways; // by message: rails that reach its peer
    for (std::size_t p = 0; p < w.process.size(); ++p) {
        for (const Op &op : w.process[p]) {
            const std::size_t from = p % c.nodes, to = op.peer % c.nodes;
            const bool far = std::max(from, to) > 1; // any_cluster(): such a node has not all rails
            for (std::uint32_t r = 0; op.kind == Op::Kind::send && r < c.rails.size(); ++r) {
                if (r == 0) {
                    ways.emplace_back(1, 0);
                } else if (from != to && (!far || c.rails[r].nodes.empty())) {
                    ways.back().push_back(r);
                }
            }
        }
    }
    std::vector<std::size_t> at(ways.size(), 0);
    for (Time best = std::numeric_limits<Time>::max();;) {
        Assignment rails;
        for (std::size_t m = 0; m < ways.size(); ++m) {
            rails.push_back(ways[m][at[m]]);
        }
        best = std::min(best, makespan_of(c, w, rails));
        std::size_t m = 0;
        while (m < at.size() && ++at[m] == ways[m].size()) {
            at[m++] = 0;
        }
        if (m == at.size()) {
            return best;
        }
    }
}

// How many messages may be on n rails until trying all assignments takes long.
std::uint64_t few(const Cluster &c)
{
    return c.rails.size() < 3 ? 8 : c.rails.size() == 3 ? 7 : 5;
}

} // namespace

TEST(Optimum, TheModelByHand)
{
    const Cluster c = cluster(3, {rail(1000, 200, 300, 50, 2), rail(5000, 200, 300, 10, 1)});
    Workload w = workload({{send(2, 1001)}, {}, {recv(0)}});
    EXPECT_EQ(makespan_of(c, w, {0}), 3500 * kPsPerNs);
    EXPECT_EQ(makespan_of(c, w, {1}), 6500 * kPsPerNs);
    // On one rail it waits for the NIC, and is there before the receiver has taken in the first.
    w = workload({{send(2, 1001), send(2, 1)}, {}, {recv(0), recv(0)}});
    EXPECT_EQ(makespan_of(c, w, {0, 0}), (200 + 1000 + 2000 + 300 + 300) * kPsPerNs);
    EXPECT_EQ(makespan_of(c, w, {0, 1}), (400 + 5000 + 300) * kPsPerNs);
    // Two senders: the receiver's NIC takes the one after the other.
    w = workload({{send(2, 1001)}, {send(2, 1001)}, {recv(0), recv(1)}});
    EXPECT_EQ(makespan_of(c, w, {0, 0}), (3500 + 2050) * kPsPerNs);
    // Its processor takes in what has arrived after what it computes.
    w = workload({{send(2, 1)}, {}, {compute(9000), recv(0)}});
    EXPECT_EQ(makespan_of(c, w, {0}), 9300 * kPsPerNs);
    EXPECT_THROW(makespan_of(c, workload({{recv(1)}, {}}), {}), std::runtime_error);
}

// The bound is near it: what is lost is that a message is on one rail or the other.
TEST(Optimum, IsNeverBelowTheBound)
{
    std::vector<double> ratios;
    for (std::uint64_t seed = 1; seed <= 600; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        const Cluster c = any_cluster(dice, 4);
        const Workload w = any_workload(dice, c, few(c));
        const Time best = optimum(c, w);
        const Time uncut = lower_bound(c, w, kUncut).makespan;
        ASSERT_LE(uncut, best);
        ASSERT_LE(lower_bound(c, w).makespan, uncut);
        ratios.push_back(static_cast<double>(best) / static_cast<double>(std::max<Time>(uncut, 1)));
    }
    std::sort(ratios.begin(), ratios.end());
    RecordProperty("median", std::to_string(ratios[ratios.size() / 2]));
    RecordProperty("p90", std::to_string(ratios[ratios.size() * 9 / 10]));
    EXPECT_LE(ratios[ratios.size() / 2], 1.02);
}

// Messages in pieces: as messages of their own, which are received one by one.
TEST(Optimum, OfPiecesIsNeverBelowTheBoundOfWhatMayBeCut)
{
    int cut = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        const Cluster c = any_cluster(dice, 3);
        const Workload w = any_workload(dice, c, 3, false);
        Workload pieces = workload(std::vector<std::vector<Op>>(w.process.size()));
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>>
            counts; // by sender, receiver
        for (std::uint32_t p = 0; p < w.process.size(); ++p) {
            for (const Op &op : w.process[p]) {
                if (op.kind != Op::Kind::send) {
                    continue;
                }
                const std::uint64_t size =
                    std::max<std::uint64_t>(1, op.bytes / (1 + dice.below(c.rails.size() < 3 ? 3 : 2)));
                counts[{p, op.peer}].push_back((op.bytes + size - 1) / size);
            }
        }
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> sent, received;
        for (std::uint32_t p = 0; p < w.process.size(); ++p) {
            for (Op op : w.process[p]) {
                if (op.kind == Op::Kind::recv) {
                    const std::pair<std::uint32_t, std::uint32_t> pair{op.peer, p};
                    const std::size_t n = counts.at(pair)[received[pair]++];
                    pieces.process[p].insert(pieces.process[p].end(), n, op);
                } else if (op.kind == Op::Kind::send) {
                    const std::pair<std::uint32_t, std::uint32_t> pair{p, op.peer};
                    const std::size_t n = counts.at(pair)[sent[pair]++];
                    const std::uint64_t bytes = op.bytes;
                    for (std::size_t i = 0; i < n; ++i) {
                        op.bytes = (i + 1) * bytes / n - i * bytes / n;
                        pieces.process[p].push_back(op);
                    }
                    cut += n > 1 ? 1 : 0;
                } else {
                    pieces.process[p].push_back(op);
                }
            }
        }
        ASSERT_LE(lower_bound(c, w).makespan, optimum(c, pieces));
    }
    EXPECT_GT(cut, 100);
}

// --------------------------------------------------------------- monotonicity

TEST(Bound, AnotherRailNeverRaisesIt)
{
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        Cluster c = any_cluster(dice, 3);
        const Workload w = any_workload(dice, c, 40);
        const Bound without = lower_bound(c, w);
        c.rails.push_back(any_rail(dice));
        ASSERT_LE(lower_bound(c, w).makespan, without.makespan);
    }
}

TEST(Bound, ASlowerRailNeverLowersIt)
{
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        Cluster c = any_cluster(dice, 4);
        const Workload w = any_workload(dice, c, 40);
        const Bound fast = lower_bound(c, w);
        fsbml_loggp_t &p = c.rails[dice.below(c.rails.size())].real;
        const double slower = dice.real(1, 3);
        switch (dice.below(4)) {
        case 0:
            p.L_ns *= slower;
            break;
        case 1:
            p.o_s_ns *= slower;
            break;
        case 2:
            p.o_r_ns *= slower;
            break;
        default:
            p.g_ns *= slower;
            p.G_ns_per_byte *= slower;
            p.g_above_ns *= slower;
            p.G_above_ns_per_byte *= slower;
        }
        ASSERT_GE(lower_bound(c, w).makespan, fast.makespan);
    }
}

// Any schedule is an upper bound, also where messages are many.
TEST(Bound, NeverAboveSchedulesOfManyMessages)
{
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Dice dice(seed);
        const Cluster c = any_cluster(dice, 4);
        const Workload w = any_workload(dice, c, 300);
        Assignment rails;
        for (std::size_t p = 0; p < w.process.size(); ++p) {
            for (const Op &op : w.process[p]) {
                const bool far = p % c.nodes > 1 || op.peer % c.nodes > 1;
                if (op.kind == Op::Kind::send) {
                    std::size_t r = dice.below(c.rails.size());
                    rails.push_back(static_cast<std::uint32_t>(far && !c.rails[r].nodes.empty() ? 0 : r));
                }
            }
        }
        ASSERT_LE(lower_bound(c, w, kUncut).makespan, makespan_of(c, w, rails));
    }
}
