// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a message of a size takes on a rail, in picoseconds, and how that changes in the course of time.
#ifndef FSBML_SIM_TIME_RAIL_TIMES_HPP
#define FSBML_SIM_TIME_RAIL_TIMES_HPP

#include "sim/job/cluster.hpp"

#include <random>

namespace fsbml::sim::engine
{

// To the nearest one. Throws std::overflow_error where there are too many.
Time picoseconds(double ps);

class RailTimes
{
public:
    RailTimes(const RailSpec &spec, std::uint64_t seed);

    Time latency() const { return latency_; }
    Time burst() const { return burst_; }
    Time overhead_send(std::uint64_t bytes) const;
    Time overhead_receive(std::uint64_t bytes) const;
    double gap_ps(std::uint64_t bytes) const;

    // What a message's latency and gap are multiplied with; each call is another message.
    double noise();
    // What its gap is multiplied with if it begins at that time; 0: the rail is dead.
    double factor(Time when) const;
    // Whether the rail was dead at some time between these two, both included.
    bool dead_between(Time first, Time last) const;
    // When a rail that is dead then goes on; below 0: never.
    Time revival(Time when) const;

private:
    fsbml_loggp_t p_;
    Time latency_, burst_;
    double jitter_;
    std::vector<Change> changes_;
    std::mt19937_64 random_;
};

// Seeds of one job that have nothing to do with each other (SplitMix64).
std::uint64_t mixed(std::uint64_t seed, std::uint64_t which);

} // namespace fsbml::sim::engine

#endif
