// The micro-benchmarks for the layer below MPI (S. Kutlug's thesis, chapter 3), on BTLs.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "pair.hpp"

#include <vector>

namespace fsbml::bench
{

// What all operations work with; the same on all ranks, but for the peers.
struct Bench {
    Session &session;
    port_entry_t about; // the BTL between ranks 0 and 1: what holds for both
    int entry;
    int window;
    double patience;
    Pair pair;               // ranks 0 and 1
    std::vector<Pair> other; // rank 0 and each other rank that it reaches by the same BTL
};

// Rank 0's word about what is left out, beside the results.
void remark(const Session &session, const std::string &text);

void measure_latency(Bench &bench, std::size_t size);
void measure_reuse(Bench &bench, std::size_t size);
void measure_connections(Bench &bench, std::size_t size);
void measure_progress(Bench &bench, std::size_t size);
void measure_segments(Bench &bench, std::size_t size);
void measure_bandwidth(Bench &bench, std::size_t size);
void measure_completion(Bench &bench, std::size_t size);
void measure_logp(Bench &bench, std::size_t size);

} // namespace fsbml::bench
