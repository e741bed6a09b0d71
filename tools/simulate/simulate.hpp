// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Proofs of the scheduler in simulation: sets of rails, runs of each kind of traffic by each rule, what they
// say of FSBML's bars, and that as tables.
#ifndef FSBML_TOOLS_SIMULATE_HPP
#define FSBML_TOOLS_SIMULATE_HPP

#include "sim/bound/bound.hpp"
#include "sim/job/job.hpp"
#include "sim/traffic/traffic.hpp"
#include "tools/text/text.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fsbml::bench
{

// ---- The sets of rails that schedules are tried on, and the parameters that rules believe.

struct RailSet {
    std::string name, what;
    bool trouble =
        false; // the rails do not keep to their parameters: the bars of other sets are not for them
    // But FSBML should learn of it: a bar by the best rail of the moment, for jobs that last. All seeds of a
    // kind of traffic follow each other in one.
    bool learned = false;
    bool from_start = false; // it has to learn first: what counts is the second half of that job
    std::vector<sim::RailSpec> rails;
    std::vector<sim::Bottleneck> bottlenecks; // each with the first half of the nodes on one side
};

// All of the catalogue: those that keep to their parameters first.
const std::vector<RailSet> &rail_sets();

// A set of the catalogue by its name, or one such as 200mbit@100us+20mbit@1ms. Throws std::invalid_argument.
RailSet rail_set_of(const std::string &spec);

// A cluster of `ranks` ranks with these rails. Ranks of a node share a ledger if that is wanted, as by
// default in jobs.
sim::Cluster cluster_of(const RailSet &set, std::uint32_t ranks, std::uint32_t ranks_per_node, bool ledger);

// What is believed is off: L, o (both, and what bytes add to them), g and G of each rail by a factor of their
// own, each of [1 - share, 1 + share] alike.
void believe_wrongly(sim::Cluster &cluster, double share, std::uint64_t seed);

// ---- Simulates each kind of traffic on each set of rails, by each rule, with true and with wrong
// parameters.

struct Proof {
    std::vector<RailSet> sets;
    std::vector<const sim::Traffic *> traffic;
    std::vector<std::string> rules; // FSBML first, then its rivals
    std::uint32_t ranks = 8;
    std::uint32_t ranks_per_node = 1;
    bool ledger = true;
    std::uint64_t first_seed = 1;
    std::uint64_t seeds = 1;
    double wrong = 0.2;       // by what share parameters may be off; 0: no runs with such
    std::uint64_t search = 0; // steps of a search for better schedules, with full knowledge; 0: none
    unsigned threads = 1;
};

// One seed of a kind of traffic on a set of rails.
struct Trial {
    std::size_t set = 0, traffic = 0; // of the proof's
    std::uint64_t seed = 0;
    bool wrong = false;
    sim::Time bound = 0;
    sim::Time best_single = 0; // of the rail by which alone it is over first
    std::size_t best_rail = 0;
    std::vector<sim::Time> makespan; // by rule
    std::optional<sim::Time> found;  // by a search that begins with FSBML's schedule
};

// The name's rule, anew; null if there is none.
std::unique_ptr<sim::RuleMaker> rule_of(const std::string &name);
// All rivals' names, in their order.
std::vector<std::string> all_rivals();

// Each set of rails with each kind of traffic is a job, and `done` is told, from any thread but never from
// two at once, how many of them are. In the order of sets, traffic and seeds, however many threads. Traffic
// in which nothing is left to chance is simulated once, and its runs with true parameters repeated. Throws
// what went wrong, with the run's name.
std::vector<Trial> simulate_all(const Proof &proof, const std::function<void(std::size_t jobs)> &done);

// ---- What the runs say: ratios and how they spread, and FSBML's bars.

// How ratios spread over some of the runs.
struct Spread {
    std::size_t runs = 0;
    double geometric_mean = 0, median = 0, p99 = 0;
    double worst = 0;
    const Trial *where = nullptr; // the worst; the first of equal ones
};

using Choice = std::function<bool(const Trial &)>;
using RatioOf = std::function<double(const Trial &)>;

// None if no run is chosen.
std::optional<Spread> spread_of(const std::vector<Trial> &runs, const Choice &chosen, const RatioOf &ratio);

// A rule's makespan by the bound, FSBML's by another rule's, and by that of the best rail alone. Two that
// take no time are alike.
RatioOf by_bound(std::size_t rule = 0);
RatioOf by_rule(std::size_t rule);
double by_best_rail(const Trial &run);

// "ring on 10g+1g, seed 3"
std::string name_of(const Proof &proof, const Trial &run);

// Of a class of traffic, or a set of rails. Classes leave out rails in trouble.
Choice of_class(const Proof &proof, std::size_t traffic, bool wrong);
Choice of_set(std::size_t set, bool wrong);
// Of all classes.
Choice settled(const Proof &proof, bool wrong);

// What there are runs for: of rails in trouble, only those that FSBML has to learn of, and of wrong
// parameters only if there are such.
std::vector<Bar> judge(const Proof &proof, const std::vector<Trial> &runs);

// ---- The runs as tables for users, and as a document.

// What was simulated: sets of rails, ranks, which bound.
std::string setting_text(const Proof &proof);

// All tables, each with a heading.
std::string tables_text(const Proof &proof, const std::vector<Trial> &runs);

std::string bars_text(const std::vector<Bar> &bars);

// docs/simulate.schema.json
std::string document_of(const Proof &proof, const std::vector<Trial> &runs, const std::vector<Bar> &bars);

} // namespace fsbml::bench

#endif
