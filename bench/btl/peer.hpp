// Sending to and receiving from one peer over one BTL; every wait is bounded in time.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "message.hpp"
#include "port.h"
#include "tools/session/session.hpp"

#include <memory>

namespace fsbml::bench
{

class Peer
{
public:
    // Ends the job if the entry does not exist. `patience` in seconds: a peer that is silent for longer ends
    // the job.
    Peer(const Session &session, int rank, int entry, double patience);

    int rank() const { return rank_; }
    const port_entry_t &about() const { return about_; }

    // Returns when the BTL has taken the message.
    void send(const Message &message);
    // Returns when `count` more messages of `bytes` bytes each have come: the calls of progress that it took.
    // No more than these may be under way.
    unsigned receive(int count, std::size_t bytes);
    // Returns when the BTL is done with all that this process sent.
    void drain();

private:
    struct Disconnect {
        void operator()(port_peer_t *peer) const { port_disconnect(peer); }
    };

    // Returns the calls of progress until done() was true.
    // Returns the calls of progress until done() was true.
    template <typename Done>
    unsigned wait(Done done, const char *what);
    int try_to_send(const Message &message);

    const Session &session_;
    int rank_;
    double patience_;
    port_entry_t about_{};
    std::unique_ptr<port_peer_t, Disconnect> peer_;
    std::uint64_t messages_ = 0; // that receive() was called for
    std::uint64_t bytes_ = 0;
};

// While it lives, progress waits for events. What is silent for longer than `patience` seconds then, ends the
// job.
class Blocking
{
public:
    explicit Blocking(double patience);
    ~Blocking();
    Blocking(const Blocking &) = delete;
    Blocking &operator=(const Blocking &) = delete;
};

} // namespace fsbml::bench
