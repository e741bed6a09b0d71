// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Workloads of all ranks together: collectives, and the exchange with neighbours of a grid.
#include "traffic.hpp"

#include <algorithm>
#include <stdexcept>

namespace fsbml::sim
{
namespace
{

void validate(const Rounds &rounds)
{
    Sizes::all(rounds.bytes).validate();
    if (rounds.compute < 0) {
        throw std::invalid_argument("a computation of " + std::to_string(rounds.compute) + " ps");
    }
}

// Half to one and a half times as much, in steps of 1 ps.
void compute(TrafficMaker &make, std::uint32_t rank, Time mean, TrafficDice &dice)
{
    if (mean > 0) {
        make.compute(rank, mean / 2 + static_cast<Time>(dice.integer(0, static_cast<std::uint64_t>(mean))));
    }
}

// The greatest d that divides n with d^power <= n.
std::uint32_t divisor(std::uint32_t n, std::uint32_t power)
{
    std::uint32_t best = 1;
    for (std::uint64_t d = 1; (power == 3 ? d * d * d : d * d) <= n; ++d) {
        best = n % d == 0 ? static_cast<std::uint32_t>(d) : best;
    }
    return best;
}

} // namespace

Workload all_to_all(std::uint32_t ranks, AllToAll algorithm, const Sizes &sizes, std::uint64_t seed)
{
    TrafficMaker make("all_to_all", ranks);
    sizes.validate();
    std::uint32_t steps = 1; // up to it, exclusive: the next power of two for xor
    while (steps < ranks) {
        steps = algorithm == AllToAll::pairwise ? ranks : steps * 2;
    }
    std::vector<std::uint64_t> bytes(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        TrafficDice dice(seed, rank);
        for (std::uint64_t &b : bytes) { // by peer, so that the algorithm changes nothing
            b = sizes.draw(dice);
        }
        for (std::uint32_t i = 1; i < steps; ++i) {
            const bool pairwise = algorithm == AllToAll::pairwise;
            const std::uint32_t to = pairwise ? (rank + i) % ranks : rank ^ i;
            const std::uint32_t from = pairwise ? (rank + ranks - i) % ranks : rank ^ i;
            if (to >= ranks) { // then from is, too
                continue;
            }
            make.send(rank, to, bytes[to]);
            if (algorithm != AllToAll::xor_sends) {
                make.recv(rank, from);
            }
        }
        for (std::uint32_t from = 0; algorithm == AllToAll::xor_sends && from < ranks; ++from) {
            if (from != rank) {
                make.recv(rank, from);
            }
        }
    }
    return make.take();
}

std::vector<std::uint32_t> grid(std::uint32_t ranks, std::uint32_t dims)
{
    if (ranks == 0 || (dims != 2 && dims != 3)) {
        throw std::invalid_argument("a grid of " + std::to_string(dims) + " dimensions for "
                                    + std::to_string(ranks) + " ranks");
    }
    std::vector<std::uint32_t> length;
    std::uint32_t left = ranks;
    for (std::uint32_t power = dims; power > 1; --power) {
        length.push_back(divisor(left, power));
        left /= length.back();
    }
    length.push_back(left);
    return length;
}

Workload halo(std::uint32_t ranks, std::uint32_t dims, const Rounds &rounds, std::uint64_t seed)
{
    TrafficMaker make("halo_" + std::to_string(dims) + "d", ranks);
    validate(rounds);
    const std::vector<std::uint32_t> length = grid(ranks, dims);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        std::vector<std::uint32_t>
            neighbours; // below and above in each dimension; the first one varies fastest
        std::uint32_t stride = 1;
        for (const std::uint32_t n : length) {
            const std::uint32_t at = rank / stride % n;
            if (n > 1) {
                neighbours.push_back(rank - at * stride + (at + n - 1) % n * stride);
                neighbours.push_back(rank - at * stride + (at + 1) % n * stride);
            }
            stride *= n;
        }
        TrafficDice dice(seed, rank);
        for (std::uint32_t i = 0; i < rounds.count; ++i) {
            compute(make, rank, rounds.compute, dice);
            for (const std::uint32_t peer : neighbours) {
                make.send(rank, peer, rounds.bytes);
            }
            for (const std::uint32_t peer : neighbours) {
                make.recv(rank, peer);
            }
        }
    }
    return make.take();
}

Workload barrier(std::uint32_t ranks, const Rounds &rounds, std::uint64_t seed)
{
    TrafficMaker make("barrier", ranks);
    validate(rounds);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        TrafficDice dice(seed, rank);
        for (std::uint32_t i = 0; i < rounds.count; ++i) {
            compute(make, rank, rounds.compute, dice);
            for (std::uint32_t step = 1; step < ranks; step *= 2) {
                make.send(rank, (rank + step) % ranks, rounds.bytes);
                make.recv(rank, (rank + ranks - step) % ranks);
            }
        }
    }
    return make.take();
}

Workload doubling(std::uint32_t ranks, const Rounds &rounds, std::uint64_t seed)
{
    TrafficMaker make("doubling", ranks);
    validate(rounds);
    std::uint32_t core = 1; // ranks that double: the greatest power of two
    while (core * 2 <= ranks) {
        core *= 2;
    }
    const std::uint32_t beyond = ranks - core; // pairs 2i, 2i + 1 of which the first one hands in
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        TrafficDice dice(seed, rank);
        const bool paired = rank < 2 * beyond;
        const std::uint32_t self = paired ? rank / 2 : rank - beyond; // its number in the core
        for (std::uint32_t i = 0; i < rounds.count; ++i) {
            compute(make, rank, rounds.compute, dice);
            if (paired && rank % 2 == 0) {
                make.send(rank, rank + 1, rounds.bytes);
                make.recv(rank, rank + 1);
                continue;
            }
            if (paired) {
                make.recv(rank, rank - 1);
            }
            for (std::uint32_t step = 1; step < core; step *= 2) {
                const std::uint32_t other = self ^ step;
                const std::uint32_t peer = other < beyond ? 2 * other + 1 : other + beyond;
                make.send(rank, peer, rounds.bytes);
                make.recv(rank, peer);
            }
            if (paired) {
                make.send(rank, rank - 1, rounds.bytes);
            }
        }
    }
    return make.take();
}

Workload ring(std::uint32_t ranks, const Rounds &rounds, std::uint64_t seed)
{
    TrafficMaker make("ring", ranks);
    validate(rounds);
    const std::uint64_t piece = rounds.bytes / ranks;
    const std::uint64_t longer = rounds.bytes % ranks; // pieces with one byte more
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        TrafficDice dice(seed, rank);
        for (std::uint32_t i = 0; i < rounds.count; ++i) {
            compute(make, rank, rounds.compute, dice);
            for (std::uint32_t step = 0; step < 2 * (ranks - 1); ++step) {
                // Its own piece, then what the last step brought, in the allgather as well.
                const std::uint32_t which = (rank + 2 * ranks - step) % ranks;
                make.send(rank, (rank + 1) % ranks,
                          std::max<std::uint64_t>(1, piece + (which < longer ? 1 : 0)));
                make.recv(rank, (rank + ranks - 1) % ranks);
            }
        }
    }
    return make.take();
}

} // namespace fsbml::sim
