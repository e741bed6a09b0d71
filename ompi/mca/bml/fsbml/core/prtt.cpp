// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "prtt.hpp"

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

constexpr std::uint32_t kRampFirst = 1024;
constexpr std::uint32_t kRampLast = 65536;
constexpr double kReserve = 0.10;     // of what is left, not planned
constexpr double kBending = 1.5;      // slopes of the ramp that differ by more have not settled
constexpr double kLeastRest = 20e3;   // ns; a shorter pause is not worth a probe
constexpr double kDelayBeyond = 10e3; // ns that the delay exceeds twice the gap

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
                         const std::uint32_t *max_bytes)
    : config_(config), rails_(n_rails), random_(config.seed)
{
    for (std::size_t i = 0; i < n_rails; ++i) {
        rails_[i].max_bytes = max_bytes[i];
    }
}

bool Calibration::fits(double time_ns, std::uint64_t elapsed_ns) const noexcept
{
    return as_double(elapsed_ns) + 1.1 * time_ns <= as_double(config_.budget_ns);
}

// A transfer that takes this long tells the pace of its rail well enough to plan with.
double Calibration::telling_ns() const noexcept
{
    return as_double(config_.budget_ns) / (100.0 * as_double(rails_.size()));
}

void Calibration::issue(std::uint32_t rail, const Prtt &prtt, bool warm_up, fsbml_probe_t &out)
{
    probe_ = fsbml_probe_t{rail, prtt.packets, prtt.bytes, prtt.delay_ns, ++last_id_, warm_up};
    outstanding_ = true;
    out = probe_;
}

int Calibration::next(std::uint64_t elapsed_ns, fsbml_probe_t &out)
{
    if (outstanding_) {
        return -EBUSY;
    }
    if (finished_ >= 0) {
        rails_[static_cast<std::size_t>(finished_)].idle_since_ns = elapsed_ns;
        finished_ = -1;
    }
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
    Rail &r = rails_[probe_.rail];
    if (!probe_.warm_up) { // a pause was one, whatever little it sent
        finished_ = static_cast<std::ptrdiff_t>(probe_.rail);
    }
    log(kLogProbe, "rail %u: PRTT(%u,%" PRIu64 " ns,%u B)%s = %.1f us", probe_.rail, probe_.packets,
        probe_.delay_ns, probe_.bytes, probe_.warm_up ? ", not a sample," : "", as_double(time_ns) / 1e3);
    if (!probe_.warm_up) {
        r.samples.add(Prtt{probe_.packets, probe_.delay_ns, probe_.bytes}, as_double(time_ns));
    }
    learn(r, as_double(time_ns));
    return 0;
}

int Calibration::fail(std::size_t rail, const char *reason)
{
    if (rail >= rails_.size()) {
        return -EINVAL;
    }
    Rail &r = rails_[rail];
    r.stage = Stage::failed;
    r.failure = nullptr != reason && '\0' != *reason ? reason : "failed";
    if (outstanding_ && probe_.rail == rail) {
        outstanding_ = false;
    }
    return 0;
}

fsbml_fit_t Calibration::fit(std::size_t rail) const
{
    const Rail &r = rails_[rail];
    if (Stage::failed != r.stage) {
        return fit_rail(r.samples, config_.small_size);
    }
    fsbml_fit_t fit{};
    const std::size_t length = std::min(r.failure.size(), sizeof fit.reason - 1);
    r.failure.copy(fit.reason, length);
    return fit;
}

// ------------------------------------------------------------------ pilot

// The next pilot probe, rails in turn. A rail whose next one does not fit the budget is done with its pilot.
bool Calibration::pilot(std::uint64_t elapsed_ns, fsbml_probe_t &out)
{
    for (std::size_t tried = 0; tried < rails_.size(); ++tried) {
        const std::size_t i = pilot_turn_++ % rails_.size();
        Rail &r = rails_[i];
        if (r.stage >= Stage::ready) {
            continue;
        }
        Prtt prtt{};
        if (pilot_of(r, elapsed_ns, prtt)) {
            issue(static_cast<std::uint32_t>(i), prtt, Stage::warm_up == r.stage, out);
            return true;
        }
        r.stage = Stage::ready;
    }
    return false;
}

