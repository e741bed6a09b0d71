// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "delivery/peer/peer.hpp"

#include <algorithm>

namespace fsbml
{

namespace
{

constexpr std::uint64_t kRetryNs = 1'000'000; // what the transport refused

} // namespace

void Delivery::path_up(std::uint32_t path, std::uint64_t now) noexcept
{
    if (path < peer_.n) {
        peer_.ways[path].out.link_up(now);
        peer_.at(now);
        peer_.refresh(path);
        peer_.work = true;
    }
}

void Delivery::path_failed(std::uint32_t path, std::uint64_t now) noexcept
{
    if (path < peer_.n) {
        peer_.ways[path].out.link_failed(now, peer_.limits);
        peer_.at(now);
        peer_.refresh(path);
        peer_.work = true;
    }
}

void Delivery::path_doubtful(std::uint32_t path, std::uint64_t now) noexcept
{
    if (path < peer_.n) {
        peer_.ways[path].out.doubt(now, peer_.ways[path].heard);
        peer_.at(0 != (peer_.asking & bit(path)) ? now : FSBML_DELIVERY_NEVER);
    }
}

void Delivery::path_cut(std::uint32_t path, std::uint64_t now) noexcept
{
    if (path < peer_.n && peer_.ways[path].out.carries() && 0 != (peer_.takes & ~bit(path))) {
        peer_.ways[path].out.suspect(now, peer_.limits);
        peer_.at(now);
        peer_.refresh(path);
        peer_.work = true;
    }
}

std::uint64_t Delivery::heard_elsewhere(std::uint32_t path) const noexcept
{
    std::uint64_t last = 0;
    for (std::uint32_t i = 0; i < peer_.n; ++i) {
        last = i != path ? std::max(last, peer_.ways[i].heard) : last;
    }
    return last;
}

// Where all paths are silent, none can be suspected by what another one has brought: messages that may wait
// do so for as long as without a path.
void Delivery::look_for_paths(std::uint64_t now) noexcept
{
    bool any = false;
    std::uint64_t heard = 0; // by a path that is silent since
    for (std::uint32_t i = 0; i < peer_.n; ++i) {
        const Way &w = peer_.ways[i];
        any = any || (w.out.carries() && (0 == peer_.limits.wait_ns || !w.out.is_silent(now, w.heard)));
        heard = w.out.carries() ? std::max(heard, w.heard) : heard;
    }
    if (any || !was_up_) {
        was_up_ = was_up_ || any;
        alone_since_ = FSBML_DELIVERY_NEVER;
        is_stranded_ = tell_ = false;
        return;
    }
    alone_since_ = std::max(std::min(alone_since_, now), heard);
    const std::uint64_t waited = now - alone_since_, may = peer_.limits.wait_ns;
    if (!is_stranded_ && waited >= may) {
        is_stranded_ = tell_ = peer_.work = true;
    } else if (!is_stranded_) {
        peer_.at(may > FSBML_DELIVERY_NEVER - alone_since_ ? FSBML_DELIVERY_NEVER : alone_since_ + may);
    }
}

bool Delivery::tick(std::uint64_t now) noexcept
{
    const bool none_carries = std::none_of(peer_.ways.get(), peer_.ways.get() + peer_.n,
                                           [](const Way &w) { return w.out.carries(); });
    peer_.due = FSBML_DELIVERY_NEVER;
    for (std::uint32_t i = 0; i < peer_.n; ++i) {
        Way &w = peer_.ways[i];
        bool half = false;
        peer_.at(w.in.tick(now, peer_.limits, &half));
        peer_.rides |= half ? bit(i) : 0;
        const bool carried = w.out.carries();
        peer_.at(w.out.tick(now, peer_.limits, heard_elsewhere(i), none_carries));
        peer_.at(carried && !w.out.carries() ? now : FSBML_DELIVERY_NEVER);
        peer_.refresh(i);
        peer_.work = peer_.work || 0 != (w.in.wants | w.out.wants | w.out.events);
    }
    look_for_paths(now);
    return peer_.work || peer_.released || sender.orphans().count() > 0;
}

// ------------------------------------------------------------------------------- actions

bool Delivery::event(fsbml_delivery_action_t &out) noexcept
{
    static constexpr struct {
        Outgoing::Event event;
        fsbml_delivery_kind_t kind;
    } kEvents[] = {{Outgoing::kWasSuspected, FSBML_DELIVERY_SUSPECTED},
                   {Outgoing::kWasResumed, FSBML_DELIVERY_RESUMED},
                   {Outgoing::kWasDead, FSBML_DELIVERY_DEAD},
                   {Outgoing::kWasUp, FSBML_DELIVERY_UP}};
    for (std::uint32_t i = 0; i < peer_.n; ++i) {
        Outgoing &o = peer_.ways[i].out;
        for (const auto &e : kEvents) {
            if (0 != (o.events & e.event)) {
                o.events = static_cast<std::uint8_t>(o.events & ~e.event);
                out = {e.kind, i, o.resumed_with, nullptr, 0, {}};
                peer_.counters.closed += FSBML_DELIVERY_SUSPECTED == e.kind ? 1 : 0;
                peer_.counters.revived += FSBML_DELIVERY_UP == e.kind ? 1 : 0;
                return true;
            }
        }
    }
    if (tell_) {
        tell_ = false;
        out = {FSBML_DELIVERY_STRANDED, 0, 0, nullptr, 0, {}};
        return true;
    }
    return false;
}

bool Delivery::next(std::uint64_t now, fsbml_delivery_action_t &out) noexcept
{
    if (!peer_.work && !peer_.released) {
        return false;
    }
    if (now >= peer_.due) {
        (void) tick(now);
    }
    if (event(out) || sender.release(out)) {
        return true;
    }
    if (control_next(peer_.ways.get(), peer_.n, peer_.connection, &out)) {
        for (std::uint32_t i = 0; i < peer_.n; ++i) {
            peer_.rides &= peer_.ways[i].in.owes() ? UINT32_MAX : ~bit(i);
        }
        ++peer_.counters.control_frames;
        return true;
    }
    peer_.work = peer_.released = false;
    return false;
}

void Delivery::unsent(std::uint64_t now, const fsbml_delivery_action_t &action) noexcept
{
    control_unsent(peer_.ways.get(), peer_.n, action);
    peer_.at(now + kRetryNs);
}

void Delivery::flush() noexcept
{
    for (std::uint32_t i = 0; i < peer_.n; ++i) {
        Outgoing &out = peer_.ways[i].out;
        if (out.carries() && out.under_way() > 0) {
            out.wants |= Outgoing::kAskHere;
            peer_.work = true;
        }
    }
}

bool Delivery::idle() const noexcept
{
    std::uint32_t kept = sender.orphans().count();
    for (std::uint32_t i = 0; i < peer_.n; ++i) {
        kept += peer_.ways[i].out.kept.count();
    }
    return 0 == kept;
}

std::size_t Delivery::bytes() const noexcept
{
    return sizeof *this + peer_.n * sizeof(Way);
}

} // namespace fsbml
