// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "btl.hpp"

#include <cmath>
#include <csignal>
#include <unistd.h>

namespace fsbml::bench
{

namespace
{

extern "C" void give_up(int)
{
    static const char text[] = "btl: no event came in time; a peer is silent\n";
    const ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void) written;
    _exit(1);
}

} // namespace

Peer::Peer(const Session &session, int rank, int entry, double patience)
    : session_(session), rank_(rank), patience_(patience), peer_(port_connect(rank, entry, &about_))
{
    if (!peer_) {
        session.wrong("rank " + std::to_string(rank) + " has no BTL " + std::to_string(entry));
    }
}

// Reads the clock at few turns only: a short wait, which may be what is measured, costs nothing but progress.
template <typename Done>
unsigned Peer::wait(Done done, const char *what)
{
    double start = 0;
    unsigned turns = 0;
    while (!done()) {
        port_progress();
        ++turns;
        if (port_failures() != 0) {
            session_.wrong("sending to rank " + std::to_string(rank_) + " failed: " + port_error());
        }
        if (turns % 64 != 0) {
            continue;
        }
        const double now = MPI_Wtime();
        start = start == 0 ? now : start;
        if (now - start > patience_) {
            session_.wrong("rank " + std::to_string(rank_) + " has been silent for "
                           + std::to_string(static_cast<long>(std::lround(patience_))) + " s (" + what + ")");
        }
    }
    return turns;
}

int Peer::try_to_send(const Message &message)
{
    switch (message.path) {
    case Path::memory:
        return port_send_memory(peer_.get(), message.memory, message.layout, message.bytes, message.callback);
    case Path::immediate:
        return port_send_immediate(peer_.get(), message.memory, message.bytes);
    default:
        return port_send(peer_.get(), message.memory, message.bytes, message.callback);
    }
}

void Peer::send(const Message &message)
{
    wait(
        [&] {
            const int outcome = try_to_send(message);
            if (outcome == PORT_FAILED) {
                session_.wrong("sending " + std::to_string(message.bytes) + " bytes to rank "
                               + std::to_string(rank_) + " failed: " + port_error());
            }
            return outcome == PORT_TAKEN;
        },
        "its BTL takes no message");
}

unsigned Peer::receive(int count, std::size_t bytes)
{
    messages_ += static_cast<std::uint64_t>(count);
    bytes_ += static_cast<std::uint64_t>(count) * bytes;
    const unsigned turns = wait([&] { return port_messages(rank_) >= messages_; }, "a message was due");
    if (port_messages(rank_) != messages_ || port_bytes(rank_) != bytes_) {
        session_.wrong("from rank " + std::to_string(rank_) + " came " + std::to_string(port_messages(rank_))
                       + " messages of " + std::to_string(port_bytes(rank_)) + " bytes in all, not "
                       + std::to_string(messages_) + " of " + std::to_string(bytes_));
    }
    return turns;
}

void Peer::drain()
{
    wait([] { return port_pending() == 0; }, "its BTL does not complete what was sent");
}

// Only a signal ends a wait for an event that does not come.
Blocking::Blocking(double patience)
{
    std::signal(SIGALRM, give_up);
    alarm(static_cast<unsigned>(std::ceil(patience)));
    port_block(1);
}

Blocking::~Blocking()
{
    port_block(0);
    alarm(0);
}

} // namespace fsbml::bench
