// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Workloads: what they send, that they end, and that check() tells those that do not.
#include "executor.hpp"
#include "workloads.hpp"

#include "../unit/test.hpp"

namespace fsbml::sim
{
namespace
{

constexpr std::uint32_t kRanks[] = {2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 27, 33};

std::uint64_t log2_up(std::uint64_t n)
{
    std::uint64_t log = 0;
    while ((std::uint64_t{1} << log) < n) {
        ++log;
    }
    return log;
}

// Of the catalogue, by name: the number of messages.
std::uint64_t messages(const std::string &name, std::uint64_t n)
{
    const auto longer = [&](std::uint32_t dims) {
        const std::vector<std::uint32_t> length = grid(static_cast<std::uint32_t>(n), dims);
        return static_cast<std::uint64_t>(
            std::count_if(length.begin(), length.end(), [](std::uint32_t l) { return l > 1; }));
    };
    const std::uint64_t down = std::uint64_t{1} << (log2_up(n + 1) - 1); // greatest power of two up to n
    const std::vector<std::pair<std::string, std::function<std::uint64_t()>>> formulas{
        {"one_to_one", [&] { return 2 * 32 * (n / 2); }},
        {"one_to_one_small", [&] { return 2 * 64 * (n / 2); }},
        {"one_to_one_large", [&] { return 2 * 4 * (n / 2); }},
        {"one_to_one_uniform", [&] { return 2 * 32 * (n / 2); }},
        {"one_to_one_log", [&] { return 2 * 32 * (n / 2); }},
        {"one_to_one_pareto", [&] { return 2 * 64 * (n / 2); }},
        {"ping_pong", [&] { return 2 * 32 * (n / 2); }},
        {"random_log", [&] { return 4 * 8 * n; }},
        {"random_pareto", [&] { return 4 * 16 * n; }},
        {"bursts", [&] { return 8 * 16 * n; }},
        {"bursts_pareto", [&] { return 8 * 8 * n; }},
        {"one_to_many", [&] { return 8 * (n - 1); }},
        {"one_to_many_pareto", [&] { return 8 * (n - 1); }},
        {"many_to_one", [&] { return 8 * (n - 1); }},
        {"many_to_one_any", [&] { return 8 * (n - 1); }},
        {"all_to_all", [&] { return n * (n - 1); }},
        {"all_to_all_a", [&] { return n * (n - 1); }},
        {"all_to_all_b", [&] { return n * (n - 1); }},
        {"all_to_all_pareto", [&] { return n * (n - 1); }},
        {"halo_2d", [&] { return 16 * n * 2 * longer(2); }},
        {"halo_3d", [&] { return 8 * n * 2 * longer(3); }},
        {"barrier", [&] { return 32 * n * log2_up(n); }},
        {"doubling", [&] { return 16 * (down * log2_up(down) + 2 * (n - down)); }},
        {"ring", [&] { return 2 * n * 2 * (n - 1); }},
    };
    for (const auto &[of, formula] : formulas) {
        if (of == name) {
            return formula();
        }
    }
    ADD_FAILURE() << "no formula for " << name;
    return 0;
}

TEST(Traffic, HasNamesThatTellItApart)
{
    std::vector<std::string> names;
    for (const Traffic &t : all_traffic()) {
        names.emplace_back(t.name);
        EXPECT_NE(std::string(t.what), "");
        EXPECT_EQ(t.make(4, 1).name, t.name);
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
    EXPECT_GE(names.size(), 20U);
}

TEST(Traffic, EndsInWhateverOrderAndSendsAsManyMessagesAsTheFormulaSays)
{
    for (const Traffic &t : all_traffic()) {
        for (const std::uint32_t n : kRanks) {
            for (const std::uint64_t seed : {1, 2}) {
                SCOPED_TRACE(std::string(t.name) + ", ranks " + std::to_string(n) + ", seed "
                             + std::to_string(seed));
                const Workload w = t.make(n, seed);
                ASSERT_EQ(w.process.size(), n);
                EXPECT_NO_THROW(check(w));
                const executor::Result r = executor::run(w, seed);
                EXPECT_TRUE(r.over);
                EXPECT_EQ(r.sent, messages(t.name, n));
                EXPECT_EQ(r.received, r.sent);
            }
        }
    }
}

TEST(Traffic, IsTheSameForASeedAndDiffersWhereChanceIsInIt)
{
    const std::vector<std::string> fixed{"one_to_one",   "one_to_one_small", "one_to_one_large",
                                         "one_to_many",  "many_to_one",      "all_to_all",
                                         "all_to_all_a", "all_to_all_b"};
    for (const Traffic &t : all_traffic()) {
        SCOPED_TRACE(t.name);
        EXPECT_TRUE(same(t.make(9, 5), t.make(9, 5)));
        const bool chance = std::find(fixed.begin(), fixed.end(), t.name) == fixed.end();
        EXPECT_EQ(same(t.make(9, 5), t.make(9, 6)), !chance);
    }
    // The generator and its seeding are the standard's: the same everywhere.
    TrafficDice dice(42, 7);
    EXPECT_EQ(dice.integer(0, ~std::uint64_t{0}), 300441636794782762U);
    EXPECT_EQ(dice.integer(1, 1000000), 690159U);
}

TEST(Traffic, TakesRanksFromTwo)
{
    for (const Traffic &t : all_traffic()) {
        EXPECT_THROW(t.make(0, 1), std::invalid_argument) << t.name;
        EXPECT_THROW(t.make(1, 1), std::invalid_argument) << t.name;
    }
    EXPECT_THROW(barrier(kMostRanks + 1, {}, 1), std::invalid_argument);
    EXPECT_THROW(one_to_one(2, 1, Sizes::all(0), 1), std::invalid_argument);
    EXPECT_THROW(one_to_one(2, 1, Sizes::uniform(2, 1), 1), std::invalid_argument);
    EXPECT_THROW(one_to_one(2, 1, Sizes::pareto(1, 2, 0.0), 1), std::invalid_argument);
    EXPECT_THROW(one_to_one(2, 1, Sizes::pareto(1, 2, std::nan("")), 1), std::invalid_argument);
    EXPECT_THROW(halo(4, 1, {}, 1), std::invalid_argument);
    EXPECT_THROW(ring(4, {1, 1, -1}, 1), std::invalid_argument);
    EXPECT_THROW(bursts(4, {1, 1, -1}, Sizes::all(1), 1), std::invalid_argument);
}

TEST(Traffic, HandlesTenThousandRanks)
{
    for (const Workload &w : {random_peers(10000, 2, 8, Sizes::pareto(256, 1 << 22, 1.0), 3),
                              doubling(10000, {2, 4096, 1000}, 3), halo(10000, 3, {2, 4096, 1000}, 3)}) {
        EXPECT_NO_THROW(check(w)) << w.name;
    }
}

// Kolmogorov and Smirnov: the greatest distance to the distribution function stays below 1.95 / sqrt(n), but
// for one seed in a thousand.
void expect_distribution(const Sizes &sizes, const std::function<double(double)> &cdf, std::uint64_t seed)
{
    SCOPED_TRACE("seed " + std::to_string(seed));
    constexpr int kDraws = 20000;
    TrafficDice dice(seed);
    std::vector<std::uint64_t> drawn;
    for (int i = 0; i < kDraws; ++i) {
        drawn.push_back(sizes.draw(dice));
        ASSERT_GE(drawn.back(), sizes.low);
        ASSERT_LE(drawn.back(), sizes.high);
    }
    std::sort(drawn.begin(), drawn.end());
    double distance = 0.0;
    for (int i = 0; i < kDraws; ++i) {
        // Sizes are rounded: half a byte up.
        const double x = std::min(static_cast<double>(drawn[i]) + 0.5, static_cast<double>(sizes.high));
        const auto up_to = std::upper_bound(drawn.begin(), drawn.end(), drawn[i]) - drawn.begin();
        distance = std::max(distance, std::abs(static_cast<double>(up_to) / kDraws - cdf(x)));
    }
    EXPECT_LT(distance, 1.95 / std::sqrt(kDraws));
}

TEST(Sizes, AreDrawnAsTheirDistributionSays)
{
    for (const std::uint64_t seed : {1, 2, 3}) {
        expect_distribution(
            Sizes::uniform(1000, 900000), [](double x) { return (x - 1000) / 899000; }, seed);
        expect_distribution(
            Sizes::log_uniform(1000, 900000), [](double x) { return std::log(x / 1000) / std::log(900.0); },
            seed);
        for (const double shape : {0.5, 1.0, 1.3}) {
            expect_distribution(
                Sizes::pareto(1000, 900000, shape),
                [&](double x) { return (1 - std::pow(1000 / x, shape)) / (1 - std::pow(1 / 900.0, shape)); },
                seed);
        }
    }
    TrafficDice dice(1);
    std::vector<int> count(3, 0);
    for (int i = 0; i < 3000; ++i) {
        ++count[Sizes::uniform(5, 7).draw(dice) - 5]; // both ends are drawn
    }
    EXPECT_GT(*std::min_element(count.begin(), count.end()), 900);
}

TEST(OneToOne, IsTheThesisBenchmark)
{
    const Workload w = one_to_one(3, 2, Sizes::all(7), 1);
    Workload expected;
    expected.name = w.name;
    expected.process = {
        {send(1, 7), send(1, 7), recv(1), recv(1)}, {recv(0), recv(0), send(0, 7), send(0, 7)}, {}};
    EXPECT_TRUE(same(w, expected));
}

TEST(ManyToOne, TakesInTurnOrWhatComes)
{
    const Workload each = many_to_one(3, 2, Sizes::all(7), From::each, 1);
    const Workload any = many_to_one(3, 2, Sizes::all(7), From::any_rank, 1);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(each.process[0][i].peer, 1 + i % 2);
        EXPECT_EQ(any.process[0][i].peer, kAnyPeer);
    }
}

TEST(AllToAll, SendsTheSameByEveryAlgorithm)
{
    for (const std::uint32_t n : kRanks) {
        const Sizes sizes = Sizes::log_uniform(1, 1 << 20);
        const auto by_pair = [&](AllToAll a) { return executor::run(all_to_all(n, a, sizes, 9), 1).by_pair; };
        const auto pairs = by_pair(AllToAll::pairwise);
        EXPECT_EQ(pairs.size(), n * (n - 1)); // each once
        EXPECT_EQ(pairs, by_pair(AllToAll::xor_steps));
        EXPECT_EQ(pairs, by_pair(AllToAll::xor_sends));
    }
}

TEST(Halo, IsBetweenNeighboursOfATorus)
{
    EXPECT_EQ(grid(12, 2), (std::vector<std::uint32_t>{3, 4}));
    EXPECT_EQ(grid(64, 3), (std::vector<std::uint32_t>{4, 4, 4}));
    EXPECT_EQ(grid(24, 3), (std::vector<std::uint32_t>{2, 3, 4}));
    EXPECT_EQ(grid(7, 3), (std::vector<std::uint32_t>{1, 1, 7}));
    for (const std::uint32_t n : kRanks) {
        for (const std::uint32_t dims : {2U, 3U}) {
            const std::vector<std::uint32_t> length = grid(n, dims);
            const executor::Result r = executor::run(halo(n, dims, {1, 8, 0}, 1), 1);
            for (const auto &[pair, sizes] : r.by_pair) {
                std::uint32_t distance = 0, a = pair.first, b = pair.second;
                for (const std::uint32_t l : length) {
                    const std::uint32_t d = (a % l + l - b % l) % l;
                    distance += std::min(d, l - d);
                    a /= l;
                    b /= l;
                }
                EXPECT_EQ(distance, 1U) << "ranks " << n << ": " << pair.first << " to " << pair.second;
                EXPECT_EQ(r.by_pair.at({pair.second, pair.first}), sizes);
            }
        }
    }
}

// A rank that leaves a barrier knows that all have come, one that has the result of an allreduce has
// something of all.
TEST(Collectives, BringTogetherAllRanks)
{
    for (const std::uint32_t n : kRanks) {
        for (const Workload &w : {barrier(n, {}, 1), doubling(n, {}, 1), ring(n, {}, 1)}) {
            const executor::Result r = executor::run(w, n, true);
            for (const std::vector<bool> &knows : r.knows) {
                EXPECT_EQ(std::count(knows.begin(), knows.end(), true), n) << w.name << ", ranks " << n;
            }
        }
        const executor::Result r = executor::run(ring(n, {1, 1000, 0}, 1), 1);
        EXPECT_EQ(r.bytes, 2 * (n - 1) * 1000U);
        for (std::uint32_t rank = 0; rank < n; ++rank) {
            const std::vector<std::uint64_t> &in = r.by_pair.at({rank, (rank + 1) % n});
            const std::vector<std::uint64_t> &out = r.by_pair.at({(rank + 1) % n, (rank + 2) % n});
            EXPECT_TRUE(std::equal(out.begin() + 1, out.end(), in.begin())); // a piece goes round
        }
    }
}

TEST(Bursts, BeginAtExponentialTimes)
{
    const Time mean = 1000 * kPsPerNs;
    const Workload w = bursts(4, {2000, 1, mean}, Sizes::all(1), 11);
    double gaps = 0.0, longer = 0.0, sum = 0.0;
    for (const std::vector<Op> &ops : w.process) {
        Time last = 0;
        for (const Op &op : ops) {
            if (op.kind == Op::Kind::until) {
                ASSERT_GE(op.time, last);
                gaps += 1.0;
                longer += op.time - last > mean ? 1.0 : 0.0;
                sum += static_cast<double>(op.time - last);
                last = op.time;
            }
        }
    }
    EXPECT_EQ(gaps, 8000.0);
    EXPECT_NEAR(sum / gaps / static_cast<double>(mean), 1.0, 4.0 / std::sqrt(gaps));
    EXPECT_NEAR(longer / gaps, std::exp(-1.0), 4.0 * 0.5 / std::sqrt(gaps));
}

// ------------------------------------------------------------------ check()

// What it throws for a workload; empty: nothing.
std::string complaint(const Workload &w)
{
    try {
        check(w);
    } catch (const std::invalid_argument &e) {
        return e.what();
    }
    return "";
}

TEST(Check, NamesRankAndOp)
{
    const Op any = recv(kAnyPeer);
    const Op compute{Op::Kind::compute, 0, 0, 5};
    const Op back_in_time{Op::Kind::until, 0, 0, -5};
    Op strange;
    strange.kind = static_cast<Op::Kind>(9);
    const struct {
        std::vector<std::vector<Op>> process;
        const char *says;
    } cases[] = {
        {{{compute, send(2)}, {}}, "rank 0, op 1: there is no rank 2"},
        {{{}, {send(kAnyPeer)}}, "rank 1, op 0: there is no rank 4294967295"},
        {{{}, {compute, recv(1)}}, "rank 1, op 1: its peer is the rank itself"},
        {{{back_in_time}}, "rank 0, op 0: a time of -5 ps"},
        {{{compute, strange}}, "rank 0, op 1: there is no kind 9"},
        {{{send(1)}, {compute, recv(0), recv(0)}},
         "rank 1, op 2: waits for ever for a message from rank 0, which sends no more"},
        {{{send(1), compute, send(1)}, {recv(0)}}, "rank 0, op 2: rank 1 receives no such message"},
        {{{recv(1), send(1)}, {recv(0), send(0)}},
         "rank 1, op 0: waits for ever for a message from rank 0: they wait for each other, 0 for 1 for 0"},
        {{{compute}, {recv(2), send(3)}, {recv(3), send(1)}, {recv(1), send(2)}},
         "they wait for each other, 1 for 2 for 3 for 1"},
        {{{any, recv(1), any}, {send(0), send(0)}, {send(0)}},
         "rank 0, op 1: receives from rank 1 what a receive from any rank before may have taken"},
        {{{any, any}, {send(0)}}, "rank 0, op 1: waits for ever for a message from any rank"},
        {{{any}, {send(0)}, {send(0)}}, "op 0: rank 0 receives 1 messages less than it gets"},
    };
    for (const auto &c : cases) {
        EXPECT_NE(complaint(Workload{"w", c.process}).find(c.says), std::string::npos)
            << "says: " << complaint(Workload{"w", c.process}) << "\nnot:  " << c.says;
    }
    EXPECT_EQ(complaint(Workload{"w", {{recv(1), any, any}, {send(0), send(0), send(0)}}}), "");
    EXPECT_EQ(complaint(Workload{}), "");
}

TEST(Check, FindsAnyMessageThatIsTakenAway)
{
    TrafficDice dice(77);
    for (const Traffic &t : all_traffic()) {
        const Workload whole = t.make(6, 1);
        for (int i = 0; i < 20; ++i) {
            Workload w = whole;
            std::vector<Op> &ops = w.process[dice.integer(0, 5)];
            const std::size_t at = ops.empty() ? 0 : dice.integer(0, ops.size() - 1);
            if (ops.empty() || (ops[at].kind != Op::Kind::send && ops[at].kind != Op::Kind::recv)) {
                continue;
            }
            ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(at));
            EXPECT_NE(complaint(w).find("op "), std::string::npos) << t.name;
        }
    }
}

// Ops in any order: some end, some lock up, and check() has to say of each what the executor finds.
TEST(Check, AgreesWithTheExecutor)
{
    TrafficDice dice(5);
    int ends = 0, locks = 0;
    for (int i = 0; i < 3000; ++i) {
        Workload w = i % 2 == 0 ? ping_pong(2, 2, Sizes::all(1), 1) : random_peers(3, 1, 2, Sizes::all(1), i);
        for (std::vector<Op> &ops : w.process) {
            for (std::size_t k = ops.size(); k > 1; --k) {
                std::swap(ops[k - 1], ops[dice.integer(0, k - 1)]);
            }
        }
        const bool over = executor::run(w, static_cast<std::uint64_t>(i)).over;
        EXPECT_EQ(complaint(w).empty(), over) << "case " << i << ": " << complaint(w);
        ++(over ? ends : locks);
    }
    EXPECT_GT(ends, 300);
    EXPECT_GT(locks, 300);
}

} // namespace
} // namespace fsbml::sim
