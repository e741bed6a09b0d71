// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The first few probes of a rail: enough to predict what others will take.
//
//   warm-up, PRTT(1,0,small) twice, PRTT(n,0,small), PRTT(n,d,small),
//   then PRTT(1,0,s) of growing s until a time tells the pace of the rail, and with that s, one after the
//   other, PRTT(2,0,s) and PRTT(1,0,s): both find a shaper as drained as the one before left it, so that
//   their difference is s G. Where answers are slower, it is less: their shaper fills again while the second
//   message is on its way. Then PRTT(1,0,s) follows once more, against a disturbed one.
#ifndef FSBML_PILOT_HPP
#define FSBML_PILOT_HPP

#include "api/fsbml_core.h"
#include "measure/prtt/plan.hpp"

namespace fsbml
{

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

} // namespace fsbml

#endif
