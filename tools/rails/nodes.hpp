// What nodes say of their interfaces, as tools/rails/look.sh prints it.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fsbml::rails
{

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

} // namespace fsbml::rails
