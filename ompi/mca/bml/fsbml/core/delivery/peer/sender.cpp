// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "delivery/peer/sender.hpp"

#include <algorithm>
#include <cerrno>

namespace fsbml
{

namespace
{

using frame::Kind;

constexpr std::uint64_t kMostPredictedNs = 1'000'000'000'000;

} // namespace

Sender::~Sender()
{
    for (std::uint32_t i = 0; i < peer_.n; ++i) {
        peer_.ways[i].out.kept.drop(peer_.store);
    }
    orphans_.drop(peer_.store);
}

// What is believed to be the oldest message may be gone.
void Sender::look_for_oldest() noexcept
{
    std::uint32_t order = lead_.order(), behind = lead_.behind();
    const auto look = [&](Kept &kept) {
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
__attribute__((always_inline)) inline void Sender::seal_up(std::uint32_t path, const Message &record,
                                                           fsbml_delivery_seal_t &seal) noexcept
{
    const std::uint8_t generation = peer_.ways[path].out.generation();
    std::uint8_t *header = seal.header;
    if (0 != peer_.half) {
        const auto about = static_cast<std::uint8_t>(__builtin_ctz(peer_.half));
        Incoming &in = peer_.ways[about].in;
        frame::put(header, frame::word_of({Kind::kAck, 0, peer_.connection.peer_handle, about,
                                           in.generation(), in.next()}));
        header += frame::kWord;
        in.acknowledged();
        peer_.half &= ~bit(about);
    }
    const auto on = static_cast<std::uint8_t>(path);
    frame::put(header, frame::word_of({Kind::kData, record.tag, peer_.connection.peer_handle, on, generation,
                                       record.number}));
    seal.bytes = static_cast<std::uint8_t>(header - seal.header + static_cast<std::ptrdiff_t>(frame::kWord));
    seal.path = on;
    seal.generation = generation;
    seal.number = record.number;
}

// Gives a message the next number of its path, and its frame a header.
__attribute__((always_inline)) inline int Sender::number(std::uint32_t path, std::uint64_t now,
                                                         std::uint64_t predicted_ns, Message &record,
                                                         const fsbml_delivery_part_t *parts, unsigned n_parts,
                                                         void *handle, fsbml_delivery_seal_t &seal) noexcept
{
    Outgoing &out = peer_.ways[path].out;
    const std::uint64_t patience =
        std::max(peer_.store.limits.suspect_ns, 3 * std::min(predicted_ns, kMostPredictedNs));
    record.due = static_cast<std::uint32_t>((now + patience) >> 16);
    record.number = out.next();
    if (nullptr == out.kept.append(peer_.store, record, parts, n_parts, handle, record.is(Message::kAgain))) {
        return -EAGAIN;
    }
    copied_ += record.is(Message::kCopied) ? record.bytes : 0;
    if (0 == out.under_way()) {
        peer_.at(now + peer_.store.limits.suspect_ns);
    }
    out.number(now);
    if (!out.takes()) {
        peer_.takes &= ~bit(path);
    }
    seal_up(path, record, seal);
    return 0;
}

int Sender::send(std::uint32_t path, std::uint64_t now, const fsbml_delivery_message_t &m,
                 fsbml_delivery_seal_t &seal) noexcept
{
    if (path >= peer_.n) {
        return -EINVAL;
    }
    const bool is_copied = nullptr != m.parts;
    if (is_copied) {
        std::size_t left = m.bytes;
        for (unsigned i = 0; i < m.n_parts; ++i) {
            if (m.parts[i].bytes > left) {
                return -EINVAL;
            }
            left -= m.parts[i].bytes;
        }
        if (0 != left || m.bytes > peer_.store.limits.copy_max) {
            return -EINVAL;
        }
    }
    if (0 == (peer_.takes & bit(path))) {
        return -ENETDOWN;
    }
    if (!has_room(m.bytes) || (is_copied && !may_copy(m.bytes))) {
        return -EAGAIN;
    }
    Message record{m.bytes, lead_.order(), lead_.behind(), 0, 0, 0, m.tag, 0};
    record.flags = is_copied ? Message::kCopied : 0;
    const int rc = number(path, now, m.predicted_ns, record, m.parts, m.n_parts, m.handle, seal);
    if (0 == rc) {
        lead_.add(m.bytes);
        ++peer_.counters.sent;
    }
    return rc;
}

// A message that was to be sent again was refused: it is to be sent again once more.
bool Sender::keep_again(Message &m) noexcept
{
    const fsbml_delivery_part_t part{m.data(), m.bytes};
    const bool is_copied = m.is(Message::kCopied);
    if (nullptr == orphans_.append(peer_.store, m, &part, 1, is_copied ? nullptr : m.handle(), true)) {
        return false;
    }
    copied_ += is_copied ? m.bytes : 0;
    return true;
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
    if (nullptr == m || m->is(Message::kVoid)) {
        return -EINVAL;
    }
    const bool again = m->is(Message::kAgain);
    if (again && !keep_again(*m)) {
        out.suspect(now, peer_.store.limits); // then all that is under way comes back, and this
        peer_.at(now);
        peer_.refresh(seal.path);
        return 1;
    }
    if (is_last) {
        if (!again) {
            lead_.take_back(m->order, m->bytes);
        }
        copied_ -= m->is(Message::kCopied) ? m->bytes : 0;
        out.kept.pop_back();
        out.take_back();
    } else {
        m->flags |= Message::kDone | Message::kVoid;
        out.voided();
        peer_.work = true;
    }
    peer_.counters.sent -= again ? 0 : 1;
    peer_.counters.sent_again -= again ? 1 : 0;
    peer_.refresh(seal.path);
    return again ? 1 : 0;
}

bool Sender::waiting(fsbml_delivery_message_t &m, fsbml_delivery_part_t &part) noexcept
{
    settle_orphans();
    Message *const first = orphans_.front();
    if (nullptr == first || first->is(Message::kDone)) {
        return false;
    }
    const bool is_copied = first->is(Message::kCopied);
    part = {first->data(), first->bytes};
    m = {};
    m.bytes = first->bytes;
    m.tag = first->tag;
    m.n_parts = is_copied ? 1 : 0;
    m.parts = is_copied ? &part : nullptr;
    m.handle = is_copied ? nullptr : first->handle();
    return true;
}

int Sender::resend(std::uint32_t path, std::uint64_t now, std::uint64_t predicted_ns,
                   fsbml_delivery_seal_t &seal) noexcept
{
    fsbml_delivery_message_t m{};
    fsbml_delivery_part_t part{};
    if (path >= peer_.n) {
        return -EINVAL;
    }
    if (!waiting(m, part)) {
        return -ENOENT;
    }
    if (0 == (peer_.takes & bit(path))) {
        return -ENETDOWN;
    }
    Message record = *orphans_.front();
    record.flags = static_cast<std::uint8_t>((record.flags & Message::kCopied) | Message::kAgain);
    const int rc = number(path, now, predicted_ns, record, &part, 1, m.handle, seal);
    if (0 == rc) {
        gone(orphans_);
        settle_orphans();
        ++peer_.counters.sent_again;
    }
    return rc;
}

int Sender::copy(std::uint32_t bytes) noexcept
{
    if (!may_copy(bytes)) {
        return -EAGAIN;
    }
    copied_ += bytes;
    return 0;
}

void Sender::uncopy(std::uint32_t bytes) noexcept
{
    copied_ -= std::min(bytes, copied_);
}

// The oldest that is kept is not needed any more.
void Sender::gone(Kept &kept) noexcept
{
    const Message *const m = kept.front();
    copied_ -= m->is(Message::kCopied) ? m->bytes : 0;
    kept.pop_front(peer_.store);
}

// Forgets what is acknowledged, up to the first message that the caller must be told of.
void Sender::settle(std::uint32_t path) noexcept
{
    Outgoing &out = peer_.ways[path].out;
    for (const Message *m = out.kept.front(); nullptr != m && out.is_acked(*m); m = out.kept.front()) {
        if (!m->is(Message::kCopied | Message::kVoid)) {
            peer_.work = true;
            return;
        }
        gone(out.kept);
    }
}

void Sender::settle_orphans() noexcept
{
    for (const Message *m = orphans_.front(); nullptr != m && m->is(Message::kDone); m = orphans_.front()) {
        if (!m->is(Message::kCopied | Message::kVoid)) {
            peer_.work = true;
            return;
        }
        gone(orphans_);
    }
    orphans_.trim(peer_.store);
}

bool Sender::release(fsbml_delivery_action_t &out) noexcept
{
    for (std::uint32_t i = 0; i < peer_.n; ++i) {
        settle(i);
        Message *const m = peer_.ways[i].out.kept.front();
        if (nullptr != m && peer_.ways[i].out.is_acked(*m)) {
            out = {FSBML_DELIVERY_RELEASE, i, 0, m->handle(), 0, {}};
            gone(peer_.ways[i].out.kept);
            peer_.refresh(i);
            return true;
        }
    }
    settle_orphans();
    Message *const m = orphans_.front();
    if (nullptr == m || !m->is(Message::kDone)) {
        return false;
    }
    out = {FSBML_DELIVERY_RELEASE, 0, 0, m->handle(), 0, {}};
    gone(orphans_);
    return true;
}

} // namespace fsbml
