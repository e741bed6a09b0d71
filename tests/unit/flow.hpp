// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Rails in virtual time, with a transport that tells what it has delivered, and a process that sends bulk
// over them by the scheduler and its feedback.
#ifndef FSBML_TESTS_UNIT_FLOW_HPP
#define FSBML_TESTS_UNIT_FLOW_HPP

#include "sched.hpp"

#include <algorithm>
#include <deque>

struct DestroyFeedback {
    void operator()(fsbml_feedback_t *f) const noexcept { fsbml_feedback_destroy(f); }
};
using FeedbackPtr = std::unique_ptr<fsbml_feedback_t, DestroyFeedback>;

class VirtualRails
{
public:
    static constexpr std::uint64_t kStepNs = 100'000;
    static constexpr std::size_t kQuantum = 32768;

    struct Rail {
        double gap = 0.0;    // ns per byte, as it is
        double queued = 0.0; // bytes that it was given, and has not delivered
        std::uint64_t delivered = 0;
        std::uint64_t told = 0;  // of it, by the look before
        std::uint64_t busy = 0;  // ns since then
        std::uint64_t asked = 0; // looks
        double bucket = 0.0;     // bytes that pass at once after a pause, and what is in it
        double tokens = 0.0;
        std::deque<std::pair<std::uint64_t, std::uint64_t>> was; // when, and what was delivered by then
    };

    // The models, and what the rails are; in steps of so many ns the transport counts how long it was busy.
    VirtualRails(const std::vector<fsbml_loggp_t> &models, const std::vector<double> &gaps, bool alone = true,
                 std::uint64_t busy_step_ns = 1)
        : sched(make_sched(models)), mask(all_rails(models.size())), busy_step(busy_step_ns)
    {
        const fsbml_feedback_config_t config{sched.get(), mask, alone, true, busy_step};
        feedback.reset(fsbml_feedback_create(&config));
        for (const double gap : gaps) {
            rail.push_back(Rail{});
            rail.back().gap = gap;
            fsbml_feedback_quantum(feedback.get(), rail.size() - 1, kQuantum);
        }
    }

    // Time passes; then the process looks after its networks.
    void step(std::uint64_t ns = kStepNs)
    {
        now += ns;
        for (Rail &r : rail) {
            const double waits = std::max(r.queued - r.tokens, 0.0) * r.gap; // ns
            const double tokens = r.tokens + static_cast<double>(ns) / r.gap;
            const double done = std::min(r.queued, tokens);
            r.queued -= done;
            r.busy += std::min(ns, static_cast<std::uint64_t>(waits));
            r.tokens = std::min(r.bucket, tokens - done);
            r.delivered += static_cast<std::uint64_t>(done);
            r.was.emplace_back(now, r.delivered);
            while (r.was.size() > 1 && r.was[1].first + acks_late <= now) {
                r.was.pop_front();
            }
        }
        if (given_first > 0) {
            give(0, given_first);
        }
        if (!fsbml_feedback_begin(feedback.get(), now)) {
            return;
        }
        for (std::size_t i = 0; i < rail.size(); ++i) {
            Rail &r = rail[i];
            if (fsbml_feedback_asks(feedback.get(), i, now)) {
                ++r.asked;
                const fsbml_flow_seen_t seen = look(r);
                fsbml_feedback_seen(feedback.get(), i, now, &seen);
            }
        }
        fsbml_feedback_end(feedback.get(), look_takes);
        for (fsbml_rate_change_t c{}; fsbml_feedback_change(feedback.get(), &c);) {
            told.push_back(c);
        }
    }

    // Bulk is offered once; its rail, -1: it was refused.
    int offer(std::size_t bytes = kQuantum, bool is_short = false, std::size_t left = 16 * kQuantum)
    {
        const int best = fsbml_sched_choose_part(sched.get(), now, bytes, left, mask, nullptr);
        fsbml_bulk_t piece{this, left, bytes, static_cast<std::uint32_t>(best), mask, true, false};
        const int to = fsbml_feedback_rail(feedback.get(), now, is_short, &piece);
        if (to >= 0) {
            give(static_cast<std::size_t>(to), piece.bytes);
        }
        return to;
    }

