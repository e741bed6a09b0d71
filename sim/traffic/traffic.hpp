// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Kinds of traffic, each a workload from a number of ranks, sizes and a seed; what these are made with, and
// the check of a workload.
#ifndef FSBML_SIM_TRAFFIC_HPP
#define FSBML_SIM_TRAFFIC_HPP

#include "sim/job/job.hpp"

#include <random>
#include <string>

namespace fsbml::sim
{

// Where workloads get sizes, peers and pauses from: the same for a seed on every machine, as far as log and
// pow round alike.
class TrafficDice
{
public:
    // A stream for each rank, so that what one draws does not depend on how many others there are.
    explicit TrafficDice(std::uint64_t seed, std::uint32_t stream = 0);

    double unit();                                                // [0, 1)
    std::uint64_t integer(std::uint64_t low, std::uint64_t high); // each of [low, high] alike
    Time exponential(Time mean);
    std::uint32_t peer(std::uint32_t ranks, std::uint32_t self); // each of the others alike

private:
    std::mt19937_64 random_;
};

// How many bytes a message has: at least `low`, at most `high`.
struct Sizes {
    enum class Kind : std::uint8_t {
        fixed,       // always low
        uniform,     // each size alike
        log_uniform, // each factor of two alike
        pareto,      // bounded Pareto: P(X > x) as (low / x)^shape, up to high; 1.0 and less: a few hold most
                     // bytes
    };
    Kind kind = Kind::fixed;
    std::uint64_t low = 1;
    std::uint64_t high = 1;
    double shape = 1.0;

    static Sizes all(std::uint64_t bytes);
    static Sizes uniform(std::uint64_t low, std::uint64_t high);
    static Sizes log_uniform(std::uint64_t low, std::uint64_t high);
    static Sizes pareto(std::uint64_t low, std::uint64_t high, double shape);

    // Throws std::invalid_argument unless 1 <= low <= high <= 2^50 and shape > 0.
    void validate() const;
    std::uint64_t draw(TrafficDice &dice) const;
};

// ---- Workloads by class, each from a number of ranks, sizes and a seed.
//
// In all of them sends come before the receives that depend on them, so that none locks up as long as a send
// does not wait for its receiver. Ranks that talk to each other most have neighbouring numbers: with rank r
// on node r % nodes they are on different nodes, and several ranks of a node share its NICs.

constexpr std::uint32_t kMostRanks = 1U << 20;

// All of them throw std::invalid_argument for less than 2 or more than 2^20 ranks, and for bad sizes.

// Thesis, 5.8.1: rank 2i sends `messages` to 2i + 1, which has them all before it sends as many back. A last
// rank without partner does nothing. Messages: 2 * messages * (ranks / 2).
Workload one_to_one(std::uint32_t ranks, std::uint32_t messages, const Sizes &sizes, std::uint64_t seed);

// The same with each message answered before the next one.
Workload ping_pong(std::uint32_t ranks, std::uint32_t rounds, const Sizes &sizes, std::uint64_t seed);

// In each phase all ranks send `messages` to peers drawn anew for each, then receive what the phase has for
// them. Messages: ranks * phases * messages.
Workload random_peers(std::uint32_t ranks, std::uint32_t phases, std::uint32_t messages, const Sizes &sizes,
                      std::uint64_t seed);

// Each rank gives `messages` at once to one peer, drawn anew, then waits until an exponential gap after the
// last burst's beginning is over. What a burst brings it receives after its own next one. Messages: ranks *
// count * messages.
struct Bursts {
    std::uint32_t count = 1;
    std::uint32_t messages = 1;
    Time mean_gap = 0;
};
Workload bursts(std::uint32_t ranks, const Bursts &burst, const Sizes &sizes, std::uint64_t seed);

// Rank 0 deals messages to all others in turn; or gets them, from each in turn or from any rank.
// Messages: messages * (ranks - 1).
Workload one_to_many(std::uint32_t ranks, std::uint32_t messages, const Sizes &sizes, std::uint64_t seed);
enum class From : std::uint8_t { each, any_rank };
Workload many_to_one(std::uint32_t ranks, std::uint32_t messages, const Sizes &sizes, From from,
                     std::uint64_t seed);

// Each rank sends one message to each other one. With the same seed, all three send the same sizes.
// Messages: ranks * (ranks - 1).
enum class AllToAll : std::uint8_t {
    pairwise,  // step i: to r + i, then from r - i
    xor_steps, // paper 004, Alltoall_A: step i: to r xor i, then from r xor i
    xor_sends, // paper 004, Alltoall_B: all the sends of A, then all receives by rank
};
Workload all_to_all(std::uint32_t ranks, AllToAll algorithm, const Sizes &sizes, std::uint64_t seed);

// What applications and collectives do over and over: before each round a rank computes half to one and a
// half times `compute`, so that ranks come late by turns (paper 003's process skew).
struct Rounds {
    std::uint32_t count = 1;
    std::uint64_t bytes = 1; // see below
    Time compute = 0;
};

// A torus of `dims` (2 or 3) dimensions, as near to equal as the ranks divide: faces of `bytes` to both
// neighbours of each dimension that is longer than 1, then theirs. Messages: count * ranks * 2 * such
// dimensions.
std::vector<std::uint32_t> grid(std::uint32_t ranks, std::uint32_t dims);
Workload halo(std::uint32_t ranks, std::uint32_t dims, const Rounds &rounds, std::uint64_t seed);

// Dissemination barrier: step k: to r + 2^k, from r - 2^k. Messages: count * ranks * ceil(log2 ranks).
Workload barrier(std::uint32_t ranks, const Rounds &rounds, std::uint64_t seed);

// Allreduce of `bytes` by recursive doubling. Ranks beyond the greatest power of two P hand theirs to a
// neighbour first and get the result last. Messages: count * (P log2 P + 2 (ranks - P)).
Workload doubling(std::uint32_t ranks, const Rounds &rounds, std::uint64_t seed);

// Allreduce of `bytes` round a ring, in pieces of bytes / ranks: reduce-scatter, then allgather.
// Messages: count * ranks * 2 (ranks - 1).
Workload ring(std::uint32_t ranks, const Rounds &rounds, std::uint64_t seed);

// A class of traffic with sizes that fit it, for code that goes through all of them.
struct Traffic {
    const char *name;
    const char *what;
    Workload (*make)(std::uint32_t ranks, std::uint64_t seed);
};
const std::vector<Traffic> &all_traffic();

// Throws std::invalid_argument, naming rank and op, unless
// - every peer exists and is another rank, and no time is negative;
// - every message is received, and every receive has a message, in whatever order those from any rank come:
// so
//   a process that has received from any rank receives from any rank until its end;
// - no receives wait for each other, given that sends wait for no rank.
void check(const Workload &workload);

// What the makers of workloads write ops with.
class TrafficMaker
{
public:
    // Throws std::invalid_argument for a number of ranks that no workload can have.
    TrafficMaker(std::string name, std::uint32_t ranks);

    void send(std::uint32_t rank, std::uint32_t peer, std::uint64_t bytes);
    void recv(std::uint32_t rank, std::uint32_t peer);
    void compute(std::uint32_t rank, Time time); // no op for 0
    void until(std::uint32_t rank, Time time);
    Workload take() { return std::move(w_); }

private:
    Workload w_;
};

// One stream of random numbers a rank.
std::vector<TrafficDice> traffic_dice(std::uint32_t ranks, std::uint64_t seed);

} // namespace fsbml::sim

#endif
