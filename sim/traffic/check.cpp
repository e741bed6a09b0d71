// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Is a workload one that ends? Processes run one after the other, each until it would wait. Since a process
// only ever waits for a message from one rank, or for any that is left, the order in which they run changes
// nothing.
#include "traffic.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace fsbml::sim
{
namespace
{

[[noreturn]] void fail(std::size_t rank, std::size_t op, const std::string &why)
{
    throw std::invalid_argument("rank " + std::to_string(rank) + ", op " + std::to_string(op) + ": " + why);
}

std::string name_of(std::uint32_t peer)
{
    return peer == kAnyPeer ? "any rank" : "rank " + std::to_string(peer);
}

// What can be said of an op by itself and those before it.
void check_ops(const Workload &w, std::size_t rank)
{
    bool any_rank = false;
    const std::vector<Op> &ops = w.process[rank];
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const Op &op = ops[i];
        const bool any = op.kind == Op::Kind::recv && op.peer == kAnyPeer;
        switch (op.kind) {
        case Op::Kind::send:
        case Op::Kind::recv:
            if (op.peer >= w.process.size() && !any) {
                fail(rank, i, "there is no rank " + std::to_string(op.peer));
            }
            if (op.peer == rank) {
                fail(rank, i, "its peer is the rank itself");
            }
            break;
        case Op::Kind::compute:
        case Op::Kind::until:
            if (op.time < 0) {
                fail(rank, i, "a time of " + std::to_string(op.time) + " ps");
            }
            break;
        default:
            fail(rank, i, "there is no kind " + std::to_string(static_cast<int>(op.kind)));
        }
        if (op.kind == Op::Kind::recv) {
            if (any_rank && !any) {
                fail(rank, i,
                     "receives from rank " + std::to_string(op.peer)
                         + " what a receive from any rank before may have taken");
            }
            any_rank = any;
        }
    }
}

class Run
{
public:
    explicit Run(const Workload &w)
        : w_(w), next_(w.process.size(), 0), queued_(w.process.size(), 1), unnamed_(w.process.size(), 0)
    {
    }

    void run()
    {
        for (std::size_t rank = w_.process.size(); rank-- > 0;) {
            ready_.push_back(rank);
        }
        while (!ready_.empty()) {
            const std::size_t rank = ready_.back();
            ready_.pop_back();
            queued_[rank] = 0;
            advance(rank);
        }
        for (std::size_t rank = 0; rank < w_.process.size(); ++rank) {
            if (!over(rank)) {
                explain(rank);
            }
        }
        for (std::size_t rank = 0; rank < w_.process.size(); ++rank) {
            nothing_left(rank);
        }
    }

private:
    bool over(std::size_t rank) const { return next_[rank] == w_.process[rank].size(); }
    static std::uint64_t channel(std::size_t from, std::size_t to) { return std::uint64_t{from} << 32 | to; }

    void advance(std::size_t rank)
    {
        for (; !over(rank); ++next_[rank]) {
            const Op &op = w_.process[rank][next_[rank]];
            if (op.kind == Op::Kind::send) {
                ++messages_[channel(rank, op.peer)];
                ++unnamed_[op.peer];
                if (!queued_[op.peer]) { // it may have been waiting for this
                    queued_[op.peer] = 1;
                    ready_.push_back(op.peer);
                }
            } else if (op.kind == Op::Kind::recv && !take(rank, op.peer)) {
                return;
            }
        }
    }

    bool take(std::size_t rank, std::uint32_t peer)
    {
        if (unnamed_[rank] == 0) {
            return false;
        }
        if (peer != kAnyPeer) {
            const auto found = messages_.find(channel(peer, rank));
            if (found == messages_.end() || found->second == 0) {
                return false;
            }
            --found->second;
        }
        --unnamed_[rank];
        return true;
    }

    // Follows the ranks that wait for each other, from one that waits for ever: to one that is over, or round
    // in a circle.
    [[noreturn]] void explain(std::size_t rank) const
    {
        std::vector<bool> seen(w_.process.size(), false);
        std::string way = std::to_string(rank);
        while (true) {
            seen[rank] = true;
            const std::uint32_t peer = w_.process[rank][next_[rank]].peer;
            const std::string what = "waits for ever for a message from " + name_of(peer);
            if (peer == kAnyPeer || over(peer)) {
                fail(rank, next_[rank], what + (peer == kAnyPeer ? "" : ", which sends no more"));
            }
            way.append(" for ").append(std::to_string(peer));
            if (seen[peer]) {
                fail(rank, next_[rank], what + ": they wait for each other, " + way);
            }
            rank = peer;
        }
    }

    // All are over, so the last messages of a channel are those that are left.
    void nothing_left(std::size_t to) const
    {
        if (unnamed_[to] == 0) {
            return;
        }
        const std::vector<Op> &ops = w_.process[to];
        const bool any_rank = std::any_of(ops.begin(), ops.end(), [](const Op &op) {
            return op.kind == Op::Kind::recv && op.peer == kAnyPeer;
        });
        for (std::size_t from = 0; from < w_.process.size(); ++from) {
            const auto found = messages_.find(channel(from, to));
            if (found == messages_.end() || found->second == 0) {
                continue;
            }
            const std::vector<Op> &sends = w_.process[from];
            for (std::size_t i = sends.size(); i-- > 0;) {
                if (sends[i].kind == Op::Kind::send && sends[i].peer == to) {
                    fail(from, i,
                         "rank " + std::to_string(to) + " receives "
                             + (any_rank ? std::to_string(unnamed_[to]) + " messages less than it gets"
                                         : "no such message"));
                }
            }
        }
    }

    const Workload &w_;
    std::vector<std::size_t> next_;
    std::vector<char> queued_;                                  // in ready_
    std::vector<std::uint64_t> unnamed_;                        // messages for a rank, from any rank
    std::unordered_map<std::uint64_t, std::uint64_t> messages_; // less those that were received by name
    std::vector<std::size_t> ready_;
};

} // namespace

void check(const Workload &workload)
{
    if (workload.process.size() > kMostRanks) {
        throw std::invalid_argument(std::to_string(workload.process.size()) + " ranks are more than "
                                    + std::to_string(kMostRanks));
    }
    for (std::size_t rank = 0; rank < workload.process.size(); ++rank) {
        check_ops(workload, rank);
    }
    Run(workload).run();
}

} // namespace fsbml::sim
