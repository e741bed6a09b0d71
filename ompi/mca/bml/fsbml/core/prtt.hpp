// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// The calibration: a state machine that says which probe comes next and keeps what it brought.
//
// Pilot: per rail a warm-up, the smallest PRTTs, then single messages of growing size until their time tells
// the rail's pace. Then every rail gets a plan (plan.hpp) that fits what is left of the budget, and rounds
// over all PRTTs of all rails follow in random order, so that a disturbance hits all alike.
#ifndef FSBML_PRTT_HPP
#define FSBML_PRTT_HPP

#include "fsbml_core.h"
#include "plan.hpp"
#include "samples.hpp"

#include <random>
#include <string>
#include <vector>

namespace fsbml
{

bool valid(const fsbml_calib_config_t &c) noexcept;

class Calibration
{
public:
    // The configuration and the sizes have been checked by the caller.
    Calibration(const fsbml_calib_config_t &config, std::size_t n_rails, const std::uint32_t *max_bytes);

    // 1 and *out, 0 at the end, -EBUSY while a probe is neither reported nor its rail failed.
    int next(std::uint64_t elapsed_ns, fsbml_probe_t &out);
    int report(const fsbml_probe_t &probe, std::uint64_t time_ns);
    int fail(std::size_t rail, const char *reason);
    fsbml_fit_t fit(std::size_t rail) const;

    std::size_t rails() const noexcept { return rails_.size(); }

private:
    enum class Stage { warm_up, single, single_again, gap, ramp, confirm, ready, failed };

    struct Rail {
        std::uint32_t max_bytes = 0;
        Stage stage = Stage::warm_up;
        std::string failure;
        Samples samples;
        Pace pace;
        Plan plan;
        // The ramp: this size, and what the one before took.
        std::uint32_t ramp_bytes = 0;
        double ramp_ns = 0.0;
        std::uint32_t before_bytes = 0;
        double before_ns = 0.0;
        double before_slope = 0.0;
        std::uint64_t idle_since_ns = 0; // on the caller's clock
    };

    struct Task {
        std::uint32_t rail;
        Prtt prtt;
    };

    bool pilot(std::uint64_t elapsed_ns, fsbml_probe_t &out);
    bool pilot_of(const Rail &r, std::uint64_t elapsed_ns, Prtt &prtt) const;
    void learn(Rail &r, double time_ns);
    void learn_ramp(Rail &r, double time_ns);
    void end_ramp(Rail &r, double slope) const;
    void make_plans(std::uint64_t elapsed_ns);
    Plan plan_of(const Rail &r, std::size_t rung) const;
    void new_round();
    bool sample(std::uint64_t elapsed_ns, fsbml_probe_t &out);
    void issue(std::uint32_t rail, const Prtt &prtt, bool warm_up, fsbml_probe_t &out);
    bool fits(double time_ns, std::uint64_t elapsed_ns) const noexcept;
    double telling_ns() const noexcept;

    const fsbml_calib_config_t config_;
    std::vector<Rail> rails_;
    std::mt19937_64 random_;

    std::vector<Task> round_; // still to do, from the back
    std::uint32_t rounds_ = 0;
    bool planned_ = false;
    bool round_was_empty_ = false;

    std::size_t pilot_turn_ = 0;
    std::uint32_t last_id_ = 0;
    bool outstanding_ = false;
    fsbml_probe_t probe_{};        // the one that is outstanding
    std::ptrdiff_t finished_ = -1; // rail of the sample reported since the last next()
};

} // namespace fsbml

#endif
