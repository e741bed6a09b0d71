// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Minimum costs of a message, on each resource and rail.
#ifndef FSBML_SIM_BOUND_COSTS_HPP
#define FSBML_SIM_BOUND_COSTS_HPP

#include "bound.hpp"

#include <map>
#include <utility>
#include <vector>

namespace fsbml::sim::bound
{

// Picoseconds: at 2^53 of them, 2.5 h, a double still tells one from the next.
using Ps = double;

// A message of `bytes` for a peer that the rails in `rails` reach. If a share f of it takes rail r, that rail
// is busy for at least f * gap[r], however the message is cut: f * s bytes in pieces of x bytes cost
// f * s * gap(x) / x, and gap(x) / x is least at an end of a straight piece. The same holds for overheads.
struct Kind {
    std::uint64_t bytes = 0;
    std::uint32_t rails = 0; // none: within a node, where it costs nothing
    bool cut = false;        // it may be
    std::vector<Ps> gap, out, in;
    std::vector<Ps> first_out, first_in, first_gap; // of the smallest piece there may be
    Ps least_out = 0;                               // of all rails
    Ps least_in = 0;
    Ps idle = 0; // from the begin of the first o_s to the end of the last o_r, all to itself
};

struct RailCosts {
    Ps latency = 0, gap1 = 0, burst = 0;
};

class Costs
{
public:
    Costs(const Cluster &cluster, const BoundOptions &options);

    std::uint32_t kind(std::uint64_t bytes, std::uint32_t rails);
    const Kind &operator[](std::uint32_t kind) const { return kinds_[kind]; }
    const RailCosts &rail(std::size_t r) const { return rails_[r]; }
    std::size_t rails() const { return rails_.size(); }
    std::size_t kinds() const { return kinds_.size(); }

    // The same with time running back: receivers then send.
    Costs reversed() const;

private:
    void fill_in(Kind &kind) const;

    std::vector<fsbml_loggp_t> real_; // at the best factor
    std::vector<RailCosts> rails_;
    BoundOptions options_;
    std::vector<Kind> kinds_;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> index_;
};

// Rails, as bits, that each node has. Throws std::invalid_argument.
std::vector<std::uint32_t> rails_of_nodes(const Cluster &cluster);

} // namespace fsbml::sim::bound

#endif
