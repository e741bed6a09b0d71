// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "rails.hpp"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include <arpa/inet.h>

#include <fmt/format.h>

namespace fsbml::rails
{
namespace
{

constexpr std::size_t kInterfaceWords = 11;
constexpr std::size_t kRdmaWords = 4;

std::vector<std::string> split(const std::string &text, char at)
{
    std::vector<std::string> words;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, at);) {
        words.push_back(word == "-" ? "" : word);
    }
    return words;
}

bool number(const std::string &word, double most, double &value)
{
    char *end = nullptr;
    value = std::strtod(word.c_str(), &end);
    return word.empty() || (*end == '\0' && value >= 0.0 && value <= most);
}

// "10.71.0.1/24": the address, and its network as FSBML names it.
bool read_address(const std::string &word, Interface &interface)
{
    if (word.empty()) {
        return true;
    }
    const std::size_t at = word.find('/');
    in_addr address{};
    double bits = 0.0;
    if (at == std::string::npos || at + 1 == word.size() || !number(word.substr(at + 1), 32.0, bits)
        || 1 != inet_pton(AF_INET, word.substr(0, at).c_str(), &address)) {
        return false;
    }
    const auto length = static_cast<unsigned>(bits);
    const std::uint32_t mask = length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
    const std::uint32_t net = ntohl(address.s_addr) & mask;
    interface.address = word.substr(0, at);
    interface.network =
        fmt::format("{}.{}.{}.{}/{}", net >> 24, net >> 16 & 255, net >> 8 & 255, net & 255, length);
    return true;
}

bool read_interface(const std::vector<std::string> &word, Interface &interface)
{
    double mtu = 0.0;
    interface.name = word[1];
    interface.state = word[3] == "up" ? State::up : word[3] == "cut" ? State::cut : State::down;
    const bool good = !word[1].empty() && read_address(word[2], interface)
                      && (word[3] == "up" || word[3] == "cut" || word[3] == "down")
                      && number(word[4], 1e9, mtu) && number(word[5], 1e9, interface.mbit);
    interface.mtu = static_cast<std::uint32_t>(mtu);
    interface.device = word[6];
    interface.driver = word[7];
    interface.numa = word[8];
    interface.kind = word[9];
    interface.below = split(word[10], ',');
    return good;
}

} // namespace

std::vector<Node> read_nodes(const std::string &text)
{
    std::vector<Node> nodes;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        const std::vector<std::string> word = split(line, '\t');
        bool good = word.size() == 2 && word[0] == "node" && !word[1].empty();
        if (good) {
            nodes.push_back(Node{word[1], {}, {}});
        } else if (!nodes.empty() && word.size() == kInterfaceWords && word[0] == "interface") {
            Interface interface;
            good = read_interface(word, interface);
            nodes.back().interfaces.push_back(interface);
        } else if (!nodes.empty() && word.size() == kRdmaWords && word[0] == "rdma") {
            good = true;
            nodes.back().rdma.push_back(Rdma{word[1], word[2], word[3]});
        }
        if (!good) {
            throw std::runtime_error(fmt::format("'{}' is nothing that a node says of its interfaces", line));
        }
    }
    return nodes;
}

} // namespace fsbml::rails
