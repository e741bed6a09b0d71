// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A rail's present rate and backlog, from what its transport has delivered (Feedback, and what it is made
// of); when bulk must wait for small messages; a peer's extra latency.
#ifndef FSBML_FLOW_HPP
#define FSBML_FLOW_HPP

#include "api/fsbml_flow.h"
#include "schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace fsbml
{

constexpr std::uint64_t kLookNs = 1'000'000;       // between two looks
constexpr std::uint64_t kLateLookNs = 2 * kLookNs; // one that comes later was kept from it

// live_rate.cpp: the rate of one rail, from what its transport has delivered. No clock, no I/O: looks are
// given to it.
//
// A look tells how much was acknowledged since the one before, and whether the transport still had something
// to deliver. Looks add up to samples. Two kinds count:
// - of a rail that was busy at all looks: at least 5 ms and four fragments; of one that takes twice as long
//   for that as it should, 10 ms and a quarter of one; 100 ms where several peers have bulk, as they may be
//   slow for so long because others send to them as well, where as much comes as is sent, as acknowledgements
//   come later while the other end's queue fills, and after a late look, as where processors are busy they
//   wait for one, and come at once then;
// - of one that was busy at some of them, at least 20 ms. That is no more than an estimate of how long it was
//   busy, and each time costs a round trip and two looks on top, so the sample counts only if the rail is
//   faster than believed by a half even with them, or slower by a half without: so a rail that has recovered,
//   and is hardly used, is found out, and one that has one message at a time.
// Linux counts busy times in jiffies, so that the looks, once a millisecond, tell more: only where they are
// farther apart is its count taken, and a jiffy more where it tells how fast a rail is at least. While the
// receiver holds the rail up, and for as long after that (0.5 s at most), nothing counts; within twice the
// bucket of a shaper after a pause that filled it, only what is slower by a half even so; and after a shorter
// pause nothing that may have come back to the bucket.
//
// Three samples in a row beyond 20 % on the same side (one, if the rate was a guess) replace the rate by
// their median; else the median of the last eight moves it by an eighth. (A windowed maximum, as BBR has it,
// would take a shaper's bucket, and a backlog that was acknowledged at once, for the rate.)
class LiveRate
{
public:
    enum class Change : std::uint8_t {
        none,
        drift, // the rate is another one, by a little
        jump,  // the rail has become far slower or faster
    };

    // ns per byte, > 0; bytes; bytes. The first sample of a busy rail replaces a guess.
    LiveRate(double gap, double burst, std::size_t quantum, bool is_guess = false) noexcept;

    Change look(const fsbml_live_look_t &l, std::uint64_t round_trip_ns = 0) noexcept;
    // A piece alone on the rail was delivered within so long: a sample as of a rail that is busy now and
    // then.
    Change trial(std::size_t bytes, std::uint64_t took_ns) noexcept;
    double gap() const noexcept { return gap_; } // ns per byte
    bool is_guess() const noexcept { return is_guess_; }

private:
    static constexpr std::size_t kSamples = 8;

    void restart() noexcept;
    bool is_late() const noexcept;
    Change ahead(const fsbml_live_look_t &l, bool all_of_it) noexcept;
    Change sparse(std::uint64_t round_trip_ns) noexcept;
    Change faster(double gap) noexcept; // at least: counts if that is much
    Change sampled(double gap, bool saturated) noexcept;

    double gap_;
    const double burst_, quantum_;
    double skip_;           // bytes that may have come out of a bucket
    double refilled_ = 0.0; // bytes that may be in it since then
    bool is_guess_;
    std::uint64_t held_up_ = 0; // ns for which nothing counts, after the receiver held the rail up
    std::uint64_t uneven_ = 0;  // ns for which samples are long: what comes in does so unevenly
    // The sample that is being taken.
    std::uint64_t elapsed_ = 0, busy_ = 0, uncounted_ = 0;
    double bytes_ = 0.0;
    unsigned times_ = 1;    // that it became busy
    bool is_exact_ = true;  // no look was far from the one before
    bool saturated_ = true; // busy at all looks
    bool was_busy_ = false; // at the look before
    // The last samples, ns per byte.
    std::array<double, kSamples> sample_{};
    std::size_t n_ = 0, at_ = 0;
    int side_ = 0; // of the last ones in a row: 1 slower than believed, -1 faster
    unsigned row_ = 0;
};

// pauses.cpp: for how long a process that has bulk does not look at its networks: as much must be with a
// rail, or it is idle meanwhile. (A program that computes between two exchanges has none then, and the next
// one's small messages are not to wait for so long.)
class Pauses
{
public:
    // The process looks now, and had bulk since it looked before. Returns for how long a rail should have
    // something to do.
    std::uint64_t look(std::uint64_t now_ns, bool had_bulk) noexcept;
    // The sum, so far, of pauses that are more than a look at all networks: the process computes, or others
    // have its processor.
    std::uint64_t away_ns() const noexcept { return away_; }

private:
    // Pauses are remembered for 2.5 to 5 s.
    struct Epoch {
        double sum = 0.0, squares = 0.0; // ns, ns^2
        unsigned n_long = 0;
        std::uint64_t longest = 0;
    };

    std::uint64_t last_ = 0; // 0: it has not looked yet
    std::uint64_t epoch_began_ = 0, away_ = 0;
    Epoch now_, before_;
};

// windows.cpp: which rail bulk takes, and when it is to wait.
//
// While small messages are sent as well, a rail takes no more bulk than its window: what it needs to stay
// busy. What is refused stays with the PML, which offers it again, so that its rail is chosen when there is
// room, and nothing small waits behind much. Without small messages it takes 10 ms of fragments more than its
// window, so that little is with a rail that becomes slow, and all whole messages: a program may send them
// and then compute.
//
// A peer that has next to nothing under way is not refused: what the others have may wait for their ends of
// the rail, to which other nodes send as well, and this end would be idle.
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
    // Since this was asked before, bulk had to wait, or more was given to rails than a queue may have: a
    // pause then may have been too long.
    bool had_bulk() noexcept;
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
    bool was_refused_ = false, has_refused_ = false; // the last one; any, since had_bulk() was asked
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

// Adds a connection to what was seen of its rail.
void add_connection(fsbml_flow_seen_t &seen, const fsbml_flow_connection_t &c) noexcept;

// feedback.cpp: what a process learns of its rails while it sends: their rates, by what their transports have
// delivered, and their backlogs, by what these have still to deliver. No clock, no I/O: looks are given to
// it.
//
// At a look, a rail that has something to do is asked for; what is seen corrects its rate in the scheduler
// (LiveRate), and what was charged to it; from both follows how much bulk it may have (Windows). A rail
// that gets nothing, as it has become far slower or its model says so, is tried with a small piece of bulk
// now and then. A rate that is another by a quarter for 0.3 s is told of (change()).
class Feedback
{
public:
    Feedback(Scheduler &sched, const fsbml_feedback_config_t &config) noexcept;

    void quantum(std::size_t rail, std::size_t bytes) noexcept { rail_[rail].quantum.store(bytes); }
    double gap(std::size_t rail) const noexcept { return rail_[rail].gap.load(std::memory_order_relaxed); }
    std::size_t rails() const noexcept { return sched_.rails(); }

    // One look, see fsbml_flow.h.
    bool begin(std::uint64_t now_ns) noexcept;
    bool asks(std::size_t rail, std::uint64_t now_ns) noexcept;
    void seen(std::size_t rail, std::uint64_t now_ns, const fsbml_flow_seen_t &transport) noexcept;
    void end(std::uint64_t took_ns) noexcept;
    bool change(fsbml_rate_change_t &change) noexcept;

    Windows &windows() noexcept { return windows_; }
    const Windows &windows() const noexcept { return windows_; }

private:
    struct RailState {
        fsbml_loggp_t given{};        // the model that all this is about
        std::optional<LiveRate> live; // none: the rail has no model yet
        double model_gap = 0.0;       // ns per byte of a fragment, by the model
        std::atomic<double> gap{0.0}; // as the scheduler has it; 0: not known
        double told_gap = 0.0;
        bool is_doubted = false;           // that may never have been the rail's rate
        double tell_gap = 0.0;             // what told_gap was, if a change is to be told of; else 0
        std::uint64_t beyond_ns = 0;       // since when the rate is beyond what was told; 0: it is not
        std::uint64_t away_ns = 0;         // for how long this process had been away by then
        std::uint64_t looked_ns = 0;       // the look before; 0: there was none
        Ticks vft = 0;                     // before the transport is asked
        std::uint64_t given_bytes = 0;     // by this process, until the look before
        std::uint64_t used_ns = 0;         // when it last had something to do
        std::uint64_t charged_ns = 0;      // backlog then
        std::uint64_t queued = 0;          // at the look before
        bool is_busy = false;              // it had something to do then
        bool is_crossed = false;           // much came the other way since then
        bool has_evidence = false;         // connections are known
        std::uint64_t interface_bytes = 0; // at the look before
        // Some round trips ago: what was queued, and what was delivered since.
        std::uint64_t mark_ns = 0, mark_queued = 0, mark_bytes = 0;
        bool is_late = false;             // that was less
        std::uint64_t trial_ns = 0;       // when the next one may be
        std::uint64_t trial_pause_ns = 0; // before it
        std::atomic<std::size_t> quantum;
    };

    fsbml_flow_seen_t crossed(std::size_t rail, std::uint64_t now_ns, fsbml_flow_seen_t seen) noexcept;
    bool has_model(std::size_t rail) noexcept;
    bool is_busy(std::size_t rail, std::uint64_t now_ns, const fsbml_flow_seen_t &seen) noexcept;
    void learn(std::size_t rail, std::uint64_t now_ns, const fsbml_flow_seen_t &seen) noexcept;
    void apply(std::size_t rail, std::uint64_t now_ns) noexcept;
    std::uint64_t bucket_ns(std::size_t rail) const noexcept;
    void correct(std::size_t rail, std::uint64_t now_ns, const fsbml_flow_seen_t &seen) noexcept;
    void look_after_trials(std::size_t rail, std::uint64_t now_ns) noexcept;

    Scheduler &sched_;
    const std::uint32_t watched_;
    const bool alone_;
    const std::uint64_t busy_step_ns_;
    std::uint64_t look_ns_ = 0, next_ns_ = 0, pause_ns_ = 0; // the last look, the next one
    Pauses pauses_;
    Windows windows_;
    std::array<RailState, FSBML_MAX_RAILS> rail_;
};

// How much farther a peer is on each rail than the table says, which one pair of nodes has measured: L may
// differ by a switch.
//
// The kernel knows the shortest round trip of each connection, the ends' interrupts included and their
// processes not. So it is compared with the kernel's of the pair that measured, and not with L: both have the
// same in them. Half of what it is longer is what the rail adds to L. Only what a peer's rails differ by can
// change a choice, so the nearest rail adds nothing, even where it is nearer than measured.
//
// What disturbs a round trip only makes it longer, so the shortest of a few is one, and the shortest of
// many is the network's. A rail counts as farther only once it has shown many; the nearest, with which it
// is compared, may have shown few, since it can only be nearer than it seems. A difference counts from 10
// us and a quarter of the way on, and then until it is half of that; one that counts is changed by half of
// that or more. See fsbml_distance().
std::uint32_t distance(std::uint32_t rails, const fsbml_round_trip_t *rail, double *extra_ns) noexcept;

} // namespace fsbml

#endif
