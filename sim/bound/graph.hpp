// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a workload's processes do, with each receive knowing its message; and the same with time running back.
#ifndef FSBML_SIM_BOUND_GRAPH_HPP
#define FSBML_SIM_BOUND_GRAPH_HPP

#include "costs.hpp"

namespace fsbml::sim::bound
{

constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Message {
    std::uint32_t from = 0, to = 0, kind = 0;
    std::uint32_t send_step = 0, receive_step = kNone; // kNone: taken by an `any`, or by none
    std::uint32_t run = 0;                             // of sends with nothing between them, of its sender
    std::uint32_t before = kNone;                      // the one before it from the same to the same process
    std::uint32_t answers = kNone; // the last that its sender has from its receiver, when it sends it
};

struct Step {
    enum class Kind : std::uint8_t {
        send,    // its message may begin, then `time` of the processor
        receive, // `time` of the processor, and not before its message is there
        any,     // one more message is there
        release, // what an `any` took: its messages may begin, back in time
        compute, // `time` of the processor
        until,   // not before `time`
    };
    Kind kind = Kind::compute;
    std::uint32_t message = kNone;
    Ps time = 0;
};

struct Graph {
    std::uint32_t nodes = 0, ranks_per_node = 1;
    bool backward = false;
    std::vector<std::vector<Step>> process;
    std::vector<Message> messages;
    std::vector<std::vector<std::uint32_t>> loose; // by process: messages to it that no `receive` names

    std::uint32_t node(std::uint32_t rank) const { return rank % nodes; }
};

// Adds the kinds of messages to `costs`. Throws as lower_bound() does.
Graph graph_of(const Cluster &cluster, const Workload &workload, Costs &costs);

// Sends are receives of the same messages, from the last one on. Where `any` took some, all of them begin
// with the first of these (which was the last). `until` has no meaning.
Graph reversed(const Graph &graph);

} // namespace fsbml::sim::bound

#endif
