// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "rails.hpp"

#include "api/fsbml_table.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include <sys/stat.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fsbml::rails
{
namespace
{

constexpr std::size_t kEager = 65536; // of Open MPI's tcp
constexpr std::size_t kQuantum = 65536;
constexpr std::size_t kNamed = 4; // nodes in a sentence

bool begins(const std::string &text, const char *with)
{
    return text.rfind(with, 0) == 0;
}

// Containers', virtual machines' and tunnels'.
bool is_private(const Interface &interface)
{
    return interface.kind == "private" || interface.kind == "tunnel" || interface.kind == "wireguard";
}

std::string names(const std::set<std::string> &all)
{
    std::vector<std::string> some(all.begin(), all.end());
    const std::size_t more = some.size() > kNamed ? some.size() - kNamed + 1 : 0;
    some.resize(some.size() - more);
    return more > 0 ? fmt::format("{} and {} others", fmt::join(some, ", "), more)
                    : fmt::format("{}", fmt::join(some, ", "));
}

std::string parts(const std::vector<std::string> &of)
{
    return fmt::format("{}", fmt::join(of, ", "));
}

// What differs between the members of one network, each value with the nodes that have it; empty: nothing.
template <class Of>
std::string differences(const Network &network, Of value)
{
    std::map<std::string, std::set<std::string>> by;
    for (const Member &m : network.members) {
        by[value(m.interface)].insert(m.node);
    }
    std::vector<std::string> words;
    for (const auto &[what, nodes] : by) {
        words.push_back(fmt::format("{} on {}", what, names(nodes)));
    }
    return by.size() > 1 ? fmt::format("{}", fmt::join(words, ", ")) : "";
}

void note_twins(Network &network)
{
    std::map<std::string, std::set<std::string>> by_node, by_address;
    std::map<std::string, std::size_t> addresses;
    for (const Member &m : network.members) {
        by_node[m.node].insert(m.interface.name);
        by_address[m.interface.address].insert(m.node);
        ++addresses[m.node + ' ' + m.interface.name];
    }
    for (const auto &[address, nodes] : by_address) {
        if (nodes.size() > 1) {
            network.notes.push_back(fmt::format("{} have the same address, {}.", names(nodes), address));
        }
    }
    for (const auto &[node, interfaces] : by_node) {
        if (interfaces.size() > 1) {
            network.notes.push_back(fmt::format(
                "{} has {} in one subnet: its kernel sends by one of them only, unless it has a route by source "
                "for each. Give each a subnet of its own.",
                node, names(interfaces)));
            break;
        }
    }
    for (const auto &[which, count] : addresses) {
        if (count > 1) {
            network.notes.push_back(
                fmt::format("{} has {} addresses there: one rail all the same.", which, count));
            break;
        }
    }
}

void note(Network &network, std::size_t n_nodes)
{
    std::set<std::string> on, cut;
    for (const Member &m : network.members) {
        on.insert(m.node);
        if (m.interface.state != State::up) {
            cut.insert(m.node);
        }
    }
    const std::string mtu = differences(network, [](const Interface &i) { return fmt::format("{}", i.mtu); });
    const std::string mbit = differences(
        network, [](const Interface &i) { return i.mbit > 0 ? fmt::format("{:g} Mbit/s", i.mbit) : "?"; });
    const Interface &first = network.members.front().interface;
    if (network.use == Use::private_) {
        network.notes.push_back(
            "It is for containers, virtual machines or a tunnel of the node itself, but Open MPI takes "
            "it for a network that nodes share.");
    } else if (n_nodes > 1 && on.size() == 1) {
        network.use = Use::alone;
        network.notes.push_back(fmt::format("Only {} has it.", *on.begin()));
    } else if (on.size() < n_nodes) {
        network.notes.push_back(
            fmt::format("{} of {} nodes have it: a rail between these.", on.size(), n_nodes));
    }
    if (!cut.empty() && network.use == Use::rail) {
        network.use = on.size() - cut.size() < std::min<std::size_t>(2, n_nodes) ? Use::cut : Use::rail;
        network.notes.push_back(fmt::format("No carrier, or not up, on {}: is the cable in?", names(cut)));
    }
    if (!mtu.empty()) {
        network.notes.push_back(fmt::format("The MTU differs: {}. Large frames get lost.", mtu));
    }
    if (!mbit.empty() && mbit.find('?') == std::string::npos) {
        network.notes.push_back(fmt::format("The speed differs: {}.", mbit));
    }
    if (first.kind == "bond") {
        network.notes.push_back(
            fmt::format("{} is a bond of {}: one rail, of which each connection has one cable. With a "
                        "subnet for each, FSBML uses all of them for every message that gains.",
                        first.name, parts(first.below)));
    }
    note_twins(network);
}

// Networks that share a device: VLANs of one port.
void note_shared(std::vector<Network> &networks)
{
    std::map<std::string, std::vector<Network *>> by;
    for (Network &n : networks) {
        const Interface &i = n.members.front().interface;
        if (i.kind != "bond" && i.kind != "bridge" && i.below.size() == 1) {
            by[i.below.front()].push_back(&n);
        }
        by[i.name].push_back(&n);
    }
    for (const auto &[name, of] : by) {
        for (std::size_t k = 1; k < of.size(); ++k) {
            of[k]->notes.push_back(fmt::format("It shares {} with {}: two rails of one cable gain nothing.",
                                               name, of[0]->network));
        }
    }
}

std::time_t written(const std::string &path)
{
    struct stat s = {};
    return 0 == stat(path.c_str(), &s) ? s.st_mtime : 0;
}

std::string day_of(std::time_t time)
{
    struct tm when = {};
    char text[16] = "";
    if (nullptr != localtime_r(&time, &when)) {
        (void) std::strftime(text, sizeof text, "%Y-%m-%d", &when);
    }
    return text;
}

} // namespace

std::vector<Network> networks_of(const std::vector<Node> &nodes)
{
    std::vector<Network> all;
    for (const Node &node : nodes) {
        for (const Interface &interface : node.interfaces) {
            if (interface.network.empty() || interface.kind == "loopback") {
                continue;
            }
            auto at = std::find_if(all.begin(), all.end(),
                                   [&](const Network &n) { return n.network == interface.network; });
            if (at == all.end()) {
                at = all.insert(all.end(), Network{interface.network, {}, Use::rail, {}, {}});
            }
            at->use = is_private(interface) ? Use::private_ : at->use;
            at->members.push_back(Member{node.name, interface});
        }
    }
    for (Network &network : all) {
        note(network, nodes.size());
    }
    note_shared(all);
    return all;
}

std::vector<std::string> remarks_of(const std::vector<Node> &nodes)
{
    std::vector<std::string> all;
    std::set<std::string> idle, rdma;
    for (const Node &node : nodes) {
        for (const Interface &i : node.interfaces) {
            if (i.network.empty()) {
                idle.insert(fmt::format("{} of {}", i.name, node.name));
            }
        }
        for (const Rdma &r : node.rdma) {
            rdma.insert(fmt::format("{} ({})", r.port, r.rate.empty() ? "rate not known" : r.rate));
        }
    }
    if (!idle.empty()) {
        all.push_back(fmt::format("Without an IPv4 address, so no rail of tcp: {}.", names(idle)));
    }
    if (!rdma.empty()) {
        all.push_back(fmt::format(
            "RDMA devices: {}. Open MPI uses them by UCX, or by a BTL of their own, not beside tcp; with "
            "UCX as PML, FSBML is not used.",
            names(rdma)));
    }
    return all;
}

double mbit_of(const Network &network)
{
    double least = 0.0;
    for (const Member &m : network.members) {
        if (!(m.interface.mbit > 0.0)) {
            return 0.0;
        }
        least = least > 0.0 ? std::min(least, m.interface.mbit) : m.interface.mbit;
    }
    return least;
}

void find_measured(std::vector<Network> &networks, const std::string &folder, const std::string &table)
{
    std::vector<std::pair<std::time_t, std::string>> files;
    std::error_code none;
    if (!table.empty()) {
        files.emplace_back(written(table), table);
    } else if (!folder.empty()) {
        for (const auto &entry : std::filesystem::directory_iterator(folder, none)) {
            if (begins(entry.path().filename().string(), "rails-")) {
                files.emplace_back(written(entry.path().string()), entry.path().string());
            }
        }
    }
    std::sort(files.rbegin(), files.rend());
    const auto t = std::make_unique<fsbml_table_t>();
    for (const auto &[time, path] : files) {
        char reason[FSBML_REASON_MAX] = "";
        if (0 != fsbml_table_load(path.c_str(), nullptr, t.get(), reason)) {
            if (!table.empty()) {
                throw std::runtime_error(fmt::format("{}: {}", path, reason));
            }
            continue;
        }
        for (Network &n : networks) {
            for (std::uint32_t r = 0; r < t->n_rails && !n.measured; ++r) {
                const fsbml_fit_t &fit = t->rail[r].fit;
                if ("tcp:" + n.network == t->rail[r].key && fit.valid && fit.tight) {
                    n.measured = Measured{fit.params, day_of(time)};
                }
            }
        }
    }
}

bool all_measured(const std::vector<Network> &networks)
{
    return std::all_of(networks.begin(), networks.end(),
                       [](const Network &n) { return n.use != Use::rail || n.measured; });
}

std::string plan_of(const std::vector<Network> &networks)
{
    fsbml_plan_t plan{};
    plan.policy = FSBML_POLICY_ARRIVAL;
    plan.eager = kEager;
    plan.quantum = kQuantum;
    plan.pieces = true;
    const bool measured = all_measured(networks);
    for (const Network &n : networks) {
        if (n.use != Use::rail || plan.n_rails == FSBML_MAX_RAILS) {
            continue;
        }
        if (!measured && !(mbit_of(n) > 0.0)) {
            return "";
        }
        plan.name[plan.n_rails] = n.members.front().interface.name.c_str();
        plan.model[plan.n_rails++] = measured ? n.measured->params : fsbml_loggp_assumed(mbit_of(n));
    }
    const std::unique_ptr<char, decltype(&std::free)> text(plan.n_rails > 1 ? fsbml_plan(&plan) : nullptr,
                                                           &std::free);
    return text ? text.get() : "";
}

} // namespace fsbml::rails
