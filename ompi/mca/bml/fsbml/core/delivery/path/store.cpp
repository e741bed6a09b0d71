// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "delivery/path/store.hpp"

#include <new>

namespace fsbml
{

class Store::Guard
{
public:
    explicit Guard(std::atomic_flag &flag) noexcept : flag_(flag)
    {
        while (flag_.test_and_set(std::memory_order_acquire)) {
        }
    }
    ~Guard() { flag_.clear(std::memory_order_release); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

private:
    std::atomic_flag &flag_;
};

Store::~Store()
{
    while (nullptr != spare_) {
        Chunk *const chunk = spare_;
        spare_ = chunk->next;
        delete chunk;
    }
}

Chunk *Store::take(bool beyond) noexcept
{
    Chunk *chunk = nullptr;
    {
        const Guard guard(lock_);
        if (nullptr != spare_) {
            chunk = spare_;
            spare_ = chunk->next;
            --n_spare_;
        } else if (!beyond && (n_ + 1) * Chunk::kBytes > limits.store_bytes) {
            return nullptr;
        } else {
            ++n_;
        }
    }
    if (nullptr == chunk) {
        chunk = new (std::nothrow) Chunk;
        if (nullptr == chunk) {
            --n_;
            return nullptr;
        }
    }
    chunk->next = nullptr;
    chunk->begin = chunk->end = chunk->last = 0;
    return chunk;
}

void Store::give(Chunk *chunk) noexcept
{
    {
        const Guard guard(lock_);
        if (n_spare_ < kSpare && bytes() <= limits.store_bytes) {
            chunk->next = spare_;
            spare_ = chunk;
            ++n_spare_;
            return;
        }
        --n_;
    }
    delete chunk;
}

} // namespace fsbml
