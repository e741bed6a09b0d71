// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "delivery/peer/peer.hpp"

#include <algorithm>
#include <cerrno>

namespace fsbml
{

using frame::Kind;
using frame::Record;

bool Receiver::late(bool is_late) noexcept
{
    peer_.counters.stale += is_late ? 1 : 0;
    return is_late;
}

__attribute__((always_inline)) inline int Receiver::data(std::uint64_t now, const Record &r,
                                                         std::size_t bytes) noexcept
{
    Incoming &in = peer_.ways[r.path].in;
    if (r.generation != in.generation()) {
        return late(in.is_closed(r.generation)) ? 0 : -EBADMSG;
    }
    switch (in.accept(r.number)) {
    case Incoming::Verdict::kRepeated:
        ++peer_.counters.repeated;
        return 0;
    case Incoming::Verdict::kBeyond:
        peer_.work = true;
        return -EBADMSG;
    case Incoming::Verdict::kNew:
        break;
    }
    const auto n = static_cast<std::uint32_t>(bytes);
    if (in.owe(now, n, peer_.limits)) {
        peer_.rides |= bit(r.path);
        peer_.work = peer_.work || 0 != (in.wants & Incoming::kAck);
    }
    if (in.is_sooner()) {
        peer_.at(in.half_due(peer_.limits));
    }
    ++peer_.counters.delivered;
    return 1;
}

int Receiver::arrived(std::uint32_t link, std::uint64_t now, const std::uint8_t *at, std::size_t bytes,
                      fsbml_delivery_arrival_t &out) noexcept
{
    int rc = -EBADMSG;
    out = {};
    if (link < peer_.n && bytes >= frame::kWord) {
        const std::uint64_t word = frame::get(at);
        const Record r = frame::record_of(word);
        if ((word & frame::kAddress) == peer_.connection.in_data && r.path < peer_.n) {
            out.header = frame::kWord;
            out.tag = r.tag;
            rc = data(now, r, bytes - frame::kWord);
        } else {
            rc = other(link, now, at, bytes, out);
        }
    }
    if (rc < 0) {
        ++peer_.counters.false_frames;
    } else {
        peer_.ways[link].heard = now;
        if (0 != (peer_.asking & ~bit(link))) {
            peer_.at(now); // what was asked about may be suspected now
        }
    }
    out.work = peer_.work || sender_.orphans().count() > 0;
    out.released = peer_.released;
    return rc;
}

// A control frame, or an acknowledgement and a message.
int Receiver::other(std::uint32_t link, std::uint64_t now, const std::uint8_t *at, std::size_t bytes,
                    fsbml_delivery_arrival_t &out) noexcept
{
    const std::uint64_t word = frame::get(at);
    if (word == peer_.connection.in_identity) {
        return control(link, now, at + frame::kWord, bytes - frame::kWord);
    }
    const Record ack = frame::record_of(word);
    if (Kind::kAck != ack.kind || !is_for_this(word, ack) || bytes < 2 * frame::kWord) {
        return -EBADMSG;
    }
    const std::uint64_t second = frame::get(at + frame::kWord);
    const Record r = frame::record_of(second);
    if ((second & frame::kAddress) != peer_.connection.in_data || r.path >= peer_.n
        || !record(link, now, ack, 0)) {
        return -EBADMSG;
    }
    out.header = 2 * frame::kWord;
    out.tag = r.tag;
    return data(now, r, bytes - 2 * frame::kWord);
}

// A frame of records. Each is judged by itself.
int Receiver::control(std::uint32_t link, std::uint64_t now, const std::uint8_t *at,
                      std::size_t bytes) noexcept
{
    if (bytes > FSBML_DELIVERY_CONTROL) {
        return -EBADMSG;
    }
    for (; bytes >= frame::kWord; at += frame::kWord, bytes -= frame::kWord) {
        const std::uint64_t word = frame::get(at);
        const Record r = frame::record_of(word);
        std::uint64_t bits = 0;
        if (Kind::kResume == r.kind) {
            if (bytes < 2 * frame::kWord) {
                break;
            }
            at += frame::kWord;
            bytes -= frame::kWord;
            bits = frame::get(at);
        }
        if (!is_for_this(word, r) || !record(link, now, r, bits)) {
            return -EBADMSG;
        }
    }
    return 0 == bytes ? 0 : -EBADMSG;
}

bool Receiver::believe(Outgoing::Word word) noexcept
{
    return late(Outgoing::Word::kStale == word) || Outgoing::Word::kFalse != word;
}

bool Receiver::close(std::uint32_t link, std::uint64_t now, const Record &r) noexcept
{
    Way &w = peer_.ways[r.path];
    switch (w.in.close(peer_.connection.in_direction, r.path, r.generation, r.number)) {
    case Incoming::Close::kFalse:
        return false;
    case Incoming::Close::kNow:
        peer_.rides &= ~bit(r.path);
        if (0 != (peer_.takes & ~bit(r.path))) { // the peer has its reasons, which are this end's as well
            w.out.suspect(now, peer_.limits);
        } else {
            w.out.doubt(now, w.heard);
        }
        break;
    case Incoming::Close::kBefore:
        late(true);
        break;
    }
    w.reply = static_cast<std::uint8_t>(link);
    return true;
}

// What the peer says of a path. False: it cannot have meant that.
bool Receiver::record(std::uint32_t link, std::uint64_t now, const Record &r, std::uint64_t bits) noexcept
{
    Way &w = peer_.ways[r.path];
    const bool is_current = r.generation == w.in.generation();
    bool is_true = false;
    switch (r.kind) {
    case Kind::kAck:
        is_true = believe(w.out.acknowledged(now, r.generation, r.number));
        sender_.settle(r.path);
        break;
    case Kind::kGap:
        is_true = believe(w.out.missing(now, r.generation, r.number));
        break;
    case Kind::kAsk:
        is_true = (is_current || late(w.in.is_closed(r.generation)))
                  && w.in.ask(r.generation, r.number, link == r.path);
        w.reply = is_true ? static_cast<std::uint8_t>(link) : w.reply;
        break;
    case Kind::kClose:
        is_true = close(link, now, r);
        break;
    case Kind::kResume:
        is_true = believe(w.out.resumed(now, r.generation, r.number, bits, peer_.connection.out_direction,
                                        r.path, sender_.orphans()));
        sender_.settle_orphans();
        break;
    case Kind::kProbe:
        is_true = link == r.path && (is_current || late(w.in.is_closed(r.generation)));
        w.in.wants |= is_true && is_current ? Incoming::kProbed : 0;
        break;
    case Kind::kProbed:
        is_true = link == r.path && believe(w.out.probed(now, r.generation, peer_.limits));
        peer_.at(now); // it may be needed
        break;
    case Kind::kVoid:
        is_true = is_current ? Incoming::Verdict::kBeyond != w.in.accept(r.number)
                             : late(w.in.is_closed(r.generation));
        break;
    case Kind::kIdentity:
    case Kind::kData:
        break;
    }
    if (Kind::kAck != r.kind) {
        peer_.at(now);
    }
    peer_.work = peer_.work || 0 != (w.in.wants | w.out.wants | w.out.events);
    peer_.refresh(r.path);
    return is_true;
}

} // namespace fsbml
