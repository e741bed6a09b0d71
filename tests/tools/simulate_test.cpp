// What decides in simulations: ratios and their quantiles, bars, sets of rails, and that threads change
// nothing.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/simulate/simulate.hpp"

#include "../unit/test.hpp"

namespace
{

using namespace fsbml::bench;
namespace sim = fsbml::sim;

const sim::Traffic *traffic_of(const std::string &name)
{
    for (const sim::Traffic &traffic : sim::all_traffic()) {
        if (name == traffic.name) {
            return &traffic;
        }
    }
    throw std::invalid_argument(name);
}

Proof proof_of(const std::vector<std::string> &sets, const std::vector<std::string> &traffic)
{
    Proof proof;
    for (const std::string &set : sets) {
        proof.sets.push_back(rail_set_of(set));
    }
    for (const std::string &name : traffic) {
        proof.traffic.push_back(traffic_of(name));
    }
    proof.rules = {"fsbml", "ucx"};
    return proof;
}

// By a bound of 1000, and a best rail and a rival of 2000.
Trial trial(std::size_t set, std::size_t traffic, bool wrong, sim::Time makespan)
{
    Trial t;
    t.set = set;
    t.traffic = traffic;
    t.seed = 7;
    t.wrong = wrong;
    t.bound = 1000;
    t.best_single = 2000;
    t.makespan = {makespan, 2000};
    return t;
}

const Bar &bar_of(const std::vector<Bar> &bars, const std::string &text)
{
    for (const Bar &bar : bars) {
        if (bar.text == text) {
            return bar;
        }
    }
    throw std::invalid_argument("no bar '" + text + "'");
}

const char *const kMedian = "true: makespan / bound <= 1.02 in the median";
const char *const kMost = "true: makespan / bound <= 1.08 in 99 of 100";
const char *const kBestMedian = "true: <= 1.00 x best rail in the median of each class";
const char *const kBestEach = "true: <= 1.03 x best rail in each run";
const char *const kUcx = "true: <= 1.01 x ucx in each class";

TEST(SimulateSpread, IsOfTheChosenRunsOnly)
{
    const Proof proof = proof_of({"equal", "jitter"}, {"ring", "barrier"});
    std::vector<Trial> trials{trial(0, 0, false, 1000), trial(0, 0, false, 4000), trial(0, 0, false, 2000),
                              trial(0, 0, true, 9000),  trial(1, 0, false, 8000), trial(0, 1, false, 7000)};
    const auto spread = spread_of(trials, of_class(proof, 0, false), by_bound());
    ASSERT_TRUE(spread);
    EXPECT_EQ(spread->runs, 3u);
    EXPECT_DOUBLE_EQ(spread->geometric_mean, 2.0);
    EXPECT_DOUBLE_EQ(spread->median, 2.0);
    EXPECT_DOUBLE_EQ(spread->p99, 3.96);
    EXPECT_DOUBLE_EQ(spread->worst, 4.0);
    EXPECT_EQ(spread->where, &trials[1]);
    EXPECT_EQ(spread_of(trials, of_set(1, false), by_bound())->worst, 8.0);
    EXPECT_EQ(spread_of(trials, settled(proof, false), by_bound())->worst, 7.0);
    EXPECT_EQ(spread_of(trials, settled(proof, true), by_rule(1))->worst, 4.5);
    EXPECT_FALSE(spread_of(trials, of_class(proof, 1, true), by_bound()));
    EXPECT_EQ(name_of(proof, trials[5]), "barrier on equal, seed 7");
}

TEST(SimulateSpread, NothingByNothingIsAlike)
{
    Trial t = trial(0, 0, false, 0);
    t.bound = t.best_single = 0;
    EXPECT_EQ(by_bound()(t), 1.0);
    EXPECT_EQ(by_best_rail(t), 1.0);
    t.makespan[0] = 5;
    EXPECT_EQ(by_bound()(t), std::numeric_limits<double>::infinity());
}

TEST(SimulateBars, AreMetAtTheirLimits)
{
    const Proof proof = proof_of({"equal"}, {"ring"});
    Trial t = trial(0, 0, false, 1020);
    t.best_single = 1020;
    t.makespan = {1020, 1010};
    const std::vector<Bar> at = judge(proof, {t});
    EXPECT_EQ(at.size(), 5u); // none of wrong parameters, of which there are no runs
    EXPECT_TRUE(bar_of(at, kMedian).met);
    EXPECT_TRUE(bar_of(at, kMost).met);
    EXPECT_TRUE(bar_of(at, kBestMedian).met);
    EXPECT_TRUE(bar_of(at, kBestEach).met);
    EXPECT_TRUE(bar_of(at, kUcx).met); // 1.0099
    t.bound = 999;
    t.best_single = 1019;
    t.makespan = {1020, 1009};
    const std::vector<Bar> above = judge(proof, {t});
    EXPECT_FALSE(bar_of(above, kMedian).met);
    EXPECT_TRUE(bar_of(above, kMost).met);
    EXPECT_FALSE(bar_of(above, kBestMedian).met);
    EXPECT_TRUE(bar_of(above, kBestEach).met); // 1.001
    EXPECT_FALSE(bar_of(above, kUcx).met);     // 1.0109
}

TEST(SimulateBars, TheWorstCaseIsNamed)
{
    const Proof proof = proof_of({"equal", "200+20"}, {"ring", "barrier"});
    std::vector<Trial> trials;
    for (int i = 0; i < 200; ++i) {
        trials.push_back(trial(0, 0, false, 1000));
    }
    trials.push_back(trial(1, 1, false, 3000));
    const std::vector<Bar> one = judge(proof, trials);
    EXPECT_TRUE(bar_of(one, kMedian).met);
    EXPECT_NE(bar_of(one, kMedian).figures.find("at worst 3.000 (barrier), above in 1 of 2"),
              std::string::npos)
        << bar_of(one, kMedian).figures;
    EXPECT_TRUE(bar_of(one, kMost).met); // 1 of 201
    EXPECT_NE(bar_of(one, kMost).figures.find("3.000 (barrier on 200+20, seed 7)"), std::string::npos);
    EXPECT_FALSE(bar_of(one, kBestMedian).met); // of the class, which has that run only
    EXPECT_EQ(bar_of(one, kBestMedian).figures, "worst 1.5000 (barrier), missed in 1 of 2");
    EXPECT_EQ(bar_of(one, kBestEach).figures, "worst 1.5000 (barrier on 200+20, seed 7), missed in 1 of 201");
    EXPECT_EQ(bar_of(one, kUcx).figures, "worst 1.5000 (barrier), missed in 1 of 2");
    for (int i = 0; i < 2; ++i) {
        trials.push_back(trial(1, 0, false, 3000));
    }
    EXPECT_FALSE(bar_of(judge(proof, trials), kMost).met); // 3 of 203
}

TEST(SimulateBars, AreNotAboutTrouble)
{
    const Proof proof = proof_of({"equal", "jitter"}, {"ring"});
    const std::vector<Bar> bars = judge(proof, {trial(0, 0, false, 1000), trial(1, 0, false, 9000)});
    ASSERT_EQ(bars.size(), 5u);
    for (const Bar &bar : bars) {
        EXPECT_TRUE(bar.met) << bar.text << ": " << bar.figures;
    }
    EXPECT_TRUE(judge(proof, {trial(1, 0, false, 9000)}).empty());
}

TEST(SimulateBars, OfTheBoundAreForParametersWrongBy20Percent)
{
    Proof proof = proof_of({"equal"}, {"ring"});
    const std::vector<Trial> trials{trial(0, 0, false, 1000), trial(0, 0, true, 1070)};
    const std::vector<Bar> bars = judge(proof, trials);
    EXPECT_EQ(bars.size(), 8u);
    EXPECT_FALSE(bar_of(bars, "wrong by 20 %: makespan / bound <= 1.06 in the median").met);
    EXPECT_TRUE(bar_of(bars, "wrong by 20 %: makespan / bound <= 1.20 in 99 of 100").met);
    EXPECT_TRUE(bar_of(bars, "wrong by 20 %: <= 1.01 x ucx in each class").met);
    proof.wrong = 0.5;
    EXPECT_EQ(judge(proof, trials).size(), 6u);
}

TEST(SimulateRails, AreOfTheCatalogueOrOfTheirRates)
{
    for (const auto &set : fsbml::bench::rail_sets()) {
        EXPECT_EQ(rail_set_of(set.name).rails.size(), set.rails.size()) << set.name;
    }
    const auto set = rail_set_of("200mbit@100us+0.02gbit@1ms+20000kbit");
    ASSERT_EQ(set.rails.size(), 3u);
    EXPECT_FALSE(set.trouble);
    EXPECT_DOUBLE_EQ(set.rails[0].real.L_ns, 1e5);
    EXPECT_DOUBLE_EQ(set.rails[1].real.L_ns, 1e6);
    EXPECT_DOUBLE_EQ(set.rails[2].real.L_ns, 5e4);
    EXPECT_NEAR(set.rails[0].real.G_ns_per_byte, 42.5, 0.1); // 40 and the headers
    EXPECT_DOUBLE_EQ(set.rails[1].real.G_ns_per_byte, set.rails[2].real.G_ns_per_byte);
    EXPECT_EQ(set.rails[2].name, "rail2");
    for (const char *bad :
         {"", "fast", "200mbit+", "+200mbit", "mbit", "-1mbit", "200mbit@", "200mbit@5", "200mbit@5us@6us",
          "200mbitx", "0mbit", "nanmbit", "2000gbit", "200mbit@2000ms"}) {
        EXPECT_THROW(rail_set_of(bad), std::invalid_argument) << bad;
    }
    std::string many = "1mbit";
    for (int i = 0; i < FSBML_MAX_RAILS; ++i) {
        many += "+1mbit";
    }
    EXPECT_THROW(rail_set_of(many), std::invalid_argument);
}

TEST(SimulateRails, AreBelievedWronglyWithinTheShare)
{
    const sim::Cluster real = cluster_of(rail_set_of("4-unequal"), 8, 2, true);
    EXPECT_EQ(real.nodes, 4u);
    EXPECT_TRUE(real.ledger);
    EXPECT_FALSE(cluster_of(rail_set_of("equal"), 8, 1, true).ledger);
    EXPECT_EQ(cluster_of(rail_set_of("overflow"), 8, 1, true).bottlenecks[0].side.size(), 4u);
    double least = 2, most = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        sim::Cluster cluster = real, again = real;
        believe_wrongly(cluster, 0.2, seed);
        believe_wrongly(again, 0.2, seed);
        for (std::size_t i = 0; i < real.rails.size(); ++i) {
            const fsbml_loggp_t &is = real.rails[i].real, &said = cluster.rails[i].believed;
            EXPECT_EQ(cluster.rails[i].real.L_ns, is.L_ns);
            EXPECT_EQ(again.rails[i].believed.G_ns_per_byte, said.G_ns_per_byte);
            for (const double factor : {said.L_ns / is.L_ns, said.o_s_ns / is.o_s_ns, said.g_ns / is.g_ns,
                                        said.G_ns_per_byte / is.G_ns_per_byte}) {
                least = std::min(least, factor);
                most = std::max(most, factor);
            }
            EXPECT_NE(said.L_ns / is.L_ns, said.G_ns_per_byte / is.G_ns_per_byte) << "seed " << seed;
            EXPECT_NEAR(said.o_s_ns / is.o_s_ns, said.o_r_ns / is.o_r_ns, 1e-12);
        }
    }
    EXPECT_GE(least, 0.8);
    EXPECT_LT(least, 0.81);
    EXPECT_LE(most, 1.2);
    EXPECT_GT(most, 1.19);
}

