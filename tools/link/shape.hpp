// What one direction of a link does to frames, and how users write it.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fsbml::link
{

using Ns = std::int64_t; // CLOCK_MONOTONIC, nanoseconds

struct Shape {
    std::uint64_t rate = 0;       // bits a second; 0: no limit
    Ns delay = 0;                 // after the last bit
    Ns jitter = 0;                // delay +- jitter, evenly spread; frames keep their order
    double loss = 0.0;            // share of frames that do not arrive, 0 to 1
    std::uint64_t queue = 400000; // bytes that may wait; what comes more is dropped
    bool down = false;            // no frame passes
};

// Applies one word to a shape: rate=20mbit, delay=2ms, jitter=100us, loss=0.1%, queue=64kb, up, down.
// Throws std::invalid_argument with a sentence for users; the shape is then as it was.
void change(Shape &shape, const std::string &word);

// The same for several; all or nothing.
void change_all(Shape &shape, const std::vector<std::string> &words);

// The words say what a way over two such links does, from node to node: each has half of the delay and the
// jitter, and its part of the loss. Rate and queue are each link's own.
void change_half(Shape &shape, const std::vector<std::string> &words);

// As change() takes it, with all of the values.
std::string text_of(const Shape &shape);

} // namespace fsbml::link
