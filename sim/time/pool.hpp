// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Things that come and go, by number, and lists of them that take no memory of their own.
#ifndef FSBML_SIM_TIME_POOL_HPP
#define FSBML_SIM_TIME_POOL_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fsbml::sim::engine
{

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// T has a member `next`, a number. References stay valid until their number is given back.
template <class T>
class Pool
{
public:
    std::uint32_t take()
    {
        if (kNone == free_) {
            const auto first = static_cast<std::uint32_t>(chunks_.size() * kChunk);
            chunks_.push_back(std::make_unique<T[]>(kChunk));
            for (std::uint32_t i = kChunk; i-- > 0;) {
                (*this)[first + i].next = free_;
                free_ = first + i;
            }
        }
        const std::uint32_t id = free_;
        free_ = (*this)[id].next;
        (*this)[id] = T{};
        ++used_;
        return id;
    }
    void give_back(std::uint32_t id)
    {
        (*this)[id].next = free_;
        free_ = id;
        --used_;
    }
    std::size_t used() const { return used_; }
    T &operator[](std::uint32_t id) { return chunks_[id / kChunk][id % kChunk]; }

private:
    static constexpr std::uint32_t kChunk = 1024;
    std::vector<std::unique_ptr<T[]>> chunks_;
    std::uint32_t free_ = kNone;
    std::size_t used_ = 0;
};

// First in, first out; each thing is in one list at most.
struct List {
    std::uint32_t first = kNone, last = kNone;

    bool empty() const { return kNone == first; }
    template <class T>
    void push(T &things, std::uint32_t id)
    {
        things[id].next = kNone;
        (empty() ? first : things[last].next) = id;
        last = id;
    }
    template <class T>
    std::uint32_t pop(T &things)
    {
        const std::uint32_t id = first;
        first = things[id].next;
        last = empty() ? kNone : last;
        return id;
    }
};

} // namespace fsbml::sim::engine

#endif
