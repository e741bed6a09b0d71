// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "replay.hpp"

#include "sim/traffic/traffic.hpp"
#include "tools/text/text.hpp"
#include "tools/whatif/whatif.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

namespace fsbml::replay
{
namespace
{

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = kKiB * kKiB;
constexpr sim::Time kMs = 1'000'000 * sim::kPsPerNs;
constexpr std::uint64_t kSeed = 1;

struct Recipe {
    const char *name, *what, *set;
    sim::Workload (*make)(std::uint32_t ranks);
};

// Sizes small and large, each class once. What is short is bound by overheads and latencies, what is long by
// rates; on more nodes than processors, ranks share these.
const Recipe kRecipes[] = {
    {"ping-pong", "32 messages of 1 KiB, each answered before the next", "two",
     [](std::uint32_t n) { return sim::ping_pong(n, 32, sim::Sizes::all(kKiB), kSeed); }},
    {"stream", "32 messages of 16 KiB there, 32 back", "two",
     [](std::uint32_t n) { return sim::one_to_one(n, 32, sim::Sizes::all(16 * kKiB), kSeed); }},
    {"pareto", "32 messages there and back, 256 bytes to 1 MiB, Pareto with shape 1", "two",
     [](std::uint32_t n) { return sim::one_to_one(n, 32, sim::Sizes::pareto(256, kMiB, 1.0), kSeed); }},
    {"barrier", "32 dissemination barriers, 200 us of computation before each", "two",
     [](std::uint32_t n) {
         return sim::barrier(n, {32, 1, kMs / 5}, kSeed);
     }},
    {"uniform", "4 phases of 8 messages a rank to any rank, 1 byte to 64 KiB alike", "four",
     [](std::uint32_t n) { return sim::random_peers(n, 4, 8, sim::Sizes::uniform(1, 64 * kKiB), kSeed); }},
    {"all-to-all", "256 KiB of each rank to each, pairwise exchange", "four",
     [](std::uint32_t n) {
         return sim::all_to_all(n, sim::AllToAll::pairwise, sim::Sizes::all(256 * kKiB), kSeed);
     }},
    {"halo", "16 rounds of 32 KiB to the neighbours on a torus, 1 ms of computation", "four",
     [](std::uint32_t n) {
         return sim::halo(n, 2, {16, 32 * kKiB, kMs}, kSeed);
     }},
    {"bursts", "8 bursts of 8 messages of 4 KiB a rank, 5 ms apart on average", "three",
     [](std::uint32_t n) {
         return sim::bursts(n, {8, 8, 5 * kMs}, sim::Sizes::all(4 * kKiB), kSeed);
     }},
    {"one-to-many", "rank 0 deals 32 messages of 16 KiB to each other rank", "three",
     [](std::uint32_t n) { return sim::one_to_many(n, 32, sim::Sizes::all(16 * kKiB), kSeed); }},
    {"many-to-one", "8 messages of 128 KiB of each rank to rank 0, which takes what comes", "three",
     [](std::uint32_t n) {
         return sim::many_to_one(n, 8, sim::Sizes::all(128 * kKiB), sim::From::any_rank, kSeed);
     }},
};

std::uint32_t nodes_of(const std::string &set)
{
    return std::find_if(rail_sets().begin(), rail_sets().end(),
                        [&](const RailSet &one) { return one.name == set; })
        ->nodes;
}

} // namespace

const std::vector<RailSet> &rail_sets()
{
    static const std::vector<RailSet> sets{{"two", 2, {"200mbit", "20mbit"}},
                                           {"three", 3, {"100mbit", "50mbit", "20mbit"}},
                                           {"four", 4, {"100mbit", "100mbit"}}};
    return sets;
}

std::vector<Case> cases(const std::vector<std::string> &names)
{
    std::vector<Case> chosen;
    for (const Recipe &recipe : kRecipes) {
        if (names.empty() || std::find(names.begin(), names.end(), recipe.name) != names.end()) {
            chosen.push_back({recipe.name, recipe.what, recipe.set, recipe.make(nodes_of(recipe.set))});
            chosen.back().workload.name = recipe.name;
        }
    }
    for (const std::string &name : names) {
        if (std::none_of(chosen.begin(), chosen.end(), [&](const Case &one) { return one.name == name; })) {
            throw std::invalid_argument(
                fmt::format("there is no case '{}'; there are: {}", name, bench::names_of(kRecipes)));
        }
    }
    return chosen;
}

Case own_case(const std::string &file)
{
    whatif::Job job = whatif::read_job({file}, 1, 0);
    if (job.ranks < 2 || job.messages == 0) {
        throw std::runtime_error(fmt::format("'{}' has no messages", file));
    }
    const std::string name =
        job.workload.name.empty() ? std::filesystem::path(file).filename().string() : job.workload.name;
    return {name, file, "own", std::move(job.workload)};
}

} // namespace fsbml::replay
