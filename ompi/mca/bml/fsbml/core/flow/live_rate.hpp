// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The rate of one rail, from what its transport has delivered. No clock, no I/O: looks are given to it.
//
// A look tells how much was acknowledged since the one before, and whether the transport still had something
// to deliver. Looks add up to samples. Two kinds count:
// - of a rail that was busy at all looks: at least 5 ms and four fragments; of one that takes twice as long
//   for that as it should, 10 ms and a quarter of one;
// - of one that was busy at some of them, at least 20 ms. That is no more than an estimate of how long it was
//   busy, and each time costs a round trip and two looks on top, so the sample counts only if the rail is
//   faster than believed by a half even with them, or slower by a half without: so a rail that has recovered,
//   and is hardly used, is found out, and one that has one message at a time.
// Linux counts busy times in jiffies, so that the looks, once a millisecond, tell more: only where they are
// farther apart is its count taken. While the receiver holds the rail up, and for as long after that (0.5 s
// at most), or within twice the bucket of a shaper after a pause that filled it, nothing counts; nor does
// what may have come back to it in a shorter one.
//
// Three samples in a row beyond 20 % on the same side (one, if the rate was a guess) replace the rate by
// their median; else the median of the last eight moves it by an eighth. (A windowed maximum, as BBR has it,
// would take a shaper's bucket, and a backlog that was acknowledged at once, for the rate.)
#ifndef FSBML_LIVE_RATE_HPP
#define FSBML_LIVE_RATE_HPP

#include "api/fsbml_flow.h"

#include <array>
#include <cstdint>

namespace fsbml
{

constexpr std::uint64_t kLookNs = 1'000'000; // between two looks

class LiveRate
{
public:
    enum class Change : std::uint8_t {
        none,
        drift, // the rate is another one, by a little
        jump,  // the rail has become far slower or faster
    };

    // ns per byte, > 0; bytes; bytes. The first sample of a busy rail replaces a guess.
    LiveRate(double gap, double burst, std::size_t quantum, bool is_guess = false) noexcept;

    Change look(const fsbml_live_look_t &l, std::uint64_t round_trip_ns = 0) noexcept;
    // A piece alone on the rail was delivered within so long: a sample as of a rail that is busy now and
    // then.
    Change trial(std::size_t bytes, std::uint64_t took_ns) noexcept;
    double gap() const noexcept { return gap_; } // ns per byte
    bool is_guess() const noexcept { return is_guess_; }

private:
    static constexpr std::size_t kSamples = 8;

    void restart() noexcept;
    Change sparse(std::uint64_t round_trip_ns) noexcept;
    Change faster(double gap) noexcept; // at least: counts if that is much
    Change sampled(double gap, bool saturated) noexcept;

    double gap_;
    const double burst_, quantum_;
    double skip_;           // bytes that may have come out of a bucket
    double refilled_ = 0.0; // bytes that may be in it since then
    bool is_guess_;
    std::uint64_t held_up_ = 0; // ns for which nothing counts, after the receiver held the rail up
    // The sample that is being taken.
    std::uint64_t elapsed_ = 0, busy_ = 0;
    double bytes_ = 0.0;
    unsigned times_ = 1;    // that it became busy
    bool is_exact_ = true;  // no look was far from the one before
    bool saturated_ = true; // busy at all looks
    bool was_busy_ = false; // at the look before
    // The last samples, ns per byte.
    std::array<double, kSamples> sample_{};
    std::size_t n_ = 0, at_ = 0;
    int side_ = 0; // of the last ones in a row: 1 slower than believed, -1 faster
    unsigned row_ = 0;
};

} // namespace fsbml

#endif
