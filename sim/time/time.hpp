// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Virtual time: events in their order, things by number and lists of them, and what a message takes on a
// rail.
#ifndef FSBML_SIM_TIME_HPP
#define FSBML_SIM_TIME_HPP

#include "sim/job/job.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace fsbml::sim::engine
{

// ---- What is to happen, in the order of time; what is due at the same time, in the order of its planning.

// Nothing happens later (53 days), and nothing takes half as long: so no sum of a time and a cost overflows.
constexpr Time kEndOfTime = Time{1} << 62;
constexpr Time kLongest = Time{1} << 61;

enum class What : std::uint8_t {
    processor, // of a rank has done what it was at
    wake,      // a rank that waits may have what it waits for
    sent,      // the sender's NIC is done with a fragment
    link,      // a fragment's first byte is at the next bottleneck
    head,      // a fragment's first byte is at the receiver's NIC
    arrival,   // a fragment is at the receiver's NIC
    again,     // the time-out of a fragment that got lost on the way
    nic_free,  // a NIC that sends and receives in turn has received
    revival,   // a NIC whose rail was dead goes on
};

struct Event {
    Time at = 0;
    std::uint64_t order = 0;
    std::uint32_t id = 0; // rank, fragment or NIC
    What what = What::processor;

    bool before(const Event &other) const noexcept
    {
        return at != other.at ? at < other.at : order < other.order;
    }
};

// A heap whose nodes have four children: half as deep as one with two, and children share cache lines.
class EventQueue
{
public:
    bool empty() const noexcept { return heap_.empty(); }
    Time now() const noexcept { return now_; }

    void plan(Time at, What what, std::uint32_t id)
    {
        if (at > kEndOfTime) {
            throw std::overflow_error("the simulation has run out of time (after 53 days of it)");
        }
        const Event event{at, planned_++, id, what};
        std::size_t place = heap_.size();
        heap_.push_back(event);
        for (; place > 0 && event.before(heap_[(place - 1) / 4]); place = (place - 1) / 4) {
            heap_[place] = heap_[(place - 1) / 4];
        }
        heap_[place] = event;
    }

    Event next()
    {
        const Event first = heap_.front();
        const Event last = heap_.back();
        heap_.pop_back();
        const std::size_t n = heap_.size();
        for (std::size_t place = 0, child = 1; n > 0; child = 4 * place + 1) {
            std::size_t least = child;
            for (std::size_t c = child + 1; c < child + 4 && c < n; ++c) {
                least = heap_[c].before(heap_[least]) ? c : least;
            }
            if (child >= n || last.before(heap_[least])) {
                heap_[place] = last;
                break;
            }
            heap_[place] = heap_[least];
            place = least;
        }
        now_ = first.at;
        return first;
    }

private:
    std::vector<Event> heap_;
    std::uint64_t planned_ = 0;
    Time now_ = 0;
};

// ---- Things that come and go, by number, and lists of them that take no memory of their own.

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

// To the nearest one. Throws std::overflow_error where there are too many.
Time picoseconds(double ps);

// What a message of a size takes on a rail, in picoseconds, and how that changes in the course of time.
class RailTimes
{
public:
    RailTimes(const RailSpec &spec, std::uint64_t seed);

    Time latency() const { return latency_; }
    Time burst() const { return burst_; }
    Time overhead_send(std::uint64_t bytes) const;
    Time overhead_receive(std::uint64_t bytes) const;
    double gap_ps(std::uint64_t bytes) const;

    // What a message's latency and gap are multiplied with; each call is another message.
    double noise();
    // What its gap is multiplied with if it begins at that time; 0: the rail is dead.
    double factor(Time when) const;
    // Whether the rail was dead at some time between these two, both included.
    bool dead_between(Time first, Time last) const;
    // When a rail that is dead then goes on; below 0: never.
    Time revival(Time when) const;

private:
    fsbml_loggp_t p_;
    Time latency_, burst_;
    double jitter_;
    std::vector<Change> changes_;
    std::mt19937_64 random_;
};

// Seeds of one job that have nothing to do with each other (SplitMix64).
std::uint64_t mixed(std::uint64_t seed, std::uint64_t which);

} // namespace fsbml::sim::engine

#endif
