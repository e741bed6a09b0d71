// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The whole benchmark of a rail by PRTTs: pilot, plan, rounds, when a rail is known well enough, and
// validation exchanges.
#ifndef FSBML_PRTT_HPP
#define FSBML_PRTT_HPP

#include "api/fsbml_core.h"
#include "measure/fit/fit.hpp"
#include "measure/samples/samples.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fsbml
{

// ---- Which sizes, how many packets and how many samples a rail is measured with.
//
// A rail's plan is a rung of a ladder that leads from what a fast rail does in a few milliseconds down to
// what a 1 Mbit/s rail can do in a fraction of a second. All rails first get the same rung, the richest whose
// predicted time fits; then faster rails climb as far as what is left over holds. On the way down, what is
// good to know (the other direction, receiving, both ways at once) goes before what has to be known.
//
// Sizes grow by a factor: what is to be told apart, a change of protocol, lies anywhere between a few KiB and
// the largest message, and the small ones cost next to nothing. n is that of the size: as many packets as
// take a time that dwarfs what disturbs a probe (core/measure/prtt/plan.cpp), so few large or many small
// ones.

constexpr double kDelayBeyond = 10e3; // ns that a delay exceeds twice the gap

// What the pilot probes say about a rail, enough to predict a probe's time. Errs on the slow side.
struct Pace {
    double base_ns = 0.0;            // PRTT(1,0,small)
    double small_gap_ns = 0.0;       // between small messages
    double per_byte_ns = 0.0;        // about G
    double answer_per_byte_ns = 0.0; // of the other direction, if that is slower; else 0

    double slower_per_byte_ns() const noexcept { return std::max(per_byte_ns, answer_per_byte_ns); }
};

// THERE: base + (n-1) (d + gap) + n s G + s G', n messages there and one back, where G' is the other way's;
// the other kinds likewise.
double predict_ns(const Pace &pace, const Prtt &prtt) noexcept;

struct Limits { // what the user and the rail allow, and where the rail is known to change
    std::uint32_t packets;
    std::uint32_t size_step;
    std::uint32_t small_size;
    std::uint32_t samples;
    std::uint32_t max_bytes;
    std::array<std::uint32_t, FSBML_LIMITS> change{};
};

struct PlannedCell {
    Prtt prtt;
    std::uint32_t times; // in a round
};

struct Plan {
    std::vector<PlannedCell> cells;   // all PRTTs of one round
    std::vector<std::uint32_t> sizes; // of the line
    std::uint32_t samples = 0;        // rounds that it takes at least
    double rest_ns = 0.0;             // idle time that a probe needs before it starts
    double cost_ns = 0.0;             // predicted, of these rounds
};

std::size_t rungs() noexcept;

// The lowest rung with that many samples.
std::size_t last_rung_of(std::uint32_t samples) noexcept;

// The plan of a rung: 0 is the richest.
Plan make_plan(std::size_t rung, const Limits &limits, const Pace &pace, const Prtt &small_gap,
               const Prtt &overhead);

// Adds PRTT(1,0,s) and PRTT(n,0,s) to each round.
void add_size(Plan &plan, const Pace &pace, std::uint32_t bytes, std::uint32_t most_packets);

// Whether large messages of the other direction are in it.
bool tells_other_way(const Plan &plan) noexcept;

// Adds the least that tells the other direction's line: single messages, and two, of the least and the
// largest of the plan's sizes, of which there are two.
void add_other_way(Plan &plan, std::uint32_t small);

// n for messages of this size, 2 to most.
std::uint32_t packets_for(const Pace &pace, std::uint32_t bytes, std::uint32_t most) noexcept;

// Sizes of the line: `count` from 4 KiB to `largest`, each the same factor above the one before, in KiB and
// at least `step` apart. Where the largest leaves no two of these: half of it, and it.
std::vector<std::uint32_t> line_sizes(std::uint32_t step, std::uint32_t small, std::uint32_t largest,
                                      std::uint32_t count);

// Puts in a size just below and one just above each known limit, in place of neighbours that tell the same.
void add_changes(std::vector<std::uint32_t> &sizes, const Limits &limits);

// The first few probes of a rail: enough to predict what others will take.
//
//   warm-up, PRTT(1,0,small) twice, PRTT(n,0,small), PRTT(n,d,small),
//   then PRTT(1,0,s) of growing s until a time tells the pace of the rail, and with that s, one after the
//   other, PRTT(2,0,s) and PRTT(1,0,s): both find a shaper as drained as the one before left it, so that
//   their difference is s G. Where answers are slower, it is less: their shaper fills again while the second
//   message is on its way. Then PRTT(1,0,s) follows once more, against a disturbed one.
class Pilot
{
public:
    // `telling_ns` is the time of a transfer that is long enough to plan with, however small.
    Pilot(const fsbml_calib_config_t &config, std::uint32_t max_bytes, double telling_ns);

    bool done() const noexcept { return Stage::done == stage_; }
    // The warm-up and the ramp are no samples: the ramp meets a shaper in any state.
    bool is_sample() const noexcept { return Stage::warm_up != stage_ && Stage::ramp != stage_; }
    // The next probe has to follow the last one at once.
    bool at_once() const noexcept
    {
        return Stage::second == stage_ || Stage::third == stage_ || Stage::third_again == stage_;
    }
    Prtt next() const noexcept;
    double predicted_ns() const noexcept; // of next()
    void learn(double time_ns) noexcept;  // what next() took
    void correct(const Pace &pace) noexcept { pace_ = pace; }
    void give_up() noexcept { stage_ = Stage::done; }

    const Pace &pace() const noexcept { return pace_; }
    // As the pilot has found it, 0 if it has not: Pace::answer_per_byte_ns.
    double answer_per_byte_ns() const noexcept { return answer_per_byte_ns_; }
    // The PRTTs of small messages, for the samples after the pilot.
    Prtt small_gap() const noexcept;
    Prtt overhead() const noexcept;

private:
    enum class Stage { warm_up, single, single_again, gap, overhead, ramp, second, third, third_again, done };

    void learn_ramp(double time_ns) noexcept;
    void learn_second(double time_ns) noexcept;
    void learn_third(double time_ns) noexcept;
    void climb() noexcept;
    double telling_ns() const noexcept;
    std::uint32_t packets_for(double between_ns) const noexcept;

    const std::uint32_t packets_;
    const std::uint32_t small_;
    const std::uint32_t last_; // largest size of the ramp
    const double telling_ns_;  // for small sizes

    Stage stage_ = Stage::warm_up;
    Pace pace_;
    std::uint32_t bytes_ = 0; // this size of the ramp, and its PRTT(1,0,s)
    double one_ns_ = 0.0;
    double two_ns_ = 0.0; // and PRTT(2,0,s)
    double answer_per_byte_ns_ = 0.0;
    std::uint32_t before_bytes_ = 0; // the size before
    double before_ns_ = 0.0;
};

// ---- After a round: is a rail measured well enough, and if not, is a size missing?

// Samples of the PRTT of the plan that has the fewest.
std::uint32_t fewest_samples(const Plan &plan, const Samples &samples);

// What of a fit is not yet sure.
struct Loose {
    bool line = false; // what large messages tell: the pieces of the line
    bool way = false;  // what small ones tell: latency and overheads

    bool any() const noexcept { return line || way; }
};

// Whether other samples of this kind would give about the same parameters (fit.low, fit.high): G to 2 %, gaps
// to 3 % of that of 8 KiB, latency and overheads to 5 % of the way of a small message or 2 us. Of few samples
// of a size the bounds know too little; `fewest` is what the rarest PRTT has.
Loose find_loose(const fsbml_fit_t &fit, std::uint32_t fewest) noexcept;

// A size that would tell where the line through the gaps breaks: two lines fit far better than one, and the
// gap between them is wide. 0: there is none.
std::uint32_t missing_size(const Samples &samples, std::uint32_t small);

constexpr double kFrame = 96.0;            // bytes that a message takes beside its own, at most
constexpr std::uint32_t kTightSamples = 2; // of each PRTT: of fewer the spread is not known

inline double as_double(std::uint64_t v) noexcept
{
    return static_cast<double>(v);
}

bool valid(const fsbml_calib_config_t &c) noexcept;

// The calibration: a state machine that names the next probe and keeps its time.
//
// First every rail has its pilot, rails in turn. Then every rail gets a plan, and rounds over all PRTTs of
// all rails follow in random order, so that a disturbance hits all alike. On slow rails a probe waits until
// what the one before may have taken from a shaper's burst is back. After a round, a rail whose parameters
// would hardly change is done (find_loose). So a quiet machine takes about a third of the budget, for a
// little more of which plans are made, or a few milliseconds if its rails are fast; a disturbed one takes
// more.
class Calibration
{
public:
    // The configuration and the sizes have been checked by the caller.
    Calibration(const fsbml_calib_config_t &config, std::size_t n_rails, const fsbml_calib_rail_t *known);

    // 1 and *out, 0 at the end, -EBUSY while a probe is neither reported nor its rail failed.
    int next(std::uint64_t elapsed_ns, fsbml_probe_t &out);
    int report(const fsbml_probe_t &probe, std::uint64_t time_ns);
    int fail(std::size_t rail, const char *reason);
    fsbml_fit_t fit(std::size_t rail) const;
    void interval(std::size_t rail, fsbml_fit_t &fit) const; // fills it in

    std::size_t rails() const noexcept { return rails_.size(); }

private:
    struct Rail {
        Rail(const fsbml_calib_config_t &config, const fsbml_calib_rail_t &rail, double telling_ns)
            : known(rail), pilot(config, rail.max_bytes, telling_ns)
        {
        }

        fsbml_calib_rail_t known;
        bool failed = false;
        std::string failure;
        Pilot pilot;
        Plan plan;
        std::size_t rung = 0;
        std::uint32_t refined = 0; // sizes added to the plan
        std::uint32_t rounds = 0;
        std::uint32_t misses = 0; // probes of the pilot that brought no time
        std::uint32_t replans = 0;
        bool sampled = false; // in this round
        Loose loose{true, true};
        bool done = false;
        bool tight = false;
        Samples samples;
        Samples pace_samples; // the pilot's pair: what the line is drawn through when there is no better
        double drained_bytes = 0.0;   // what probes may have taken from a burst, as of idle_since
        std::uint64_t idle_since = 0; // end of the last probe, on the caller's clock
    };

    struct Task {
        std::uint32_t rail;
        Prtt prtt;
    };

    bool pilot(std::uint64_t elapsed_ns, fsbml_probe_t &out);
    void next_pilot() noexcept;
    void make_plans(std::uint64_t elapsed_ns);
    Plan plan_of(const Rail &r, std::size_t rung) const;
    bool plan_within(double room, std::size_t last, std::vector<Rail *> &todo);
    void new_round(std::uint64_t elapsed_ns);
    std::uint32_t times_of(const Rail &r, const PlannedCell &cell) const;
    void end_round(std::uint64_t elapsed_ns);
    bool refine(Rail &r);
    bool look_back(Rail &r);
    static bool tells_slower_way(const Rail &r, const Prtt &prtt);
    Pace seen_pace(const Rail &r) const;
    bool replan(Rail &r, std::uint64_t elapsed_ns);
    void drop_kind(Rail &r, fsbml_probe_kind_t kind);
    Known known_of(const Rail &r) const noexcept;
    Loose loose_now(std::size_t rail) const;
    bool sample(std::uint64_t elapsed_ns, fsbml_probe_t &out);
    bool start_one(std::uint64_t elapsed_ns, fsbml_probe_t &out);
    void learn(Rail &r, const Prtt &prtt, double time_ns);
    static void learn_answer(Rail &r);
    static double single_answer(const Rail &r, double pace);
    void issue(std::uint32_t rail, const Prtt &prtt, bool warm_up, fsbml_probe_t &out);
    bool fits(double time_ns, std::uint64_t elapsed_ns) const noexcept;
    double expected_ns(const Rail &r, const Prtt &prtt) const;
    double drained(const Rail &r, std::uint64_t elapsed_ns) const noexcept;
    double rest_ns(const Rail &r, const Prtt &prtt, std::uint64_t elapsed_ns) const noexcept;

    const fsbml_calib_config_t config_;
    std::vector<Rail> rails_;
    std::mt19937_64 random_;

    std::vector<Task> round_; // still to do, from the back
    std::uint32_t rounds_ = 0;
    bool planned_ = false;
    bool over_ = false;
    bool round_idle_ = false; // nothing of this round has been started

    std::size_t pilot_turn_ = 0;
    std::uint32_t last_id_ = 0;
    std::uint64_t elapsed_ = 0;     // as of the last next()
    std::uint64_t probe_start_ = 0; // of the outstanding probe
    bool outstanding_ = false;
    fsbml_probe_t probe_{};        // the one that is outstanding
    std::ptrdiff_t finished_ = -1; // rail of the probe reported since the last next()
};

// Validation exchanges, which a fit was not made from: they test its predictions. See
// fsbml_holdout_probe(). Sizes are drawn evenly over their logarithm. False: there is no such probe.
bool holdout_probe(const fsbml_fit_t &fit, const fsbml_sample_t *sample, std::size_t n, std::uint32_t rail,
                   std::uint64_t turn, double most_ns, fsbml_probe_t &out);

} // namespace fsbml

#endif
