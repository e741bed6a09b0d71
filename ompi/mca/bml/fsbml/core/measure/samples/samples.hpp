// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The samples of one rail: times by PRTT(n,d,s).
#ifndef FSBML_SAMPLES_HPP
#define FSBML_SAMPLES_HPP

#include "api/fsbml_core.h"
#include "model/stats.hpp"

#include <cstdint>
#include <vector>

namespace fsbml
{

struct Prtt { // n, d, s, which way
    std::uint32_t packets;
    std::uint64_t delay_ns;
    std::uint32_t bytes;
    fsbml_probe_kind_t kind = FSBML_PROBE_THERE;

    bool operator==(const Prtt &o) const noexcept
    {
        return packets == o.packets && delay_ns == o.delay_ns && bytes == o.bytes && kind == o.kind;
    }
};

// What a PRTT is expected to take again: the lower quartile of its samples, of up to four the smallest.
// Transmissions are only ever delayed (thesis 3.3.2), and with a handful of samples on a machine that does
// other things too more than half of them can be: then the median, which the thesis takes, is one of the
// disturbed. (What is fitted is value_of() in gaps.hpp.)
inline double undisturbed(const std::vector<double> &times_ns)
{
    return times_ns.empty() ? median({}) : order_statistic(times_ns, (times_ns.size() - 1) / 4);
}

class Samples
{
public:
    struct Cell {
        Prtt prtt;
        std::vector<double> times_ns;
    };

    void add(const Prtt &prtt, double time_ns)
    {
        for (Cell &c : cells_) {
            if (c.prtt == prtt) {
                c.times_ns.push_back(time_ns);
                return;
            }
        }
        cells_.push_back(Cell{prtt, {time_ns}});
    }

    // nullptr if there is no sample of it.
    const Cell *find(const Prtt &prtt) const noexcept
    {
        for (const Cell &c : cells_) {
            if (c.prtt == prtt) {
                return &c;
            }
        }
        return nullptr;
    }

    const std::vector<Cell> &cells() const noexcept { return cells_; }

private:
    std::vector<Cell> cells_; // a few dozen: searched in line
};

} // namespace fsbml

#endif
