// Rank 0 and one other exchange messages over a BTL; all other ranks wait.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "peer.hpp"

#include <vector>

namespace fsbml::bench
{

class Pair
{
public:
    // `peer`: the other one; null on all other ranks.
    Pair(const Session &session, Peer *peer) : session_(session), peer_(peer) {}

    bool leads() const { return peer_ != nullptr && session_.rank() == 0; }
    bool mirrors() const { return peer_ != nullptr && session_.rank() != 0; }
    Peer &peer() const { return *peer_; }

    // Each message there, and one like it back. Returns the time of one way in us (leader).
    double trips(const std::vector<Message> &messages);
    // All messages there, then one short answer. Returns the time in s (leader).
    double burst(const std::vector<Message> &messages);

    // The same, once, with messages of these slots, and every byte checked. All ranks must call it.
    void check_trips(Outgoing &out, const std::vector<int> &slots, Path path, bool callback = false);
    void check_burst(Outgoing &out, Path path, bool callback = false);

private:
    void require(const Inbox &inbox, std::uint32_t round, const Outgoing &out) const;

    const Session &session_;
    Peer *peer_;
    Outgoing answer_{1};
};

} // namespace fsbml::bench
