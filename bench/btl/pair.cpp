// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "btl.hpp"

namespace fsbml::bench
{

namespace
{

// Two rounds for each check: what the leader sends, and what the other does. All ranks count alike.
std::uint32_t next_round()
{
    static std::uint32_t round = 0;
    round += 2;
    return round;
}

} // namespace

double Pair::trips(const std::vector<Message> &messages)
{
    const double start = MPI_Wtime();
    if (leads()) {
        for (const Message &message : messages) {
            peer_->send(message);
            peer_->receive(1, message.bytes);
        }
    } else if (mirrors()) {
        for (const Message &message : messages) {
            peer_->receive(1, message.bytes);
            peer_->send(message);
        }
    }
    return (MPI_Wtime() - start) / (2.0 * static_cast<double>(messages.size())) * 1e6;
}

double Pair::burst(const std::vector<Message> &messages)
{
    const double start = MPI_Wtime();
    if (leads()) {
        for (const Message &message : messages) {
            peer_->send(message);
        }
        peer_->receive(1, answer_.bytes());
    } else if (mirrors()) {
        peer_->receive(static_cast<int>(messages.size()), messages.front().bytes);
        peer_->send(answer_.message(0, Path::descriptor));
    }
    return MPI_Wtime() - start;
}

void Pair::require(const Inbox &inbox, std::uint32_t round, const Outgoing &out) const
{
    if (!inbox.right(round)) {
        session_.wrong("a message of " + std::to_string(out.bytes()) + " bytes from rank "
                       + std::to_string(peer_->rank()) + " is wrong");
    }
}

// The barriers keep the messages of the check, which are copied out, apart from those before and after it.
void Pair::check_trips(Outgoing &out, const std::vector<int> &slots, Path path, bool callback)
{
    const std::uint32_t round = next_round();
    if (peer_ == nullptr) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    peer_->drain(); // what is still being sent from that memory must not change
    std::vector<Message> messages;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        out.fill(slots[i], round + (mirrors() ? 1 : 0), static_cast<std::uint32_t>(i));
        messages.push_back(out.message(slots[i], path, callback));
    }
    const Inbox inbox(peer_->rank(), out.bytes(), static_cast<int>(slots.size()));
    MPI_Barrier(MPI_COMM_WORLD);
    trips(messages);
    require(inbox, round + (leads() ? 1 : 0), out);
    MPI_Barrier(MPI_COMM_WORLD);
}

void Pair::check_burst(Outgoing &out, Path path, bool callback)
{
    const std::uint32_t round = next_round();
    if (peer_ == nullptr) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    peer_->drain();
    std::vector<Message> messages;
    for (int slot = 0; slot < out.slots(); ++slot) {
        out.fill(slot, round, static_cast<std::uint32_t>(slot));
        messages.push_back(out.message(slot, path, callback));
    }
    answer_.fill(0, round + 1, 0);
    const Outgoing &from_peer = leads() ? answer_ : out;
    const Inbox inbox(peer_->rank(), from_peer.bytes(), from_peer.slots());
    MPI_Barrier(MPI_COMM_WORLD);
    burst(messages);
    require(inbox, round + (leads() ? 1 : 0), from_peer);
    MPI_Barrier(MPI_COMM_WORLD);
}

} // namespace fsbml::bench
