// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "delivery/peer/peer.hpp"

namespace fsbml
{

namespace
{

using frame::Kind;
using frame::Record;

constexpr std::uint32_t kNone = UINT32_MAX;

// The path that was heard last among those whose connection stands, those that carry messages first; but for
// `not_by`, if there is another one.
std::uint32_t best_link(const Way *ways, std::uint32_t n, std::uint32_t not_by) noexcept
{
    std::uint32_t best = kNone;
    for (std::uint32_t i = 0; i < n; ++i) {
        if (!ways[i].out.has_link() || i == not_by) {
            continue;
        }
        const bool better =
            kNone == best || (ways[i].out.carries() && !ways[best].out.carries())
            || (ways[i].out.carries() == ways[best].out.carries() && ways[i].heard > ways[best].heard);
        best = better ? i : best;
    }
    return kNone == best && not_by < n && ways[not_by].out.has_link() ? not_by : best;
}

class Writer
{
public:
    Writer(Way *ways, std::uint32_t n, const Connection &c, fsbml_delivery_action_t &out) noexcept
        : ways_(ways), n_(n), connection_(c), out_(out)
    {
        out_.kind = FSBML_DELIVERY_FRAME;
        out_.path = kNone;
        frame::put(out_.frame, c.out_identity);
        out_.bytes = frame::kWord;
    }

    void about(std::uint32_t path) noexcept
    {
        Way &w = ways_[path];
        if (0 == (w.out.wants | w.in.wants)) {
            return;
        }
        const auto at = static_cast<std::uint8_t>(path);
        const std::uint8_t out_gen = w.out.generation(), in_gen = w.in.generation();
        const bool answer_here = ways_[w.reply].out.has_link();
        const std::uint32_t answer = answer_here ? w.reply : best_link(ways_, n_, path);
        const std::uint32_t ack = w.out.carries() ? path : best_link(ways_, n_, path);

        want(w.in.wants, Incoming::kResume, answer,
             {Kind::kResume, 0, 0, at, static_cast<std::uint8_t>(in_gen - 1), w.in.closed_next()}, true,
             w.in.closed_ahead());
        want(w.in.wants, Incoming::kProbed, path, {Kind::kProbed, 0, 0, at, in_gen, 0});
        want(w.in.wants, Incoming::kGap, answer, {Kind::kGap, 0, 0, at, in_gen, w.in.next()});
        want(w.in.wants, Incoming::kGapClosed, answer,
             {Kind::kGap, 0, 0, at, static_cast<std::uint8_t>(in_gen - 1), w.in.closed_next()});
        if (want(w.in.wants, Incoming::kAck, w.in.is_asked() ? answer : ack,
                 {Kind::kAck, 0, 0, at, in_gen, w.in.next()})) {
            w.in.acknowledged();
        }
        want(w.out.wants, Outgoing::kClose, best_link(ways_, n_, path),
             {Kind::kClose, 0, 0, at, out_gen, w.out.next()});
        want(w.out.wants, Outgoing::kProbe, path, {Kind::kProbe, 0, 0, at, out_gen, 0});
        if (0 != (w.out.wants & Outgoing::kVoid)) { // before it is asked what of them has come
            voids(w, at);
        }
        const Record ask{Kind::kAsk, 0, 0, at, out_gen, w.out.asks_for()};
        want(w.out.wants, Outgoing::kAsk, best_link(ways_, n_, path), ask);
        want(w.out.wants, Outgoing::kAskHere, path, ask);
    }

    bool has_any() const noexcept { return out_.bytes > frame::kWord; }

private:
    // Room for a record, on the link that the frame goes by?
    bool fits(std::uint32_t link, std::uint32_t words) noexcept
    {
        if (kNone == link || !ways_[link].out.has_link() || (kNone != out_.path && link != out_.path)
            || out_.bytes + words * frame::kWord > FSBML_DELIVERY_CONTROL) {
            return false;
        }
        out_.path = link;
        return true;
    }

    void put(std::uint64_t word) noexcept
    {
        frame::put(out_.frame + out_.bytes, word);
        out_.bytes += frame::kWord;
    }

    bool want(std::uint8_t &wants, std::uint8_t bit, std::uint32_t link, Record r, bool has_bits = false,
              std::uint64_t bits = 0) noexcept
    {
        if (0 == (wants & bit) || !fits(link, has_bits ? 2 : 1)) {
            return false;
        }
        r.handle = connection_.peer_handle;
        put(frame::word_of(r));
        if (has_bits) {
            put(bits);
        }
        wants = static_cast<std::uint8_t>(wants & ~bit);
        return true;
    }

    // By their own path, behind what was sent before. Those that do not fit go with the next frame.
    void voids(Way &w, std::uint8_t at) noexcept
    {
        bool all = true;
        w.out.kept.each([&](Message &m) {
            if (is(m, Mark::kVoid) && !is(m, Mark::kTold)) {
                std::uint8_t wanted = 1;
                all = want(wanted, 1, at, {Kind::kVoid, 0, 0, at, w.out.generation(), m.number});
                if (all) {
                    mark(m, Mark::kTold);
                }
            }
            return all;
        });
        if (all) {
            w.out.wants = static_cast<std::uint8_t>(w.out.wants & ~Outgoing::kVoid);
        }
    }

    Way *const ways_;
    const std::uint32_t n_;
    const Connection &connection_;
    fsbml_delivery_action_t &out_;
};

} // namespace

bool control_next(Way *ways, std::uint32_t n, const Connection &c, fsbml_delivery_action_t *out) noexcept
{
    Writer writer(ways, n, c, *out);
    for (std::uint32_t i = 0; i < n; ++i) {
        writer.about(i);
    }
    return writer.has_any();
}

void control_unsent(Way *ways, std::uint32_t n, const fsbml_delivery_action_t &action) noexcept
{
    for (std::uint32_t at = frame::kWord; at < action.bytes; at += frame::kWord) {
        const Record r = frame::record_of(frame::get(action.frame + at));
        if (r.path >= n) {
            return;
        }
        Way &w = ways[r.path];
        switch (r.kind) {
        case Kind::kAck: // the peer knows nothing of the generation after it yet
            w.in.wants |= r.generation == w.in.generation() ? Incoming::kAck : 0;
            break;
        case Kind::kGap:
            w.in.wants |= r.generation == w.in.generation() ? Incoming::kGap : Incoming::kGapClosed;
            break;
        case Kind::kResume:
            w.in.wants |= Incoming::kResume;
            at += frame::kWord;
            break;
        case Kind::kProbed:
            w.in.wants |= Incoming::kProbed;
            break;
        case Kind::kVoid:
            w.out.voided();
            break;
        default:; // the rest is asked again by its own clock
        }
    }
}

} // namespace fsbml