TEST(SimulateRuns, AreTheSameWithAnyNumberOfThreads)
{
    Proof proof = proof_of({"equal", "jitter", "overflow"}, {"random_log", "barrier", "halo_2d"});
    proof.ranks_per_node = 2; // the rivals' ledgers are in what threads share
    proof.rules = {"fsbml", "no-latency", "tent"};
    proof.seeds = 2;
    std::size_t told = 0;
    const std::vector<Trial> one = simulate_all(proof, [&](std::size_t jobs) { EXPECT_EQ(jobs, ++told); });
    EXPECT_EQ(told, 9u);
    proof.threads = 3;
    const std::vector<Trial> three = simulate_all(proof, [](std::size_t) {});
    ASSERT_EQ(one.size(), 36u);
    ASSERT_EQ(three.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].makespan, three[i].makespan) << name_of(proof, one[i]);
        EXPECT_EQ(one[i].wrong, i % 2 == 1);
        EXPECT_EQ(one[i].bound, three[i].bound);
        // Cut however they like, none of them beats this bound.
        EXPECT_LE(one[i].bound, *std::min_element(one[i].makespan.begin(), one[i].makespan.end()));
        EXPECT_LE(one[i].bound, one[i].best_single);
    }
}

TEST(SimulateRuns, WithoutChanceAreRepeated)
{
    Proof proof = proof_of({"200+20"}, {"one_to_one"});
    proof.seeds = 3;
    const std::vector<Trial> all = simulate_all(proof, [](std::size_t) {});
    ASSERT_EQ(all.size(), 6u);
    EXPECT_EQ(all[4].makespan, all[0].makespan);
    EXPECT_EQ(all[4].seed, 3u);
    EXPECT_FALSE(all[4].wrong);
    EXPECT_NE(all[5].makespan, all[3].makespan); // each seed is wrong in another way
    proof.first_seed = 3;
    proof.seeds = 1;
    const std::vector<Trial> last = simulate_all(proof, [](std::size_t) {});
    EXPECT_EQ(last[0].makespan, all[4].makespan);
    EXPECT_EQ(last[1].makespan, all[5].makespan);
    EXPECT_EQ(last[0].best_rail, 0u);
    proof.wrong = 0;
    EXPECT_EQ(simulate_all(proof, [](std::size_t) {}).size(), 1u);
}

