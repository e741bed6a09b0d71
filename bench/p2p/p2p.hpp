// The point-to-point suite: its settings and its experiments.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "tools/session/session.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fsbml::bench::p2p
{

struct Choice {
    std::vector<std::size_t> sizes = {1, 64, 1024, 4096, 16384, 65536};
    std::vector<int> windows = {32}; // messages under way at once
    int window() const { return *std::max_element(windows.begin(), windows.end()); }
};

// The window for what is about messages rather than bytes: fewer large ones, as slow rails take long for
// them.
inline int short_window(const Choice &choice, std::size_t size)
{
    const std::size_t most = (std::size_t{256} << 10) / size;
    return static_cast<int>(std::clamp<std::size_t>(most, 1, static_cast<std::size_t>(choice.window())));
}

// All ranks call each of these; unless said otherwise, ranks 0 and 1 exchange messages and rank 0 takes the
// time.
void measure_latency(Session &session, const Choice &choice);
void measure_reuse(Session &session, const Choice &choice);
void measure_connections(Session &session, const Choice &choice);
void measure_bandwidth(Session &session, const Choice &choice);
void measure_bidirectional(Session &session, const Choice &choice);
void measure_rate(Session &session, const Choice &choice);
void measure_completion(Session &session, const Choice &choice);
// An even number of ranks, each of which sends or receives.
void measure_multipair(Session &session, const Choice &choice);
void measure_logp(Session &session, const Choice &choice);
void measure_unexpected(Session &session, const Choice &choice);
void measure_progress(Session &session, const Choice &choice);
void measure_overlap(Session &session, const Choice &choice);
void measure_beside(Session &session, const Choice &choice);
void measure_segments(Session &session, const Choice &choice);

} // namespace fsbml::bench::p2p
