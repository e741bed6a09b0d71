// Runs calibrations, and prints, writes and plots the findings.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "calibrate.hpp"

#include "records/records.hpp"
#include "tools/launch/command.hpp"
#include "tools/launch/launch.hpp"
#include "tools/text/text.hpp"

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

namespace
{

using namespace fsbml::bench;

struct Request {
    std::string setting, json, plots, table;
    std::vector<std::string> set, reports;
    Calibrations job;
};

void add_options(CLI::App &app, Request &request)
{
    app.option_defaults()->always_capture_default();
    app.add_option("--setting", request.setting, "what is measured on, for the heading");
    app.add_option("--rounds", request.job.rounds, "calibrations")->check(CLI::Range(1, 1000));
    app.add_option("--ranks", request.job.ranks, "of the job")->check(CLI::Range(2, 65536));
    app.add_option("--timeout", request.job.limit_seconds, "seconds for one job")
        ->check(CLI::Range(1.0, 86400.0));
    app.add_option("--launcher", request.job.launcher,
                   "program that gets RANKS, mpirun's options and the program");
    app.add_option("--folder", request.job.folder, "for what jobs print");
    app.add_option("--report", request.job.report, "file in which FSBML leaves its report, on its node");
    app.add_option("--holdout", request.job.holdout, "validation exchanges, which test the parameters")
        ->check(CLI::Range(0, 1000));
    app.add_flag("--quiet", request.job.quiet, "wait for a quiet machine before each calibration");
    app.add_option("--set", request.set, "RAIL=RATE[,delay=TIME]: what a rail is set to (repeat)")
        ->allow_extra_args(false); // else it takes the -- before the program for its own
    app.add_option("--json", request.json, "write everything to this file");
    app.add_option("--plots", request.plots, "draw plots into this folder");
    app.add_option("--table", request.table, "write the parameters to this file, for bml_fsbml_table");
    app.add_option("--read", request.reports, "launch nothing: a report of FSBML's is in this file (repeat)")
        ->allow_extra_args(false);
    app.add_option("words", request.job.words, "mpirun's options and the program, after --");
    app.callback([&request] {
        if (request.reports.empty()
            && (request.job.launcher.empty() || request.job.words.empty() || request.job.folder.empty()
                || request.job.report.empty())) {
            throw CLI::ParseError(
                "to launch anything, --launcher, --folder, --report and a program are needed", 2);
        }
    });
}

// "rail0=200mbit,delay=1ms"
std::map<std::string, Setting> settings_of(const std::vector<std::string> &words)
{
    std::map<std::string, Setting> set;
    for (const std::string &word : words) {
        const std::size_t at = word.find('=');
        if (at == std::string::npos || at == 0) {
            throw std::invalid_argument(fmt::format("'{}' is not RAIL=RATE", word));
        }
        set[word.substr(0, at)] = setting_of(word.substr(at + 1));
    }
    return set;
}

std::vector<Run> saved(const std::vector<std::string> &files)
{
    std::vector<Run> runs;
    for (const std::string &file : files) {
        std::ifstream stream(file);
        if (!stream) {
            throw std::runtime_error(fmt::format("cannot read '{}'", file));
        }
        try {
            runs.push_back(read_run(stream));
        } catch (const std::runtime_error &error) {
            throw std::runtime_error(fmt::format("'{}' is no report of FSBML's: {}", file, error.what()));
        }
    }
    return runs;
}

void print(const Findings &findings)
{
    const std::size_t all = findings.runs.size();
    const Run &run = findings.runs[0];
    fmt::print("\n{}\nFSBML measured between {} and {} (ranks {} and {}), {}\n\n{}", findings.setting,
               run.nodes[0], run.nodes[1], run.table.pair[0], run.table.pair[1],
               all == 1 ? "once" : fmt::format("{} times, each in a job of its own", all),
               parameters_table(findings));
    fmt::print("{}90 %: the interval that holds the parameter for 90 % of such samples{}\n",
               all == 1 ? "" : "spread: half the distance of the quartiles over the calibrations\n",
               all == 1 ? "" : " (median of the calibrations)");
    const std::string quality = quality_table(findings);
    if (!quality.empty()) {
        fmt::print("\nHow well the model fits, and what it cost:\n{}", quality);
    }
    const std::string tested = holdout_table(findings);
    if (!tested.empty()) {
        fmt::print("\nExchanges of sizes and numbers that were not measured, by the model:\n{}", tested);
    }
    const std::string notes = notes_text(findings);
    if (!notes.empty()) {
        fmt::print("\nNotes:\n{}", notes);
    }
    int attempts = 0;
    for (const Run &one : findings.runs) {
        attempts += one.attempts;
    }
    fmt::print("\nA calibration takes {:.0f} ms of MPI_Init{}.{}\n", findings.duration_ns.median / 1e6,
               all == 1 ? ""
                        : fmt::format(", {:.0f} ms at most",
                                      (findings.duration_ns.median + findings.duration_ns.most) / 1e6),
               attempts > static_cast<int>(all)
                   ? fmt::format(" {} did not hold and had to be repeated: was the machine busy?",
                                 attempts - static_cast<int>(all))
                   : "");
    std::fflush(stdout);
}

void work(const Request &request)
{
    const std::map<std::string, Setting> set = settings_of(request.set);
    const std::vector<Run> runs = request.reports.empty() ? calibrate(request.job) : saved(request.reports);
    if (runs[0].table.n_rails == 0) {
        throw std::runtime_error(fmt::format("FSBML measured no rails: {}", runs[0].table.reason));
    }
    const Findings findings = findings_of(request.setting, runs, set);
    print(findings);
    if (!request.json.empty()) {
        write(request.json, record_of(findings).dump(1) + '\n');
    }
    const std::vector<Plot> plots = request.plots.empty() ? std::vector<Plot>{} : figures_of(findings);
    if (!plots.empty()) {
        draw(plots, request.plots);
        fmt::print("{} plots, each as SVG and PNG, are in {}\n", plots.size(), request.plots);
        std::fflush(stdout);
    }
    for (const RailFindings &rail : findings.rails) {
        if (!rail.valid) {
            throw std::runtime_error(fmt::format("{} was not measured{}: {}", rail.name,
                                                 runs.size() > 1 ? " every time" : "", rail.failure));
        }
    }
    if (!request.table.empty()) {
        const std::string text =
            fsbml::table_to_file(table_of(findings), request.setting.empty() ? "calibrate" : request.setting);
        if (text.empty()) {
            throw std::runtime_error("a rail's name cannot stand in a table");
        }
        write(request.table, text);
        fmt::print("The parameters are in {0}: jobs use them with --mca bml_fsbml_table {0}\n",
                   request.table);
    }
}

} // namespace

int main(int argc, char **argv)
{
    Request request;
    CLI::App app("Has FSBML measure the rails, once or several times, and says what came of it. `fsbml "
                 "calibrate` calls it; "
                 "by itself it is of use with --read.",
                 "calibrate");
    add_options(app, request);
    catch_signals();
    return run_command(app, argc, argv, [&] { work(request); });
}
