// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// How much farther a peer is on each rail than the table says, which one pair of nodes has measured: L may
// differ by a switch. Told from questions of a few bytes, when the peer is first used.
//
// A round has a few turns, in which each rail is asked; one question is on its way at a time, so that they do
// not wait for each other. What disturbs an answer only adds to its time. So the least counts, and it is
// believed if a second one has come close to it. A peer that computes answers late, on all rails alike: then
// it is asked again later. The asking process computes, too: for what came while it did not poll there is
// another turn, a few times. Only what the rails differ by can change a choice, and only a clear difference
// that a second round has found again is told: where all peers are alike, one round says so, and nothing
// changes. If all rails are late alike, it takes three: a peer that gets its processor every few milliseconds
// seems as far on each. Where no two answers are alike, all of them together may still tell which rail they
// come late on (turns.hpp).
#ifndef FSBML_DISTANCE_HPP
#define FSBML_DISTANCE_HPP

#include "api/fsbml_core.h"
#include "measure/distance/turns.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace fsbml
{

class Distance
{
public:
    // `rails` (bits) lead to the peer, `known` has what the model says of them.
    Distance(std::uint32_t rails, const fsbml_distance_rail_t *known, std::uint32_t tries);

    // See fsbml_distance_next(), _answered(), _result().
    bool next(std::uint64_t now_ns, std::uint32_t live, std::uint32_t idle, std::uint32_t seq,
              std::uint32_t &rail) noexcept;
    void answered(std::uint32_t seq, std::uint64_t now_ns, bool idle) noexcept;
    bool over() const noexcept { return over_; }
    std::uint32_t result(double extra_ns[FSBML_MAX_RAILS]) const noexcept;

private:
    // After these many it is over, whatever they gave.
    static constexpr std::size_t kRounds = 4;

    using PerRail = std::array<double, FSBML_MAX_RAILS>;
    struct Rail {
        double way_ns = 0.0; // of a question, by the model
        double L_ns = 0.0;
        std::uint32_t asked = 0;             // in this round, with neither end away until the answer
        std::array<double, kRounds> least{}; // round trips in ns by rounds, 0: none
        std::array<double, kRounds> second{};
    };

    void drop_all_but(std::uint32_t live) noexcept;
    void begin_turn() noexcept;
    void skip_those_gone() noexcept; // in this turn
    bool round_is_over() const noexcept;
    void end_round(std::uint64_t now_ns) noexcept;
    // This process has not polled for a while: when the answer came is not known.
    void looks(std::uint64_t now_ns) noexcept;
    std::uint64_t random() noexcept;
    // The least round trips of all rounds; false: one rail has none.
    bool leasts(PerRail &least_ns) const noexcept;
    // Each is nearly so at least twice, and, if wanted, in two rounds.
    bool credible(const PerRail &least_ns, bool in_two_rounds) const noexcept;
    bool late(const PerRail &least_ns) const noexcept;
    // L beside the model's, by half of a round trip.
    double correction(std::size_t rail, double round_trip_ns) const noexcept;
    // The rail with the least correction, of a peer that has answered on all.
    std::size_t nearest(const PerRail &round_trip_ns) const noexcept;
    static bool clear(double extra_ns, double round_trip_ns, double of_nearest_ns) noexcept;
    // Sets extra_ to what is clear of the rails' differences, 0 where there is none. Returns the rails that
    // have one.
    std::uint32_t differences(const PerRail &round_trip_ns) noexcept;
    // At the end, if no answers were close to the least: the same, from all of them.
    std::uint32_t from_turns() noexcept;
    bool has(std::size_t rail) const noexcept { return 0 != (rails_ >> rail & 1); }

    std::uint32_t rails_;
    const std::uint32_t tries_;
    std::array<Rail, FSBML_MAX_RAILS> rail_;
    bool over_ = false;

    std::size_t rounds_ = 0;     // that are over
    std::uint64_t from_ns_ = 0;  // the next question not before
    std::uint64_t since_ns_ = 0; // when the last question went out, or could have, if the rail had been idle
    std::uint32_t seq_ = 0;      // of the question on its way, 0: there is none
    std::size_t on_ = 0;         // its rail
    bool unseen_ = false;        // no poll for a while since then
    // The last look may be part of the one that finds the answer: the one before was before it.
    std::uint64_t looked_ns_ = 0;
    std::uint64_t before_ns_ = 0;

    Turns turns_;
    std::size_t turn_ = 0; // of this round
    std::array<std::uint8_t, FSBML_MAX_RAILS> order_{};
    std::size_t next_ = FSBML_MAX_RAILS; // in the turn's order
    std::uint64_t random_ = 0;

    PerRail extra_{};
    std::uint32_t farther_ = 0; // once it is over: the rails whose extra_ is sure
};

} // namespace fsbml

#endif
