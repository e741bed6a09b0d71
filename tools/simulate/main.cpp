// Tests the scheduler in simulation: traffic, rails, seeds and rules, against a lower bound and each other.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "simulate.hpp"

#include "sim/rules/rules.hpp"
#include "tools/launch/command.hpp"
#include "tools/launch/launch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

namespace
{

using namespace fsbml::bench;
namespace sim = fsbml::sim;

constexpr std::uint64_t kSeeds = 20, kFullSeeds = 200;

struct Request {
    std::vector<std::string> traffic, rails, rules;
    std::uint64_t seeds = kSeeds;
    double wrong = 20;
    std::string json;
    bool full = false, no_ledger = false, list = false;
    Proof proof;
};

void add_options(CLI::App &app, Request &request)
{
    app.option_defaults()->always_capture_default();
    app.get_formatter()->column_width(30);
    app.add_option("--traffic", request.traffic, "these classes of traffic (all; --list)");
    app.add_option("--rails", request.rails,
                   "these sets of rails (all; --list), or such as 200mbit@100us+20mbit@1ms");
    app.add_option("--rules", request.rules, "FSBML against these rivals (all; --list)");
    app.add_option("--ranks", request.proof.ranks, "ranks of the job")->check(CLI::Range(2, 10000));
    app.add_option("--ranks-per-node", request.proof.ranks_per_node, "ranks on each node")
        ->check(CLI::Range(1, 5000));
    app.add_flag("--no-ledger", request.no_ledger, "ranks of a node do not see each other's charges");
    app.add_option("--first-seed", request.proof.first_seed, "of the seeds")
        ->check(CLI::Range(0, 1000000000));
    CLI::Option *seeds =
        app.add_option("--seeds", request.seeds, "seeds for each traffic on each set of rails")
            ->check(CLI::Range(1, 100000));
    app.add_flag("--full", request.full, fmt::format("{} seeds: minutes", kFullSeeds))->excludes(seeds);
    app.add_option("--wrong", request.wrong, "percent by which parameters may be wrong; 0: only true ones")
        ->check(CLI::Range(0.0, 90.0));
    app.add_option("--search", request.proof.search,
                   "steps of a search for better schedules than FSBML's, with all messages known beforehand")
        ->check(CLI::Range(0, 100000000));
    app.add_option("--json", request.json, "write all runs to this file (docs/simulate.schema.json)");
    request.proof.threads = std::max(1U, std::thread::hardware_concurrency());
    app.add_option("--threads", request.proof.threads, "simulations at a time")->check(CLI::Range(1, 256));
    app.add_flag("--list", request.list, "list traffic, sets of rails and rules");
}

void list()
{
    fmt::print("traffic:\n");
    for (const sim::Traffic &traffic : sim::all_traffic()) {
        fmt::print("  {:<22} {}\n", traffic.name, traffic.what);
    }
    fmt::print("\nrails:\n");
    for (const RailSet &set : rail_sets()) {
        fmt::print("  {:<22} {}{}\n", set.name, set.trouble ? "trouble: " : "", set.what);
    }
    fmt::print("\nrules:\n");
    std::vector<std::string> names = all_rivals();
    names.insert(names.begin(), "fsbml");
    for (const std::string &name : names) {
        fmt::print("  {:<22} {}\n", name, rule_of(name)->source());
    }
}

void check_once(const std::vector<std::string> &names)
{
    std::set<std::string> seen;
    for (const std::string &name : names) {
        if (!seen.insert(name).second) {
            throw std::invalid_argument(fmt::format("'{}' is named twice", name));
        }
    }
}

// Completes the request's proof.
void settle(Request &request)
{
    Proof &proof = request.proof;
    for (const auto *names : {&request.traffic, &request.rails, &request.rules}) {
        check_once(*names);
    }
    for (const sim::Traffic &traffic : sim::all_traffic()) {
        const auto named = std::find(request.traffic.begin(), request.traffic.end(), traffic.name);
        if (request.traffic.empty() || named != request.traffic.end()) {
            proof.traffic.push_back(&traffic);
        }
    }
    for (const std::string &name : request.traffic) {
        if (std::none_of(proof.traffic.begin(), proof.traffic.end(),
                         [&](const sim::Traffic *t) { return name == t->name; })) {
            throw std::invalid_argument(
                fmt::format("there is no traffic '{}'; --list tells what there is", name));
        }
    }
    for (const std::string &spec : request.rails) {
        proof.sets.push_back(rail_set_of(spec));
    }
    if (request.rails.empty()) {
        proof.sets = rail_sets();
    }
    proof.rules = {"fsbml"};
    for (const std::string &name : request.rules.empty() ? all_rivals() : request.rules) {
        if (!rule_of(name)) {
            throw std::invalid_argument(
                fmt::format("there is no rule '{}'; --list tells what there is", name));
        }
        if (name != "fsbml") {
            proof.rules.push_back(name);
        }
    }
    if (proof.ranks % proof.ranks_per_node != 0 || proof.ranks / proof.ranks_per_node < 2) {
        throw std::invalid_argument(fmt::format("{} ranks with {} on each node are not two nodes or more",
                                                proof.ranks, proof.ranks_per_node));
    }
    proof.ledger = !request.no_ledger;
    proof.seeds = request.full ? kFullSeeds : request.seeds;
    proof.wrong = request.wrong / 100;
}

// Progress on stderr: a line that changes on a terminal, one now and then elsewhere.
class Told
{
public:
    explicit Told(std::size_t jobs) : jobs_(jobs) {}
    ~Told()
    {
        if (terminal_) {
            fmt::print(stderr, "\r\033[K");
        }
    }

