// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The networks of some nodes: what nodes say of their interfaces, which of them FSBML would use as rails, and
// that as text.
#ifndef FSBML_TOOLS_RAILS_HPP
#define FSBML_TOOLS_RAILS_HPP

#include "api/fsbml_explain.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fsbml::rails
{

// ---- What nodes say of their interfaces, as tools/rails/look.sh prints it.

enum class State { up, down, cut };

struct Interface {
    std::string name;
    std::string address, network; // such as "10.71.0.1" and "10.71.0.0/24"; empty: it has none
    State state = State::up;
    std::uint32_t mtu = 0;
    double mbit = 0.0; // 0: not known
    std::string device, driver, numa;
    std::string kind;               // bond, bridge, tunnel, vlan, hardware, virtual, ...
    std::vector<std::string> below; // what it is made of
};

struct Rdma {
    std::string port, state, rate;
};

struct Node {
    std::string name;
    std::vector<Interface> interfaces;
    std::vector<Rdma> rdma;
};

// Throws std::runtime_error for a line that is not as it should be.
std::vector<Node> read_nodes(const std::string &text);

// ---- The networks of some nodes: which of them FSBML would use as rails between them, and why not the
// others.

struct Member {
    std::string node;
    Interface interface;
};

enum class Use {
    rail,    // tcp has a rail there
    cut,     // ... but nothing passes it now
    alone,   // one node only
    private_ // containers' or virtual machines', which tcp would take for a network that nodes share
};

// What an earlier job has measured.
struct Measured {
    fsbml_loggp_t params{};
    std::string day; // such as 2026-11-20
};

struct Network {
    std::string network; // such as "10.71.0.0/24"
    std::vector<Member> members;
    Use use = Use::rail;
    std::vector<std::string> notes; // sentences
    std::optional<Measured> measured;
};

// In the order of the first node; then what only others have. Loopback is none.
std::vector<Network> networks_of(const std::vector<Node> &nodes);

// Sentences about nodes that are about no network: interfaces without an address, RDMA.
std::vector<std::string> remarks_of(const std::vector<Node> &nodes);

// From the tables in a folder as bml_fsbml_cache keeps them, or from one that is named: the newest that has
// the rail, unless something disturbed its measurement. Throws std::runtime_error for a file that is named
// and cannot be read.
void find_measured(std::vector<Network> &networks, const std::string &folder, const std::string &table);

// Mbit/s that a network's slowest interface says; 0: one of them says nothing.
double mbit_of(const Network &network);

// Which rails messages of several sizes would take, by what was measured of all of them, else by their
// devices' speeds: some lines; empty where not all are known either way, or there are no two.
std::string plan_of(const std::vector<Network> &networks);

// Whether an earlier job has measured all rails.
bool all_measured(const std::vector<Network> &networks);

// ---- The networks as text.

// A line a network.
std::string networks_table(const std::vector<Network> &networks, std::size_t n_nodes);

// What it comes to: which rails FSBML would use, why not the others and what to do about it, and by which
// rails messages would go.
std::string verdict_of(const std::vector<Network> &networks, std::size_t n_nodes);

} // namespace fsbml::rails

#endif
