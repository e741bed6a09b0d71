// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "simulate.hpp"

#include "sim/optimum/optimum.hpp"
#include "sim/rules/rules.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

// The rivals live once, for all threads; what ranks of a node share they keep in their makers.
class Locked final : public sim::RuleMaker
{
public:
    explicit Locked(sim::RuleMaker &maker) : maker_(maker) {}
    const char *name() const override { return maker_.name(); }
    const char *source() const override { return maker_.source(); }
    std::unique_ptr<sim::Rule> make(const sim::Cluster &cluster, std::uint32_t rank,
                                    std::uint64_t seed) override
    {
        static std::mutex one_at_a_time;
        const std::lock_guard<std::mutex> lock(one_at_a_time);
        return maker_.make(cluster, rank, seed);
    }

private:
    sim::RuleMaker &maker_;
};

// One rail alone, with messages cut as FSBML would cut them for it, or whole.
class Alone final : public sim::RuleMaker
{
public:
    Alone(std::size_t rail, bool cut) : rail_(static_cast<int>(rail)), cut_(cut) {}
    const char *name() const override { return "alone"; }
    const char *source() const override { return "a rail by itself"; }
    std::unique_ptr<sim::Rule> make(const sim::Cluster &cluster, std::uint32_t, std::uint64_t) override
    {
        const fsbml_loggp_t &p = cluster.rails[static_cast<std::size_t>(rail_)].real;
        return std::make_unique<OneRail>(
            rail_,
            cut_ ? fsbml_quantum(&p, 1, FSBML_QUANTUM_LOSS, FSBML_QUANTUM_LEAST, sim::FsbmlOptions().most)
                 : 0);
    }

private:
    class OneRail final : public sim::Rule
    {
    public:
        OneRail(int rail, std::uint64_t quantum) : rail_(rail), quantum_(quantum) {}
        void cut(const sim::Situation &whole, std::vector<Piece> &out) override
        {
            std::uint64_t left = whole.bytes;
            while (quantum_ > 0 && whole.bytes > sim::FsbmlOptions{}.eager && left > quantum_) {
                out.push_back({quantum_, rail_});
                left -= quantum_;
            }
            out.push_back({left, rail_});
        }
        int choose(const sim::Situation &) override { return rail_; }

    private:
        int rail_;
        std::uint64_t quantum_;
    };
    int rail_;
    bool cut_;
};

// The rail that is the fastest at the moment, for each message.
class OfTheMoment final : public sim::RuleMaker
{
public:
    const char *name() const override { return "moment"; }
    const char *source() const override { return "the best rail of the moment"; }
    std::unique_ptr<sim::Rule> make(const sim::Cluster &cluster, std::uint32_t, std::uint64_t) override
    {
        return std::make_unique<Best>(cluster);
    }

private:
    class Best final : public sim::Rule
    {
    public:
        explicit Best(const sim::Cluster &cluster) : cluster_(cluster) {}
        int choose(const sim::Situation &message) override
        {
            int best = -1;
            double least = 0;
            for (std::size_t r = 0; r < cluster_.rails.size(); ++r) {
                const sim::RailSpec &rail = cluster_.rails[r];
                double factor = 1;
                for (const sim::Change &c : rail.changes) {
                    factor = c.at <= message.now ? c.factor : factor;
                }
                const double time = factor * rail.real.G_ns_per_byte;
                if ((message.rails >> r & 1) != 0 && (best < 0 || time < least)) {
                    best = static_cast<int>(r);
                    least = time;
                }
            }
            return best;
        }

    private:
        const sim::Cluster &cluster_;
    };
};

bool same(const sim::Op &a, const sim::Op &b)
{
    return a.kind == b.kind && a.peer == b.peer && a.bytes == b.bytes && a.time == b.time;
}

bool same(const sim::Workload &a, const sim::Workload &b)
{
    return std::equal(a.process.begin(), a.process.end(), b.process.begin(), b.process.end(),
                      [](auto &x, auto &y) {
                          return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                                            [](const sim::Op &o, const sim::Op &p) { return same(o, p); });
                      });
}

