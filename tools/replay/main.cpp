// Compares the simulator of a cluster with a virtual cluster: the same traffic, on rails as a job has them.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "replay.hpp"

#include "sim/trace/trace.hpp"
#include "tools/arms/arms.hpp"
#include "tools/launch/command.hpp"
#include "tools/launch/launch.hpp"
#include "tools/text/text.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace
{

using namespace fsbml::replay;
namespace bench = fsbml::bench;
namespace whatif = fsbml::whatif;

struct Request {
    std::vector<std::string> names, traces, show;
    std::string set, table, json, what_rails;
    bool plan = false, list = false;
    bench::Job job;
};

void add_options(CLI::App &app, Request &request)
{
    app.option_defaults()->always_capture_default();
    const auto many = [&](const char *name, std::vector<std::string> &value, const char *help) {
        app.add_option(name, value, help)->allow_extra_args(false);
    };
    many("--case", request.names, "only this one of the ten (repeat)");
    many("--trace", request.traces, "this trace, in place of the ten (repeat)");
    app.add_flag("--plan", request.plan, "print the sets of rails that are needed: name, nodes, rates");
    app.add_flag("--list", request.list, "print the cases");
    app.add_option("--set", request.set, "measure the cases of this set, on a cluster that is up");
    app.add_option("--rails", request.what_rails, "what its rails are, for the table");
    app.add_option("--table", request.table, "their measured parameters, for the jobs and for the simulator");
    app.add_option("--launcher", request.job.launcher,
                   "program that gets RANKS, mpirun's options and the program");
    app.add_option("--folder", request.job.folder, "for traces and for what jobs print");
    app.add_option("--launches", request.job.rounds, "of each case")->check(CLI::Range(1, 1000));
    app.add_option("--timeout", request.job.limit_seconds, "seconds for one job")
        ->check(CLI::Range(1.0, 86400.0));
    app.add_flag("--quiet", request.job.quiet, "wait for a quiet machine before each launch");
    many("--show", request.show, "print the table of these results, and the bar (repeat)");
    app.add_option("--json", request.json,
                   "write everything to this file; - is stdout, in place of the table");
    app.add_option("program", request.job.program, "the job's program and its options, after --");
}

std::vector<Case> chosen(const Request &request)
{
    if (request.traces.empty()) {
        return cases(request.names);
    }
    std::vector<Case> own;
    for (const std::string &trace : request.traces) {
        own.push_back(own_case(trace));
    }
    return own;
}

// A line a set: "two 2 200mbit 20mbit"; of own traces, how many ranks they have: "own 2".
void plan(const std::vector<Case> &all)
{
    if (all.at(0).set == "own") {
        const std::size_t ranks = all[0].workload.process.size();
        for (const Case &one : all) {
            if (one.workload.process.size() != ranks) {
                throw std::runtime_error(fmt::format("'{}' is of {} ranks, '{}' of {}: one at a time, then",
                                                     all[0].what, ranks, one.what,
                                                     one.workload.process.size()));
            }
        }
        fmt::print("own {}\n", ranks);
        return;
    }
    for (const RailSet &set : rail_sets()) {
        if (std::any_of(all.begin(), all.end(), [&](const Case &one) { return one.set == set.name; })) {
            fmt::print("{} {} {}\n", set.name, set.nodes, fmt::join(set.rates, " "));
        }
    }
}

std::map<std::string, double> shares(const std::map<std::string, std::uint64_t> &bytes,
                                     const whatif::Rails &rails)
{
    std::map<std::string, double> share;
    double sum = 0;
    for (const whatif::Rail &rail : rails) {
        const auto found = bytes.find(rail.name);
        share[rail.name] = found == bytes.end() ? 0 : static_cast<double>(found->second);
        sum += share[rail.name];
    }
    for (auto &[rail, part] : share) {
        part = sum > 0 ? part / sum : 0;
    }
    return share;
}

// The points "late", one a rank and launch, with a sample for each round.
std::vector<Late> late_rounds(const nlohmann::json &lines, std::size_t ranks)
{
    std::vector<Late> by_rank(ranks);
    for (const nlohmann::json &line : lines) {
        if (line.value("operation", "") == "late") {
            const std::string rank = line.at("variant").get<std::string>().substr(4); // rank3
            const Late samples = line.at("samples").get<Late>();
            by_rank.at(std::stoul(rank))
                .insert(by_rank.at(std::stoul(rank)).end(), samples.begin(), samples.end());
        }
    }
    std::vector<Late> rounds(by_rank.at(0).size(), Late(ranks));
    for (std::size_t round = 0; round < rounds.size(); ++round) {
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            rounds[round][rank] = by_rank[rank].at(round);
        }
    }
    return rounds;
}

