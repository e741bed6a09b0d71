// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "mailbox.hpp"

namespace fsbml::sim::engine
{

namespace
{

std::uint64_t pair_of(std::uint32_t from, std::uint32_t to)
{
    return std::uint64_t{from} << 32 | to;
}

} // namespace

std::uint32_t Mailbox::open(std::uint32_t from, std::uint32_t to, std::uint32_t fragments)
{
    const auto next = static_cast<std::uint32_t>(channels_.size());
    const std::uint32_t channel = channel_of_.try_emplace(pair_of(from, to), next).first->second;
    if (next == channel) {
        channels_.emplace_back();
    }
    const std::uint32_t id = messages_.take();
    Message &m = messages_[id];
    m.to = to;
    m.channel = channel;
    m.missing = fragments;
    m.number = sent_++;
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
    if (0 != --m.missing) {
        return false;
    }
    ++taken_in_;
    if (channels_[m.channel].first == message) {
        make_ready(message);
    }
    return true;
}

bool Mailbox::receive(std::uint32_t rank, std::uint32_t peer)
{
    std::uint32_t message = ready_[rank].first;
    if (kAnyPeer != peer) {
        const auto channel = channel_of_.find(pair_of(peer, rank));
        message = channel_of_.end() != channel ? channels_[channel->second].first : kNone;
    }
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
    if (!channel.empty() && 0 == messages_[channel.first].missing) {
        make_ready(channel.first);
    }
}

} // namespace fsbml::sim::engine