bool by_chance(const sim::Cluster &cluster)
{
    return std::any_of(cluster.rails.begin(), cluster.rails.end(),
                       [](const sim::RailSpec &r) { return r.jitter > 0; });
}

sim::Time makespan(const sim::Cluster &cluster, const sim::Workload &workload, sim::RuleMaker &rule,
                   std::uint64_t seed)
{
    const sim::Outcome outcome = sim::simulate({&cluster, &workload, &rule, seed, false, {}});
    if (outcome.undelivered > 0) {
        throw std::runtime_error(fmt::format("{} messages were lost", outcome.undelivered));
    }
    return outcome.makespan;
}

// What does not depend on a rule: the bound, and the best rail alone; of rails that change, that of the
// moment if it is better.
void measure_by_itself(const sim::Cluster &cluster, const sim::Workload &workload, Trial &run)
{
    run.bound = lower_bound(cluster, workload, {}).makespan;
    for (std::size_t rail = 0; rail < cluster.rails.size(); ++rail) {
        for (const bool cut : {false, true}) {
            Alone alone(rail, cut);
            const sim::Time time = makespan(cluster, workload, alone, run.seed);
            if ((rail == 0 && !cut) || time < run.best_single) {
                run.best_single = time;
                run.best_rail = rail;
            }
        }
    }
    if (std::any_of(cluster.rails.begin(), cluster.rails.end(),
                    [](const sim::RailSpec &r) { return !r.changes.empty(); })) {
        OfTheMoment moment;
        run.best_single = std::min(run.best_single, makespan(cluster, workload, moment, run.seed));
    }
}

void measure_rules(const Proof &proof, const sim::Cluster &cluster, const sim::Workload &workload, Trial &run)
{
    run.makespan.clear();
    for (const std::string &name : proof.rules) {
        const std::unique_ptr<sim::RuleMaker> rule = rule_of(name);
        try {
            run.makespan.push_back(makespan(cluster, workload, *rule, run.seed));
        } catch (const std::exception &error) {
            throw std::runtime_error(fmt::format("by rule {}: {}", name, error.what()));
        }
    }
}

void search(const Proof &proof, const sim::Cluster &cluster, const sim::Workload &workload, Trial &run)
{
    if (proof.search > 0 && !proof.sets[run.set].trouble) {
        const std::unique_ptr<sim::RuleMaker> rule = rule_of(proof.rules.front());
        run.found =
            sim::searched({&cluster, &workload, rule.get(), run.seed, false, {}}, proof.search, run.bound);
    }
}

// One behind the other, by the same ranks.
void append(sim::Workload &all, const sim::Workload &next)
{
    sim::Time end = 0;
    for (const std::vector<sim::Op> &ops : all.process) {
        for (const sim::Op &op : ops) {
            end = op.kind == sim::Op::Kind::until ? std::max(end, op.time) : end;
        }
    }
    all.process.resize(next.process.size());
    for (std::size_t rank = 0; rank < next.process.size(); ++rank) {
        for (sim::Op op : next.process[rank]) {
            op.time += op.kind == sim::Op::Kind::until ? end : 0;
            all.process[rank].push_back(op);
        }
    }
}

Trial simulate_long(const Proof &proof, std::size_t set, std::size_t traffic)
{
    const sim::Cluster cluster = cluster_of(proof.sets[set], proof.ranks, proof.ranks_per_node, proof.ledger);
    Trial run;
    run.set = set;
    run.traffic = traffic;
    run.seed = proof.first_seed;
    Trial half = run;
    sim::Workload workload;
    const auto measure = [&](std::uint64_t first, std::uint64_t end, Trial &trial) {
        for (std::uint64_t i = first; i < end; ++i) {
            append(workload, proof.traffic[traffic]->make(proof.ranks, proof.first_seed + i));
        }
        measure_by_itself(cluster, workload, trial);
        measure_rules(proof, cluster, workload, trial);
    };
    const std::uint64_t learning = proof.sets[set].from_start ? proof.seeds / 2 : 0;
    if (learning > 0) {
        measure(0, learning, half);
    }
    measure(learning, proof.seeds, run);
    if (learning > 0) {
        run.bound -= half.bound;
        run.best_single -= half.best_single;
        for (std::size_t rule = 0; rule < proof.rules.size(); ++rule) {
            run.makespan[rule] -= half.makespan[rule];
        }
    }
    return run;
}

