// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "engine.hpp"

#include <algorithm>

namespace fsbml::sim::engine
{

Network::Network(const Cluster &cluster, std::uint64_t seed, EventQueue &events, Pool<Fragment> &fragments,
                 Listener &listener)
    : cluster_(cluster), events_(events), fragments_(fragments), listener_(listener),
      outcome_(cluster.rails.size()), rails_of_(cluster.nodes, 0), links_(cluster.rails.size()),
      nics_(cluster.nodes * cluster.rails.size()), waiting_(cluster.rails.size())
{
    for (std::uint32_t r = 0; r < cluster.rails.size(); ++r) {
        const RailSpec &spec = cluster.rails[r];
        times_.emplace_back(spec, mixed(seed, r));
        for (std::uint32_t node = 0; spec.nodes.empty() && node < cluster.nodes; ++node) {
            rails_of_[node] |= std::uint32_t{1} << r;
        }
        for (const std::uint32_t node : spec.nodes) {
            rails_of_[node] |= std::uint32_t{1} << r;
        }
        if (spec.queue > 0) {
            waiting_[r].resize(std::size_t{cluster.nodes} * cluster.ranks_per_node);
        }
    }
    for (const Bottleneck &b : cluster.bottlenecks) {
        Link link{&b, std::vector<bool>(cluster.nodes, false), {0, 0}};
        for (const std::uint32_t node : b.side) {
            link.beyond[node] = true;
        }
        links_[b.rail].push_back(link);
    }
}

void Network::handle(const Event &event)
{
    switch (event.what) {
    case What::sent:
        sent(event.id);
        break;
    case What::link:
        onward(event.id);
        break;
    case What::head:
        reach(event.id);
        break;
    case What::arrival:
        arrive(event.id);
        break;
    case What::again:
        enter(event.id);
        break;
    case What::nic_free:
        nics_[event.id].busy = false;
        serve(event.id);
        break;
    case What::revival:
        nics_[event.id].awaits_revival = false;
        serve(event.id);
        break;
    case What::processor:
    case What::wake:
        break; // not the network's
    }
}

void Network::release(std::uint32_t fragment)
{
    if (0 == --fragments_[fragment].users) {
        fragments_.give_back(fragment);
    }
}

// ------------------------------------------------------------- the sender's

void Network::enter(std::uint32_t fragment)
{
    const Fragment &f = fragments_[fragment];
    const std::uint32_t id = nic_of(f.from, f.rail);
    Nic &nic = nics_[id];
    const std::uint32_t room = cluster_.rails[f.rail].queue;
    if (room > 0 && nic.held >= room) {
        Waiting &mine = waiting_[f.rail][f.from];
        if (mine.fragments.empty()) {
            nic.waiting.push(waiting_[f.rail], f.from);
        }
        mine.fragments.push(fragments_, fragment);
        return;
    }
    admit(id, fragment);
    serve(id);
}

void Network::admit(std::uint32_t nic, std::uint32_t fragment)
{
    ++nics_[nic].held;
    nics_[nic].sending.push(fragments_, fragment);
}

// The next one, if it is free. One that cannot do both at once sends and receives in turn.
void Network::serve(std::uint32_t id)
{
    Nic &nic = nics_[id];
    if (nic.busy || nic.awaits_revival || (nic.sending.empty() && nic.receiving.empty())) {
        return;
    }
    const RailTimes &times = times_[rail_of(id)];
    if (!(times.factor(events_.now()) > 0.0)) {
        const Time then = times.revival(events_.now());
        nic.awaits_revival = true;
        if (then >= 0) {
            events_.plan(then, What::revival, id);
        }
        return;
    }
    nic.busy = true;
    if (nic.receiving.empty() || (nic.received_last && !nic.sending.empty())) {
        nic.received_last = false;
        send(id, nic.sending.pop(fragments_));
    } else {
        nic.received_last = true;
        const std::uint32_t fragment = nic.receiving.pop(fragments_);
        Fragment &f = fragments_[fragment];
        f.head = events_.now();
        receive(nic.tat, f, fragment);
        events_.plan(std::max(f.head, nic.tat - times.burst()), What::nic_free, id);
    }
}

void Network::send(std::uint32_t id, std::uint32_t fragment)
{
    Nic &nic = nics_[id];
    Fragment &f = fragments_[fragment];
    RailTimes &times = times_[f.rail];
    const Time now = events_.now();
    const double noise = times.noise();
    const double slow = times.factor(now) * noise;
    f.gap = picoseconds(slow * times.gap_ps(f.bytes));
    f.gap_of_one = picoseconds(slow * times.gap_ps(1));
    f.latency = picoseconds(noise * static_cast<double>(times.latency()));
    nic.tat = std::max(nic.tat, now) + f.gap;
    f.begins = f.head = now;
    f.ends = std::max(now, nic.tat - times.burst());
    f.tail = std::max(now, nic.tat - times.burst() - f.gap_of_one);
    f.hop = 0;
    f.users = static_cast<std::uint8_t>(f.users + 1);
    events_.plan(f.ends, What::sent, fragment);
    onward(fragment);
}

void Network::sent(std::uint32_t fragment)
{
    Fragment &f = fragments_[fragment];
    const std::uint32_t id = nic_of(f.from, f.rail);
    Nic &nic = nics_[id];
    nic.busy = false;
    --nic.held;
    outcome_[f.rail].busy += f.ends - f.begins;
    // A dead NIC is done with nothing. What is sent again has been taken from its sender before.
    if (!f.told && times_[f.rail].factor(events_.now()) > 0.0) {
        f.told = true;
        listener_.on_sent(fragment);
    }
    const std::uint32_t rail = f.rail;
    release(fragment);
    while (!nic.waiting.empty() && nic.held < cluster_.rails[rail].queue) {
        const std::uint32_t rank = nic.waiting.pop(waiting_[rail]);
        Waiting &of = waiting_[rail][rank];
        admit(id, of.fragments.pop(fragments_));
        if (!of.fragments.empty()) {
            nic.waiting.push(waiting_[rail], rank);
        }
    }
    serve(id);
}

// --------------------------------------------------------------- on the way

// Over all bottlenecks that its first byte has reached, then to the receiver's NIC.
void Network::onward(std::uint32_t fragment)
{
    Fragment &f = fragments_[fragment];
    std::vector<Link> &links = links_[f.rail];
    for (; f.hop < links.size(); ++f.hop) {
        Link &link = links[f.hop];
        if (link.beyond[f.from % cluster_.nodes] == link.beyond[f.to % cluster_.nodes]) {
            continue;
        }
        if (f.head > events_.now()) {
            events_.plan(f.head, What::link, fragment);
            return;
        }
        if (!cross(link, f, fragment)) {
            return;
        }
    }
    f.head += f.latency;
    f.tail += f.latency;
    events_.plan(f.head, What::head, fragment);
}

// False if it has no room there. A link with nothing in its buffer takes any fragment.
bool Network::cross(Link &link, Fragment &f, std::uint32_t fragment)
{
    const Bottleneck &b = *link.spec;
    Time &tat = link.tat[link.beyond[f.from % cluster_.nodes] ? 1 : 0];
    const double per_byte = b.ns_per_byte * static_cast<double>(kPsPerNs);
    if (b.buffer_bytes > 0 && tat > f.head) {
        const double held = static_cast<double>(tat - f.head) / per_byte;
        if (held + static_cast<double>(f.bytes) > static_cast<double>(b.buffer_bytes)) {
            ++outcome_[f.rail].retransmitted;
            events_.plan(std::max(f.ends, f.head) + b.timeout, What::again, fragment);
            return false;
        }
    }
    f.head = std::max(tat, f.head);
    tat = f.head + picoseconds(per_byte * static_cast<double>(f.bytes));
    f.tail = std::max(f.tail, tat);
    return true;
}

// ----------------------------------------------------------- the receiver's

void Network::reach(std::uint32_t fragment)
{
    Fragment &f = fragments_[fragment];
    const std::uint32_t id = nic_of(f.to, f.rail);
    if (times_[f.rail].dead_between(f.begins, events_.now())) {
        lose(fragment);
    } else if (cluster_.full_duplex) {
        receive(nics_[id].tat_receiving, f, fragment);
    } else {
        nics_[id].receiving.push(fragments_, fragment);
        serve(id);
    }
}

void Network::receive(Time &tat, Fragment &f, std::uint32_t fragment)
{
    tat = std::max(tat, f.head) + f.gap;
    f.tail = std::max(f.tail, tat - times_[f.rail].burst() - f.gap_of_one);
    events_.plan(f.tail, What::arrival, fragment);
}

void Network::arrive(std::uint32_t fragment)
{
    const Fragment &f = fragments_[fragment];
    if (times_[f.rail].dead_between(f.begins, events_.now())) {
        lose(fragment);
    } else {
        ++outcome_[f.rail].messages;
        outcome_[f.rail].bytes += f.bytes;
        listener_.on_arrival(fragment);
    }
}

void Network::lose(std::uint32_t fragment)
{
    listener_.on_loss(fragment);
    release(fragment);
}

} // namespace fsbml::sim::engine