    void give(std::size_t to, std::size_t bytes)
    {
        fsbml_sched_charge(sched.get(), to, now, bytes);
        rail[to].queued += static_cast<double>(bytes);
    }

    // Bulk without end, of which so much is under way at most.
    void stream(std::uint64_t ms, bool is_short = false, std::size_t at_once = 24 * kQuantum)
    {
        for (const std::uint64_t end = now + ms * 1'000'000; now < end; step()) {
            while (under_way() + kQuantum <= static_cast<double>(at_once) && offer(kQuantum, is_short) >= 0) {
            }
        }
    }

    // Bytes per ns.
    double rate_of_stream(std::uint64_t ms, bool is_short = false)
    {
        const std::uint64_t before = delivered();
        stream(ms, is_short);
        return static_cast<double>(delivered() - before) / (static_cast<double>(ms) * 1e6);
    }

    double under_way() const
    {
        double sum = 0.0;
        for (const Rail &r : rail) {
            sum += r.queued;
        }
        return sum;
    }

    std::uint64_t delivered() const
    {
        std::uint64_t sum = 0;
        for (const Rail &r : rail) {
            sum += r.delivered;
        }
        return sum;
    }

    double gap(std::size_t i) const { return fsbml_feedback_gap(feedback.get(), i); }
    std::uint64_t backlog(std::size_t i) const { return fsbml_sched_backlog(sched.get(), i, now); }

    SchedPtr sched;
    FeedbackPtr feedback;
    const std::uint32_t mask;
    const std::uint64_t busy_step;
    std::vector<Rail> rail;
    std::vector<fsbml_rate_change_t> told;
    std::uint64_t now = 1'000'000'000;
    std::uint64_t round_trip = 100'000;
    std::uint64_t look_takes = 0;
    std::uint64_t counted = 0;   // what the interface says, where others use it as well
    bool knows = true;           // the transport tells
    bool knows_all = true;       // there are no other connections
    std::size_t given_first = 0; // bytes for rail 0 at each step, before the process looks
    std::size_t peers = 1;       // to which it sends
    bool takes_in = true;        // peers have room for what is sent
    std::uint64_t unseen = 0;    // bytes that were delivered while the transport was asked
    std::uint64_t acks_late = 0; // ns, behind what comes the other way
    bool is_usual = true;        // and the kernel's smoothed round trip has it

private:
    fsbml_flow_seen_t look(Rail &r) const
    {
        fsbml_flow_seen_t seen{};
        seen.n = knows ? 1 : 0;
        const std::uint64_t known = 0 != acks_late ? r.was.front().second : r.delivered;
        const std::uint64_t delivered = known - std::min(unseen, known - r.told);
        seen.look.bytes = delivered - r.told;
        seen.look.busy_ns = r.busy / busy_step * busy_step;
        seen.queued = static_cast<std::uint64_t>(r.queued) + (r.delivered - known);
        seen.received = 0 != acks_late ? static_cast<std::uint64_t>(1e6 / r.gap) : 0; // in the time of a look
        seen.usual_ns = round_trip + (is_usual ? acks_late : 0);
        seen.in_flight = takes_in ? seen.queued : 0;
        seen.with_bulk = seen.queued > FSBML_FLOW_BULK ? peers : 0;
        seen.round_trip_ns = round_trip;
        seen.payload = 1.0;
        seen.all_known = knows_all;
        seen.counted = counted + r.delivered;
        r.told = delivered;
        r.busy = 0;
        return seen;
    }
};

// Of two rails: what a byte takes, and of one that has become slow.
namespace two_rails
{

constexpr std::uint64_t kMs = 1'000'000;
constexpr double kFast = 40.0, kSlow = 80.0; // ns per byte: 200 and 100 Mbit/s
constexpr double kFallen = 400.0;            // 20 Mbit/s

inline std::vector<fsbml_loggp_t> fast_and_slow()
{
    return {loggp(50e3, 1e3, 1e3, 5e3, kFast), loggp(50e3, 1e3, 1e3, 5e3, kSlow)};
}

inline double mbps(double gap)
{
    return 8e3 / gap;
}

} // namespace two_rails

#endif
