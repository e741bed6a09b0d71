// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "prtt.hpp"

#include "interval.hpp"
#include "log.hpp"
#include "loggp.hpp"
#include "loggp_fit.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cmath>

namespace fsbml
{

namespace
{

constexpr double kReserve = 0.10;   // of what is left, not planned
constexpr double kMargin = 0.02;    // of the budget, in which no probe is to end
constexpr double kLeastRest = 20e3; // ns; a shorter pause is not worth a probe
constexpr std::size_t kSteps = 128; // more than there are rungs and lifts together
constexpr double kLongest = 1e15;   // ns; a reported time is no longer, so that sums and casts stay sane
constexpr double kFrame = 64.0;     // bytes that a message takes beside its own

double as_double(std::uint64_t v) noexcept
{
    return static_cast<double>(v);
}

} // namespace

bool valid(const fsbml_calib_config_t &c) noexcept
{
    return c.packets >= 2 && c.packets <= 1024 && c.size_step >= 1 && c.small_size >= 1 && c.samples >= 1
           && c.samples <= 1000 && c.budget_ns >= 1;
}

Calibration::Calibration(const fsbml_calib_config_t &config, std::size_t n_rails,
                         const fsbml_calib_rail_t *known)
    : config_(config), random_(config.seed)
{
    // A percent of the rail's share of the budget tells the rail's pace well enough to plan with.
    const double telling_ns = as_double(config.budget_ns) / (100.0 * as_double(n_rails));
    rails_.reserve(n_rails);
    for (std::size_t i = 0; i < n_rails; ++i) {
        rails_.emplace_back(config, known[i], telling_ns);
    }
}

bool Calibration::fits(double time_ns, std::uint64_t elapsed_ns) const noexcept
{
    return as_double(elapsed_ns) + 1.1 * time_ns <= (1.0 - kMargin) * as_double(config_.budget_ns);
}

void Calibration::issue(std::uint32_t rail, const Prtt &prtt, bool warm_up, fsbml_probe_t &out)
{
    probe_ = fsbml_probe_t{prtt.kind, rail, prtt.packets, prtt.bytes, prtt.delay_ns, ++last_id_, warm_up};
    outstanding_ = true;
    probe_start_ = elapsed_;
    out = probe_;
}

int Calibration::next(std::uint64_t elapsed_ns, fsbml_probe_t &out)
{
    if (outstanding_) {
        return -EBUSY;
    }
    if (finished_ >= 0) {
        rails_[static_cast<std::size_t>(finished_)].idle_since = elapsed_ns;
        finished_ = -1;
    }
    elapsed_ = elapsed_ns;
    if (elapsed_ns >= config_.budget_ns) {
        return 0;
    }
    if (pilot(elapsed_ns, out)) {
        return 1;
    }
    if (!planned_) {
        make_plans(elapsed_ns);
        planned_ = true;
    }
    return sample(elapsed_ns, out) ? 1 : 0;
}

int Calibration::report(const fsbml_probe_t &probe, std::uint64_t time_ns)
{
    if (!outstanding_ || probe.id != probe_.id || probe.rail != probe_.rail) {
        return -EINVAL;
    }
    outstanding_ = false;
    const double time = std::min(as_double(time_ns), kLongest);
    Rail &r = rails_[probe_.rail];
    log(kLogProbe, "rail %u: PRTT(%u,%" PRIu64 " ns,%u B)%s = %.1f us", probe_.rail, probe_.packets,
        probe_.delay_ns, probe_.bytes, probe_.warm_up ? ", not a sample," : "", time / 1e3);
    const Prtt prtt{probe_.packets, probe_.delay_ns, probe_.bytes, probe_.kind};
    const bool pause = r.pilot.done() && probe_.warm_up;
    const bool of_pace = r.pilot.at_once();
    if (!probe_.warm_up) {
        (of_pace ? r.pace_samples : r.samples).add(prtt, time);
    }
    if (!r.pilot.done()) {
        r.pilot.learn(time);
        if (!r.pilot.at_once()) {
            next_pilot();
        }
    }
    if (!pause) { // which it was, whatever little it sent
        finished_ = static_cast<std::ptrdiff_t>(probe_.rail);
        const double taken = probe_.packets * (probe_.bytes + kFrame);
        r.drained_bytes = std::min(drained(r, probe_start_) + taken, static_cast<double>(kBulkBytes));
    }
    return 0;
}

int Calibration::fail(std::size_t rail, const char *reason)
{
    if (rail >= rails_.size()) {
        return -EINVAL;
    }
    Rail &r = rails_[rail];
    r.failed = true;
    r.failure = nullptr != reason && '\0' != *reason ? reason : "failed";
    if (outstanding_ && probe_.rail == rail) {
        outstanding_ = false;
    }
    return 0;
}

fsbml_fit_t Calibration::fit(std::size_t rail) const
{
    const Rail &r = rails_[rail];
    if (!r.failed) {
        return fit_rail(r.samples, r.pace_samples, config_.small_size);
    }
    fsbml_fit_t fit{};
    const std::size_t length = std::min(r.failure.size(), sizeof fit.reason - 1);
    r.failure.copy(fit.reason, length);
    return fit;
}

void Calibration::interval(std::size_t rail, fsbml_fit_t &fit) const
{
    const Rail &r = rails_[rail];
    find_interval(fit, r.samples, r.pace_samples, config_.small_size, config_.seed);
}

// The next pilot probe, rails in turn. A rail whose next one does not fit the budget is done with its pilot.
bool Calibration::pilot(std::uint64_t elapsed_ns, fsbml_probe_t &out)
{
    for (std::size_t tried = 0; tried < rails_.size();) {
        Rail &r = rails_[pilot_turn_];
        if (!r.failed && !r.pilot.done()) {
            if (fits(r.pilot.predicted_ns(), elapsed_ns)) {
                issue(static_cast<std::uint32_t>(pilot_turn_), r.pilot.next(), !r.pilot.is_sample(), out);
                return true;
            }
            r.pilot.give_up();
        }
        next_pilot();
        ++tried;
    }
    return false;
}

void Calibration::next_pilot() noexcept
{
    pilot_turn_ = (pilot_turn_ + 1) % rails_.size();
}

// ------------------------------------------------------------------- plan

Plan Calibration::plan_of(const Rail &r, std::size_t rung) const
{
    const Limits limits{config_.packets, config_.size_step, config_.small_size, config_.samples,
                        r.known.max_bytes};
    return make_plan(rung, limits, r.pilot.pace(), r.pilot.small_gap(), r.pilot.overhead());
}

void Calibration::make_plans(std::uint64_t elapsed_ns)
{
    const double room = (1.0 - kReserve) * as_double(config_.budget_ns - elapsed_ns);
    std::vector<Rail *> todo; // the fastest first
    for (Rail &r : rails_) {
        if (!r.failed && r.pilot.pace().per_byte_ns > 0.0) {
            todo.push_back(&r);
        }
    }
    std::sort(todo.begin(), todo.end(), [](const Rail *a, const Rail *b) {
        return a->pilot.pace().per_byte_ns < b->pilot.pace().per_byte_ns;
    });
    // Noise is the same for all, transfer times are not: of two rails, the one twice as fast is a rung
    // higher...
    const auto rung_of = [&](const Rail &r, std::size_t step) {
        const double faster = todo.back()->pilot.pace().per_byte_ns / r.pilot.pace().per_byte_ns;
        const auto lift = static_cast<std::size_t>(std::log2(faster));
        return std::min(step - std::min(step, lift), rungs() - 1);
    };
    double cost = 0.0;
    for (std::size_t step = 0; step < kSteps; ++step) {
        cost = 0.0;
        for (Rail *r : todo) {
            r->rung = rung_of(*r, step);
            r->plan = plan_of(*r, r->rung);
            cost += r->plan.cost_ns;
        }
        if (cost <= room) {
            break;
        }
    }
    // ... then what is left over, to the fastest first: a step up costs them least.
    for (Rail *r : todo) {
        for (std::size_t rung = 0; rung < r->rung; ++rung) {
            Plan better = plan_of(*r, rung);
            if (cost - r->plan.cost_ns + better.cost_ns <= room) {
                cost += better.cost_ns - r->plan.cost_ns;
                r->plan = std::move(better);
                r->rung = rung;
            }
        }
    }
    for (const Rail *r : todo) {
        log(kLogPlan, "rail %td: about %.3g ns/B: %u packets, sizes up to %u B, %zu PRTTs, %u times: %.1f ms",
            r - rails_.data(), r->pilot.pace().per_byte_ns, r->plan.packets, r->plan.largest,
            r->plan.cells.size(), r->plan.samples, r->plan.cost_ns / 1e6);
    }
}

// ---------------------------------------------------------------- samples

void Calibration::new_round()
{
    ++rounds_;
    round_idle_ = true;
    for (std::size_t i = 0; i < rails_.size(); ++i) {
        for (const Prtt &prtt : rails_[i].plan.cells) {
            round_.push_back(Task{static_cast<std::uint32_t>(i), prtt});
        }
    }
    // Fisher-Yates by hand: std::shuffle may differ between libraries, and runs are to be repeatable.
    for (std::size_t i = round_.size(); i > 1; --i) {
        std::swap(round_[i - 1], round_[random_() % i]);
    }
}

// Rounds go on until all samples are there or a round had no room for any.
bool Calibration::sample(std::uint64_t elapsed_ns, fsbml_probe_t &out)
{
    while (!start_one(elapsed_ns, out)) {
        if (rounds_ >= config_.samples || (rounds_ > 0 && round_idle_)) {
            return false;
        }
        new_round();
    }
    return true;
}

// Starts one probe of the round. What does not fit any more is dropped. A rail that has to rest first is
// passed over as long as others have something to do; else it gets its pause: two small messages that far
// apart.
bool Calibration::start_one(std::uint64_t elapsed_ns, fsbml_probe_t &out)
{
    std::ptrdiff_t resting = -1;
    for (std::size_t i = round_.size(); i-- > 0;) {
        const Task task = round_[i];
        const Rail &r = rails_[task.rail];
        const double rest = rest_ns(r, elapsed_ns);
        if (r.failed || !fits(expected_ns(r, task.prtt) + rest, elapsed_ns)) {
            round_.erase(round_.begin() + static_cast<std::ptrdiff_t>(i));
            resting -= resting >= 0 ? 1 : 0;
        } else if (rest > 0.0) {
            resting = resting < 0 ? static_cast<std::ptrdiff_t>(i) : resting;
        } else {
            round_.erase(round_.begin() + static_cast<std::ptrdiff_t>(i));
            round_idle_ = false;
            issue(task.rail, task.prtt, false, out);
            return true;
        }
    }
    if (resting < 0) {
        return false;
    }
    const Task task = round_[static_cast<std::size_t>(resting)];
    const double rest = rest_ns(rails_[task.rail], elapsed_ns);
    issue(task.rail, Prtt{2, static_cast<std::uint64_t>(rest), config_.small_size}, true, out);
    return true;
}

// What a PRTT of this rail will take: as before, or by that of its first message, or by the pilot's pace.
double Calibration::expected_ns(const Rail &r, const Prtt &prtt) const
{
    const Pace &pace = r.pilot.pace();
    if (const Samples::Cell *same = r.samples.find(prtt)) {
        return undisturbed(same->times_ns);
    }
    const Samples::Cell *one = r.samples.find(Prtt{1, 0, prtt.bytes});
    if (nullptr != one && 0 == prtt.delay_ns) {
        return undisturbed(one->times_ns)
               + (prtt.packets - 1.0) * (pace.small_gap_ns + prtt.bytes * pace.per_byte_ns);
    }
    return predict_ns(pace, prtt);
}

// What of a shaper's burst may not be back yet.
double Calibration::drained(const Rail &r, std::uint64_t elapsed_ns) const noexcept
{
    const double pace = r.pilot.pace().per_byte_ns;
    const double idle = as_double(elapsed_ns - std::min(elapsed_ns, r.idle_since));
    return pace > 0.0 ? std::max(0.0, r.drained_bytes - idle / pace) : r.drained_bytes;
}

// How long a rail has to stay idle before its next sample.
double Calibration::rest_ns(const Rail &r, std::uint64_t elapsed_ns) const noexcept
{
    const double rest = std::min(drained(r, elapsed_ns) * r.pilot.pace().per_byte_ns, r.plan.rest_ns);
    return rest >= kLeastRest ? rest : 0.0;
}

} // namespace fsbml
