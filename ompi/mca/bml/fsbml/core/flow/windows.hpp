// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Which rail bulk takes, and when it is to wait.
//
// While small messages are sent as well, a rail takes no more bulk than its window: what it needs to stay
// busy. What is refused stays with the PML, which offers it again, so that its rail is chosen when there is
// room, and nothing small waits behind much. Else it takes 10 ms more of fragments, so that little is with a
// rail that becomes slow, and of whole messages all: a program may send them and then compute.
#ifndef FSBML_WINDOWS_HPP
#define FSBML_WINDOWS_HPP

#include "api/fsbml_flow.h"
#include "schedule/vft_scheduler.hpp"

#include <array>
#include <atomic>

namespace fsbml
{

class Windows
{
public:
    static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

    Windows(Scheduler &sched, bool alone, bool may_refuse) noexcept
        : sched_(sched), alone_(alone), may_refuse_(may_refuse)
    {
    }

    int take(std::uint64_t now_ns, bool is_short, fsbml_bulk_t &piece) noexcept;
    std::uint32_t refusals() const noexcept { return refusals_; }

    // What a byte takes on a rail, and with how much to do it takes no more bulk.
    void set(std::size_t rail, double gap, std::uint64_t window_ns) noexcept
    {
        room_[rail].gap.store(gap, std::memory_order_relaxed);
        room_[rail].window_ns = window_ns;
    }
    // What this process has with it at a look.
    void left(std::size_t rail, std::uint64_t bytes) noexcept { room_[rail].own_bytes = bytes; }

    // Trials. A rail that has become far slower gets nothing any more, so nothing would tell that it has
    // recovered. Now and then it gets a small piece of something long; when that is delivered tells how fast
    // it is at least. One at a time, and no more than a hundredth of all bulk.
    struct Trial {
        std::uint64_t sent_ns = 0; // 0: none is under way on this rail
        std::size_t bytes = 0;
    };
    // A rail is to have the next small piece; false: another one has, or is to.
    bool arm(std::size_t rail) noexcept;
    Trial tried(std::size_t rail) const noexcept;
    void end_trial() noexcept { trial_sent_ns_.store(0); }

private:
    struct Room {
        std::atomic<double> gap{0.0};       // ns per byte of a fragment
        std::uint64_t window_ns = kNoLimit; // with more to do, the rail takes no bulk
        std::uint64_t own_bytes = 0;        // left at the last look, and given to it by this process since
    };
    // What the PML was refused: so it is known how much a rail could still be given.
    struct Waiting {
        const void *of = nullptr;
        std::size_t bytes = 0;
        std::uint64_t seen_ns = 0;
    };

    int accept(int rail, std::size_t bytes) noexcept;
    int take_trial(std::uint64_t now_ns, fsbml_bulk_t &piece) noexcept;
    int best_with_room(std::uint64_t now_ns, const fsbml_bulk_t &piece, std::uint64_t backlog,
                       std::size_t all, bool is_short) const noexcept;
    std::size_t note_waiting(const void *of, std::size_t bytes, std::uint64_t now_ns) noexcept;
    bool has_room(std::size_t rail, std::uint64_t backlog, bool is_short) const noexcept;

    Scheduler &sched_;
    const bool alone_;
    bool may_refuse_;
    bool was_refused_ = false;
    std::uint32_t refusals_ = 0;
    std::array<Room, FSBML_MAX_RAILS> room_;
    std::array<Waiting, 32> waiting_;
    std::atomic<std::uint64_t> bulk_bytes_{0}; // that were given to rails
    std::uint64_t tried_bytes_ = 0;            // of them, as trials
    std::atomic<std::uint32_t> armed_{0};      // the rail, plus 1
    std::uint32_t trial_rail_ = 0;
    std::size_t trial_bytes_ = 0;
    std::atomic<std::uint64_t> trial_sent_ns_{0};
};

} // namespace fsbml

#endif
