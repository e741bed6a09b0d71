// One direction of a link: when a frame that comes now is at the other end, if it gets there. No clock, no
// I/O.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "shape.hpp"

#include <cstddef>
#include <optional>
#include <random>

namespace fsbml::link
{

// A frame waits for those before it, takes 8 bytes / rate on the wire, and then the delay. Strictly serial: a
// pause earns no credit, unlike with a token bucket.
//
//   offered --> queue (bytes) --> wire (rate) --> delay +- jitter, loss --> due
class Direction
{
public:
    struct Counters {
        std::uint64_t frames = 0; // that got through, and their bytes
        std::uint64_t bytes = 0;
        std::uint64_t full = 0; // dropped: no room in the queue
        std::uint64_t lost = 0; // dropped: loss
        std::uint64_t cut = 0;  // dropped: the link is down
    };

    // `cut_through`: a frame comes from a link that has already taken its time; it is passed on while it
    // comes in, so that a path of two links of one rate costs that time once.
    Direction(const Shape &shape, bool cut_through, std::uint64_t seed)
        : shape_(shape), cut_through_(cut_through), random_(seed)
    {
    }

    // A frame of `bytes` (Ethernet header included) comes at `now`, which never goes back. Returns when it is
    // due at the other end, not before any earlier frame; nothing if it is dropped.
    std::optional<Ns> offer(Ns now, std::size_t bytes);

    // What is on its way keeps its time.
    void set_shape(const Shape &shape) { shape_ = shape; }
    const Shape &shape() const { return shape_; }
    const Counters &counters() const { return counters_; }

private:
    Shape shape_;
    const bool cut_through_;
    std::mt19937_64 random_;
    double busy_until_ = 0.0; // ns, with its fraction: a frame of 64 bytes takes 5.12 ns at 100 Gbit/s
    Ns last_due_ = 0;
    Counters counters_;
};

} // namespace fsbml::link
