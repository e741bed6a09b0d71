// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What is to happen, in the order of time; what is due at the same time, in the order of its planning.
#ifndef FSBML_SIM_TIME_EVENT_QUEUE_HPP
#define FSBML_SIM_TIME_EVENT_QUEUE_HPP

#include "sim/job/workload.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace fsbml::sim::engine
{

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

} // namespace fsbml::sim::engine

#endif
