// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The calibration's rounds: their probes, the order of these, and the decisions after a round.
#include "measure/prtt/prtt.hpp"

#include "measure/fit/fit.hpp"
#include "model/model.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

constexpr double kLeastRest = 20e3;    // ns; a shorter pause is not worth a probe
constexpr std::uint32_t kRefines = 3;  // sizes that a rail's plan may get in addition
constexpr std::uint32_t kPatience = 4; // times as many rounds as wanted, while a rail is not tight
constexpr std::uint32_t kReplans = 2;  // of a rail
constexpr double kFarOff = 0.5;        // of a plan's cost, below which the pilot had been disturbed
constexpr double kReplanned = 0.5;     // of its share of the time left, for a new plan

} // namespace

// How often a cell is measured in this round: what is sure, and has enough samples, is not. What was put in
// late catches up, and what decides about nothing goes on half as fast.
std::uint32_t Calibration::times_of(const Rail &r, const PlannedCell &cell) const
{
    const Samples::Cell *has = r.samples.find(cell.prtt);
    const auto got = static_cast<std::uint32_t>(nullptr != has ? has->times_ns.size() : 0);
    const std::uint32_t least = std::max(kTightSamples, r.plan.samples);
    const std::uint32_t lacks = std::min(r.rounds, least) - std::min({got, r.rounds, least});
    const bool decides = FSBML_PROBE_THERE == cell.prtt.kind || FSBML_PROBE_TAKE == cell.prtt.kind
                         || tells_slower_way(r, cell.prtt);
    const bool loose = cell.prtt.bytes > config_.small_size ? r.loose.line : r.loose.way;
    return std::max(loose && (decides || 2 * got < r.rounds) ? cell.times : 0, lacks);
}

void Calibration::new_round(std::uint64_t elapsed_ns)
{
    ++rounds_;
    round_idle_ = true;
    for (std::size_t i = 0; i < rails_.size(); ++i) {
        Rail &r = rails_[i];
        if (r.done || r.failed) {
            continue;
        }
        ++r.rounds;
        r.sampled = false;
        for (const PlannedCell &cell : r.plan.cells) {
            const std::uint32_t times = times_of(r, cell);
            for (std::uint32_t k = 0; k < times; ++k) {
                round_.push_back(Task{static_cast<std::uint32_t>(i), cell.prtt});
            }
        }
    }
    // What has to be known first.
    double cost = 0.0;
    for (const Task &t : round_) {
        cost += expected_ns(rails_[t.rail], t.prtt);
    }
    if (!fits(cost, elapsed_ns)) {
        round_.erase(std::remove_if(round_.begin(), round_.end(),
                                    [&](const Task &t) {
                                        return FSBML_PROBE_THERE != t.prtt.kind
                                               && !tells_slower_way(rails_[t.rail], t.prtt);
                                    }),
                     round_.end());
    }
    // Fisher-Yates by hand: std::shuffle may differ between libraries, and runs are to be repeatable.
    for (std::size_t i = round_.size(); i > 1; --i) {
        std::swap(round_[i - 1], round_[random_() % i]);
    }
    // What was put in late comes first: there may be no time for all.
    std::stable_partition(round_.begin(), round_.end(),
                          [&](const Task &t) { return nullptr != rails_[t.rail].samples.find(t.prtt); });
}

bool Calibration::tells_slower_way(const Rail &r, const Prtt &prtt)
{
    return FSBML_PROBE_BACK == prtt.kind && r.pilot.pace().answer_per_byte_ns > 0.0;
}

// Which rails are done.
void Calibration::end_round(std::uint64_t elapsed_ns)
{
    for (std::size_t i = 0; i < rails_.size(); ++i) {
        Rail &r = rails_[i];
        if (r.done || r.failed || 0 == r.rounds) {
            continue;
        }
        if (!r.sampled) {
            r.done = true; // there is no room for more
        } else if (!over_ && (replan(r, elapsed_ns) || refine(r) || look_back(r))) {
            r.loose = Loose{true, r.loose.way};
        } else {
            r.loose = loose_now(i);
            r.tight = !r.loose.any();
            r.done = r.tight || over_ || r.rounds >= kPatience * config_.samples;
        }
    }
}

// What the samples say of a rail's pace, where that is faster than the pilot's. No rail takes more for a byte
// than a probe took for all of its own, of which a shaper may have hidden a burst on either way.
Pace Calibration::seen_pace(const Rail &r) const
{
    Pace pace = r.pilot.pace();
    for (const Samples::Cell &c : r.samples.cells()) {
        if (FSBML_PROBE_THERE != c.prtt.kind || 0 != c.prtt.delay_ns) {
            continue;
        }
        const double time = undisturbed(c.times_ns);
        const double sent = (c.prtt.packets + 1.0) * c.prtt.bytes - 2.0 * kBulkBytes;
        if (c.prtt.bytes == config_.small_size) {
            double &ns = 1 == c.prtt.packets ? pace.base_ns : pace.small_gap_ns;
            ns = std::min(ns, time / c.prtt.packets);
        } else if (sent > kBulkBytes / 2.0) {
            pace.per_byte_ns = std::min(pace.per_byte_ns, std::max(time / sent, kMinG));
        }
    }
    return pace;
}

