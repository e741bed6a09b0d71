// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Clusters and workloads by hand, for the tests of lower bounds.
#ifndef FSBML_TESTS_SIM_BOUND_JOB_HPP
#define FSBML_TESTS_SIM_BOUND_JOB_HPP

#include "sim/bound/bound.hpp"
#include "workloads.hpp"

#include <utility>
#include <vector>

namespace fsbml::sim
{

inline RailSpec rail(double L, double o_s, double o_r, double g, double G)
{
    RailSpec spec;
    spec.name = "rail";
    spec.real = {L, o_s, o_r, g, G, 0, 0, 0, 0, 0, 0};
    spec.believed = spec.real;
    return spec;
}

inline Cluster cluster(std::uint32_t nodes, std::vector<RailSpec> rails)
{
    Cluster c;
    c.nodes = nodes;
    c.rails = std::move(rails);
    return c;
}

inline Op compute(double ns)
{
    return {Op::Kind::compute, 0, 0, static_cast<Time>(ns * kPsPerNs)};
}

inline Workload workload(std::vector<std::vector<Op>> process)
{
    return {"test", std::move(process)};
}

constexpr BoundOptions kUncut{kWhole, 0};

} // namespace fsbml::sim

#endif
