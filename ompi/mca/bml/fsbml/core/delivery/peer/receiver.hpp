// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Frames from a peer. Nothing in them is believed that the peer cannot mean: it is counted, and has no
// effect.
#ifndef FSBML_RECEIVER_HPP
#define FSBML_RECEIVER_HPP

#include "delivery/peer/sender.hpp"

namespace fsbml
{

class Receiver
{
public:
    Receiver(Peer &peer, Sender &sender) noexcept : peer_(peer), sender_(sender) {}

    int arrived(std::uint32_t link, std::uint64_t now, const std::uint8_t *at, std::size_t bytes,
                fsbml_delivery_arrival_t &out) noexcept;

private:
    int other(std::uint32_t link, std::uint64_t now, const std::uint8_t *at, std::size_t bytes,
              fsbml_delivery_arrival_t &out) noexcept;
    int data(std::uint64_t now, const frame::Record &r, std::size_t bytes) noexcept;
    int control(std::uint32_t link, std::uint64_t now, const std::uint8_t *at, std::size_t bytes) noexcept;
    bool record(std::uint32_t link, std::uint64_t now, const frame::Record &r, std::uint64_t bits) noexcept;
    bool close(std::uint32_t link, std::uint64_t now, const frame::Record &r) noexcept;
    bool is_for_this(std::uint64_t word, const frame::Record &r) const noexcept
    {
        return frame::is_this_version(word) && r.handle == peer_.connection.own_handle && r.path < peer_.n;
    }
    bool believe(Outgoing::Word word) noexcept;
    bool late(bool is_late) noexcept;

    Peer &peer_;
    Sender &sender_;
};

} // namespace fsbml

#endif
