// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "arms.hpp"

#include "tools/launch/launch.hpp"
#include "tools/points/points.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

// A file's name; arms are called fsbml:thesis and 10.0.0.0/24, too.
std::string file_of(const Job &job, const Arm &arm, const char *ending)
{
    std::string name = arm.name;
    std::replace(name.begin(), name.end(), '/', '_');
    return job.folder + '/' + name + ending;
}

// `turns`: what the program is told of its turns, if it has some.
std::vector<std::string> command_of(const Job &job, const std::vector<std::string> &program, const Arm &arm,
                                    bool verify, const std::string &turns)
{
    std::vector<std::string> command = {job.launcher, std::to_string(job.ranks)};
    command.insert(command.end(), arm.options.begin(), arm.options.end());
    if (is_fsbml(arm)) {
        command.insert(command.end(), {"--mca", "bml_fsbml_verbose", "20"});
    }
    if (!job.probe.empty()) {
        command.insert(command.end(), {"-x", "LD_PRELOAD=" + job.probe, "-x", "FSBML_PROBE_ARM=" + arm.name});
        command.insert(command.end(), program.begin(), program.end());
        return command;
    }
    command.insert(command.end(), {program[0], "--json", "--arm", arm.name});
    if (!verify) {
        command.emplace_back("--no-verify");
    }
    if (!turns.empty()) {
        command.insert(command.end(), {"--turns", turns});
    }
    command.insert(command.end(), program.begin() + 1, program.end());
    return command;
}

[[noreturn]] void fail(const Launch &launch, const Arm &arm, bool program_is_ours, const std::string &what)
{
    // Many programs tell their errors on stdout. Our own tell results there.
    fmt::print(stderr, "{}{}", program_is_ours ? "" : last_lines(launch.out, 10), last_lines(launch.log, 20));
    throw std::runtime_error(fmt::format("the launch of '{}' {}; its log is {}", arm.name, what, launch.log));
}

void check(const Launch &launch, const Arm &arm, bool ours, const Outcome &outcome)
{
    switch (outcome.end) {
    case End::success:
        return;
    case End::failure:
        fail(launch, arm, ours, fmt::format("failed with status {}", outcome.status));
    case End::timeout:
        fail(launch, arm, ours,
             fmt::format("was ended because it took more than {:g} s (--timeout)", launch.limit_seconds));
    case End::interrupted:
        throw std::runtime_error("interrupted");
    }
}

void read_results(const Job &job, const Launch &launch, const Arm &arm, Results &results)
{
    std::size_t points = 0;
    try {
        if (job.probe.empty()) {
            std::ifstream lines(launch.out);
            points = results.read(lines);
        } else {
            std::ifstream log(launch.log);
            std::istringstream lines(probe_lines(log));
            points = results.read(lines);
        }
    } catch (const std::runtime_error &error) {
        fail(launch, arm, job.probe.empty(),
             fmt::format("printed something that is no result ({})", error.what()));
    }
    if (points == 0) {
        fail(launch, arm, job.probe.empty(),
             job.probe.empty()
                 ? "printed no result"
                 : "gave no result: the program did not reach MPI_Finalize, or uses another MPI than "
                   "this one");
    }
}

Launch launch_of(const Job &job, std::vector<std::string> command, const Arm &arm)
{
    return {std::move(command), file_of(job, arm, ".lines"), file_of(job, arm, ".log"), job.limit_seconds};
}

void launch_arm(const Job &job, const std::vector<std::string> &program, const Arm &arm, bool verify,
                Progress &progress, Results &results)
{
    const Launch launch = launch_of(job, command_of(job, program, arm, verify, ""), arm);
    const Outcome outcome = run(launch, [&] { progress.tick(); });
    progress.clear();
    check(launch, arm, job.probe.empty(), outcome);
    read_results(job, launch, arm, results);
}

// All arms' jobs at once, each started when the one before is ready and asleep.
void launch_in_turns(const Job &job, const std::vector<Arm> &arms, bool verify, Progress &progress,
                     Results &results)
{
    const std::string file = job.folder + "/turns";
    Turns turns(file);
    std::vector<Launch> launches;
    for (const Arm &arm : arms) {
        const std::string own =
            Turns::word(static_cast<unsigned>(launches.size()), static_cast<unsigned>(arms.size()), file);
        launches.push_back(launch_of(job, command_of(job, job.program, arm, verify, own), arm));
    }
    std::size_t started = 1;
    bool begun = false;
    const auto next = [&] {
        const bool ready = turns.arrived() == started;
        started += ready ? 1 : 0;
        return ready;
    };
    const std::vector<Outcome> outcomes = run_all(launches, next, [&] {
        if (!begun && turns.arrived() == arms.size()) {
            begun = true;
            turns.begin();
        }
        progress.tick();
    });
    progress.clear();
    // The one that failed, before those that were ended because of it.
    for (const bool others : {false, true}) {
        for (std::size_t i = 0; i < arms.size(); ++i) {
            if (others || outcomes[i].end != End::interrupted) {
                check(launches[i], arms[i], true, outcomes[i]);
            }
        }
    }
    for (std::size_t i = 0; i < arms.size(); ++i) {
        read_results(job, launches[i], arms[i], results);
    }
}

