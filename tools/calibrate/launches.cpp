// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "calibrate.hpp"

#include "tools/launch/launch.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

[[noreturn]] void fail(const Launch &launch, const std::string &what)
{
    fmt::print(stderr, "{}", last_lines(launch.log, 40));
    throw std::runtime_error(fmt::format("{}; the job's log is {}", what, launch.log));
}

// Open MPI's own words for a component that is not there.
bool lacks_fsbml(const std::string &log)
{
    std::ifstream stream(log);
    std::stringstream text;
    text << stream.rdbuf();
    return text.str().find("Component: fsbml") != std::string::npos
           || text.str().find("Component:  fsbml") != std::string::npos
           || (text.str().find("component") != std::string::npos
               && text.str().find("bml framework") != std::string::npos);
}

void check(const Launch &launch, const Outcome &outcome)
{
    switch (outcome.end) {
    case End::success:
        return;
    case End::failure:
        if (lacks_fsbml(launch.log)) {
            fail(
                launch,
                "FSBML is not installed where the job ran: './fsbml install' on every host, or the project's "
                "folder in the same place");
        }
        fail(launch, fmt::format("mpirun failed with status {}", outcome.status));
    case End::timeout:
        fail(launch, fmt::format("the job was ended because it took more than {:g} s (--timeout)",
                                 launch.limit_seconds));
    case End::interrupted:
        throw std::runtime_error("interrupted");
    }
}

Run read(const Launch &launch)
{
    std::ifstream out(launch.out);
    if (out.peek() == std::ifstream::traits_type::eof()) {
        std::ifstream log(launch.log);
        fail(launch, why_nothing(log));
    }
    try {
        return read_run(out);
    } catch (const std::runtime_error &error) {
        fail(launch,
             fmt::format("the job printed something that is no report of FSBML's ({})", error.what()));
    }
}

} // namespace

std::string why_nothing(std::istream &log)
{
    bool runs = false;
    for (std::string line; std::getline(log, line);) {
        runs = runs || line.find("] fsbml: ") != std::string::npos;
        if (line.find("report of the measurement cannot be written") != std::string::npos) {
            return "FSBML could not write its report";
        }
    }
    return runs ? "FSBML measured no rails: it does so only between two nodes that share at least two of them"
                : "FSBML did not run in this job";
}

std::vector<Run> calibrate(const Calibrations &job)
{
    std::vector<std::string> command = {
        job.launcher, std::to_string(job.ranks), "--mca",   "bml", "fsbml", "--mca", "bml_fsbml_verbose", "5",
        "--mca",      "bml_fsbml_measurement",   job.report};
    if (job.holdout > 0) {
        command.insert(command.end(), {"--mca", "bml_fsbml_holdout", std::to_string(job.holdout)});
    }
    command.insert(command.end(), job.words.begin(), job.words.end());
    command.push_back(job.report);
    const bool seeded = std::find(job.words.begin(), job.words.end(), "bml_fsbml_seed") != job.words.end();
    std::vector<Run> runs;
    Progress progress(job.rounds, 1);
    for (int round = 1; round <= job.rounds; ++round) {
        progress.round(round, "calibration");
        if (job.quiet) {
            (void) wait_for_quiet([&](const std::string &text) {
                progress.clear();
                fmt::print(stderr, "fsbml: {}\n", text);
            });
        }
        progress.arm("calibration");
        std::vector<std::string> drawn = command;
        if (!seeded) { // each has its own order of probes, and tests its own exchanges
            drawn.insert(drawn.begin() + 2, {"--mca", "bml_fsbml_seed", std::to_string(round)});
        }
        const Launch launch{drawn, fmt::format("{}/{}.report", job.folder, round),
                            fmt::format("{}/{}.log", job.folder, round), job.limit_seconds};
        const Outcome outcome = run(launch, [&] { progress.tick(); });
        progress.clear();
        check(launch, outcome);
        runs.push_back(read(launch));
        progress.done();
    }
    return runs;
}

} // namespace fsbml::bench
