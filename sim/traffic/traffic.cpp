// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The catalogue. Sizes are those at which rails of 10 Mbit/s to 100 Gbit/s differ: around where a message
// takes as long as the latency, and well above.
#include "traffic.hpp"

namespace fsbml::sim
{
namespace
{

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr Time kUs = 1000 * kPsPerNs;

// Many small messages, few large ones: half of them below 512 bytes, half of the bytes in those above 32 KiB.
const Sizes kHeavy = Sizes::pareto(256, 4 * kMiB, 1.0);
const Sizes kLog = Sizes::log_uniform(64, kMiB);

Workload named(const char *name, Workload w)
{
    w.name = name;
    return w;
}

} // namespace

// An entry, whose name its workloads have, too.
#define FSBML_TRAFFIC(name, what, call)                                                       \
    Traffic                                                                                   \
    {                                                                                         \
        name, what, [](std::uint32_t ranks, std::uint64_t seed) { return named(name, call); } \
    }

const std::vector<Traffic> &all_traffic()
{
    static const std::vector<Traffic> all{
        FSBML_TRAFFIC("one_to_one", "32 messages of 16 KiB there, 32 back, by pairs (thesis 5.8.1)",
                      one_to_one(ranks, 32, Sizes::all(16 * kKiB), seed)),
        FSBML_TRAFFIC("one_to_one_small", "64 messages of 256 bytes there, 64 back, by pairs",
                      one_to_one(ranks, 64, Sizes::all(256), seed)),
        FSBML_TRAFFIC("one_to_one_large", "4 messages of 1 MiB there, 4 back, by pairs",
                      one_to_one(ranks, 4, Sizes::all(kMiB), seed)),
        FSBML_TRAFFIC("one_to_one_uniform", "32 messages there and back, 1 byte to 64 KiB alike",
                      one_to_one(ranks, 32, Sizes::uniform(1, 64 * kKiB), seed)),
        FSBML_TRAFFIC("one_to_one_log", "32 messages there and back, 64 bytes to 1 MiB, log-uniform",
                      one_to_one(ranks, 32, kLog, seed)),
        FSBML_TRAFFIC("one_to_one_pareto",
                      "64 messages there and back, 256 bytes to 4 MiB, Pareto with shape 1",
                      one_to_one(ranks, 64, kHeavy, seed)),
        FSBML_TRAFFIC("ping_pong", "32 messages of 64 bytes to 64 KiB, each answered before the next one",
                      ping_pong(ranks, 32, Sizes::log_uniform(64, 64 * kKiB), seed)),
        FSBML_TRAFFIC("random_log",
                      "4 phases of 8 messages a rank to any rank, 64 bytes to 1 MiB, log-uniform",
                      random_peers(ranks, 4, 8, kLog, seed)),
        FSBML_TRAFFIC("random_pareto",
                      "4 phases of 16 messages a rank to any rank, 256 bytes to 4 MiB, Pareto",
                      random_peers(ranks, 4, 16, kHeavy, seed)),
        FSBML_TRAFFIC("bursts", "8 bursts of 16 messages of 4 KiB a rank, 2 ms apart on average",
                      bursts(ranks, {8, 16, 2000 * kUs}, Sizes::all(4 * kKiB), seed)),
        FSBML_TRAFFIC("bursts_pareto", "8 bursts of 8 messages a rank, 2 ms apart on average, Pareto",
                      bursts(ranks, {8, 8, 2000 * kUs}, kHeavy, seed)),
        FSBML_TRAFFIC("one_to_many", "rank 0 deals 8 messages of 16 KiB to each other rank",
                      one_to_many(ranks, 8, Sizes::all(16 * kKiB), seed)),
        FSBML_TRAFFIC("one_to_many_pareto", "rank 0 deals 8 messages to each other rank, Pareto",
                      one_to_many(ranks, 8, kHeavy, seed)),
        FSBML_TRAFFIC("many_to_one", "8 messages of 16 KiB of each rank to rank 0, which takes them in turn",
                      many_to_one(ranks, 8, Sizes::all(16 * kKiB), From::each, seed)),
        FSBML_TRAFFIC("many_to_one_any",
                      "8 messages of each rank to rank 0, which takes what comes, log-uniform",
                      many_to_one(ranks, 8, kLog, From::any_rank, seed)),
        FSBML_TRAFFIC("all_to_all", "16 KiB of each rank to each, pairwise exchange",
                      all_to_all(ranks, AllToAll::pairwise, Sizes::all(16 * kKiB), seed)),
        FSBML_TRAFFIC("all_to_all_a",
                      "16 KiB of each rank to each, step by step (Alltoall_A of Nomura et al.)",
                      all_to_all(ranks, AllToAll::xor_steps, Sizes::all(16 * kKiB), seed)),
        FSBML_TRAFFIC("all_to_all_b",
                      "16 KiB of each rank to each, all sends first (Alltoall_B of Nomura et al.)",
                      all_to_all(ranks, AllToAll::xor_sends, Sizes::all(16 * kKiB), seed)),
        FSBML_TRAFFIC("all_to_all_pareto", "one message of each rank to each, pairwise exchange, Pareto",
                      all_to_all(ranks, AllToAll::pairwise, kHeavy, seed)),
        FSBML_TRAFFIC("halo_2d", "16 rounds of 8 KiB to the 4 neighbours on a torus, 200 us of computation",
                      halo(ranks, 2, {16, 8 * kKiB, 200 * kUs}, seed)),
        FSBML_TRAFFIC("halo_3d", "8 rounds of 64 KiB to the 6 neighbours on a torus, 1 ms of computation",
                      halo(ranks, 3, {8, 64 * kKiB, 1000 * kUs}, seed)),
        FSBML_TRAFFIC("barrier", "32 dissemination barriers, 50 us of computation before each",
                      barrier(ranks, {32, 1, 50 * kUs}, seed)),
        FSBML_TRAFFIC("doubling", "16 allreduces of 8 KiB by recursive doubling, 100 us of computation",
                      doubling(ranks, {16, 8 * kKiB, 100 * kUs}, seed)),
        FSBML_TRAFFIC("ring", "2 allreduces of 1 MiB round a ring, 100 us of computation",
                      ring(ranks, {2, kMiB, 100 * kUs}, seed)),
    };
    return all;
}

#undef FSBML_TRAFFIC

} // namespace fsbml::sim
