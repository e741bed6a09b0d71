// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What the processes of a job do: which rank sends what to which, waits for which, computes how long.
#ifndef FSBML_SIM_JOB_WORKLOAD_HPP
#define FSBML_SIM_JOB_WORKLOAD_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace fsbml::sim
{

// Picoseconds: gaps of 0.08 ns/B add up without error, and 2^63 of them are 106 days.
using Time = std::int64_t;

constexpr Time kPsPerNs = 1000;
constexpr std::uint32_t kAnyPeer = ~std::uint32_t{0};

struct Op {
    enum class Kind : std::uint8_t {
        send,    // gives `bytes` for `peer` to the rails; goes on once the processor is free again
        recv,    // waits for the next message from `peer`, or from any rank, in the order of their sending
        compute, // keeps the processor busy for `time`
        until,   // waits until the process' clock is at `time`: bursts, and traces with time stamps
    };
    Kind kind = Kind::send;
    std::uint32_t peer = 0;
    std::uint64_t bytes = 0;
    Time time = 0;
};

struct Workload {
    std::string name;
    std::vector<std::vector<Op>> process; // by rank
};

} // namespace fsbml::sim

#endif
