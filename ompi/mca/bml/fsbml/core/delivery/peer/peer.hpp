// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Each message to a peer and from it exactly once, while paths die and come back: Delivery (delivery.cpp),
// and what it is made of.
#ifndef FSBML_DELIVERY_PEER_HPP
#define FSBML_DELIVERY_PEER_HPP

#include "api/fsbml_delivery.h"
#include "delivery/path/path.hpp"

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

// What sending, receiving and the paths of a peer have in common.
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
    std::uint32_t rides = 0;  // paths whose acknowledgement may go with a message
    std::uint32_t asking = 0; // paths about which the peer was asked
    bool work = false;        // there may be an action
    bool released = false;    // there may be messages that are acknowledged
    fsbml_delivery_counters_t counters{};
};

// How far the newest message to a peer may be ahead of the oldest that is not acknowledged.
class Lead
{
public:
    // Of the next message: its order, and the bytes before it; both wrap around.
    std::uint32_t order() const noexcept { return order_; }
    std::uint32_t behind() const noexcept { return behind_; }

    bool has_room(std::uint32_t bytes, const fsbml_delivery_limits_t &l) const noexcept
    {
        const std::uint32_t messages = order_ - oldest_order_, ahead = behind_ - oldest_behind_;
        return 0 == messages || (messages < l.lead_messages && std::uint64_t{ahead} + bytes <= l.lead_bytes);
    }
    void oldest(std::uint32_t order, std::uint32_t behind) noexcept
    {
        oldest_order_ = order;
        oldest_behind_ = behind;
    }
    void add(std::uint32_t bytes) noexcept
    {
        ++order_;
        behind_ += bytes;
    }
    // The message was not sent; it counts no more if it was the last one.
    void take_back(std::uint32_t order, std::uint32_t bytes) noexcept
    {
        if (order_ - 1 == order) {
            --order_;
            behind_ -= bytes;
        }
    }

private:
    std::uint32_t order_ = 0, behind_ = 0;
    std::uint32_t oldest_order_ = 0, oldest_behind_ = 0; // of the oldest, or of one that was older
};

// sender.cpp: messages to a peer: numbered for a path, kept until they are acknowledged, and sent again by
// another path if theirs was closed.
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

// receiver.cpp: frames from a peer. Nothing in them is believed that the peer cannot mean: it is counted, and
// has no effect.
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

// ---- Control frames: of what the paths want to say, as much as goes by one of them in one frame.

// True if some path wants to say something, and there is a connection for it.
bool control_next(Way *ways, std::uint32_t n, const Connection &c, fsbml_delivery_action_t *out) noexcept;
// The frame was not sent: its records are wanted again.
void control_unsent(Way *ways, std::uint32_t n, const fsbml_delivery_action_t &action) noexcept;

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
class Delivery
{
public:
    Delivery(const fsbml_delivery_limits_t &limits, const fsbml_delivery_peer_t &peer)
        : peer_(limits, peer), sender(peer_), receiver(peer_, sender)
    {
    }

    void peer_handle(std::uint16_t handle) noexcept { peer_.connection.peer_handle = handle; }
    std::uint32_t paths() const noexcept { return peer_.takes; }
    void path_up(std::uint32_t path, std::uint64_t now) noexcept;
    void path_failed(std::uint32_t path, std::uint64_t now) noexcept;
    void path_doubtful(std::uint32_t path, std::uint64_t now) noexcept;
    void path_cut(std::uint32_t path, std::uint64_t now) noexcept;

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
