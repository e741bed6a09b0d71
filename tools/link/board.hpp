// The links of a cluster, and the loop that carries their frames.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "direction.hpp"
#include "tap.hpp"

#include <array>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

namespace fsbml::link
{

// Two TAP devices: what one sends the other receives, as the shapes have it.
struct Link {
    std::string name;          // "n1r0"
    Tap near;                  // in the node
    Tap far;                   // at the switch
    Direction out;             // from the node to the switch
    Direction in;              // from the switch to the node
    std::uint64_t refused = 0; // frames that an interface did not take
};

class Board
{
public:
    Board();
    ~Board();
    Board(const Board &) = delete;
    Board &operator=(const Board &) = delete;

    void add(std::unique_ptr<Link> link);
    Link *find(const std::string &name);
    const std::vector<std::unique_ptr<Link>> &links() const { return links_; }

    // Also wakes for this file; `ready` is called then. One file at most.
    template <class F>
    void also(int fd, F ready)
    {
        other_ = std::move(ready);
        watch(fd, kOther);
    }
    // Carries frames until stop(), which a signal handler may call.
    void run();
    static void stop() noexcept;

private:
    struct Frame {
        std::size_t bytes = 0;
        std::array<unsigned char, kFrameMax> data;
    };
    struct Due {
        Ns at;
        std::uint64_t order; // of equal times the first comes first
        Tap *to;
        Link *link;
        Frame *frame;
        bool operator<(const Due &other) const
        {
            return at != other.at ? at > other.at : order > other.order; // the earliest on top
        }
    };
    static constexpr std::uint64_t kOther = ~std::uint64_t{0};

    void watch(int fd, std::uint64_t what);
    void take(Link &link, bool from_near);
    void deliver(Ns now);
    Frame *frame();

    const int epoll_;
    std::vector<std::unique_ptr<Link>> links_;
    std::priority_queue<Due> due_;
    std::vector<std::unique_ptr<Frame>> frames_; // all that were ever made
    std::vector<Frame *> free_;
    std::uint64_t order_ = 0;
    std::function<void()> other_;
};

} // namespace fsbml::link
