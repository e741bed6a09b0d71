// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Messages on their way, and those that wait for a receive: in the order of sending from each sender.
#ifndef FSBML_SIM_ENGINE_MAILBOX_HPP
#define FSBML_SIM_ENGINE_MAILBOX_HPP

#include "sim/job/workload.hpp"
#include "sim/time/pool.hpp"

#include <unordered_map>

namespace fsbml::sim::engine
{

struct Message {
    std::uint32_t next = kNone; // of the same sender to the same receiver
    std::uint32_t from = 0, to = 0, channel = 0;
    bool held = false, begun = false, answered = false; // its sender holds the rest; the first one is here
    std::uint32_t missing = 0;                          // fragments
    std::uint32_t ready_before = kNone, ready_next = kNone; // in the receiver's list
    std::uint64_t number = 0;                               // in the order of sending of all
};

class Mailbox
{
public:
    explicit Mailbox(std::size_t ranks) : ready_(ranks) {}

    // A message of n fragments is sent; one without fragments is there at once.
    std::uint32_t open(std::uint32_t from, std::uint32_t to, std::uint32_t fragments);
    // A fragment has been taken in. True if it was the message's last one.
    bool fragment(std::uint32_t message);
    // Its sender has sent the first of its fragments, and awaits an answer for the others.
    void hold(std::uint32_t message) { messages_[message].held = true; }
    // The message that a receive has found, if it awaits an answer: then it does so no more. Else kNone.
    std::uint32_t to_answer(std::uint32_t rank, std::uint32_t peer);

    // A receive: takes the next message from that peer, or from any rank, if it is whole.
    bool receive(std::uint32_t rank, std::uint32_t peer);

    const Message &operator[](std::uint32_t message) { return messages_[message]; }
    std::uint64_t sent() const { return sent_; }
    std::uint64_t taken_in() const { return taken_in_; }

private:
    // The one that a receive finds: the next of its sender, and whole, or the first fragment of a pending
    // one.
    std::uint32_t found(std::uint32_t rank, std::uint32_t peer) const;
    bool can_be_found(std::uint32_t message);
    void make_ready(std::uint32_t message); // the next of its sender to be received, and can be found
    void take(std::uint32_t message);

    Pool<Message> messages_;
    std::unordered_map<std::uint64_t, std::uint32_t> channel_of_; // by sender and receiver
    std::vector<List> channels_;                                  // what has not been received
    std::vector<List> ready_;                                     // by receiver, in the order of getting so
    std::uint64_t sent_ = 0, taken_in_ = 0;
};

} // namespace fsbml::sim::engine

#endif
