// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a process learns of its rails while it sends: their rates, by what their transports have delivered,
// and their backlogs, by what these have still to deliver. No clock, no I/O: looks are given to it.
//
// At a look, a rail that has something to do is asked for; what is seen corrects its rate in the scheduler
// (live_rate.hpp), and what was charged to it; from both follows how much bulk it may have (windows.hpp). A
// rail that gets nothing, as it has become far slower or its model says so, is tried with a small piece of
// bulk now and then. A rate that lasts is told of.
#ifndef FSBML_FEEDBACK_HPP
#define FSBML_FEEDBACK_HPP

#include "flow/live_rate.hpp"
#include "flow/pauses.hpp"
#include "flow/windows.hpp"

#include <optional>

namespace fsbml
{

// Adds a connection to what was seen of its rail.
void add_connection(fsbml_flow_seen_t &seen, const fsbml_flow_connection_t &c) noexcept;

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
    void seen(std::size_t rail, std::uint64_t now_ns, const fsbml_flow_seen_t &seen) noexcept;
    void end() noexcept;
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
        bool has_evidence = false;         // connections are known
        std::uint64_t interface_bytes = 0; // at the look before
        // Some round trips ago: what was queued, and what was delivered since.
        std::uint64_t mark_ns = 0, mark_queued = 0, mark_bytes = 0;
        bool is_late = false;             // that was less
        std::uint64_t trial_ns = 0;       // when the next one may be
        std::uint64_t trial_pause_ns = 0; // before it
        std::atomic<std::size_t> quantum;
    };

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
    std::uint64_t next_ns_ = 0, pause_ns_ = 0;
    Pauses pauses_;
    Windows windows_;
    std::array<RailState, FSBML_MAX_RAILS> rail_;
};

} // namespace fsbml

#endif
