// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "flow/flow.hpp"

namespace fsbml
{

namespace
{

constexpr std::uint64_t kEpochNs = 2'500'000'000;
constexpr std::uint64_t kPauseNs = 10'000'000; // a pause that the system does not make
constexpr std::uint64_t kAwayNs = 2'000'000;   // ... or a look at all networks

} // namespace

// Twice the pause in which a moment falls on average: in a program that polls, what the system takes from it
// now and then hardly counts. A long pause counts whole if it is not the only one, as of a program that
// computes now and then.
std::uint64_t Pauses::look(std::uint64_t now_ns, bool had_bulk) noexcept
{
    const std::uint64_t away = 0 != last_ ? now_ns - last_ : 0;
    const std::uint64_t pause = had_bulk ? away : 0;
    last_ = now_ns;
    if (now_ns - epoch_began_ > kEpochNs) {
        before_ = now_;
        now_ = Epoch{};
        epoch_began_ = now_ns;
    }
    now_.sum += static_cast<double>(away);
    now_.squares += static_cast<double>(pause) * static_cast<double>(pause);
    away_ += away > kAwayNs ? away : 0;
    now_.n_long += pause > kPauseNs ? 1 : 0;
    now_.longest = std::max(now_.longest, pause);
    const double sum = now_.sum + before_.sum;
    const std::uint64_t usual =
        sum > 0.0 ? static_cast<std::uint64_t>(2.0 * (now_.squares + before_.squares) / sum) : 0;
    return now_.n_long + before_.n_long > 1 ? std::max({usual, now_.longest, before_.longest}) : usual;
}

} // namespace fsbml