std::vector<Trial> simulate_job(const Proof &proof, std::size_t set, std::size_t traffic)
{
    std::vector<Trial> runs;
    if (proof.sets[set].learned) {
        return {simulate_long(proof, set, traffic)};
    }
    const sim::Cluster cluster = cluster_of(proof.sets[set], proof.ranks, proof.ranks_per_node, proof.ledger);
    sim::Workload before;
    for (std::uint64_t i = 0; i < proof.seeds; ++i) {
        Trial run;
        run.set = set;
        run.traffic = traffic;
        run.seed = proof.first_seed + i;
        try {
            const sim::Workload workload = proof.traffic[traffic]->make(proof.ranks, run.seed);
            if (i > 0 && !by_chance(cluster) && same(workload, before)) {
                const std::uint64_t seed = run.seed;
                run = runs[runs.size() - (proof.wrong > 0 ? 2 : 1)];
                run.seed = seed;
            } else {
                measure_by_itself(cluster, workload, run);
                measure_rules(proof, cluster, workload, run);
                search(proof, cluster, workload, run);
            }
            runs.push_back(run);
            if (proof.wrong > 0) {
                sim::Cluster other = cluster;
                believe_wrongly(other, proof.wrong, run.seed);
                run.wrong = true;
                run.found.reset();
                measure_rules(proof, other, workload, run);
                runs.push_back(run);
            }
            before = workload;
        } catch (const std::exception &error) {
            throw std::runtime_error(fmt::format("{} on {} with seed {}: {}", proof.traffic[traffic]->name,
                                                 proof.sets[set].name, run.seed, error.what()));
        }
    }
    return runs;
}

} // namespace

std::unique_ptr<sim::RuleMaker> rule_of(const std::string &name)
{
    if (name == "fsbml") {
        return std::make_unique<sim::FsbmlRules>();
    }
    sim::RuleMaker *found = name == sim::formula().name() ? &sim::formula() : sim::rival(name);
    return found != nullptr ? std::make_unique<Locked>(*found) : nullptr;
}

std::vector<std::string> all_rivals()
{
    std::vector<std::string> names;
    for (const sim::RuleMaker *maker : sim::rivals()) {
        names.emplace_back(maker->name());
    }
    return names;
}

std::vector<Trial> simulate_all(const Proof &proof, const std::function<void(std::size_t jobs)> &done)
{
    const std::size_t jobs = proof.sets.size() * proof.traffic.size();
    std::vector<std::vector<Trial>> parts(jobs);
    std::atomic<std::size_t> next{0};
    std::size_t finished = 0;
    std::exception_ptr failure;
    std::mutex told;
    const auto work = [&] {
        for (std::size_t job = next++; job < jobs; job = next++) {
            try {
                parts[job] = simulate_job(proof, job / proof.traffic.size(), job % proof.traffic.size());
            } catch (...) {
                const std::lock_guard<std::mutex> lock(told);
                failure = failure ? failure : std::current_exception();
                next = jobs;
                return;
            }
            const std::lock_guard<std::mutex> lock(told);
            done(++finished);
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1U, proof.threads); ++i) {
        threads.emplace_back(work);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
    std::vector<Trial> runs;
    for (const std::vector<Trial> &part : parts) {
        runs.insert(runs.end(), part.begin(), part.end());
    }
    return runs;
}

} // namespace fsbml::bench
