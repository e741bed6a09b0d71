// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "rails.hpp"

#include "tools/text/text.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fsbml::rails
{
namespace
{

std::string or_none(const std::string &word)
{
    return word.empty() ? "-" : word;
}

std::string use_of(const Network &network)
{
    switch (network.use) {
    case Use::rail:
        return "yes";
    case Use::cut:
        return "no: cut";
    case Use::alone:
        return "no: not shared";
    default:
        return "no: private";
    }
}

std::size_t nodes_of(const Network &network)
{
    std::set<std::string> nodes;
    for (const Member &m : network.members) {
        nodes.insert(m.node);
    }
    return nodes.size();
}

std::string measured_of(const Network &network)
{
    if (!network.measured) {
        return "-";
    }
    const fsbml_loggp_t &p = network.measured->params;
    return fmt::format("{}, {:.3g} us, {}", bench::rate_text(8e9 / p.G_ns_per_byte),
                       (p.o_s_ns + p.L_ns + p.o_r_ns) / 1e3, network.measured->day);
}

} // namespace

std::string networks_table(const std::vector<Network> &networks, std::size_t n_nodes)
{
    std::vector<std::vector<std::string>> rows = {
        {"network", "interface", "address", "device", "driver", "NUMA", "MTU", "speed", "measured", "rail"}};
    if (n_nodes > 1) {
        rows[0][2] = "nodes";
    }
    for (const Network &n : networks) {
        const Interface &i = n.members.front().interface;
        const double mbit = mbit_of(n);
        rows.push_back({n.network, i.name, n_nodes > 1 ? fmt::format("{}", nodes_of(n)) : i.address,
                        or_none(i.device.empty() ? i.kind : i.device), or_none(i.driver), or_none(i.numa),
                        fmt::format("{}", i.mtu), mbit > 0.0 ? bench::rate_text(mbit * 1e6) : "-",
                        measured_of(n), use_of(n)});
    }
    return bench::aligned(rows, rows[0].size());
}

std::string verdict_of(const std::vector<Network> &networks, std::size_t n_nodes)
{
    std::string text;
    std::vector<std::string> used, to_exclude;
    for (const Network &n : networks) {
        const std::string name = n.members.front().interface.name;
        if (n.use == Use::rail) {
            used.push_back(name);
        } else if (n.use == Use::private_) {
            to_exclude.push_back(n.network);
        }
        for (const std::string &note : n.notes) {
            text += fmt::format("{} ({}): {}\n", name, n.network, note);
        }
    }
    text += text.empty() ? "" : "\n";
    if (used.size() > 1) {
        text +=
            fmt::format("FSBML {}: {}.\n",
                        n_nodes > 1 ? "would use these rails" : "can use, where other nodes have them too",
                        fmt::join(used, ", "));
    } else {
        text +=
            fmt::format("There is {} to use{}, so FSBML has nothing to choose from: jobs run as with r2.\n",
                        used.empty() ? "no network" : "only one network", used.empty() ? "" : ", " + used[0]);
    }
    if (!to_exclude.empty()) {
        text += fmt::format(
            "Keep Open MPI from the private ones, on all nodes: --mca btl_tcp_if_exclude 127.0.0.1/8,sppp,{}\n",
            fmt::join(to_exclude, ","));
    }
    const std::string plan = plan_of(networks);
    if (!plan.empty()) {
        text += fmt::format("\nBy {}:\n{}",
                            all_measured(networks) ? "what was measured" : "the devices' speeds", plan);
        text += text.back() == '\n' ? "" : "\n";
    } else if (used.size() > 1) {
        text +=
            "Nothing is known of their speeds yet: mpirun --mca pml ob1 --mca bml fsbml --mca bml_fsbml_display 2 measures and shows "
            "them;\n--mca bml_fsbml_cache write keeps that for the next job, and for this command.\n";
    }
    return text;
}

} // namespace fsbml::rails
