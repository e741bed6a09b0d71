// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Decisions put again to the scheduler's rule, with the models that their file has.
#ifndef FSBML_SIM_TRACE_DECISIONS_REPLAY_HPP
#define FSBML_SIM_TRACE_DECISIONS_REPLAY_HPP

#include "decisions.hpp"

#include <memory>

namespace fsbml
{
class Models;
}

namespace fsbml::sim
{

class DecisionReplay
{
public:
    // What a file says in whole ns is cut off: a backlog is up to 1 ns more than it says, and so is an
    // arrival. By the scheduler's own integers, what is worked out from a backlog in ns is the arrival in ns,
    // or 1 ns less.
    static constexpr std::uint64_t kRounding = 1;

    explicit DecisionReplay(const DecisionHeader &header);
    ~DecisionReplay();

    // What the rail delivers after, by the model and the backlog that the decision says, and what its
    // destination adds.
    std::uint64_t arrival(const fsbml_decision_t &d, std::size_t rail) const;

    // The candidates among which the rule chooses: those with a model, or all if none has one.
    std::uint32_t choice(const fsbml_decision_t &d) const;
    // That all candidates' arrivals are what comes out again.
    bool agrees(const fsbml_decision_t &d) const;
    // That no candidate's arrival is before that of the rail that got the message.
    bool earliest(const fsbml_decision_t &d) const;

private:
    std::unique_ptr<Models> models_;
    std::uint32_t measured_ = 0;
};

} // namespace fsbml::sim

#endif
