// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A job that is simulated: what its processes do, what they run on, and the rule by which messages go over
// rails.
#ifndef FSBML_SIM_JOB_HPP
#define FSBML_SIM_JOB_HPP

#include "api/fsbml_schedule.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fsbml::sim
{

// Picoseconds: gaps of 0.08 ns/B add up without error, and 2^63 of them are 106 days.
using Time = std::int64_t;

constexpr Time kPsPerNs = 1000;
constexpr std::uint32_t kAnyPeer = ~std::uint32_t{0};

// What the processes of a job do: which rank sends what to which, waits for which, computes how long.
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

// ---- What the processes run on: nodes, and rails that each node has one NIC of.

// From `at` on a rail takes `factor` times its g and G; 0: nothing gets through any more.
struct Change {
    Time at = 0;
    double factor = 1.0;
};

struct RailSpec {
    std::string name;
    fsbml_loggp_t real{};     // what a message takes; burst_ns as a token bucket of a NIC
    fsbml_loggp_t believed{}; // the parameters that the scheduler gets
    bool guessed = false;     // nothing was measured: they are a prior
    double jitter = 0.0;      // each message's L and gap times 1 + jitter * |N(0,1)|
    std::uint32_t queue = 0;  // messages that a NIC holds; more wait with their sender (0: no limit)
    std::vector<Change> changes;
    std::vector<std::uint32_t> nodes; // that have it; none named: all
};

// A link that messages of a rail between two groups of nodes share (paper 004): a bandwidth, b(h) there, and
// a buffer, by which a message is late by d(h) at most; one that does not fit is sent again after the
// time-out.
struct Bottleneck {
    std::uint32_t rail = 0;
    std::vector<std::uint32_t> side; // nodes on one side of it
    double ns_per_byte = 0.0;
    std::uint64_t buffer_bytes = 0; // 0: no limit, nothing is lost
    Time timeout = 0;               // of the retransmission
};

struct Cluster {
    std::uint32_t nodes = 2;
    std::uint32_t ranks_per_node = 1; // rank r is on node r % nodes
    std::vector<RailSpec> rails;
    std::vector<Bottleneck> bottlenecks;
    bool full_duplex = true; // a NIC sends and receives at once
    bool ledger = false;     // ranks of a node see each other's charges
};

// ---- What decides on which rails a message goes: the component's scheduler, or one of its rivals.

// What a sender knows when it decides.
struct Situation {
    Time now = 0;
    std::uint32_t rank = 0, node = 0, peer = 0;
    std::uint64_t bytes = 0; // of the fragment
    std::uint64_t whole = 0; // of its message
    std::uint32_t rails = 0; // bits: those that reach the peer
};

// One a process, so that each rule has only what its process can know; what ranks of a node share (a ledger),
// the factory hands to those of a node.
class Rule
{
public:
    virtual ~Rule() = default;

    // How a message of so many bytes is cut: appends the fragments' sizes, whose sum it is, and, where the
    // rule fixes shares by rail, the rail of each; else -1. By default one piece.
    struct Piece {
        std::uint64_t bytes = 0;
        int rail = -1;
    };
    virtual void cut(const Situation &whole, std::vector<Piece> &out)
    {
        out.push_back(Piece{whole.bytes, -1});
    }

    // The rail for a fragment, which the sender then gives to it at once: one of the situation's.
    virtual int choose(const Situation &fragment) = 0;

    // The rail has taken a fragment, and has sent it (its NIC is done with it).
    virtual void given(int rail, const Situation &fragment) { (void) rail, (void) fragment; }
    virtual void sent(int rail, const Situation &fragment, Time when)
    {
        (void) rail, (void) fragment, (void) when;
    }
};

struct RuleMaker {
    virtual ~RuleMaker() = default;
    virtual const char *name() const = 0;
    virtual const char *source() const = 0; // where it is from: paper, or product and version
    virtual std::unique_ptr<Rule> make(const Cluster &cluster, std::uint32_t rank, std::uint64_t seed) = 0;
};

} // namespace fsbml::sim

#endif
