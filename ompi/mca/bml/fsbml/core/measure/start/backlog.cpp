// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/start/start.hpp"

#include <algorithm>

namespace fsbml
{

namespace
{

constexpr std::uint64_t kLeftBytes = 4096;   // less may wait for an acknowledgement that the peer holds back
constexpr std::uint64_t kEnoughNs = 4000000; // of looks between which the rail was never through
constexpr std::uint64_t kEnoughBytes = 32768;

} // namespace

// What it was through with at the first look of a row may have been a bucket's.
void Backlog::look(const fsbml_streaming_look_t &l) noexcept
{
    const std::uint64_t bytes = l.acknowledged - last_.acknowledged;
    const bool never_through = 0 != last_.ns && last_.queued >= kLeftBytes && l.queued >= kLeftBytes
                               && bytes <= last_.queued - kLeftBytes && l.limited_ns == last_.limited_ns;
    if (never_through && in_row_) {
        ns_ += l.ns - last_.ns;
        bytes_ += bytes;
    }
    in_row_ = never_through;
    last_ = l;
}

double Backlog::G() const noexcept
{
    return ns_ >= kEnoughNs && bytes_ >= kEnoughBytes ? static_cast<double>(ns_) / static_cast<double>(bytes_)
                                                      : 0.0;
}

} // namespace fsbml
