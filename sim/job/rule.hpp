// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What decides on which rails a message goes: the component's scheduler, or one of its rivals.
#ifndef FSBML_SIM_JOB_RULE_HPP
#define FSBML_SIM_JOB_RULE_HPP

#include "cluster.hpp"

#include <memory>

namespace fsbml::sim
{

// What a sender knows when it decides.
struct Situation {
    Time now = 0;
    std::uint32_t rank = 0, node = 0, peer = 0;
    std::uint64_t bytes = 0; // of the fragment
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
