// Simulates each kind of traffic on each set of rails, by each rule, with true and with wrong parameters.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "rails.hpp"

#include "sim/bound/bound.hpp"
#include "sim/job/job.hpp"
#include "sim/traffic/traffic.hpp"

#include <functional>
#include <optional>

namespace fsbml::bench
{

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

} // namespace fsbml::bench
