// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The calibration: a state machine that names the next probe and keeps its time.
//
// First every rail has its pilot (pilot.hpp), rails in turn. Then every rail gets a plan (plan.hpp), and
// rounds over all PRTTs of all rails follow in random order, so that a disturbance hits all alike. On slow
// rails a probe waits until what the one before may have taken from a shaper's burst is back. After a round,
// a rail whose parameters would hardly change is done (progress.hpp). So a quiet machine takes about a third
// of the budget, for a little more of which plans are made, or a few milliseconds if its rails are fast; a
// disturbed one takes more.
#ifndef FSBML_PRTT_HPP
#define FSBML_PRTT_HPP

#include "api/fsbml_core.h"
#include "measure/fit/loggp_fit.hpp"
#include "measure/prtt/pilot.hpp"
#include "measure/prtt/plan.hpp"
#include "measure/prtt/progress.hpp"
#include "measure/samples/samples.hpp"

#include <random>
#include <string>
#include <vector>

namespace fsbml
{

constexpr double kFrame = 96.0;            // bytes that a message takes beside its own, at most
constexpr std::uint32_t kTightSamples = 2; // of each PRTT: of fewer the spread is not known

inline double as_double(std::uint64_t v) noexcept
{
    return static_cast<double>(v);
}

bool valid(const fsbml_calib_config_t &c) noexcept;

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

} // namespace fsbml

#endif
