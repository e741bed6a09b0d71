// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Interference of rails: streams on all of them at once, compared with the rates that each has alone.
//
// A rail that is slower beside the others, each time, is scheduled as what it is there: its gaps per byte are
// scaled. A rail with which all carry clearly less than without it, each time, is left out. Where sending
// keeps the processor busy, losses are the processor's: all rails' gaps are scaled alike. Where it feeds all
// no faster than the best alone, each process uses one of those that are as good as that, and other processes
// of the node others; the slower ones are left out. Not so below some Gbit/s: there it is busy because other
// processes have it, as those that start a job do.
#ifndef FSBML_TOGETHER_HPP
#define FSBML_TOGETHER_HPP

#include "api/fsbml_core.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fsbml
{

class Together
{
public:
    // `members`: rails (bits) that take part, the indices of fits, which are of rails alone.
    Together(const fsbml_fit_t *fits, std::uint32_t members) noexcept;

    // The rails on which streams are to be sent at once, 0: it is over.
    std::uint32_t next() const noexcept { return next_; }
    // Their rates in ns/byte, by rail, the share of the time that the processor was busy with sending, and
    // what they carried in all, in bytes/ns.
    void report(const double *ns_per_byte, double sending, double carried);
    // The rails could not be measured: they stay as they are.
    void give_up() noexcept;

    // Puts what came out into the fits: together, the gaps, and which rails are left out.
    void conclude(fsbml_fit_t *fits) const;
    std::uint32_t left_out() const noexcept { return left_out_; }

private:
    using Rates = std::array<double, FSBML_MAX_RAILS>; // ns per byte
    struct Suspect {
        std::uint32_t rail;        // a bit
        std::vector<double> rates; // bytes per ns of the others, in all
    };
    void begin() noexcept;
    void find_suspects();
    void judge();
    double fastest() const noexcept;
    double most() const noexcept;
    double least(std::size_t rail) const noexcept;
    double settled(std::size_t rail) const;
    double slower(std::size_t rail) const noexcept;
    void feed(double carried);
    double fed(std::size_t run) const noexcept;
    void judge_processor();
    void level(fsbml_fit_t *fits) const noexcept;

    Rates alone_{};
    Rates without_{}; // bytes per ns of the others without a rail that was left out, and with it
    Rates with_{};
    std::uint32_t members_;
    std::uint32_t next_ = 0;
    std::uint32_t left_out_ = 0;
    bool busy_ = false;      // the processor, with sending
    double processor_ = 0.0; // then: the time of all beside each other by that of each alone; 0: not known
    std::uint32_t in_turn_ = 0;
    std::vector<Rates> beside_; // a round of all at once each, with these members
    // What each rail carries alone, and all of them (the last), in turn: where the processor is busy.
    std::array<std::vector<double>, FSBML_MAX_RAILS + 1> fed_;
    std::vector<Suspect> suspect_;
};

} // namespace fsbml

#endif
