// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// One peer: each message to it and from it exactly once, also while paths die and come back. No clock, no
// I/O: it is told what was sent, what came in and what time it is, and answers what is to be sent and done.
//
// Each path has a generation and numbers its messages. A path keeps their order, so an acknowledgement is one
// number, and no set of what was seen is needed. When a path is suspected, no more is given to it, and the
// peer is told by another one to close the generation. The peer drops what comes of it later, and answers
// what has arrived; the rest is sent again elsewhere. So nothing is lost and nothing comes twice, and a false
// suspicion costs what was under way.
//
// Everything is bounded: messages and bytes beyond the oldest one that is not acknowledged (the upper layer
// numbers its messages with 16 bits, and keeps what is out of order), numbers under way on a path. Control
// frames are no queue, but bits of what is to be said.
#ifndef FSBML_DELIVERY_HPP
#define FSBML_DELIVERY_HPP

#include "delivery/peer/receiver.hpp"

namespace fsbml
{

class Delivery
{
public:
    Delivery(const fsbml_delivery_limits_t &limits, const fsbml_delivery_peer_t &peer)
        : peer_(limits, peer), sender(peer_), receiver(peer_, sender)
    {
    }

    std::uint32_t paths() const noexcept { return peer_.takes; }
    void path_up(std::uint32_t path, std::uint64_t now) noexcept;
    void path_failed(std::uint32_t path, std::uint64_t now) noexcept;
    void path_doubtful(std::uint32_t path, std::uint64_t now) noexcept;

    std::uint64_t due() const noexcept { return peer_.due; }
    bool tick(std::uint64_t now) noexcept;
    bool next(std::uint64_t now, fsbml_delivery_action_t &out) noexcept;
    void unsent(std::uint64_t now, const fsbml_delivery_action_t &action) noexcept;

    void flush() noexcept;
    bool idle() const noexcept;
    const fsbml_delivery_counters_t &counters() const noexcept { return peer_.counters; }
    std::size_t bytes() const noexcept;

private:
    Peer peer_;

public:
    Sender sender;
    Receiver receiver;

private:
    bool event(fsbml_delivery_action_t &out) noexcept;
    void look_for_paths(std::uint64_t now) noexcept;
    std::uint64_t heard_elsewhere(std::uint32_t path) const noexcept;

    std::uint64_t alone_since_ = FSBML_DELIVERY_NEVER; // no path takes messages
    bool was_up_ = false;                              // some path did
    bool is_stranded_ = false, tell_ = false;          // that lasts for too long; to be told
};

} // namespace fsbml

#endif
