// The bench's harness: launches arms in turns, compares them, and prints, writes and plots the results.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "harness.hpp"

#include "tools/arms/arms.hpp"
#include "tools/launch/command.hpp"
#include "tools/launch/launch.hpp"
#include "tools/text/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

namespace
{

using namespace fsbml::bench;

constexpr std::size_t columns = 120; // of a terminal that shows the table

struct Request {
    std::string bench, setting, rail_kind = "network", bars, json, plots, lines, log, told;
    std::vector<std::string> rails, arms;
    bool is_short = false;
    Job job;
};

void add_options(CLI::App &app, Request &request)
{
    app.option_defaults()->always_capture_default();
    app.add_option("--bench", request.bench, "the benchmark's name")->required();
    app.add_option("--setting", request.setting, "what is measured on, for the heading");
    app.add_option("--rails", request.rails, "all rails: interfaces or networks, or BTLs")
        ->delimiter(',')
        ->required();
    app.add_option("--rail-kind", request.rail_kind, "what rails are")
        ->check(CLI::IsMember({"network", "uneven", "btl"}));
    app.add_option("--arms", request.arms,
                   "fsbml, fsbml:POLICY, r2, ucx, rails, or names of rails; :NAME=VALUE behind one "
                   "sets a parameter of Open MPI")
        ->delimiter(',')
        ->required();
    app.add_option("--rounds", request.job.rounds, "launches of every arm")->check(CLI::Range(1, 1000));
    app.add_option("--ranks", request.job.ranks, "of the job")->check(CLI::Range(1, 65536));
    app.add_option("--timeout", request.job.limit_seconds, "seconds for one launch")
        ->check(CLI::Range(1.0, 86400.0));
    app.add_option("--launcher", request.job.launcher,
                   "program that gets RANKS, mpirun's options and the program");
    app.add_option("--probe", request.job.probe,
                   "library to preload, which times a program that is no benchmark");
    app.add_option("--below", request.job.below,
                   "word of the command of a benchmark of the layer below (repeat, as --below=WORD)")
        ->allow_extra_args(false); // else it takes the -- before the program for its own
    app.add_option("--folder", request.job.folder, "for what launches print");
    app.add_option("--first", request.job.first,
                   "word for the program in a first look: one launch of each arm (repeat, as --first=WORD)")
        ->allow_extra_args(false);
    app.add_flag("--interleaved", request.job.interleaved,
                 "run all arms of a round at once, in turns of some milliseconds (they must know --turns)");
    app.add_option(
           "--slow-rounds", request.job.slow_rounds,
           "launches of an arm that takes several times as long as the best rail (0: as many as of all)")
        ->check(CLI::Range(0, 1000));
    app.add_flag("--short", request.is_short,
                 "leave out how the bytes were divided, and remarks about rails");
    app.add_option("--told", request.told,
                   "print as one act of a demo: a table that is written anew after each round, and the "
                   "outcome to this file, behind what it has");
    app.add_flag("--quiet", request.job.quiet, "wait for a quiet machine before each round");
    app.add_flag("--verify-once", request.job.verify_once,
                 "have the program check its data in the first round only (it must know --no-verify)");
    app.add_option("--bars", request.bars, "judge by the bars of this experiment");
    app.add_option("--json", request.json, "write everything to this file");
    app.add_option("--plots", request.plots, "draw plots into this folder");
    app.add_option("--summarise", request.lines,
                   "launch nothing: results are in this file, lines as the programs print them");
    app.add_option("--log", request.log, "with --summarise: a log of FSBML, for its table of rails");
    app.add_option("program", request.job.program, "the program and its arguments, after --");
    app.callback([&request] {
        if (request.lines.empty()
            && (request.job.launcher.empty() || request.job.program.empty() || request.job.folder.empty())) {
            throw CLI::ParseError("to launch anything, --launcher, --folder and a program are needed", 2);
        }
    });
}

std::string unit_of(const Results &results)
{
    std::set<std::string> units;
    for (const Place &place : results.places()) {
        units.insert(place.unit);
    }
    return units.size() == 1 ? (is_rate(*units.begin()) ? "rate in " : "time in ") + *units.begin()
                             : "times and rates";
}

void print_results(const Report &report, const std::string &when)
{
    const std::string unit = unit_of(report.results);
    const bool exchange = report.bench == "onetoone" || report.bench == "equal" || report.bench == "single";
    fmt::print("\n{}, {}\nmedian {}{}, ± half the distance of the quartiles over launches;\n"
               "ratios are of times, medians over the rounds; best: the best rail alone; {}\n{}",
               report.setting, when, unit, exchange ? " of a message" : "",
               only_bandwidths(report.results.places())
                   ? "fsbml/sum is of rates: by those of the rails alone, added up"
                   : "ideal: what the rails alone would allow together",
               results_table(report.results, report.arms));
    std::fflush(stdout);
}

void print_rest(const Report &report, bool is_short)
{
    const std::string traffic = is_short ? "" : traffic_table(report.results, report.arms);
    if (!traffic.empty()) {
        fmt::print("\nShare of the bytes on each rail, as the interfaces counted them:\n{}", traffic);
    }
    const std::string layers = layers_table(report.results, report.below, report.arms);
    if (!layers.empty()) {
        fmt::print(
            "\nWhat of the lower layer's performance reaches MPI (time of the BTL by time of MPI):\n{}",
            layers);
    }
    if (report.rails.lines.empty()) {
        if (!names_of(report.arms, Role::fsbml).empty()) {
            fmt::print(
                "\nFSBML measured no rails: it does so only where two nodes share at least two of them.\n");
        }
    } else {
        fmt::print("\nThe rails as FSBML measured them when MPI started:\n");
        for (const std::string &line : report.rails.lines) {
            const bool is_remark = line.find(": ") < line.find(' ');
            if (!is_short || !is_remark) {
                fmt::print("  {}\n", line);
            }
        }
    }
    if (!report.bars.empty()) {
        fmt::print("\nBars:\n");
        for (const Bar &bar : report.bars) {
            fmt::print("  {:<7} {:<52} {}\n", bar.outcome(), bar.text, bar.figures);
        }
    }
    const auto say = [&](const std::string &text) {
        fmt::print("{}", is_short ? wrapped(text, columns) : text + (text.empty() ? "" : "\n"));
    };
    fmt::print("\n");
    say(report.conclusion.sentence);
    say(report.conclusion.noise);
}

// The table of an act, in the place of the one before on a terminal, which alone is shown those between.
class ActTable
{
public:
    void show(const Results &results, const std::vector<Arm> &arms, bool between)
    {
        const std::string table = act_table(results, arms);
        const bool terminal = isatty(STDOUT_FILENO) != 0;
        if (!terminal && between) {
            return;
        }
        if (terminal && lines_ > 0) {
            fmt::print("\033[{}A\033[J", lines_);
        }
        fmt::print("{}", table);
        std::fflush(stdout);
        lines_ = std::count(table.begin(), table.end(), '\n');
    }

private:
    long lines_ = 0;
};

void read_saved(const Request &request, Report &report)
{
    std::ifstream lines(request.lines);
    if (!lines) {
        throw std::runtime_error(fmt::format("cannot read '{}'", request.lines));
    }
    report.results.read(lines);
    if (!request.log.empty()) {
        std::ifstream log(request.log);
        report.rails = read_rail_table(log);
    }
}

void work(const Request &request)
{
    Report report;
    report.bench = request.bench;
    report.setting = request.setting;
    report.arms = make_arms(request.arms, request.rails,
                            request.rail_kind == "btl"      ? RailKind::btl
                            : request.rail_kind == "uneven" ? RailKind::uneven
                                                            : RailKind::network);
    std::string when = "saved results";
    ActTable act;
    if (!request.lines.empty()) {
        read_saved(request, report);
    } else {
        when = fmt::format("{} round{}", request.job.rounds, request.job.rounds == 1 ? "" : "s");
        run_rounds(request.job, report, [&](const Results &seen, bool is_first) {
            if (!request.told.empty()) {
                act.show(seen, report.arms, !is_first || request.job.first.empty());
                return;
            }
            if (!is_first || seen.places().size() > 50) {
                return; // of many points it would be none
            }
            fmt::print("\nA first look, one launch each; the table comes after {}; {}:\n{}\n", when,
                       unit_of(seen), results_table(seen, report.arms));
            std::fflush(stdout);
        });
    }
    report.conclusion = conclude(report.results, report.arms);
    if (!request.bars.empty()) {
        report.bars =
            judge(request.bars, report.results, names_of(report.arms, Role::rail), report.rails.rails);
    }
    if (!request.told.empty()) {
        act.show(report.results, report.arms, false);
        std::ofstream(request.told, std::ios::app) << act_told(report.results, report.arms) << '\n';
    } else {
        print_results(report, when);
        print_rest(report, request.is_short);
    }
    if (!request.json.empty()) {
        write(request.json, document_of(report).dump(1) + '\n');
    }
    if (!request.plots.empty()) {
        const std::vector<std::string> files = draw(plots_of(report), request.plots);
        fmt::print("\n{} plots, each as SVG and PNG, are in {}\n", files.size() / 2, request.plots);
    }
}

} // namespace

int main(int argc, char **argv)
{
    Request request;
    CLI::App app("Launches the arms of a comparison in turns, round by round, and says how they compare. "
                 "`fsbml bench` calls "
                 "it; by itself it is of use with --summarise.",
                 "bench");
    add_options(app, request);
    catch_signals();
    return run_command(app, argc, argv, [&] { work(request); });
}
