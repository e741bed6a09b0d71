// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/prtt/prtt.hpp"

#include "measure/fit/fit.hpp"
#include "model/model.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{
constexpr std::uint32_t kRampFirst = 1024;
constexpr std::uint32_t kRampLast = 65536;
constexpr double kTells = 300e3;       // ns of a transfer
constexpr double kProbeNs = 1e6;       // ns that small messages of one probe take together
constexpr double kDelaysAgainst = 4.0; // delays count that much: few packets do
constexpr double kSlowAnswer = 2e6;    // ns of a round trip, of which one is enough
constexpr double kRoundTrip = 100e3;   // ns of a round trip that the delay takes half of
constexpr double kLittleAdded = 0.8;   // of a byte's average time, if answers are what it takes
} // namespace

// A transfer that a shaper's bucket cannot hide tells soon; a smaller one has to take long.
double Pilot::telling_ns() const noexcept
{
    return bytes_ >= kBulkBytes ? std::min(telling_ns_, kTells) : telling_ns_;
}

Pilot::Pilot(const fsbml_calib_config_t &config, std::uint32_t max_bytes, double telling_ns)
    : packets_(config.packets), small_(config.small_size),
      last_(std::min(max_bytes, std::max(kRampLast, 2 * config.small_size))), telling_ns_(telling_ns)
{
}

// As many packets as wanted, but for no more time than tells.
std::uint32_t Pilot::packets_for(double between_ns) const noexcept
{
    const double most = 1.0 + std::floor(kProbeNs / std::max(between_ns, 1.0));
    return static_cast<std::uint32_t>(std::clamp(most, 2.0, static_cast<double>(packets_)));
}

Prtt Pilot::small_gap() const noexcept
{
    return Prtt{packets_for(pace_.small_gap_ns), 0, small_};
}

// The delay is clearly longer than the gap, or the two mix (thesis 3.5.2), and lets a message arrive before
// the next one leaves, as far as that is soon.
Prtt Pilot::overhead() const noexcept
{
    const double delay = std::ceil(
        std::max(2.0 * pace_.small_gap_ns + kDelayBeyond, std::min(pace_.base_ns, kRoundTrip) / 2.0));
    return Prtt{packets_for(kDelaysAgainst * delay), static_cast<std::uint64_t>(delay), small_};
}

Prtt Pilot::next() const noexcept
{
    switch (stage_) {
    case Stage::gap:
        return Prtt{packets_, 0, small_};
    case Stage::overhead:
        return overhead();
    case Stage::ramp:
    case Stage::third:
    case Stage::third_again:
        return Prtt{1, 0, bytes_};
    case Stage::second:
        return Prtt{2, 0, bytes_};
    default:
        return Prtt{1, 0, small_};
    }
}

double Pilot::predicted_ns() const noexcept
{
    switch (stage_) {
    case Stage::warm_up:
    case Stage::single:
        return 0.0; // not known yet
    case Stage::overhead:
        return predict_ns(pace_, overhead());
    case Stage::ramp: // twice what the last size makes expect: a shaper's burst may have hidden half of it
        return pace_.base_ns + 2.0 * std::max(0.0, before_ns_ - pace_.base_ns) * bytes_ / before_bytes_;
    case Stage::second:
        return 2.0 * one_ns_;
    case Stage::third:
        return two_ns_;
    case Stage::third_again:
        return one_ns_;
    default:
        return pace_.base_ns;
    }
}

void Pilot::learn(double time_ns) noexcept
{
    switch (stage_) {
    case Stage::warm_up:
        stage_ = Stage::single;
        break;
    case Stage::single:
        pace_.base_ns = time_ns;
        // Once more, against a disturbed first one, unless the rail is slow to answer.
        stage_ = time_ns <= kSlowAnswer ? Stage::single_again : Stage::gap;
        break;
    case Stage::single_again:
        pace_.base_ns = std::min(pace_.base_ns, time_ns);
        stage_ = Stage::gap;
        break;
    case Stage::gap:
        pace_.small_gap_ns = std::max(0.0, time_ns - pace_.base_ns) / (packets_ - 1.0);
        stage_ = Stage::overhead;
        break;
    case Stage::overhead:
        before_bytes_ = small_;
        before_ns_ = pace_.base_ns;
        bytes_ = std::min(last_, std::max(kRampFirst, 2 * small_));
        stage_ = last_ > small_ ? Stage::ramp : Stage::done;
        break;
    case Stage::ramp:
        learn_ramp(time_ns);
        break;
    case Stage::second:
        learn_second(time_ns);
        break;
    case Stage::third:
    case Stage::third_again:
        learn_third(time_ns);
        break;
    case Stage::done:
        break;
    }
}

void Pilot::learn_ramp(double time_ns) noexcept
{
    one_ns_ = time_ns;
    if (time_ns - pace_.base_ns >= telling_ns()) {
        stage_ = Stage::second;
    } else {
        climb();
    }
}

void Pilot::learn_second(double time_ns) noexcept
{
    if (time_ns - pace_.base_ns < telling_ns()) { // two take less than one did: that one was disturbed
        one_ns_ = std::min(one_ns_, time_ns);
        climb();
        return;
    }
    two_ns_ = time_ns;
    stage_ = Stage::third;
}

void Pilot::learn_third(double time_ns) noexcept
{
    if (time_ns - pace_.base_ns < telling_ns()) { // so the two before were disturbed
        one_ns_ = time_ns;
        climb();
        return;
    }
    const bool again = Stage::third_again == stage_;
    one_ns_ = again ? std::min(one_ns_, time_ns) : time_ns;
    const double added = (two_ns_ - one_ns_) / bytes_;
    const double average = (two_ns_ - pace_.base_ns) / (3.0 * bytes_);
    const bool slower = added < kLittleAdded * average;
    if (!again) {
        pace_.per_byte_ns = std::max({added, average, kMinG});
        stage_ = slower ? Stage::third_again : Stage::done;
        return;
    }
    if (slower) {
        answer_per_byte_ns_ = (one_ns_ - pace_.base_ns) / bytes_ - std::max(0.0, added);
        pace_.answer_per_byte_ns = answer_per_byte_ns_;
    }
    stage_ = Stage::done;
}

// To the next size; at the last one the slope from the size before has to do: the rail is fast.
void Pilot::climb() noexcept
{
    if (bytes_ >= last_) {
        const double slope = (one_ns_ - before_ns_) / (2.0 * (bytes_ - before_bytes_));
        const double average = (one_ns_ - pace_.base_ns) / (2.0 * bytes_);
        pace_.per_byte_ns = std::max({slope, average, kMinG});
        stage_ = Stage::done;
        return;
    }
    const std::uint32_t factor = one_ns_ <= 2.0 * pace_.base_ns ? 4 : 2; // large steps while nothing shows
    before_bytes_ = bytes_;
    before_ns_ = one_ns_;
    bytes_ = bytes_ > last_ / factor ? last_ : bytes_ * factor;
    stage_ = Stage::ramp;
}

} // namespace fsbml
