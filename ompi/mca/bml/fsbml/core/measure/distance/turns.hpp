// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Which rails are farther, from answers that are all disturbed: on a busy node no process polls its networks
// for milliseconds at a time, and no two answers are alike.
//
// A turn asks every rail once, in random order, after a random pause. So nothing but the rails themselves can
// make one of them come out behind another in nearly all turns: that is the sign test, and it needs to know
// nothing about the disturbances. What this process did not see is no matter of chance, though, as it sends
// and looks at the same times: an answer has come between two of its looks, and counts for a rail that seems
// farther as early as it may have come, for the other as late.
#ifndef FSBML_TURNS_HPP
#define FSBML_TURNS_HPP

#include "api/fsbml_core.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fsbml
{

class Turns
{
public:
    using PerRail = std::array<double, FSBML_MAX_RAILS>;

    // A round trip in ns. Neither is known if at_most_ns is 0.
    struct Answer {
        double at_least_ns = 0.0;
        double at_most_ns = 0.0;
    };

    // At most so many turns, on the first `rails` of FSBML_MAX_RAILS.
    Turns(std::size_t rails, std::size_t most) : rails_(rails)
    {
        round_.reserve(most);
        answer_.reserve(most * rails);
    }

    // Of a turn beyond the most, nothing is kept. `round`: turns that were close together have the same.
    void begin(std::size_t round) noexcept;
    void add(std::size_t rail, const Answer &answer) noexcept;

    // Half of what a round trip on a rail is longer than on the nearest one, way_ns beside way_ns of the
    // models: in extra_ns, by the middle of all turns. Returns the rails (bits, among `rails`) of which that
    // is sure: with an error of one in 10,000, and as much in every round.
    std::uint32_t farther(std::uint32_t rails, const PerRail &way_ns, PerRail &extra_ns) const;

    // Rounds with that much in common, turns in each that have an answer: or nothing is told.
    static constexpr std::size_t kRounds = 3;
    static constexpr std::size_t kTurns = 4;

private:
    Answer answer(std::size_t turn, std::size_t rail) const { return answer_[turn * rails_ + rail]; }
    std::size_t nearest(std::uint32_t rails, const PerRail &way_ns) const;
    // What a rail has more than another, in turns in which both have answered.
    struct Beside;
    Beside beside(std::size_t rail, std::size_t near, double more_way_ns) const;

    std::size_t rails_;
    std::vector<std::size_t> round_; // of each turn
    std::vector<Answer> answer_;     // in a turn, on each rail
    bool full_ = false;
};

} // namespace fsbml

#endif