TEST(SimulateRuns, TheBestRailAloneIsTheOneThatIsFaster)
{
    Proof proof = proof_of({"1gbit@50us+1mbit@50us", "1mbit@50us+1gbit@50us"}, {"one_to_one_large"});
    proof.wrong = 0;
    const std::vector<Trial> trials = simulate_all(proof, [](std::size_t) {});
    ASSERT_EQ(trials.size(), 2u);
    EXPECT_EQ(trials[0].best_rail, 0u);
    EXPECT_EQ(trials[1].best_rail, 1u);
    EXPECT_EQ(trials[0].best_single, trials[1].best_single);
    // 4 MiB there and 4 MiB back over 1 Gbit/s with headers: 8.5 ns a byte.
    EXPECT_NEAR(static_cast<double>(trials[0].best_single) / 1e12, 8.0 * 1048576 * 8.5e-9, 0.002);
}

TEST(SimulateRuns, AFailureNamesItsRun)
{
    Proof proof = proof_of({"equal"}, {"ring"});
    proof.rules = {"fsbml", "ucx"};
    proof.sets[0].rails[0].real.L_ns = -1;
    proof.threads = 2;
    try {
        simulate_all(proof, [](std::size_t) {});
        FAIL();
    } catch (const std::exception &error) {
        EXPECT_EQ(std::string(error.what()).rfind("ring on equal with seed 1: ", 0), 0u) << error.what();
    }
}

TEST(SimulateRules, AreKnownByTheirNames)
{
    for (const std::string &name : all_rivals()) {
        ASSERT_NE(rule_of(name), nullptr) << name;
        EXPECT_EQ(rule_of(name)->name(), name);
    }
    EXPECT_STREQ(rule_of("fsbml")->name(), "fsbml");
    EXPECT_STREQ(rule_of("formula")->name(), "formula");
    EXPECT_EQ(rule_of("fastest"), nullptr);
}

} // namespace
