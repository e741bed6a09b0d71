// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// NICs, bottlenecks and wires: the way of a fragment between the sender's processor and the receiver's.
//
// A NIC serves one fragment at a time, first come, first served. One that begins at b is through at
//   end = max(b, TAT - burst),        TAT = max(TAT before, b) + gap(s)
// which without a burst is b + gap(s); with one it is a token bucket as its virtual finishing time. Its last
// byte is out gap(1) earlier, and L later at the receiver's NIC, which takes gap(s) in the same way, from the
// first byte on: where fragments of several senders meet, one waits for the other. Its bucket is as large, so
// that what a sender alone sends is never held up there.
#ifndef FSBML_SIM_ENGINE_NETWORK_HPP
#define FSBML_SIM_ENGINE_NETWORK_HPP

#include "sim/time/event_queue.hpp"
#include "sim/time/pool.hpp"
#include "sim/time/rail_times.hpp"
#include "simulate.hpp"

namespace fsbml::sim::engine
{

struct Fragment {
    std::uint32_t next = kNone;
    std::uint32_t message = 0, from = 0, to = 0, rail = 0;
    std::uint32_t hop = 0;  // the next bottleneck
    std::uint8_t users = 0; // its way and the NIC: the last one gives it back
    bool told = false;      // that it has been sent
    bool answer = false;    // of a receiver to `message`, whose sender awaits it
    std::uint64_t bytes = 0;
    std::uint64_t passage = 0;
    Time decided = 0;
    Time begins = 0, ends = 0;                 // on the sender's NIC
    Time head = 0, tail = 0;                   // first and last byte, where it is
    Time gap = 0, gap_of_one = 0, latency = 0; // with what disturbs it
};

// Is told of fragments.
struct Listener {
    virtual ~Listener() = default;
    virtual void on_sent(std::uint32_t fragment) = 0;
    virtual void on_arrival(std::uint32_t fragment) = 0;
    virtual void on_loss(std::uint32_t fragment) = 0; // for good
};

class Network
{
public:
    Network(const Cluster &cluster, std::uint64_t seed, EventQueue &events, Pool<Fragment> &fragments,
            Listener &listener);

    // The rails that two nodes have, as bits.
    std::uint32_t rails_between(std::uint32_t node, std::uint32_t other) const
    {
        return rails_of_[node] & rails_of_[other];
    }
    const RailTimes &times(std::uint32_t rail) const { return times_[rail]; }
    const RailOutcome &outcome(std::uint32_t rail) const { return outcome_[rail]; }

    // The sender's processor is done with a fragment, whose message, from, to, rail and bytes are filled in.
    void enter(std::uint32_t fragment);
    // Does what was planned for a fragment or a NIC.
    void handle(const Event &event);
    // The listener needs it no more.
    void release(std::uint32_t fragment);

private:
    struct Nic {
        Time tat = 0, tat_receiving = 0; // the second where it sends and receives at once
        List sending, receiving;         // in turn; receiving only where it cannot do both at once
        List waiting;                    // ranks whose fragments it has no room for
        std::uint32_t held = 0;          // fragments to be sent, with the one that it sends
        bool busy = false, received_last = false, awaits_revival = false;
    };
    struct Link {
        const Bottleneck *spec = nullptr;
        std::vector<bool> beyond; // by node: on `side`
        Time tat[2] = {0, 0};     // by direction
    };
    // A rank's fragments that a NIC has no room for; `next`: the rank whose turn is next.
    struct Waiting {
        std::uint32_t next = kNone;
        List fragments;
    };

    std::uint32_t nic_of(std::uint32_t rank, std::uint32_t rail) const
    {
        return rank % cluster_.nodes * static_cast<std::uint32_t>(times_.size()) + rail;
    }
    std::uint32_t rail_of(std::uint32_t nic) const { return nic % static_cast<std::uint32_t>(times_.size()); }
    void admit(std::uint32_t nic, std::uint32_t fragment);
    void serve(std::uint32_t nic);
    void send(std::uint32_t nic, std::uint32_t fragment);
    void sent(std::uint32_t fragment);
    void onward(std::uint32_t fragment);
    bool cross(Link &link, Fragment &f, std::uint32_t fragment);
    void reach(std::uint32_t fragment);
    void receive(Time &tat, Fragment &f, std::uint32_t fragment);
    void arrive(std::uint32_t fragment);
    void lose(std::uint32_t fragment);

    const Cluster &cluster_;
    EventQueue &events_;
    Pool<Fragment> &fragments_;
    Listener &listener_;
    std::vector<RailTimes> times_;
    std::vector<RailOutcome> outcome_;
    std::vector<std::uint32_t> rails_of_;  // by node
    std::vector<std::vector<Link>> links_; // by rail
    std::vector<Nic> nics_;
    std::vector<std::vector<Waiting>> waiting_; // by rail and rank; empty where a NIC has room for all
};

} // namespace fsbml::sim::engine

#endif
