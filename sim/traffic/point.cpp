// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Workloads of messages from point to point.
#include "traffic.hpp"

#include <stdexcept>
#include <utility>

namespace fsbml::sim
{

Workload one_to_one(std::uint32_t ranks, std::uint32_t messages, const Sizes &sizes, std::uint64_t seed)
{
    TrafficMaker make("one_to_one", ranks);
    sizes.validate();
    std::vector<TrafficDice> dice = traffic_dice(ranks, seed);
    for (std::uint32_t there = 0; there + 1 < ranks; there += 2) {
        const std::uint32_t back = there + 1;
        for (const auto &[from, to] : {std::pair{there, back}, std::pair{back, there}}) {
            for (std::uint32_t i = 0; i < messages; ++i) {
                make.send(from, to, sizes.draw(dice[from]));
                make.recv(to, from);
            }
        }
    }
    return make.take();
}

Workload ping_pong(std::uint32_t ranks, std::uint32_t rounds, const Sizes &sizes, std::uint64_t seed)
{
    TrafficMaker make("ping_pong", ranks);
    sizes.validate();
    std::vector<TrafficDice> dice = traffic_dice(ranks, seed);
    for (std::uint32_t there = 0; there + 1 < ranks; there += 2) {
        const std::uint32_t back = there + 1;
        for (std::uint32_t i = 0; i < rounds; ++i) {
            make.send(there, back, sizes.draw(dice[there]));
            make.recv(back, there);
            make.send(back, there, sizes.draw(dice[back]));
            make.recv(there, back);
        }
    }
    return make.take();
}

Workload random_peers(std::uint32_t ranks, std::uint32_t phases, std::uint32_t messages, const Sizes &sizes,
                      std::uint64_t seed)
{
    TrafficMaker make("random_peers", ranks);
    sizes.validate();
    std::vector<TrafficDice> dice = traffic_dice(ranks, seed);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> sent; // from, to
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
        sent.clear();
        for (std::uint32_t i = 0; i < messages; ++i) {
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                const std::uint32_t peer = dice[rank].peer(ranks, rank);
                make.send(rank, peer, sizes.draw(dice[rank]));
                sent.emplace_back(rank, peer);
            }
        }
        for (const auto &[from, to] : sent) {
            make.recv(to, from);
        }
    }
    return make.take();
}

Workload bursts(std::uint32_t ranks, const Bursts &burst, const Sizes &sizes, std::uint64_t seed)
{
    TrafficMaker make("bursts", ranks);
    sizes.validate();
    if (burst.mean_gap < 0) {
        throw std::invalid_argument("bursts " + std::to_string(burst.mean_gap) + " ps apart");
    }
    std::vector<TrafficDice> dice = traffic_dice(ranks, seed);
    std::vector<Time> begin(ranks, 0);
    std::vector<std::uint32_t> last(ranks), now(ranks); // peers of the last burst, and of this one
    const auto receive = [&](const std::vector<std::uint32_t> &peers) {
        for (std::uint32_t k = 0; k < burst.messages; ++k) {
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                make.recv(peers[rank], rank);
            }
        }
    };
    for (std::uint32_t i = 0; i < burst.count; ++i) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            now[rank] = dice[rank].peer(ranks, rank);
            begin[rank] += dice[rank].exponential(burst.mean_gap);
            make.until(rank, begin[rank]);
            for (std::uint32_t k = 0; k < burst.messages; ++k) {
                make.send(rank, now[rank], sizes.draw(dice[rank]));
            }
        }
        if (i > 0) {
            receive(last);
        }
        if (i + 1 == burst.count) {
            receive(now);
        }
        std::swap(last, now);
    }
    return make.take();
}

Workload one_to_many(std::uint32_t ranks, std::uint32_t messages, const Sizes &sizes, std::uint64_t seed)
{
    TrafficMaker make("one_to_many", ranks);
    sizes.validate();
    TrafficDice dice(seed);
    for (std::uint32_t i = 0; i < messages; ++i) {
        for (std::uint32_t rank = 1; rank < ranks; ++rank) {
            make.send(0, rank, sizes.draw(dice));
            make.recv(rank, 0);
        }
    }
    return make.take();
}

Workload many_to_one(std::uint32_t ranks, std::uint32_t messages, const Sizes &sizes, From from,
                     std::uint64_t seed)
{
    TrafficMaker make("many_to_one", ranks);
    sizes.validate();
    std::vector<TrafficDice> dice = traffic_dice(ranks, seed);
    for (std::uint32_t i = 0; i < messages; ++i) {
        for (std::uint32_t rank = 1; rank < ranks; ++rank) {
            make.send(rank, 0, sizes.draw(dice[rank]));
            make.recv(0, from == From::each ? rank : kAnyPeer);
        }
    }
    return make.take();
}

} // namespace fsbml::sim
