// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// One assignment's makespan: the documented model once more, so that the simulator is not its own judge.
#include "optimum.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>

namespace fsbml::sim
{

namespace
{

// Token buckets: something that takes `gap` is through at max(now, TAT - burst), with
// TAT = max(TAT, now) + gap.
struct Nic {
    Time sends = 0, receives = 0;
    std::deque<std::size_t> waiting;
    bool busy = false;
};

struct Parcel {
    std::uint32_t from = 0, to = 0, rail = 0;
    Time out = 0, in = 0, gap = 0, gap1 = 0, latency = 0, burst = 0;
    Time last_byte = 0;
    bool local = false, there = false;
};

struct Rank {
    std::size_t op = 0;
    bool busy = false;
    std::deque<std::size_t> arrived;                           // not yet taken in
    std::map<std::uint32_t, std::deque<std::size_t>> expected; // by sender, in the order of sending
};

enum class What { op_done, nic_free, reaches, arrives, taken_in, wake };

struct Event {
    Time at;
    std::uint64_t order; // of planning, where times are equal
    What what;
    std::size_t id; // a parcel, or for op_done and wake a rank
    bool operator>(const Event &o) const { return at != o.at ? at > o.at : order > o.order; }
};

Time ps(double ns)
{
    return std::llround(ns * static_cast<double>(kPsPerNs));
}

class Model
{
public:
    Model(const Cluster &cluster, const Workload &workload, const Assignment &rails);
    Time run();

private:
    void plan(Time at, What what, std::size_t id) { events_.push({at, count_++, what, id}); }
    void handle(const Event &e);
    void go_on(std::uint32_t rank);
    bool try_receive(std::uint32_t rank, std::uint32_t peer);
    void serve(std::uint32_t node, std::uint32_t rail);
    Nic &nic(std::uint32_t rank, std::uint32_t rail)
    {
        return nics_[rank % cluster_.nodes * cluster_.rails.size() + rail];
    }