bool Calibration::pilot_of(const Rail &r, std::uint64_t elapsed_ns, Prtt &prtt) const
{
    prtt = Prtt{1, 0, config_.small_size};
    if (Stage::gap == r.stage) {
        prtt.packets = config_.packets;
    } else if (Stage::confirm == r.stage) {
        prtt.bytes = r.ramp_bytes;
        return fits(r.ramp_ns, elapsed_ns);
    } else if (Stage::ramp == r.stage) {
        // Twice what the last size makes expect, because a shaper's burst may have hidden half of it.
        prtt.bytes = r.ramp_bytes;
        const double grown =
            2.0 * std::max(0.0, r.before_ns - r.pace.base_ns) * r.ramp_bytes / r.before_bytes;
        return fits(r.pace.base_ns + grown, elapsed_ns);
    }
    return fits(r.pace.base_ns, elapsed_ns);
}

void Calibration::learn(Rail &r, double time_ns)
{
    switch (r.stage) {
    case Stage::warm_up:
        r.stage = Stage::single;
        break;
    case Stage::single:
        r.pace.base_ns = time_ns;
        // Once more, against a disturbed first one, unless the rail is slow to answer.
        r.stage = time_ns <= telling_ns() ? Stage::single_again : Stage::gap;
        break;
    case Stage::single_again:
        r.pace.base_ns = std::min(r.pace.base_ns, time_ns);
        r.stage = Stage::gap;
        break;
    case Stage::gap:
        r.pace.small_gap_ns = std::max(0.0, time_ns - r.pace.base_ns) / (config_.packets - 1.0);
        r.before_bytes = config_.small_size;
        r.before_ns = r.pace.base_ns;
        r.ramp_bytes = std::min(r.max_bytes, std::max(kRampFirst, config_.small_size * 2));
        r.stage = r.max_bytes > config_.small_size ? Stage::ramp : Stage::ready;
        break;
    case Stage::ramp:
    case Stage::confirm:
        learn_ramp(r, time_ns);
        break;
    case Stage::ready:
    case Stage::failed:
        break;
    }
}

void Calibration::learn_ramp(Rail &r, double time_ns)
{
    const bool confirmed = Stage::confirm == r.stage;
    r.ramp_ns = confirmed ? std::min(r.ramp_ns, time_ns) : time_ns;
    const bool telling = r.ramp_ns - r.pace.base_ns >= telling_ns();
    if (telling && !confirmed && r.ramp_ns <= as_double(config_.budget_ns) / 8.0) {
        r.stage = Stage::confirm; // a disturbed probe must not pass for a slow rail
        return;
    }
    const double slope = (r.ramp_ns - r.before_ns) / (2.0 * (r.ramp_bytes - r.before_bytes));
    const std::uint32_t last = std::min(r.max_bytes, std::max(kRampLast, config_.small_size * 2));
    if (telling || r.ramp_bytes >= last) {
        end_ramp(r, slope);
        return;
    }
    const std::uint32_t factor = r.ramp_ns <= 2.0 * r.pace.base_ns ? 4 : 2; // large steps while nothing shows
    r.before_slope = slope;
    r.before_bytes = r.ramp_bytes;
    r.before_ns = r.ramp_ns;
    r.ramp_bytes = r.ramp_bytes > last / factor ? last : r.ramp_bytes * factor;
    r.stage = Stage::ramp;
}

void Calibration::end_ramp(Rail &r, double slope) const
{
    const double average = (r.ramp_ns - r.pace.base_ns) / (2.0 * r.ramp_bytes);
    r.pace.per_byte_ns = std::max({slope, average, kMinG});
    // A slope that still grows has part of a burst in it: the true one may be twice as steep.
    if (r.ramp_ns - r.pace.base_ns >= telling_ns() && slope > kBending * r.before_slope) {
        r.pace.per_byte_ns *= 2.0;
    }
    r.stage = Stage::ready;
}

// ------------------------------------------------------------------- plan

