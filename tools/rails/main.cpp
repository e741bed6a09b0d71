// Which networks nodes share, and which of them FSBML would use.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "rails.hpp"

#include "tools/launch/command.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

namespace
{

using namespace fsbml::rails;

struct Request {
    std::string nodes, table, cache;
};

void work(const Request &request)
{
    std::ifstream in(request.nodes);
    const std::vector<Node> nodes = read_nodes({std::istreambuf_iterator<char>(in), {}});
    if (nodes.empty()) {
        throw std::runtime_error("no node has said anything of its interfaces");
    }
    std::vector<Network> networks = networks_of(nodes);
    find_measured(networks, request.cache, request.table);
    fmt::print("{}{}\n\n", nodes[0].name,
               nodes.size() > 1 ? fmt::format(" and {} more", nodes.size() - 1) : "");
    if (!networks.empty()) {
        fmt::print("{}\n", networks_table(networks, nodes.size()));
    }
    for (const std::string &remark : remarks_of(nodes)) {
        fmt::print("{}\n", remark);
    }
    fmt::print("{}", verdict_of(networks, nodes.size()));
}

} // namespace

int main(int argc, char **argv)
{
    Request request;
    CLI::App app("Which networks nodes share, and which of them FSBML would use. `fsbml rails` calls it.",
                 "rails");
    app.add_option("nodes", request.nodes, "what they say (tools/rails/look.sh)")
        ->required()
        ->check(CLI::ExistingFile);
    app.add_option("--table", request.table, "the rails' parameters: a file as bml_fsbml_table takes it");
    app.add_option("--cache", request.cache, "a folder as bml_fsbml_cache has it");
    return fsbml::bench::run_command(app, argc, argv, [&] { work(request); });
}