// Pilots can be disturbed all the way: then a rail is held to be far slower than it is, and has a poor plan.
bool Calibration::replan(Rail &r, std::uint64_t elapsed_ns)
{
    if (r.replans >= kReplans) {
        return false;
    }
    const Pace before = r.pilot.pace();
    r.pilot.correct(seen_pace(r));
    const auto going =
        std::count_if(rails_.begin(), rails_.end(), [](const Rail &o) { return !o.done && !o.failed; });
    const double room = as_double(config_.budget_ns - std::min(elapsed_ns, config_.budget_ns));
    const double share = kReplanned * room / static_cast<double>(std::max<std::ptrdiff_t>(going, 1));
    if (plan_of(r, r.rung).cost_ns > kFarOff * r.plan.cost_ns) {
        r.pilot.correct(before);
        return false;
    }
    ++r.replans;
    for (std::size_t rung = 0; rung <= r.rung; ++rung) {
        Plan better = plan_of(r, rung);
        if (better.cost_ns <= share || rung == r.rung) {
            r.plan = std::move(better);
            r.rung = rung;
            break;
        }
    }
    return true;
}

// A look takes its time, so after many rounds not each has one.
Loose Calibration::loose_now(std::size_t rail) const
{
    const Rail &r = rails_[rail];
    const std::uint32_t fewest = fewest_samples(r.plan, r.samples);
    if (fewest < std::max(kTightSamples, r.plan.samples)
        || (r.rounds > config_.samples && 0 != r.rounds % kPatience)) {
        return r.loose;
    }
    fsbml_fit_t so_far = fit(rail);
    interval(rail, so_far);
    return find_loose(so_far, fewest);
}

// Puts in a size where the line seems to break, once every size has been seen twice.
bool Calibration::refine(Rail &r)
{
    if (r.refined >= kRefines || r.rounds < kTightSamples || r.plan.samples < kTightSamples) {
        return false;
    }
    const std::uint32_t bytes = missing_size(r.samples, config_.small_size);
    if (0 == bytes) {
        return false;
    }
    ++r.refined;
    add_size(r.plan, r.pilot.pace(), bytes, config_.packets);
    return true;
}

// Where the answers are slower, the other direction is worth knowing, whatever the plan could afford.
bool Calibration::look_back(Rail &r)
{
    const double answer = r.pilot.pace().answer_per_byte_ns;
    if (r.rounds < kTightSamples || !(answer > 0.0) || tells_other_way(r.plan) || r.plan.sizes.empty()) {
        return false;
    }
    if (1 == r.plan.sizes.size()) {
        const std::uint32_t bytes = r.plan.sizes.front();
        const std::uint32_t more = bytes / 2 <= r.known.max_bytes - bytes ? bytes + bytes / 2 : bytes / 2;
        add_size(r.plan, r.pilot.pace(), more, config_.packets);
    }
    add_other_way(r.plan, config_.small_size);
    return true;
}

// Rounds go on until all rails are done or a round had no room for any probe.
bool Calibration::sample(std::uint64_t elapsed_ns, fsbml_probe_t &out)
{
    while (!over_) {
        if (start_one(elapsed_ns, out)) {
            return true;
        }
        end_round(elapsed_ns);
        over_ = rounds_ > 0 && round_idle_;
        if (!over_) {
            new_round(elapsed_ns);
            over_ = round_.empty();
        }
    }
    return false;
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
        const double rest = rest_ns(r, task.prtt, elapsed_ns);
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
    const double rest = rest_ns(rails_[task.rail], task.prtt, elapsed_ns);
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
    if (nullptr != one && FSBML_PROBE_THERE == prtt.kind && 0 == prtt.delay_ns) {
        return undisturbed(one->times_ns)
               + (prtt.packets - 1.0) * (pace.small_gap_ns + prtt.bytes * pace.per_byte_ns);
    }
    return predict_ns(pace, prtt);
}

// What of a shaper's burst may not be back yet: that of the slower direction, since the answer needs one,
// too.
double Calibration::drained(const Rail &r, std::uint64_t elapsed_ns) const noexcept
{
    const double pace = r.pilot.pace().slower_per_byte_ns();
    const double idle = as_double(elapsed_ns - std::min(elapsed_ns, r.idle_since));
    return pace > 0.0 ? std::max(0.0, r.drained_bytes - idle / pace) : r.drained_bytes;
}

// How long a rail has to stay idle before this sample: until a bucket is full again, or until it holds what
// small messages take out of it.
double Calibration::rest_ns(const Rail &r, const Prtt &prtt, std::uint64_t elapsed_ns) const noexcept
{
    const double takes = prtt.packets * (prtt.bytes + kFrame);
    const double lacks = drained(r, elapsed_ns) - std::max(0.0, kBulkBytes - takes);
    const double rest = lacks * r.pilot.pace().slower_per_byte_ns();
    return rest >= kLeastRest ? rest : 0.0;
}

} // namespace fsbml
