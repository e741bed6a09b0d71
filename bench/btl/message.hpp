// Messages and the memory that they are sent from.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "port.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fsbml::bench
{

// Which of a BTL's ways to send.
enum class Path { descriptor, memory, immediate };

struct Message {
    const unsigned char *memory = nullptr;
    const port_layout_t *layout = nullptr; // of the memory; null: in one piece
    std::size_t bytes = 0;
    Path path = Path::descriptor;
    bool callback = false; // ask for a completion callback in every case
};

// Memory for `slots` messages of one size. Each begins on a page of its own, and all pages have been touched.
class Outgoing
{
public:
    // `pieces` must divide `bytes`; between two pieces is room for one more.
    explicit Outgoing(std::size_t bytes, int slots = 1, int pieces = 1);

    int slots() const { return slots_; }
    std::size_t bytes() const { return bytes_; }
    Message message(int slot, Path path, bool callback = false) const;
    // The message that pattern.hpp has for this round and number. What lies between the pieces is something
    // else.
    void fill(int slot, std::uint32_t round, std::uint32_t number);

private:
    struct Free {
        void operator()(unsigned char *memory) const;
        void operator()(port_layout_t *layout) const { port_layout_free(layout); }
    };

    unsigned char *at(int slot) const { return memory_.get() + static_cast<std::size_t>(slot) * distance_; }

    std::size_t bytes_;
    int slots_;
    std::size_t pieces_;
    std::size_t extent_;   // of one message in memory
    std::size_t distance_; // from one message to the next
    std::unique_ptr<unsigned char, Free> memory_;
    std::unique_ptr<port_layout_t, Free> layout_;
};

// Memory that the next messages from a peer are copied to, until it goes.
class Inbox
{
public:
    Inbox(int rank, std::size_t bytes, int count);
    ~Inbox();
    Inbox(const Inbox &) = delete;
    Inbox &operator=(const Inbox &) = delete;

    // Whether exactly messages 0 to count - 1 of this round have come, in any order: a BTL need not keep any.
    bool right(std::uint32_t round) const;

private:
    int rank_;
    std::size_t bytes_;
    std::vector<unsigned char> memory_;
    std::vector<std::size_t> lengths_;
};

} // namespace fsbml::bench
