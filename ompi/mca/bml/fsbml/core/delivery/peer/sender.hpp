// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Messages to a peer: numbered for a path, kept until they are acknowledged, and sent again by another path
// if theirs was closed.
#ifndef FSBML_SENDER_HPP
#define FSBML_SENDER_HPP

#include "delivery/peer/lead.hpp"
#include "delivery/peer/peer.hpp"

namespace fsbml
{

class Sender
{
public:
    explicit Sender(Peer &peer) noexcept : peer_(peer) {}
    Sender(const Sender &) = delete;
    Sender &operator=(const Sender &) = delete;

    int send(std::uint32_t path, std::uint64_t now, std::uint64_t predicted_ns, Message &m,
             fsbml_delivery_seal_t &seal) noexcept;
    int refused(std::uint64_t now, const fsbml_delivery_seal_t &seal) noexcept;
    Message *waiting() noexcept;
    int resend(std::uint32_t path, std::uint64_t now, std::uint64_t predicted_ns,
               fsbml_delivery_seal_t &seal) noexcept;

    // Forgets numbers without a message that are acknowledged, up to the first message.
    void settle(std::uint32_t path) noexcept;
    void settle_orphans() noexcept;
    // Takes such a message.
    bool release(fsbml_delivery_action_t &out) noexcept;

    Kept &orphans() noexcept { return orphans_; }
    const Kept &orphans() const noexcept { return orphans_; }

private:
    void look_for_oldest() noexcept;
    bool has_room(std::uint32_t bytes) noexcept
    {
        if (!lead_.has_room(bytes, peer_.limits)) {
            look_for_oldest();
        }
        return lead_.has_room(bytes, peer_.limits);
    }
    void number(std::uint32_t path, std::uint64_t now, std::uint64_t predicted_ns, Message &m,
                fsbml_delivery_seal_t &seal) noexcept;
    void seal_up(std::uint32_t path, const Message &m, fsbml_delivery_seal_t &seal) noexcept;
    bool forget(Kept &kept, Message &m) noexcept;

    Peer &peer_;
    Lead lead_;
    Kept orphans_; // of closed generations: to be sent again
};

} // namespace fsbml

#endif
