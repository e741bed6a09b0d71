// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Messages drawn at random, the same on every rank: a seed makes them, not a clock.
#ifndef FSBML_BENCH_MPI_DRAWS_HPP
#define FSBML_BENCH_MPI_DRAWS_HPP

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fsbml::bench
{

enum class Distribution {
    uniform, // every size from low to high alike
    log,     // every power of two alike, as sizes of messages in programs are spread
    ends,    // half of them low, half high: control messages beside bulk
};

// Of "uniform", "log" and "ends".
Distribution distribution_of(const std::string &name);

std::size_t draw_size(Distribution distribution, std::size_t low, std::size_t high,
                      std::mt19937_64 &generator);

// A message of an exchange among all ranks.
struct Message {
    int source = 0;
    int destination = 0;
    std::size_t bytes = 0;
};

// `count` messages of every rank, each to a rank drawn from all the others; listed source by source. Sizes
// are `low` if that equals `high`. Needs two ranks.
std::vector<Message> draw_messages(int ranks, int count, Distribution distribution, std::size_t low,
                                   std::size_t high, std::mt19937_64 &generator);

} // namespace fsbml::bench

#endif
