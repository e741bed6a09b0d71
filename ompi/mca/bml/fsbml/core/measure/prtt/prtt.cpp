// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/prtt/prtt.hpp"

#include "measure/fit/fit.hpp"
#include "measure/samples/samples.hpp"
#include "model/model.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace fsbml
{

namespace
{

constexpr double kPlanned = 0.40;    // of the budget, that a quiet machine is to need
constexpr double kReserve = 0.10;    // of what is left, not planned
constexpr double kMargin = 0.02;     // of the budget, in which no probe is to end
constexpr std::size_t kSteps = 128;  // more than there are rungs and lifts together
constexpr double kLongest = 1e15;    // ns; a reported time is no longer, so that sums and casts stay sane
constexpr double kSlower = 1.3;      // times the pace there is an answer of another pace
constexpr std::uint32_t kMisses = 3; // probes in a pilot that may bring no time

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
    // A percent of the rail's share of the budget tells a slow rail's pace; what is long enough for the
    // others to plan with is less.
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
    if (elapsed_ns >= config_.budget_ns && !over_) {
        over_ = true;
        end_round(elapsed_ns);
    }
    if (over_) {
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
    const Prtt prtt{probe_.packets, probe_.delay_ns, probe_.bytes, probe_.kind};
    const bool pause = r.pilot.done() && probe_.warm_up;
    if (!pause) { // which it was, whatever little it sent
        learn(r, prtt, time);
        finished_ = static_cast<std::ptrdiff_t>(probe_.rail);
        const double taken = probe_.packets * (probe_.bytes + kFrame);
        r.drained_bytes = std::min(drained(r, probe_start_) + taken, static_cast<double>(kBulkBytes));
    }
    return 0;
}

// A clock that stood still or went back has measured nothing: the pilot tries again, a round does without. Of
// the kinds that are only good to know, one that brings nothing is given up: the caller does not have it.
void Calibration::learn(Rail &r, const Prtt &prtt, double time_ns)
{
    const double least =
        FSBML_PROBE_TAKE == prtt.kind ? 0.0 : (prtt.packets - 1.0) * as_double(prtt.delay_ns);
    const bool measured = time_ns > least;
    if (!measured && FSBML_PROBE_THERE != prtt.kind) {
        drop_kind(r, prtt.kind);
    }
    if (!measured && (r.pilot.done() || r.misses++ < kMisses)) {
        return;
    }
    const bool of_pace = r.pilot.at_once();
    if (!probe_.warm_up && measured) {
        (of_pace ? r.pace_samples : r.samples).add(prtt, time_ns);
        r.sampled = true;
        learn_answer(r);
    }
    if (!r.pilot.done()) {
        r.pilot.learn(time_ns);
        if (!r.pilot.at_once()) {
            next_pilot();
        }
    }
}

// The pilot says whether answers are slower, or else single messages do: then rests have to be longer. What
// messages of the other way took is no more than that.
void Calibration::learn_answer(Rail &r)
{
    Pace pace = r.pilot.pace();
    double there = pace.per_byte_ns; // which errs on the slow side
    for (const GapPoint &p : gap_points(r.samples, FSBML_PROBE_THERE)) {
        there = p.bytes >= kBulkBytes && p.gap_ns > 0.0 ? std::min(there, p.gap_ns / p.bytes) : there;
    }
    double back_ns = 0.0;
    double back_bytes = 0.0;
    for (const GapPoint &p : gap_points(r.samples, FSBML_PROBE_BACK)) {
        if (p.bytes >= kBulkBytes && p.gap_ns > 0.0) {
            back_ns += p.gap_ns;
            back_bytes += p.bytes;
        }
    }
    double answer = r.pilot.answer_per_byte_ns();
    answer = answer > 0.0 ? answer : single_answer(r, there);
    answer = back_bytes > 0.0 ? std::min(answer, back_ns / back_bytes) : answer;
    pace.answer_per_byte_ns = answer > kSlower * there ? answer : 0.0;
    r.pilot.correct(pace);
}

// The answer to a single message takes the time that the message does not. Of a slow one, a bucket may have
// hidden a part.
double Calibration::single_answer(const Rail &r, double pace)
{
    double slowest = 0.0;
    for (const Samples::Cell &c : r.samples.cells()) {
        const double bytes = c.prtt.bytes;
        if (FSBML_PROBE_THERE != c.prtt.kind || 1 != c.prtt.packets || bytes < kBulkBytes) {
            continue;
        }
        const double answer_ns = undisturbed(c.times_ns) - r.pilot.pace().base_ns - pace * bytes;
        if (answer_ns > kSlower * pace * bytes) {
            const double hidden = std::min(0.75 * kBulkBytes, 0.4 * bytes);
            slowest = std::max(slowest, answer_ns / (bytes - hidden));
        }
    }
    return slowest;
}

void Calibration::drop_kind(Rail &r, fsbml_probe_kind_t kind)
{
    auto &cells = r.plan.cells;
    cells.erase(
        std::remove_if(cells.begin(), cells.end(), [&](const PlannedCell &c) { return c.prtt.kind == kind; }),
        cells.end());
    round_.erase(std::remove_if(round_.begin(), round_.end(),
                                [&](const Task &t) { return &rails_[t.rail] == &r && t.prtt.kind == kind; }),
                 round_.end());
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
        fsbml_fit_t fit = fit_rail(r.samples, r.pace_samples, config_.small_size, known_of(r));
        fit.tight = fit.valid && r.tight;
        return fit;
    }
    fsbml_fit_t fit{};
    const std::size_t length = std::min(r.failure.size(), sizeof fit.reason - 1);
    r.failure.copy(fit.reason, length);
    return fit;
}

Known Calibration::known_of(const Rail &r) const noexcept
{
    Known known;
    std::copy(std::begin(r.known.limit), std::end(r.known.limit), known.limit);
    known.timer_ns = as_double(config_.timer_ns);
    return known;
}

void Calibration::interval(std::size_t rail, fsbml_fit_t &fit) const
{
    const Rail &r = rails_[rail];
    find_interval(fit, r.samples, r.pace_samples, config_.small_size, config_.seed, known_of(r));
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
    Limits limits{config_.packets, config_.size_step, config_.small_size,
                  config_.samples, r.known.max_bytes, {}};
    std::copy(std::begin(r.known.limit), std::end(r.known.limit), limits.change.begin());
    return make_plan(rung, limits, r.pilot.pace(), r.pilot.small_gap(), r.pilot.overhead());
}

// Best is a plan that a quiet machine carries out in 40 % of the budget; where rails are too slow for
// that, one that leaves two samples of each PRTT within the budget; else what there is time for.
void Calibration::make_plans(std::uint64_t elapsed_ns)
{
    const double left = (1.0 - kReserve) * as_double(config_.budget_ns - elapsed_ns);
    const double planned = kPlanned * as_double(config_.budget_ns) - as_double(elapsed_ns);
    std::vector<Rail *> todo; // the fastest first
    for (Rail &r : rails_) {
        r.done = r.failed || !(r.pilot.pace().per_byte_ns > 0.0);
        if (!r.done) {
            todo.push_back(&r);
        }
    }
    if (todo.empty()) {
        return;
    }
    std::sort(todo.begin(), todo.end(), [](const Rail *a, const Rail *b) {
        return a->pilot.pace().per_byte_ns < b->pilot.pace().per_byte_ns;
    });
    const std::size_t twice = last_rung_of(std::min(kTightSamples, config_.samples));
    if (!plan_within(planned, twice, todo) && !plan_within(left, twice, todo)) {
        plan_within(left, rungs() - 1, todo);
    }
}

bool Calibration::plan_within(double room, std::size_t last, std::vector<Rail *> &todo)
{
    // Noise is the same for all, transfer times are not: of two rails, the one twice as fast is a rung
    // higher...
    const auto rung_of = [&](const Rail &r, std::size_t step) {
        const double faster = todo.back()->pilot.pace().per_byte_ns / r.pilot.pace().per_byte_ns;
        const auto lift = static_cast<std::size_t>(std::log2(faster));
        return std::min(step - std::min(step, lift), last);
    };
    double cost = room + 1.0;
    for (std::size_t step = 0; step < kSteps && cost > room; ++step) {
        cost = 0.0;
        for (Rail *r : todo) {
            r->rung = rung_of(*r, step);
            r->plan = plan_of(*r, r->rung);
            cost += r->plan.cost_ns;
        }
    }
    if (cost > room) {
        return false;
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
    return true;
}

} // namespace fsbml
