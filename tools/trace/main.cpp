// Why messages went where they did: reads the decisions that a job's processes have kept.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "trace.hpp"

#include "tools/launch/command.hpp"
#include "tools/text/text.hpp"

#include <fmt/format.h>

namespace
{

using namespace fsbml::trace;

struct Request {
    std::vector<std::string> files;
    std::string json;
    Wanted wanted;
};

void add_options(CLI::App &app, Request &request)
{
    app.option_defaults()->always_capture_default();
    app.add_option("files", request.files, "files of decisions, or a folder with them")->required();
    app.add_option("--peer", request.wanted.peer, "only messages to this rank");
    app.add_option("--rail", request.wanted.rail, "only messages that this rail got, by name or key");
    app.add_option("--limit", request.wanted.limit, "decisions that are told one by one, of each kind")
        ->check(CLI::Range(0, 100000));
    app.add_option("--json", request.json, "write everything to this file; - is stdout");
}

void work(const Request &request)
{
    const Findings findings = look_into(request.files, request.wanted);
    if (request.json != "-") {
        fmt::print("{}\n{}{}{}\n{}", heading_of(findings), rails_table(findings),
                   changes_of(findings, request.wanted.limit), lists_of(findings), replay_of(findings));
    }
    if (!request.json.empty()) {
        fsbml::bench::write(request.json, document_of(findings, request.wanted).dump(1) + '\n');
    }
}

} // namespace

int main(int argc, char **argv)
{
    Request request;
    CLI::App app(
        "Tells what was decided, from the files that a job's processes wrote. `fsbml trace` calls it.",
        "trace");
    add_options(app, request);
    return fsbml::bench::run_command(app, argc, argv, [&] { work(request); });
}
