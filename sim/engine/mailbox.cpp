// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "engine.hpp"

namespace fsbml::sim::engine
{

namespace
{

std::uint64_t pair_of(std::uint32_t from, std::uint32_t to)
{
    return std::uint64_t{from} << 32 | to;
}

} // namespace

std::uint32_t Mailbox::open(std::uint32_t from, std::uint32_t to, std::uint32_t fragments,
                            std::uint64_t bytes)
{
    const auto next = static_cast<std::uint32_t>(channels_.size());
    const std::uint32_t channel = channel_of_.try_emplace(pair_of(from, to), next).first->second;
    if (next == channel) {
        channels_.emplace_back();
    }
    const std::uint32_t id = messages_.take();
    Message &m = messages_[id];
    m.from = from;
    m.to = to;
    m.channel = channel;
    m.missing = fragments;
    m.number = sent_++;
    m.bytes = bytes;
    channels_[channel].push(messages_, id);
    if (0 == fragments) {
        ++taken_in_;
        if (channels_[channel].first == id) {
            make_ready(id);
        }
    }
    return id;
}

bool Mailbox::fragment(std::uint32_t message)
{
    Message &m = messages_[message];
    const bool could = can_be_found(message);
    m.begun = true;
    --m.missing;
    if (!could && can_be_found(message) && channels_[m.channel].first == message) {
        make_ready(message);
    }
    if (0 != m.missing) {
        return false;
    }
    ++taken_in_;
    return true;
}

bool Mailbox::can_be_found(std::uint32_t message)
{
    const Message &m = messages_[message];
    return m.held ? m.begun : 0 == m.missing;
}

std::uint32_t Mailbox::found(std::uint32_t rank, std::uint32_t peer) const
{
    if (kAnyPeer == peer) {
        return ready_[rank].first;
    }
    const auto channel = channel_of_.find(pair_of(peer, rank));
    return channel_of_.end() != channel ? channels_[channel->second].first : kNone;
}

std::uint32_t Mailbox::to_answer(std::uint32_t rank, std::uint32_t peer)
{
    const std::uint32_t message = found(rank, peer);
    if (kNone == message || !messages_[message].held || !messages_[message].begun
        || messages_[message].answered) {
        return kNone;
    }
    messages_[message].answered = true;
    return message;
}

bool Mailbox::receive(std::uint32_t rank, std::uint32_t peer)
{
    const std::uint32_t message = found(rank, peer);
    if (kNone == message || 0 != messages_[message].missing) {
        return false;
    }
    take(message);
    return true;
}

void Mailbox::make_ready(std::uint32_t message)
{
    Message &m = messages_[message];
    List &list = ready_[m.to];
    m.ready_before = list.last;
    m.ready_next = kNone;
    (list.empty() ? list.first : messages_[list.last].ready_next) = message;
    list.last = message;
}

void Mailbox::take(std::uint32_t message)
{
    const Message m = messages_[message];
    List &list = ready_[m.to];
    (kNone == m.ready_before ? list.first : messages_[m.ready_before].ready_next) = m.ready_next;
    (kNone == m.ready_next ? list.last : messages_[m.ready_next].ready_before) = m.ready_before;
    List &channel = channels_[m.channel];
    channel.pop(messages_);
    messages_.give_back(message);
    if (!channel.empty() && can_be_found(channel.first)) {
        make_ready(channel.first);
    }
}

} // namespace fsbml::sim::engine
