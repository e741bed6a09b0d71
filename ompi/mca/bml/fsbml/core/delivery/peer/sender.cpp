// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "delivery/peer/peer.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

namespace fsbml
{

namespace
{

using frame::Kind;

constexpr std::uint64_t kMostPredictedNs = 1'000'000'000'000;

} // namespace

// What is believed to be the oldest message may be gone.
void Sender::look_for_oldest() noexcept
{
    std::uint32_t order = lead_.order(), behind = lead_.behind();
    const auto look = [&](const Kept &kept) {
        std::uint32_t its_order = 0, its_behind = 0;
        if (kept.count() > 0) {
            kept.oldest(&its_order, &its_behind);
            if (frame::before(its_order, order)) {
                order = its_order;
                behind = its_behind;
            }
        }
    };
    for (std::uint32_t i = 0; i < peer_.n; ++i) {
        look(peer_.ways[i].out.kept);
    }
    look(orphans_);
    lead_.oldest(order, behind);
}

// The header of a message's frame, with an acknowledgement if one may go with it.
__attribute__((always_inline)) inline void Sender::seal_up(std::uint32_t path, const Message &m,
                                                           fsbml_delivery_seal_t &seal) noexcept
{
    const std::uint8_t generation = peer_.ways[path].out.generation();
    std::uint8_t *header = seal.header;
    if (0 != peer_.rides) {
        const auto about = static_cast<std::uint8_t>(__builtin_ctz(peer_.rides));
        Incoming &in = peer_.ways[about].in;
        frame::put(header, frame::word_of({Kind::kAck, 0, peer_.connection.peer_handle, about,
                                           in.generation(), in.next()}));
        header += frame::kWord;
        in.acknowledged();
        peer_.rides &= ~bit(about);
    }
    const auto on = static_cast<std::uint8_t>(path);
    frame::put(header,
               frame::word_of({Kind::kData, m.tag, peer_.connection.peer_handle, on, generation, m.number}));
    seal.bytes = static_cast<std::uint8_t>(header - seal.header + static_cast<std::ptrdiff_t>(frame::kWord));
    seal.path = on;
    seal.generation = generation;
    seal.number = m.number;
}

// Gives a message the next number of its path, and its frame a header.
__attribute__((always_inline)) inline void Sender::number(std::uint32_t path, std::uint64_t now,
                                                          std::uint64_t predicted_ns, Message &m,
                                                          fsbml_delivery_seal_t &seal) noexcept
{
    Outgoing &out = peer_.ways[path].out;
    const std::uint64_t patience =
        std::max(peer_.limits.suspect_ns, 3 * std::min(predicted_ns, kMostPredictedNs));
    m.due = static_cast<std::uint32_t>((now + patience) >> 16);
    m.number = out.next();
    out.kept.append(m);
    if (0 == out.under_way()) {
        peer_.at(now + peer_.limits.suspect_ns);
    }
    out.number(now);
    if (!out.takes()) {
        peer_.takes &= ~bit(path);
    }
    seal_up(path, m, seal);
}

int Sender::send(std::uint32_t path, std::uint64_t now, std::uint64_t predicted_ns, Message &m,
                 fsbml_delivery_seal_t &seal) noexcept
{
    if (path >= peer_.n) {
        return -EINVAL;
    }
    if (0 == (peer_.takes & bit(path))) {
        return -ENETDOWN;
    }
    if (!has_room(m.bytes)) {
        return -EAGAIN;
    }
    m.order = lead_.order();
    m.behind = lead_.behind();
    m.flags = 0;
    number(path, now, predicted_ns, m, seal);
    lead_.add(m.bytes);
    ++peer_.counters.sent;
    return 0;
}

int Sender::refused(std::uint64_t now, const fsbml_delivery_seal_t &seal) noexcept
{
    const bool has_ack = seal.bytes > frame::kWord; // which was not sent, either
    const frame::Record ack = frame::record_of(frame::get(seal.header));
    if (seal.path >= peer_.n || (has_ack && ack.path >= peer_.n)) {
        return -EINVAL;
    }
    if (has_ack && ack.generation == peer_.ways[ack.path].in.generation()) {
        peer_.ways[ack.path].in.wants |= Incoming::kAck;
        peer_.work = true;
    }
    Outgoing &out = peer_.ways[seal.path].out;
    if (seal.generation != out.generation()) {
        return 1; // closed since: it is among those that are to be sent again
    }
    Message *m = out.kept.back();
    const bool is_last =
        nullptr != m && m->number == seal.number && static_cast<std::uint16_t>(seal.number + 1) == out.next();
    if (!is_last) {
        m = nullptr;
        out.kept.each([&](Message &one) {
            m = one.number == seal.number && !out.is_acked(one) ? &one : nullptr;
            return nullptr == m;
        });
    }
    if (nullptr == m || is(*m, Mark::kVoid)) {
        return -EINVAL;
    }
    const bool again = is(*m, Mark::kAgain);
    if (is_last) {
        if (!again) {
            lead_.take_back(m->order, m->bytes);
        }
        out.kept.take(*m);
        out.take_back();
    } else {
        Message *const hole = new (std::nothrow) Message;
        if (nullptr == hole) {
            out.suspect(now, peer_.limits); // then all that is under way comes back, and this
            peer_.at(now);
            peer_.refresh(seal.path);
            return 1;
        }
        out.kept.hollow(*m, *hole);
        out.voided();
        peer_.work = true;
    }
    if (again) {
        orphans_.append(*m);
    }
    peer_.counters.sent -= again ? 0 : 1;
    peer_.counters.sent_again -= again ? 1 : 0;
    peer_.refresh(seal.path);
    return again ? 1 : 0;
}

Message *Sender::waiting() noexcept
{
    settle_orphans();
    Message *const first = orphans_.front();
    return nullptr == first || is(*first, Mark::kDone) ? nullptr : first;
}

int Sender::resend(std::uint32_t path, std::uint64_t now, std::uint64_t predicted_ns,
                   fsbml_delivery_seal_t &seal) noexcept
{
    if (path >= peer_.n) {
        return -EINVAL;
    }
    Message *const m = waiting();
    if (nullptr == m) {
        return -ENOENT;
    }
    if (0 == (peer_.takes & bit(path))) {
        return -ENETDOWN;
    }
    orphans_.take(*m);
    m->flags = bits(Mark::kAgain);
    number(path, now, predicted_ns, *m, seal);
    settle_orphans();
    ++peer_.counters.sent_again;
    return 0;
}

// Forgets numbers without a message, up to the first message that the caller must be told of.
void Sender::settle(std::uint32_t path) noexcept
{
    Outgoing &out = peer_.ways[path].out;
    for (Message *m = out.kept.front(); nullptr != m && out.is_acked(*m); m = out.kept.front()) {
        if (!forget(out.kept, *m)) {
            return;
        }
    }
}

void Sender::settle_orphans() noexcept
{
    for (Message *m = orphans_.front(); nullptr != m && is(*m, Mark::kDone); m = orphans_.front()) {
        if (!forget(orphans_, *m)) {
            return;
        }
    }
}

// False: the caller must be told.
bool Sender::forget(Kept &kept, Message &m) noexcept
{
    if (!is(m, Mark::kVoid)) {
        peer_.released = true;
        return false;
    }
    kept.take(m);
    delete &m;
    return true;
}

bool Sender::release(fsbml_delivery_action_t &out) noexcept
{
    for (std::uint32_t i = 0; i < peer_.n; ++i) {
        settle(i);
        Kept &kept = peer_.ways[i].out.kept;
        Message *const m = kept.front();
        if (nullptr != m && peer_.ways[i].out.is_acked(*m)) {
            out = {FSBML_DELIVERY_RELEASE, i, 0, m, 0, {}};
            kept.take(*m);
            peer_.refresh(i);
            return true;
        }
    }
    settle_orphans();
    Message *const m = orphans_.front();
    if (nullptr == m || !is(*m, Mark::kDone)) {
        return false;
    }
    out = {FSBML_DELIVERY_RELEASE, 0, 0, m, 0, {}};
    orphans_.take(*m);
    return true;
}

} // namespace fsbml
