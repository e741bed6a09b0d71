// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "traffic.hpp"

#include <stdexcept>
#include <utility>

namespace fsbml::sim
{

TrafficMaker::TrafficMaker(std::string name, std::uint32_t ranks)
{
    if (ranks < 2 || ranks > kMostRanks) {
        throw std::invalid_argument(name + " with " + std::to_string(ranks) + " ranks: it takes 2 to "
                                    + std::to_string(kMostRanks));
    }
    w_.name = std::move(name);
    w_.process.resize(ranks);
}

void TrafficMaker::send(std::uint32_t rank, std::uint32_t peer, std::uint64_t bytes)
{
    w_.process[rank].push_back(Op{Op::Kind::send, peer, bytes, 0});
}

void TrafficMaker::recv(std::uint32_t rank, std::uint32_t peer)
{
    w_.process[rank].push_back(Op{Op::Kind::recv, peer, 0, 0});
}

void TrafficMaker::compute(std::uint32_t rank, Time time)
{
    if (time != 0) {
        w_.process[rank].push_back(Op{Op::Kind::compute, 0, 0, time});
    }
}

void TrafficMaker::until(std::uint32_t rank, Time time)
{
    w_.process[rank].push_back(Op{Op::Kind::until, 0, 0, time});
}

std::vector<TrafficDice> traffic_dice(std::uint32_t ranks, std::uint64_t seed)
{
    std::vector<TrafficDice> dice;
    dice.reserve(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        dice.emplace_back(seed, rank);
    }
    return dice;
}

} // namespace fsbml::sim
