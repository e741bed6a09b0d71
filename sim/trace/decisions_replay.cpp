// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "trace.hpp"

#include "schedule/models.hpp"

#include <algorithm>

namespace fsbml::sim
{
namespace
{

constexpr Ticks kNow = Ticks{1} << 60; // any moment that leaves room on both sides

template <class F>
void for_each_rail(std::uint32_t mask, F &&f)
{
    for (; mask != 0; mask &= mask - 1) {
        f(static_cast<std::size_t>(__builtin_ctz(mask)));
    }
}

} // namespace

DecisionReplay::DecisionReplay(const DecisionHeader &header) : models_(std::make_unique<Models>())
{
    for (std::size_t i = 0; i < header.rails.size(); ++i) {
        if (header.rails[i].measured) {
            models_->set(i, header.rails[i].model, header.policy);
            measured_ |= std::uint32_t{1} << i;
        }
    }
}

DecisionReplay::~DecisionReplay() = default;

std::uint64_t DecisionReplay::arrival(const fsbml_decision_t &d, std::size_t rail) const
{
    const std::uint64_t steps = byte_steps(d.bytes);
    const Ticks backlog = std::min(d.backlog_ns[rail], ns_from_ticks(kBeyondOwn)) * kTicksPerNs;
    return ns_from_ticks(models_->row(steps)[rail].delivery<true>(kNow + backlog, kNow, kBeyondOwn, steps))
           + d.extra_ns[rail];
}

std::uint32_t DecisionReplay::choice(const fsbml_decision_t &d) const
{
    return (d.candidates & measured_) != 0 ? d.candidates & measured_ : d.candidates;
}

bool DecisionReplay::agrees(const fsbml_decision_t &d) const
{
    bool all = true;
    for_each_rail(d.candidates, [&](std::size_t i) {
        const std::uint64_t again = arrival(d, i);
        all = all && again <= d.arrival_ns[i] && d.arrival_ns[i] - again <= kRounding;
    });
    return all;
}

bool DecisionReplay::earliest(const fsbml_decision_t &d) const
{
    bool first = 0 != (choice(d) >> d.rail & 1);
    for_each_rail(choice(d), [&](std::size_t i) {
        first = first && d.arrival_ns[d.rail] <= d.arrival_ns[i] + kRounding;
    });
    return first;
}

} // namespace fsbml::sim