// Returns how late ranks began, by round.
std::vector<Late> measure(const Case &one, const Request &request, const whatif::Rails &rails, Row &row)
{
    bench::Job job = request.job;
    job.ranks = static_cast<int>(row.nodes);
    const std::string file = job.folder + "/" + row.name + ".trace";
    std::ostringstream trace;
    fsbml::sim::write_trace(trace, one.workload);
    bench::write(file, trace.str());
    job.program.insert(job.program.begin() + 1, {"--trace", file});
    std::vector<std::string> names;
    for (const whatif::Rail &rail : rails) {
        names.push_back(rail.name);
    }
    bench::Measurements measured;
    measured.arms = bench::make_arms({"fsbml"}, names, bench::RailKind::network);
    measured.arms[0].options.insert(measured.arms[0].options.end(),
                                    {"--mca", "bml_fsbml_table", request.table});
    bench::run_rounds(job, measured, [](const bench::Results &, bool) {});
    std::vector<bench::Place> places = measured.results.places();
    places.erase(std::remove_if(places.begin(), places.end(),
                                [](const bench::Place &at) { return at.operation != "makespan"; }),
                 places.end());
    const bench::Place &place = places.at(0);
    const bench::Figure figure = *measured.results.at("fsbml", place);
    row.measured_ns = figure.median;
    row.spread_ns = figure.spread * figure.median;
    row.launches_ns = measured.results.launches("fsbml", place);
    row.measured_share = shares(measured.results.traffic("fsbml", place), rails);
    const std::vector<Late> rounds = late_rounds(measured.results.lines(), row.nodes);
    for (std::size_t rank = 0; rank < row.nodes; ++rank) {
        std::vector<double> all;
        for (const Late &round : rounds) {
            all.push_back(round[rank]);
        }
        row.late_ns.push_back(bench::median(all));
    }
    return rounds;
}

std::string text_of(const nlohmann::ordered_json &document)
{
    return document.dump(1) + '\n';
}

void run_set(const Request &request)
{
    const whatif::Rails rails = whatif::read_rails(request.table);
    std::vector<Row> rows;
    for (const Case &one : chosen(request)) {
        if (one.set != request.set) {
            continue;
        }
        fmt::print(stderr, "fsbml: {}: {}\n", one.name, one.what);
        Row row;
        row.name = one.name;
        row.what = one.what;
        row.rails = request.what_rails;
        row.nodes = static_cast<std::uint32_t>(one.workload.process.size());
        const std::vector<Late> rounds = measure(one, request, rails, row);
        const Simulated result = simulated(one.workload, rails, rounds);
        row.simulated_ns = result.makespan_ns;
        row.simulated_spread_ns = result.spread_ns;
        row.simulated_share = shares(result.bytes, rails);
        rows.push_back(std::move(row));
    }
    bench::write(request.json, text_of(document_of(rows)));
}

void show(const Request &request)
{
    std::vector<Row> rows;
    for (const std::string &file : request.show) {
        std::ifstream stream(file);
        for (Row &row : rows_of(nlohmann::ordered_json::parse(stream))) {
            rows.push_back(std::move(row));
        }
    }
    if (request.json != "-") {
        const bench::Bar bar = judge(rows);
        fmt::print("{}\n{}: {} ({})\n", table_of(rows), bar.text, bar.outcome(), bar.figures);
    }
    if (!request.json.empty()) {
        bench::write(request.json, text_of(document_of(rows)));
    }
}

void work(const Request &request)
{
    if (!request.show.empty()) {
        show(request);
    } else if (request.list) {
        for (const Case &one : chosen(request)) {
            fmt::print("{:12} {} nodes: {}\n", one.name, one.workload.process.size(), one.what);
        }
    } else if (request.plan) {
        plan(chosen(request));
    } else {
        run_set(request);
    }
}

} // namespace

int main(int argc, char **argv)
{
    Request request;
    CLI::App app(
        "Holds the simulator of a cluster against a virtual one. `fsbml replay` calls it, once for each set "
        "of rails.",
        "replay");
    add_options(app, request);
    bench::catch_signals();
    return bench::run_command(app, argc, argv, [&] { work(request); });
}
