// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What sending, receiving and the paths of a peer have in common.
#ifndef FSBML_PEER_HPP
#define FSBML_PEER_HPP

#include "delivery/path/incoming.hpp"
#include "delivery/path/outgoing.hpp"

#include <memory>

namespace fsbml
{

// A path: both directions, and by which link its answers go.
struct Way {
    Outgoing out;
    Incoming in;
    std::uint64_t heard = 0; // when a frame came by it last; 0: none has
    std::uint8_t reply = 0;  // the path by which the last question about it came
};

// Of both ends, as frames name it.
struct Connection {
    std::uint64_t out_direction, in_direction;
    std::uint64_t out_identity, in_identity;
    std::uint64_t in_data; // address of data frames to this end (frame::kAddress)
    std::uint16_t own_handle, peer_handle;
};

constexpr std::uint32_t bit(std::uint32_t path) noexcept
{
    return std::uint32_t{1} << path;
}

struct Peer {
    Peer(const fsbml_delivery_limits_t &l, const fsbml_delivery_peer_t &peer);

    void at(std::uint64_t time) noexcept { due = time < due ? time : due; }
    // What of a path others see.
    void refresh(std::uint32_t path) noexcept
    {
        const Outgoing &out = ways[path].out;
        takes = (takes & ~bit(path)) | (out.takes() ? bit(path) : 0);
        asking = (asking & ~bit(path)) | (out.carries() && out.is_asked() ? bit(path) : 0);
    }

    const fsbml_delivery_limits_t &limits;
    const std::uint32_t n;
    const std::unique_ptr<Way[]> ways;
    Connection connection;
    std::uint64_t due = FSBML_DELIVERY_NEVER;
    std::uint32_t takes = 0;  // paths that take messages
    std::uint32_t half = 0;   // paths whose acknowledgement may go with a message
    std::uint32_t asking = 0; // paths about which the peer was asked
    bool work = false;        // there may be an action
    fsbml_delivery_counters_t counters{};
};

} // namespace fsbml

#endif
