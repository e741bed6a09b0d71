// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A stream of messages on one rail, and the rate at which they arrive: no communication, no clock.
//
// The receiver tells of each message when it came and how much had come by then. What is under way is kept to
// what the rail carries in some milliseconds, and to a share of what has arrived: what a shaper's bucket
// lets pass in a moment then does not fill the queue of the slow rail behind it. The rate is that of the
// latter half, when a bucket is empty; how far the first half was ahead of it is what the bucket holds.
//
// A process that loses its processor leaves the rail idle, or takes in at once what came meanwhile. Both ends
// notice that by their own clocks. Behind a sender's pause other stamps begin to count together; what was
// under way at a receiver's does not count.
#ifndef FSBML_STREAM_HPP
#define FSBML_STREAM_HPP

#include "api/fsbml_core.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fsbml
{

class Stream
{
public:
    explicit Stream(const fsbml_streaming_limits_t &limits) noexcept;

    // Bytes of the next message to be sent at `now`; 0: none at the moment, or no more at all.
    std::uint32_t next(std::uint64_t now_ns) noexcept;
    void sent(std::uint32_t bytes) noexcept { sent_ += bytes; }
    // `bytes` in all had arrived at `stamp_ns` of the receiver's clock; `away`: it had not looked for a while
    // before.
    void arrived(std::uint64_t bytes, std::uint64_t stamp_ns, bool away) noexcept;

    bool ended() const noexcept { return ended_; }
    bool drained() const noexcept { return ended_ && arrived_ >= sent_; }

    fsbml_rate_t rate() const;

private:
    struct Stamp {
        std::uint64_t ns = 0;
        std::uint64_t bytes = 0;
        bool first = false; // of those that count together
    };
    // The latter one of stamps that count together: the indices of those at which a packet had passed.
    using Half = std::vector<std::size_t>;
    void disturbed() noexcept;
    bool enough() const;
    std::size_t recent() const noexcept;
    std::uint64_t stall_ns() const;
    std::vector<std::size_t> packets(std::size_t begin, std::size_t end) const;
    std::vector<Half> halves() const;
    std::uint64_t took(const Half &half) const noexcept;
    double slope(std::size_t from, std::size_t to) const noexcept;
    double bucket(double G) const noexcept;

    fsbml_streaming_limits_t limits_;
    std::uint64_t sent_ = 0;
    std::uint64_t arrived_ = 0;
    std::uint64_t looked_ns_ = 0; // last time that something was to be sent
    std::uint64_t began_ns_ = 0;  // the first stamp, on the sender's clock; 0: none yet
    std::uint64_t came_ns_ = 0; // when something had arrived, last, on the sender's clock, and what there was
    std::uint64_t seen_ = 0;
    bool stalled_ = false;
    std::uint64_t beyond_ = 0; // what arrives up to here does not count
    std::uint64_t paused_ = 0; // the sender was away when so much was sent
    bool fresh_ = true;        // the next stamp that counts is the first of others
    bool away_ = false;
    bool ended_ = false;
    Stamp any_{}; // the first that was on time, and the last of all, whether they count or not
    Stamp last_{};
    bool late_ = false; // none was on time yet
    std::size_t n_ = 0;
    std::array<Stamp, 256> stamp_;
};

} // namespace fsbml

#endif