    const Cluster &cluster_;
    const Workload &workload_;
    std::vector<Parcel> parcels_;
    std::vector<std::vector<std::size_t>> of_op_; // by rank and op: the parcel
    std::vector<Rank> ranks_;
    std::vector<Nic> nics_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t count_ = 0;
    Time now_ = 0;
};

Model::Model(const Cluster &cluster, const Workload &workload, const Assignment &rails)
    : cluster_(cluster), workload_(workload), of_op_(workload.process.size()),
      ranks_(workload.process.size()), nics_(cluster.nodes * cluster.rails.size())
{
    bool plain = cluster.full_duplex && cluster.bottlenecks.empty();
    for (const RailSpec &r : cluster.rails) {
        plain = plain && !(r.jitter > 0) && r.queue == 0 && r.changes.empty();
    }
    if (!plain) {
        throw std::invalid_argument("makespan_of: rails with jitter, changes, queues or bottlenecks");
    }
    for (std::uint32_t p = 0; p < workload.process.size(); ++p) {
        for (const Op &op : workload.process[p]) {
            of_op_[p].push_back(parcels_.size());
            if (op.kind != Op::Kind::send) {
                continue;
            }
            Parcel f;
            f.from = p;
            f.to = op.peer;
            f.rail = rails.at(parcels_.size());
            f.local = p % cluster.nodes == op.peer % cluster.nodes;
            const fsbml_loggp_t &m = cluster.rails.at(f.rail).real;
            const auto gap = [&m](double s) {
                return m.break_bytes > 0 && s >= m.break_bytes
                           ? m.g_above_ns + m.G_above_ns_per_byte * (s - m.break_bytes)
                           : m.g_ns + m.G_ns_per_byte * (s - 1);
            };
            const auto s = static_cast<double>(std::max<std::uint64_t>(op.bytes, 1));
            f.out = ps(m.o_s_ns + m.O_s_ns_per_byte * (s - 1));
            f.in = ps(m.o_r_ns + m.O_r_ns_per_byte * (s - 1));
            f.gap = ps(gap(s));
            f.gap1 = ps(gap(1));
            f.latency = ps(m.L_ns);
            f.burst = ps(m.burst_ns);
            parcels_.push_back(f);
        }
    }
}

Time Model::run()
{
    for (std::uint32_t p = 0; p < ranks_.size(); ++p) {
        plan(0, What::wake, p);
    }
    Time last = 0;
    while (!events_.empty()) {
        const Event e = events_.top();
        events_.pop();
        now_ = e.at;
        if (e.what != What::nic_free) {
            last = now_;
        }
        handle(e);
    }
    for (std::size_t p = 0; p < ranks_.size(); ++p) {
        if (ranks_[p].op < workload_.process[p].size()) {
            throw std::runtime_error("makespan_of: rank " + std::to_string(p) + " waits for ever");
        }
    }
    return last;
}

void Model::handle(const Event &e)
{
    if (e.what == What::wake) {
        go_on(static_cast<std::uint32_t>(e.id));
        return;
    }
    if (e.what == What::op_done) {
        const auto p = static_cast<std::uint32_t>(e.id);
        Rank &rank = ranks_[p];
        const Op &op = workload_.process[p][rank.op];
        rank.busy = false;
        if (op.kind == Op::Kind::send) {
            const std::size_t id = of_op_[p][rank.op];
            nic(p, parcels_[id].rail).waiting.push_back(id);
            serve(p, parcels_[id].rail);
        }
        ++rank.op;
        go_on(p);
        return;
    }
    Parcel &f = parcels_[e.id];
    Nic &there = nic(f.to, f.rail);
    switch (e.what) {
    case What::nic_free:
        nic(f.from, f.rail).busy = false;
        serve(f.from, f.rail);
        break;
    case What::reaches: // with its first byte
        there.receives = std::max(there.receives, now_) + f.gap;
        f.last_byte = std::max(f.last_byte, there.receives - f.burst - f.gap1);
        plan(f.last_byte, What::arrives, e.id);
        break;
    case What::arrives:
        ranks_[f.to].arrived.push_back(e.id);
        go_on(f.to);
        break;
    default: // taken in
        f.there = true;
        ranks_[f.to].busy = false;
        go_on(f.to);
        break;
    }
}

void Model::serve(std::uint32_t rank, std::uint32_t rail)
{
    Nic &here = nic(rank, rail);
    if (here.busy || here.waiting.empty()) {
        return;
    }
    const std::size_t id = here.waiting.front();
    here.waiting.pop_front();
    Parcel &f = parcels_[id];
    here.busy = true;
    here.sends = std::max(here.sends, now_) + f.gap;
    f.last_byte = std::max(now_, here.sends - f.burst - f.gap1) + f.latency;
    plan(std::max(now_, here.sends - f.burst), What::nic_free, id);
    plan(now_ + f.latency, What::reaches, id);
}

bool Model::try_receive(std::uint32_t rank, std::uint32_t peer)
{
    for (auto &[from, queue] : ranks_[rank].expected) {
        if ((from == peer || peer == kAnyPeer) && !queue.empty() && parcels_[queue.front()].there) {
            queue.pop_front();
            return true;
        }
    }
    return false;
}

// Its ops as far as it gets; while it waits, and at its end, it takes in what has arrived.
void Model::go_on(std::uint32_t p)
{
    Rank &rank = ranks_[p];
    const std::vector<Op> &ops = workload_.process[p];
    while (!rank.busy && rank.op < ops.size()) {
        const Op &op = ops[rank.op];
        if (op.kind == Op::Kind::send) {
            const std::size_t id = of_op_[p][rank.op];
            ranks_[op.peer].expected[p].push_back(id);
            if (!parcels_[id].local) {
                rank.busy = true;
                plan(now_ + parcels_[id].out, What::op_done, p);
                return;
            }
            parcels_[id].there = true;
            plan(now_, What::wake, op.peer);
        } else if (op.kind == Op::Kind::compute) {
            rank.busy = true;
            plan(now_ + op.time, What::op_done, p);
            return;
        } else if (op.kind == Op::Kind::recv ? !try_receive(p, op.peer) : op.time > now_) {
            if (op.kind == Op::Kind::until) {
                plan(op.time, What::wake, p);
            }
            break;
        }
        ++rank.op;
    }
    if (!rank.busy && !rank.arrived.empty()) {
        const std::size_t id = rank.arrived.front();
        rank.arrived.pop_front();
        rank.busy = true;
        plan(now_ + parcels_[id].in, What::taken_in, id);
    }
}

} // namespace

Time makespan_of(const Cluster &cluster, const Workload &workload, const Assignment &rails)
{
    return Model(cluster, workload, rails).run();
}

} // namespace fsbml::sim
