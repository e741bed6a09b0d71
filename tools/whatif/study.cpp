// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "whatif.hpp"

#include "sim/engine/engine.hpp"
#include "sim/rules/rules.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fsbml::whatif
{
namespace
{

double nanoseconds(sim::Time time)
{
    return static_cast<double>(time) / sim::kPsPerNs;
}

sim::Cluster cluster_of(const Job &job, const Rails &rails)
{
    sim::Cluster cluster;
    cluster.nodes = job.nodes;
    cluster.ranks_per_node = job.ranks_per_node;
    cluster.full_duplex = !half_duplex(rails);
    cluster.ledger = job.ranks_per_node > 1; // as the component does by itself
    for (const Rail &rail : rails) {
        sim::RailSpec spec;
        spec.name = rail.name;
        spec.real = spec.believed = rail.params;
        cluster.rails.push_back(spec);
    }
    return cluster;
}

sim::Outcome run(const Job &job, const sim::Cluster &cluster, sim::RuleMaker &rule, std::uint64_t seed)
{
    sim::Simulation simulation;
    simulation.cluster = &cluster;
    simulation.workload = &job.workload;
    simulation.rules = &rule;
    simulation.seed = seed;
    simulation.keep_passages = true;
    return simulate(simulation);
}

// All ranks on one node: messages are there at once.
double without_rails(const Job &job, const Study &study)
{
    sim::Cluster one = cluster_of(job, study.rails);
    one.ranks_per_node = job.nodes * job.ranks_per_node;
    one.nodes = 1;
    sim::FsbmlRules rule;
    return nanoseconds(run(job, one, rule, study.seed).makespan);
}

// A message has arrived with the last of its fragments.
double mean_message(const std::vector<sim::Passage> &passages)
{
    struct Span {
        std::uint64_t message;
        sim::Time given, arrives;
    };
    std::vector<Span> spans;
    spans.reserve(passages.size());
    for (const sim::Passage &p : passages) {
        spans.push_back({p.message, p.given, p.arrives});
    }
    std::sort(spans.begin(), spans.end(), [](const Span &a, const Span &b) { return a.message < b.message; });
    double sum = 0;
    std::size_t messages = 0;
    for (std::size_t i = 0; i < spans.size(); ++messages) {
        Span whole = spans[i];
        for (; i < spans.size() && spans[i].message == whole.message; ++i) {
            whole.given = std::min(whole.given, spans[i].given);
            whole.arrives = std::max(whole.arrives, spans[i].arrives);
        }
        sum += nanoseconds(whole.arrives - whole.given);
    }
    return messages > 0 ? sum / static_cast<double>(messages) : 0;
}

sim::RuleMaker &rule_of(const std::string &name)
{
    sim::RuleMaker *rule = sim::rival(name);
    if (rule == nullptr) {
        throw std::invalid_argument(
            fmt::format("there is no rule '{}'; known: all, {}", name, fmt::join(rule_names(), ", ")));
    }
    return *rule;
}

Rails only(const Rails &rails, std::size_t one)
{
    return {rails[one]};
}

Rails all_but(Rails rails, std::size_t one)
{
    rails.erase(rails.begin() + static_cast<std::ptrdiff_t>(one));
    return rails;
}

struct Case {
    Row row;
    Rails rails;
};

std::vector<Case> cases_of(const Study &study)
{
    std::vector<Case> cases;
    const auto add = [&](Kind kind, const std::string &name, const std::string &rule, const Rails &rails) {
        cases.push_back({{kind, name, rule, {}, 0, 0, 0}, rails});
    };
    add(Kind::as_it_is, "as it is", "fsbml", study.rails);
    const std::size_t n = study.rails.size();
    for (std::size_t r = 0; r < n && n > 1; ++r) {
        add(Kind::alone, "only " + study.rails[r].name, "fsbml", only(study.rails, r));
    }
    for (std::size_t r = 0; r < n && n > 2; ++r) { // of two rails, the other one alone
        add(Kind::without, "without " + study.rails[r].name, "fsbml", all_but(study.rails, r));
    }
    if (!study.changes.empty()) {
        add(Kind::changed, "changed", "fsbml", study.changed);
    }
    for (const std::string &rule : study.rules) {
        add(Kind::as_it_is, "as it is", rule, study.rails);
        if (!study.changes.empty()) {
            add(Kind::changed, "changed", rule, study.changed);
        }
    }
    return cases;
}

} // namespace

std::vector<std::string> rule_names()
{
    std::vector<std::string> names;
    for (const sim::RuleMaker *rule : sim::rivals()) {
        names.emplace_back(rule->name());
    }
    return names;
}

Findings look_into(const Job &job, const Study &study, const std::function<void(const Row &)> &tell)
{
    for (const std::string &rule : study.rules) {
        (void) rule_of(rule);
    }
    Findings findings;
    findings.computation_ns = without_rails(job, study);
    for (const Case &one : cases_of(study)) {
        Row row = one.row;
        tell(row);
        sim::FsbmlOptions options;
        options.eager = study.eager;
        sim::FsbmlRules own(options);
        sim::RuleMaker &rule = row.rule == "fsbml" ? own : rule_of(row.rule);
        const sim::Outcome outcome = run(job, cluster_of(job, one.rails), rule, study.seed);
        row.job_ns = nanoseconds(outcome.makespan);
        row.communication_ns = row.job_ns - findings.computation_ns;
        row.message_ns = mean_message(outcome.passages);
        for (std::size_t r = 0; r < one.rails.size(); ++r) {
            const sim::RailOutcome &use = outcome.rails[r];
            row.rails.push_back({one.rails[r].name, use.messages, use.bytes, nanoseconds(use.busy)});
        }
        findings.rows.push_back(row);
    }
    return findings;
}

} // namespace fsbml::whatif
