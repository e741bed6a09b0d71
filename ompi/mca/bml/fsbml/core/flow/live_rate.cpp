// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "flow/flow.hpp"

#include <algorithm>

namespace fsbml
{

namespace
{

constexpr std::uint64_t kLeastNs = 5'000'000; // of a sample
constexpr double kFragments = 4.0;
constexpr std::uint64_t kLateNs = 10'000'000;    // ... of a rail that is late
constexpr std::uint64_t kUnevenNs = 100'000'000; // ... of either, where acknowledgements come unevenly
constexpr std::uint64_t kHeldUpNs = 500'000'000; // at most, what comes after the receiver held the rail up
constexpr double kLate = 2.0;                    // times later than it should be
constexpr double kPart = 0.25;                   // of a fragment, which it must have delivered
constexpr std::uint64_t kSparseNs = 20'000'000;  // of a rail that is busy now and then
constexpr double kLimited = 0.1;
constexpr double kBeyond = 1.2;
constexpr double kFarBeyond = 1.5;
constexpr unsigned kRow = 3;

double share(std::uint64_t part, std::uint64_t whole) noexcept
{
    return static_cast<double>(part) / static_cast<double>(std::max<std::uint64_t>(whole, 1));
}

// Of n values, n odd or even: the upper one of the middle.
double median(std::array<double, 8> v, std::size_t n) noexcept
{
    std::sort(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n));
    return v[n / 2];
}

} // namespace

LiveRate::LiveRate(double gap, double burst, std::size_t quantum, bool is_guess) noexcept
    : gap_(gap), burst_(burst), quantum_(static_cast<double>(quantum)), skip_(2.0 * burst),
      is_guess_(is_guess)
{
}

void LiveRate::restart() noexcept
{
    elapsed_ = busy_ = uncounted_ = 0;
    bytes_ = 0.0;
    times_ = 1; // it may have begun with what came before
    saturated_ = is_exact_ = true;
}

LiveRate::Change LiveRate::look(const fsbml_live_look_t &l, std::uint64_t round_trip_ns) noexcept
{
    const std::uint64_t busy = l.may_have_idled ? std::min(l.busy_ns, l.elapsed_ns)
                               : l.is_busy      ? l.elapsed_ns
                                                : 0;
    const bool all_of_it = was_busy_ && l.is_busy && !l.may_have_idled;
    const bool begins = l.is_busy && !was_busy_;
    const bool is_uneven = l.is_uneven || (was_busy_ && l.elapsed_ns > kLateLookNs);
    uneven_ = is_uneven ? kUnevenNs : uneven_ - std::min(uneven_, l.elapsed_ns);
    was_busy_ = l.is_busy;
    if (share(l.limited_ns, l.elapsed_ns) > kLimited) {
        held_up_ = std::min(held_up_ + l.elapsed_ns, kHeldUpNs);
        restart();
        return Change::none;
    }
    if (held_up_ > 0) { // it takes in what it had left, and the sender begins anew
        held_up_ -= std::min(held_up_, l.elapsed_ns);
        restart();
        return Change::none;
    }
    if (burst_ > 0.0 && static_cast<double>(l.elapsed_ns - busy) > burst_ * gap_) {
        skip_ = 2.0 * burst_; // the bucket is full
    }
    if (skip_ > 0.0) {
        skip_ -= static_cast<double>(l.bytes);
        refilled_ = 0.0;
        return ahead(l, all_of_it);
    }
    if (!all_of_it && l.is_busy && 0 == elapsed_) {
        return Change::none; // it has just begun: a sample of a busy rail may begin here
    }
    const double idle = static_cast<double>(l.elapsed_ns - busy);
    refilled_ = std::min(burst_, refilled_ + idle / gap_);
    const double from_bucket = std::min(refilled_, static_cast<double>(l.bytes));
    refilled_ -= from_bucket;
    elapsed_ += l.elapsed_ns;
    busy_ += busy;
    uncounted_ += std::min(l.uncounted_ns, l.elapsed_ns - busy);
    bytes_ += static_cast<double>(l.bytes) - from_bucket;
    times_ += begins ? 1 : 0;
    is_exact_ = is_exact_ && !l.may_have_idled;
    saturated_ = saturated_ && all_of_it;
    const std::uint64_t least = uneven_ > 0 ? kUnevenNs : kLeastNs;
    const bool enough = saturated_ ? (busy_ >= least && bytes_ >= kFragments * quantum_) || is_late()
                                   : busy_ >= kSparseNs && bytes_ >= quantum_;
    if (!enough) {
        return Change::none;
    }
    if (!saturated_) {
        return sparse(round_trip_ns);
    }
    const double gap = static_cast<double>(busy_) / bytes_;
    restart();
    return sampled(gap, true);
}

