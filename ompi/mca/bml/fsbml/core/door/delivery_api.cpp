// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The C boundary of delivery.
#include "door/door.hpp"

#include "delivery/peer/peer.hpp"

#include <initializer_list>

struct fsbml_delivery_t final {
    fsbml_delivery_t(const fsbml_delivery_limits_t &limits, const fsbml_delivery_peer_t &peer)
        : impl(limits, peer)
    {
    }
    fsbml::Delivery impl;
};

namespace
{

constexpr std::uint32_t kMostLead = 16384, kMostLeadBytes = 1U << 30;
constexpr std::uint64_t kLongestNs = 1ULL << 46; // of any time but `wait_ns`: 19 hours

bool is_sane(const fsbml_delivery_limits_t &l) noexcept
{
    for (const std::uint64_t time :
         {l.ack_ns, l.ack_idle_ns, l.suspect_ns, l.dead_ns, l.again_ns, l.hold_max_ns}) {
        if (0 == time || time > kLongestNs) {
            return false;
        }
    }
    return l.lead_messages > 0 && l.lead_messages <= kMostLead && l.lead_bytes > 0
           && l.lead_bytes <= kMostLeadBytes && l.ack_messages > 0 && l.ack_messages <= kMostLead / 2
           && l.ack_bytes > 0;
}

} // namespace

extern "C" {

void fsbml_delivery_limits(fsbml_delivery_limits_t *out) noexcept
{
    *out = {};
    out->lead_messages = kMostLead;
    out->lead_bytes = 16U << 20;
    out->ack_messages = 64;
    out->ack_bytes = 256U << 10;
    out->large_bytes = 4096;
    out->ack_ns = 5'000'000;
    out->ack_idle_ns = 40'000'000;
    out->suspect_ns = 100'000'000;
    out->dead_ns = 1'000'000'000;
    out->again_ns = 500'000'000;
    out->hold_max_ns = 60'000'000'000;
    out->wait_ns = 0;
}

fsbml_delivery_t *fsbml_delivery_create(const fsbml_delivery_limits_t *limits,
                                        const fsbml_delivery_peer_t *peer) noexcept
{
    if (nullptr == limits || nullptr == peer || !is_sane(*limits) || 0 == peer->paths
        || peer->paths > FSBML_MAX_RAILS) {
        errno = EINVAL;
        return nullptr;
    }
    return fsbml::guard_new<fsbml_delivery_t>([&] { return new fsbml_delivery_t(*limits, *peer); });
}

void fsbml_delivery_peer_handle(fsbml_delivery_t *d, uint16_t handle) noexcept
{
    d->impl.peer_handle(handle);
}

void fsbml_delivery_destroy(fsbml_delivery_t *d) noexcept
{
    delete d;
}

int fsbml_delivery_handle_of(const void *data, size_t bytes) noexcept
{
    namespace frame = fsbml::frame;
    const auto *const at = static_cast<const std::uint8_t *>(data);
    if (bytes < frame::kWord || !frame::is_this_version(frame::get(at))) {
        return -EBADMSG;
    }
    const frame::Record first = frame::record_of(frame::get(at));
    if (frame::Kind::kIdentity != first.kind) {
        return first.handle;
    }
    // A control frame says it in its first record.
    return bytes < 2 * frame::kWord ? -EBADMSG : frame::record_of(frame::get(at + frame::kWord)).handle;
}

uint32_t fsbml_delivery_paths(const fsbml_delivery_t *d) noexcept
{
    return d->impl.paths();
}

int fsbml_delivery_send(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns, uint64_t predicted_ns,
                        fsbml_delivery_message_t *m, fsbml_delivery_seal_t *seal) noexcept
{
    return d->impl.sender.send(path, now_ns, predicted_ns, *m, *seal);
}

int fsbml_delivery_refused(fsbml_delivery_t *d, uint64_t now_ns, const fsbml_delivery_seal_t *seal) noexcept
{
    return d->impl.sender.refused(now_ns, *seal);
}

fsbml_delivery_message_t *fsbml_delivery_waiting(fsbml_delivery_t *d) noexcept
{
    return d->impl.sender.waiting();
}

int fsbml_delivery_resend(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns, uint64_t predicted_ns,
                          fsbml_delivery_seal_t *seal) noexcept
{
    return d->impl.sender.resend(path, now_ns, predicted_ns, *seal);
}

int fsbml_delivery_arrived(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns, const void *frame,
                           size_t bytes, fsbml_delivery_arrival_t *out) noexcept
{
    return d->impl.receiver.arrived(path, now_ns, static_cast<const std::uint8_t *>(frame), bytes, *out);
}

void fsbml_delivery_path_up(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns) noexcept
{
    d->impl.path_up(path, now_ns);
}

void fsbml_delivery_path_failed(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns) noexcept
{
    d->impl.path_failed(path, now_ns);
}

void fsbml_delivery_path_doubtful(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns) noexcept
{
    d->impl.path_doubtful(path, now_ns);
}

void fsbml_delivery_path_cut(fsbml_delivery_t *d, uint32_t path, uint64_t now_ns) noexcept
{
    d->impl.path_cut(path, now_ns);
}

uint64_t fsbml_delivery_due(const fsbml_delivery_t *d) noexcept
{
    return d->impl.due();
}

bool fsbml_delivery_tick(fsbml_delivery_t *d, uint64_t now_ns) noexcept
{
    return d->impl.tick(now_ns);
}

bool fsbml_delivery_next(fsbml_delivery_t *d, uint64_t now_ns, fsbml_delivery_action_t *out) noexcept
{
    return d->impl.next(now_ns, *out);
}

void fsbml_delivery_unsent(fsbml_delivery_t *d, uint64_t now_ns,
                           const fsbml_delivery_action_t *action) noexcept
{
    d->impl.unsent(now_ns, *action);
}

void fsbml_delivery_flush(fsbml_delivery_t *d) noexcept
{
    d->impl.flush();
}

bool fsbml_delivery_idle(const fsbml_delivery_t *d) noexcept
{
    return d->impl.idle();
}

void fsbml_delivery_counters(const fsbml_delivery_t *d, fsbml_delivery_counters_t *out) noexcept
{
    *out = d->impl.counters();
}

size_t fsbml_delivery_bytes(const fsbml_delivery_t *d) noexcept
{
    return d->impl.bytes();
}

} // extern "C"
