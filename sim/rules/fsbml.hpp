// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// FSBML itself: the component's scheduler, through the interface that the shim has.
#ifndef FSBML_SIM_RULES_FSBML_HPP
#define FSBML_SIM_RULES_FSBML_HPP

#include "sim/job/rule.hpp"

#include <map>

namespace fsbml::sim
{

struct FsbmlOptions {
    fsbml_policy_t policy = FSBML_POLICY_ARRIVAL;
    std::uint64_t eager = 65536;     // messages up to this are no fragments (btl/tcp's limit)
    bool pieces = true;              // these may be cut
    std::uint64_t quantum = 0;       // fragments of larger ones; 0: from the parameters, as the shim does
    double loss = 0.02;              // see fsbml_quantum()
    std::uint64_t least = 4096;      // bounds of that
    std::uint64_t most = 128 * 1024; // btl/tcp's max_send_size
    bool feedback = true;            // rates and backlogs by what is delivered
};

struct FsbmlNode; // what ranks of a node share

// A scheduler for each process, with the feedback of what its rails have delivered. Where ranks of a node see
// each other's charges, they share a scheduler, whose virtual finishing times then are those of a ledger.
class FsbmlRules final : public RuleMaker
{
public:
    explicit FsbmlRules(const FsbmlOptions &options = {});

    const char *name() const override { return name_.c_str(); }
    const char *source() const override { return "FSBML, core/schedule/vft_scheduler.cpp"; }
    std::unique_ptr<Rule> make(const Cluster &cluster, std::uint32_t rank, std::uint64_t seed) override;

private:
    FsbmlOptions options_;
    std::string name_;
    std::map<std::uint32_t, std::weak_ptr<FsbmlNode>> of_node_; // as long as a process has it
};

} // namespace fsbml::sim

#endif