bool LiveRate::is_late() const noexcept
{
    return static_cast<double>(busy_) >= kLate * kFragments * quantum_ * gap_
           && busy_ >= (uneven_ > 0 ? kUnevenNs : kLateNs) && bytes_ >= kPart * quantum_;
}

// Of what a bucket may have let pass: the rail is no faster than that.
LiveRate::Change LiveRate::ahead(const fsbml_live_look_t &l, bool all_of_it) noexcept
{
    if (!all_of_it) {
        restart();
        return Change::none;
    }
    busy_ += l.elapsed_ns;
    bytes_ += static_cast<double>(l.bytes);
    const double gap = static_cast<double>(busy_) / bytes_;
    const bool is_slower = is_late() && gap > kFarBeyond * gap_;
    if (is_slower || skip_ <= 0.0) {
        restart();
    }
    return is_slower ? sampled(gap, true) : Change::none;
}

// Of one that was busy now and then.

LiveRate::Change LiveRate::sparse(std::uint64_t round_trip_ns) noexcept
{
    // Each ends between two looks.
    const double most = static_cast<double>(busy_ + uncounted_ + times_ * kLookNs) / bytes_;
    const auto beside = static_cast<double>(times_ * (round_trip_ns + 2 * kLookNs));
    const double least = is_exact_ ? (static_cast<double>(busy_) - beside) / bytes_ : 0.0;
    restart();
    return least > kFarBeyond * gap_ ? sampled(least, false) : faster(most);
}

LiveRate::Change LiveRate::faster(double gap) noexcept
{
    return gap_ < kFarBeyond * gap ? Change::none : sampled(gap, false);
}

LiveRate::Change LiveRate::trial(std::size_t bytes, std::uint64_t took_ns) noexcept
{
    return faster(static_cast<double>(std::max<std::uint64_t>(took_ns, 1)) / static_cast<double>(bytes));
}

LiveRate::Change LiveRate::sampled(double gap, bool saturated) noexcept
{
    const int side = gap > kBeyond * gap_ ? 1 : gap_ > kBeyond * gap ? -1 : 0;
    sample_[at_] = gap;
    at_ = (at_ + 1) % kSamples;
    n_ = std::min(n_ + 1, kSamples);
    row_ = 0 == side ? 0 : side == side_ ? row_ + 1 : 1;
    side_ = side;
    const unsigned row = is_guess_ ? 1 : kRow;
    is_guess_ = is_guess_ && !saturated;
    if (row_ >= row) {
        std::array<double, kSamples> last{};
        for (std::size_t i = 0; i < row; ++i) {
            last[i] = sample_[(at_ + kSamples - 1 - i) % kSamples];
        }
        gap_ = median(last, row);
        n_ = at_ = row_ = 0;
        side_ = 0;
        return Change::jump;
    }
    if (n_ < kSamples) {
        return Change::none;
    }
    gap_ += (median(sample_, n_) - gap_) / 8.0;
    return Change::drift;
}

} // namespace fsbml
