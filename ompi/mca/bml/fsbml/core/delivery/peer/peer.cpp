// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "delivery/peer/peer.hpp"

namespace fsbml
{

Peer::Peer(const fsbml_delivery_limits_t &l, const fsbml_delivery_peer_t &peer)
    : limits(l), n(peer.paths), ways(new Way[peer.paths])
{
    connection.out_direction = frame::direction(peer.own_life, peer.peer_life);
    connection.in_direction = frame::direction(peer.peer_life, peer.own_life);
    connection.own_handle = peer.own_handle;
    connection.peer_handle = peer.peer_handle;
    connection.out_identity = frame::identity(connection.out_direction);
    connection.in_identity = frame::identity(connection.in_direction);
    connection.in_data = frame::word_of({frame::Kind::kData, 0, peer.own_handle, 0, 0, 0});
    for (std::uint32_t i = 0; i < n; ++i) {
        ways[i].out.begin(connection.out_direction, static_cast<std::uint8_t>(i));
        ways[i].in.begin(connection.in_direction, static_cast<std::uint8_t>(i));
    }
}

} // namespace fsbml
