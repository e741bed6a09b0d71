// What a job would gain from other rails: simulates its trace on the rails of a table, and on changed ones.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "whatif.hpp"

#include "sim/trace/trace.hpp"
#include "tools/launch/command.hpp"
#include "tools/text/text.hpp"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include <fmt/format.h>

namespace
{

using namespace fsbml::whatif;

struct Request {
    std::vector<std::string> traces, put, faster, without;
    std::string table, json, receive_after;
    std::uint32_t ranks_per_node = 1;
    Study study;
};

void add_options(CLI::App &app, Request &request)
{
    app.option_defaults()->always_capture_default();
    app.add_option("trace", request.traces, "a trace, a folder with records of processes, or records")
        ->required();
    app.add_option("--table", request.table, "the rails: file as bml_fsbml_table takes it")->required();
    app.add_option("--rail", request.put, "put in, or in the place of the one of that name (repeat)")
        ->allow_extra_args(false);
    app.add_option("--faster", request.faster, "RAIL=TIMES (repeat)")->allow_extra_args(false);
    app.add_option("--without", request.without, "RAIL that is left out (repeat)")->allow_extra_args(false);
    app.add_option("--rules", request.study.rules, "rules besides FSBML's, or all")->delimiter(',');
    app.add_option("--ranks-per-node", request.ranks_per_node, "that follow each other")
        ->check(CLI::Range(1, 1 << 20));
    app.add_option("--receive-after", request.receive_after,
                   "of records: time after which a message is received");
    app.add_option("--eager", request.study.eager, "bytes up to which messages are not cut")
        ->check(CLI::Range(1, 1 << 30));
    app.add_option("--seed", request.study.seed, "of what is drawn");
    app.add_option("--json", request.json, "write everything to this file; - is stdout");
}

void change(const Request &request, Study &study)
{
    study.changed = study.rails;
    for (const std::string &spec : request.put) {
        study.changes.push_back(put_rail(study.changed, spec));
    }
    for (const std::string &words : request.faster) {
        study.changes.push_back(make_faster(study.changed, words));
    }
    for (const std::string &name : request.without) {
        study.changes.push_back(leave_out(study.changed, name));
    }
}

// "all", and no rule twice.
void settle_rules(std::vector<std::string> &rules)
{
    if (std::find(rules.begin(), rules.end(), "all") != rules.end()) {
        rules = rule_names();
    }
    std::vector<std::string> once;
    for (const std::string &rule : rules) {
        if (rule != "fsbml" && std::find(once.begin(), once.end(), rule) == once.end()) {
            once.push_back(rule);
        }
    }
    rules = once;
}

void work(Request request)
{
    Study &study = request.study;
    study.rails = read_rails(request.table);
    change(request, study);
    settle_rules(study.rules);
    const fsbml::sim::Time after =
        request.receive_after.empty()
            ? fsbml::sim::TraceMerge::kAtEnd
            : static_cast<fsbml::sim::Time>(nanoseconds_of(request.receive_after) * fsbml::sim::kPsPerNs);
    const Job job = read_job(request.traces, request.ranks_per_node, after);
    const bool watched = 0 != isatty(STDERR_FILENO);
    const Findings findings = look_into(job, study, [&](const Row &row) {
        if (watched) {
            fmt::print(stderr, "\r\033[Kfsbml: simulating the job {}, by {}", row.name, row.rule);
        }
    });
    if (watched) {
        fmt::print(stderr, "\r\033[K");
    }
    if (request.json != "-") {
        fmt::print("{}{} ranks on {} nodes, {} messages of {} bytes between them; computation alone takes "
                   "{:.6g} ms\n\n{}\n{}\n",
                   job.workload.name.empty() ? "" : job.workload.name + ": ", job.ranks, job.nodes,
                   job.messages, job.bytes, findings.computation_ns / 1e6, rails_table(study),
                   rows_table(job, findings));
        if (job.clocked) {
            fmt::print("Processes send when they did, whatever the rails: see what a message takes, not the "
                       "job.\n");
        }
        fmt::print("{}\n", sentence_of(job, study, findings));
    }
    if (!request.json.empty()) {
        fsbml::bench::write(request.json, document_of(job, study, findings).dump(1) + '\n');
    }
}

} // namespace

int main(int argc, char **argv)
{
    Request request;
    CLI::App app("Simulates a job on the rails that it has, and on others. `fsbml whatif` calls it.",
                 "whatif");
    add_options(app, request);
    return fsbml::bench::run_command(app, argc, argv, [&] { work(request); });
}
