// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Memory for what is kept of messages, in chunks that all peers of the process share. Any thread.
#ifndef FSBML_STORE_HPP
#define FSBML_STORE_HPP

#include "api/fsbml_delivery.h"

#include <atomic>

namespace fsbml
{

struct Chunk {
    static constexpr std::size_t kBytes = 8192;
    static constexpr std::size_t kData = kBytes - 24;

    Chunk *next;
    std::uint32_t begin, end; // of what is in use
    std::uint32_t last;       // where the last record begins
    alignas(8) std::uint8_t data[kData];
};
static_assert(sizeof(Chunk) == Chunk::kBytes, "a chunk is two pages");

class Store
{
public:
    explicit Store(const fsbml_delivery_limits_t &l) noexcept : limits(l) {}
    ~Store();
    Store(const Store &) = delete;
    Store &operator=(const Store &) = delete;

    // An empty chunk; nullptr: the budget or the memory is used up. `beyond` the budget: for what is moved.
    Chunk *take(bool beyond) noexcept;
    void give(Chunk *chunk) noexcept;
    std::size_t bytes() const noexcept { return n_ * Chunk::kBytes; }

    const fsbml_delivery_limits_t limits;

private:
    class Guard;
    static constexpr std::size_t kSpare = 64; // chunks that are not given back to the system

    std::atomic_flag lock_ = ATOMIC_FLAG_INIT; // held for a few instructions
    Chunk *spare_ = nullptr;
    std::size_t n_spare_ = 0;
    std::atomic<std::size_t> n_{0};
};

} // namespace fsbml

#endif
