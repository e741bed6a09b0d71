// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Lines between the two ends of a world of delivery tests, in virtual time. A line keeps its order, as TCP's
// connections do, but for what is wanted of it: frames that are lost, repeated, or swapped with the one
// before. One that swallows loses all that is given to it, as a connection does that has failed; from one
// that stalls it comes out later.
#ifndef FSBML_TESTS_UNIT_DELIVERY_LINES_HPP
#define FSBML_TESTS_UNIT_DELIVERY_LINES_HPP

#include "api/fsbml_core.h"
#include "test.hpp"

#include <array>
#include <queue>

namespace delivery
{

constexpr std::uint64_t kUs = 1000, kMs = 1000 * kUs, kSecond = 1000 * kMs;

struct Event {
    enum Kind { kTick, kFrame, kFault, kSend, kDoubt } kind;
    std::uint64_t when, order;
    unsigned end, path;
    std::uint64_t what;
    bool operator<(const Event &e) const { return when != e.when ? when > e.when : order > e.order; }
};

class Clock
{
public:
    std::uint64_t now = kSecond;

    void at(Event::Kind kind, std::uint64_t when, unsigned end, unsigned path, std::uint64_t what = 0)
    {
        events_.push({kind, std::max(when, now), ++order_, end, path, what});
    }
    bool has_any() const { return !events_.empty(); }
    Event next()
    {
        const Event event = events_.top();
        events_.pop();
        now = event.when;
        return event;
    }

private:
    std::priority_queue<Event> events_;
    std::uint64_t order_ = 0;
};

struct Frame {
    std::uint64_t when = 0;              // it arrives
    std::uint32_t bytes = 0;             // as the receiver is told
    std::array<std::uint8_t, 96> data{}; // of it
};

// One direction of a path.
struct Line {
    std::deque<Frame> under_way;
    std::uint64_t delay = 50 * kUs, last = 0;
    bool stalls = false, swallows = false;
};

class Lines
{
public:
    Lines(Clock &clock, std::mt19937_64 &random, unsigned paths)
        : line{std::vector<Line>(paths), std::vector<Line>(paths)}, clock_(clock), random_(random)
    {
    }

    // Of a thousand frames; control frames are lost by themselves.
    unsigned loses_control = 0, loses_data = 0, repeats = 0, swaps = 0;
    std::vector<Line> line[2]; // of each sending end

    void put(unsigned end, unsigned path, const Frame &f, bool is_control)
    {
        Line &l = line[end][path];
        if (l.swallows || chance(is_control ? loses_control : loses_data)) {
            return;
        }
        history_[n_++ % history_.size()] = f;
        enqueue(end, path, f);
        if (chance(repeats)) {
            enqueue(end, path, history_[random_() % std::min<std::uint64_t>(n_, history_.size())]);
        }
    }
    // What is under way arrives up to a random one; the others are lost.
    void truncate(unsigned end, unsigned path)
    {
        Line &l = line[end][path];
        l.under_way.resize(l.under_way.empty() ? 0 : random_() % (l.under_way.size() + 1));
    }
    void stall(unsigned end, unsigned path, bool on)
    {
        Line &l = line[end][path];
        if (l.stalls == on) {
            return;
        }
        l.stalls = on;
        for (std::size_t k = 0; !on && k < l.under_way.size(); ++k) {
            Frame &f = l.under_way[k];
            f.when = l.last = std::max({f.when, l.last, clock_.now + l.delay});
            clock_.at(Event::kFrame, f.when, end, path);
        }
    }
    bool chance(unsigned in_thousand) { return in_thousand > 0 && random_() % 1000 < in_thousand; }

private:
    void enqueue(unsigned end, unsigned path, Frame f)
    {
        Line &l = line[end][path];
        f.when = std::max(l.last, clock_.now + l.delay + random_() % (l.delay / 4 + 1) + f.bytes / 4);
        l.last = f.when;
        l.under_way.push_back(f);
        const std::size_t k = l.under_way.size();
        if (k > 1 && chance(swaps)) { // the times stay
            std::swap(l.under_way[k - 1], l.under_way[k - 2]);
            std::swap(l.under_way[k - 1].when, l.under_way[k - 2].when);
        }
        if (!l.stalls) {
            clock_.at(Event::kFrame, f.when, end, path);
        }
    }

    Clock &clock_;
    std::mt19937_64 &random_;
    std::array<Frame, 32> history_{};
    std::uint64_t n_ = 0;
};

} // namespace delivery

#endif