std::string names(const std::vector<Arm> &arms)
{
    std::string list;
    for (const Arm &arm : arms) {
        list += (list.empty() ? "" : " ") + arm.name;
    }
    return list;
}

// The best of the rails at most of the places.
std::string best_rail(const Measurements &measured)
{
    const std::vector<std::string> rails = names_of(measured.arms, Role::rail);
    std::map<std::string, int> wins;
    for (const Place &place : measured.results.places()) {
        if (const std::optional<std::string> best = best_arm(measured.results, rails, place)) {
            ++wins[*best];
        }
    }
    const auto most = std::max_element(wins.begin(), wins.end(),
                                       [](const auto &a, const auto &b) { return a.second < b.second; });
    return most == wins.end() ? "" : most->first;
}

// Rivals that take several times as long as the best rail for all that was measured.
std::vector<std::string> slow_arms(const Measurements &measured)
{
    constexpr double several = 3.0;
    std::map<std::string, double> sums;
    double least = 0.0;
    for (const Arm &arm : measured.arms) {
        double &sum = sums[arm.name];
        for (const Place &place : measured.results.places()) {
            const std::optional<Figure> figure = measured.results.at(arm.name, place);
            sum += figure && figure->median > 0.0 ? cost(figure->median, place.unit) * place.messages : 0.0;
        }
        least = arm.role == Role::rail && (least <= 0.0 || sum < least) ? sum : least;
    }
    std::vector<std::string> slow;
    for (const Arm &arm : measured.arms) {
        if (!is_fsbml(arm) && least > 0.0 && sums[arm.name] > several * least) {
            slow.push_back(arm.name);
        }
    }
    return slow;
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string> &more)
{
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

} // namespace

std::string probe_lines(std::istream &log)
{
    const std::string mark = "fsbml-probe: ";
    std::string lines;
    for (std::string line; std::getline(log, line);) {
        const std::size_t at = line.find(mark);
        if (at != std::string::npos) {
            lines += line.substr(at + mark.size()) + '\n';
        }
    }
    return lines;
}

void run_rounds(const Job &job, Measurements &measured,
                const std::function<void(const Results &, bool is_first)> &look)
{
    Progress progress(job.rounds, static_cast<int>(measured.arms.size()));
    std::vector<Arm> order = measured.arms;
    if (!job.first.empty()) {
        Results seen;
        for (const Arm &arm : order) {
            launch_arm(job, with(job.program, job.first), arm, true, progress, seen);
        }
        look(seen, true);
    }
    int wait_seconds = 10;
    for (int round = 1; round <= job.rounds; ++round) {
        progress.round(round, names(order));
        if (job.quiet) {
            const bool quiet = wait_for_quiet(
                [&](const std::string &text) {
                    progress.clear();
                    fmt::print(stderr, "fsbml: {}\n", text);
                },
                wait_seconds);
            // A machine that is busy for long stays so.
            wait_seconds = quiet ? 10 : 1;
        }
        const bool verify = !job.verify_once || round == 1;
        if (job.interleaved) {
            progress.arm("in turns");
            launch_in_turns(job, order, verify, progress, measured.results);
        }
        for (const Arm &arm : order) {
            progress.arm(arm.name);
            if (!job.interleaved) {
                launch_arm(job, job.program, arm, verify, progress, measured.results);
            }
            if (round == 1 && arm.role == Role::fsbml) {
                std::ifstream log(file_of(job, arm, ".log"));
                measured.rails = read_rail_table(log);
            }
            if (!job.below.empty()) {
                launch_arm(job, job.below, arm, true, progress, measured.below);
            }
            progress.done();
        }
        if (round < job.rounds) {
            progress.clear();
            look(measured.results, round == 1 && job.first.empty());
        }
        if (round == 1 && job.rounds > 1) {
            put_before_fsbml(order, best_rail(measured));
        }
        if (round == job.slow_rounds) {
            const std::vector<std::string> slow = slow_arms(measured);
            order.erase(std::remove_if(order.begin(), order.end(),
                                       [&](const Arm &arm) {
                                           return std::find(slow.begin(), slow.end(), arm.name) != slow.end();
                                       }),
                        order.end());
        }
    }
}

} // namespace fsbml::bench