Plan Calibration::plan_of(const Rail &r, std::size_t rung) const
{
    const Limits limits{config_.packets, config_.size_step, config_.small_size, config_.samples, r.max_bytes};
    // Small messages with and without delay: as many packets as wanted, but no more time than a telling
    // probe.
    const auto packets = [&](double between_ns) {
        const double most = 1.0 + std::floor(2.0 * telling_ns() / std::max(between_ns, 1.0));
        return static_cast<std::uint32_t>(std::clamp(most, 2.0, static_cast<double>(config_.packets)));
    };
    // The delay is clearly longer than the gap, or both mix (thesis 3.5.2).
    const double delay = std::ceil(2.0 * r.pace.small_gap_ns + kDelayBeyond);
    const Prtt gap{packets(r.pace.small_gap_ns), 0, config_.small_size};
    const Prtt overhead{packets(delay), static_cast<std::uint64_t>(delay), config_.small_size};
    return make_plan(rung, limits, r.pace, gap, overhead);
}

void Calibration::make_plans(std::uint64_t elapsed_ns)
{
    const double room = (1.0 - kReserve) * as_double(config_.budget_ns - elapsed_ns);
    std::vector<Rail *> todo; // the fastest first
    for (Rail &r : rails_) {
        if (Stage::ready == r.stage && r.pace.per_byte_ns > 0.0) {
            todo.push_back(&r);
        }
    }
    std::sort(todo.begin(), todo.end(),
              [](const Rail *a, const Rail *b) { return a->pace.per_byte_ns < b->pace.per_byte_ns; });
    // The same rung for all...
    double cost = 0.0;
    std::size_t common = 0;
    for (; common < rungs(); ++common) {
        cost = 0.0;
        for (Rail *r : todo) {
            r->plan = plan_of(*r, common);
            cost += r->plan.cost_ns;
        }
        if (cost <= room) {
            break;
        }
    }
    // ... then what is left over, to the fastest first: a step up costs them least.
    for (Rail *r : todo) {
        for (std::size_t rung = 0; rung < common; ++rung) {
            Plan better = plan_of(*r, rung);
            if (cost - r->plan.cost_ns + better.cost_ns <= room) {
                cost += better.cost_ns - r->plan.cost_ns;
                r->plan = std::move(better);
                break;
            }
        }
    }
    for (const Rail *r : todo) {
        log(kLogPlan, "rail %td: about %.3g ns/B: %u packets, sizes up to %u B, %zu PRTTs, %u times: %.1f ms",
            r - rails_.data(), r->pace.per_byte_ns, r->plan.packets, r->plan.largest, r->plan.cells.size(),
            r->plan.samples, r->plan.cost_ns / 1e6);
    }
}

// ---------------------------------------------------------------- samples

void Calibration::new_round()
{
    ++rounds_;
    round_was_empty_ = true;
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

// The next probe of the round that fits. Rounds go on until all samples are there or a round had no room for
// any.
bool Calibration::sample(std::uint64_t elapsed_ns, fsbml_probe_t &out)
{
    for (;;) {
        if (round_.empty()) {
            if (rounds_ >= config_.samples || (rounds_ > 0 && round_was_empty_)) {
                return false;
            }
            new_round();
        }
        while (!round_.empty()) {
            const Task task = round_.back();
            const Rail &r = rails_[task.rail];
            double rest = 0.0;
            if (task.prtt.bytes > config_.small_size) {
                rest = r.plan.rest_ns - as_double(elapsed_ns - std::min(elapsed_ns, r.idle_since_ns));
                rest = rest >= kLeastRest ? rest : 0.0;
            }
            const double pause = rest > 0.0 ? rest + r.pace.base_ns : 0.0;
            if (Stage::failed == r.stage || !fits(predict_ns(r.pace, task.prtt) + pause, elapsed_ns)) {
                round_.pop_back();
                continue;
            }
            round_was_empty_ = false;
            if (rest > 0.0) { // a pause on this rail: two small messages that far apart
                issue(task.rail, Prtt{2, static_cast<std::uint64_t>(rest), config_.small_size}, true, out);
                return true;
            }
            round_.pop_back();
            issue(task.rail, task.prtt, false, out);
            return true;
        }
    }
}

} // namespace fsbml