    void done(std::size_t jobs)
    {
        using Seconds = std::chrono::duration<double>;
        const auto now = std::chrono::steady_clock::now();
        if (Seconds(now - last_).count() < (terminal_ ? 0.2 : 10.0)) {
            return;
        }
        last_ = now;
        const double seconds = Seconds(now - start_).count();
        fmt::print(stderr, "{}fsbml: {} of {} simulated; {} so far, about {} to go{}",
                   terminal_ ? "\r\033[K" : "", jobs, jobs_, clock_text(seconds),
                   clock_text(seconds / static_cast<double>(jobs) * static_cast<double>(jobs_ - jobs)),
                   terminal_ ? "" : "\n");
        std::fflush(stderr);
    }

private:
    bool terminal_ = isatty(STDERR_FILENO) != 0;
    std::size_t jobs_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_ = start_;
};

void work(Request &request)
{
    settle(request);
    const Proof &proof = request.proof;
    std::ofstream json;
    if (!request.json.empty()) {
        json.open(request.json);
        if (!json) {
            throw std::runtime_error(fmt::format("cannot write '{}'", request.json));
        }
    }
    std::vector<Trial> runs;
    {
        Told told(proof.sets.size() * proof.traffic.size());
        runs = simulate_all(proof, [&](std::size_t jobs) { told.done(jobs); });
    }
    const std::vector<Bar> bars = judge(proof, runs);
    fmt::print("{}{}{}", setting_text(proof), tables_text(proof, runs), bars_text(bars));
    std::fflush(stdout);
    if (!request.json.empty() && !(json << document_of(proof, runs, bars)).flush()) {
        throw std::runtime_error(fmt::format("cannot write '{}'", request.json));
    }
}

} // namespace

int main(int argc, char **argv)
{
    Request request;
    CLI::App app(
        "Simulates FSBML's scheduler and its rivals on clusters: all traffic on all sets of rails, with "
        "true and with wrong parameters. Says how far from a lower bound FSBML is, and how it compares "
        "with each rival and with the best rail alone. About a minute on two processors.",
        "simulate");
    add_options(app, request);
    return run_command(app, argc, argv, [&] { request.list ? list() : work(request); });
}
