// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What the makers of workloads write ops with.
#ifndef FSBML_SIM_TRAFFIC_MAKE_HPP
#define FSBML_SIM_TRAFFIC_MAKE_HPP

#include "traffic.hpp"

#include <string>

namespace fsbml::sim
{

class TrafficMaker
{
public:
    // Throws std::invalid_argument for a number of ranks that no workload can have.
    TrafficMaker(std::string name, std::uint32_t ranks);

    void send(std::uint32_t rank, std::uint32_t peer, std::uint64_t bytes);
    void recv(std::uint32_t rank, std::uint32_t peer);
    void compute(std::uint32_t rank, Time time); // no op for 0
    void until(std::uint32_t rank, Time time);
    Workload take() { return std::move(w_); }

private:
    Workload w_;
};

// One stream of random numbers a rank.
std::vector<TrafficDice> traffic_dice(std::uint32_t ranks, std::uint64_t seed);

} // namespace fsbml::sim

#endif
