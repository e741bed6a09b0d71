// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// What rails do to each other: the same streams on each rail by itself and on all at once, interleaved.
//
// A rail that is slower beside the others is scheduled as what it is there: its gaps per byte are scaled. A
// rail with which all carry clearly less than without it is left out. Both need several rounds, by the best
// that each set of rails has shown, as a disturbed one only looks slower, and rounds that agree: losses that
// are the rails' own are the same each time. Where sending keeps the processor busy, losses are the
// processor's, and no rail is left out for them.
#ifndef FSBML_TOGETHER_HPP
#define FSBML_TOGETHER_HPP

#include "fsbml_core.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fsbml
{

// From this factor on, rails share something.
constexpr double kShares = 1.15;

// Messages that take about `ns` on a rail alone: at least 3, of up to 8 KiB.
fsbml_stream_t stream_for(const fsbml_fit_t &fit, double ns, std::uint32_t min_bytes,
                          std::uint32_t max_bytes) noexcept;

// The gaps of a fit, scaled; false, and unchanged, if that gives nothing that can be scheduled.
bool scale_gaps(fsbml_fit_t &fit, double factor) noexcept;

// A rail's fit as it was before it was scaled, if it was.
fsbml_fit_t fit_alone(const fsbml_fit_t &fit) noexcept;

class Together
{
public:
    // `members`: rails (bits) that take part, the indices of fits.
    Together(const fsbml_fit_t *fits, std::uint32_t members, std::uint32_t min_bytes,
             const std::uint32_t *max_bytes);

    // The rails on which streams are to be sent at once, 0: it is over.
    std::uint32_t next() const noexcept { return at_ < round_.size() ? round_[at_] : 0; }
    const fsbml_stream_t &stream(std::size_t rail) const noexcept { return rail_[rail].stream; }
    // How long all rails are to be idle before: every stream finds its shaper's bucket full.
    double rest_ns() const noexcept { return rest_ns_; }
    // What they took: times by rail, and how long the sender's processor was busy with sending.
    void report(const double *time_ns, double sending_ns);
    // The rails could not be measured: they stay as they are.
    void give_up() noexcept;

    // Puts what came out into the fits: together, the gaps, and who is left out.
    void conclude(fsbml_fit_t *fits) const;
    std::uint32_t left_out() const noexcept { return left_out_; }

private:
    struct Rail {
        fsbml_stream_t stream{};
        double base_ns = 0.0; // of a PRTT without any gap
        double factor = 1.0;
        bool shares = false; // it is always slower beside the others than it usually is
        double with = 0.0;   // bytes per ns of all rails, with this one and without, when it was left out
        double without = 0.0;
    };
    struct Set { // what some rails have shown together
        std::uint32_t rails = 0;
        std::array<double, FSBML_MAX_RAILS> least_ns{};
        std::array<double, FSBML_MAX_RAILS> second_ns{}; // the least but one, of two rounds and more
        std::vector<double> rates;                       // bytes per ns of all of them, a round each
        double sending = 1.0;                            // least share of the time that sending took
    };

    Set &set_of(std::uint32_t rails);
    const Set *find(std::uint32_t rails) const noexcept;
    double streaming_ns(std::size_t rail, double time_ns) const noexcept;
    double alone_rate(std::size_t rail) const;
    bool shares() noexcept;
    std::uint32_t suspects() const;
    void plan_round(std::uint32_t suspects);
    void judge_round();
    bool leave_one_out(std::uint32_t suspects);

    std::array<Rail, FSBML_MAX_RAILS> rail_;
    std::uint32_t members_;
    std::uint32_t left_out_ = 0;
    double rest_ns_ = 0.0;
    std::vector<Set> sets_;
    std::vector<std::uint32_t> round_;
    std::size_t at_ = 0;
    std::size_t rounds_ = 0; // complete, with these members
    std::size_t runs_ = 0;   // of sets, in all
    bool shared_ = false;    // some rails share something, for sure
};

} // namespace fsbml

#endif
