// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// For how long a process does not look at its networks: as much must be with a rail, or it is idle meanwhile.
#ifndef FSBML_PAUSES_HPP
#define FSBML_PAUSES_HPP

#include <algorithm>
#include <cstdint>

namespace fsbml
{

class Pauses
{
public:
    // The process looks now. Returns for how long a rail should have something to do.
    std::uint64_t look(std::uint64_t now_ns) noexcept;
    // The sum, so far, of pauses that are more than a look at all networks: the process computes, or others
    // have its processor.
    std::uint64_t away_ns() const noexcept { return away_; }

private:
    // Pauses are remembered for 2.5 to 5 s.
    struct Epoch {
        double sum = 0.0, squares = 0.0; // ns, ns^2
        unsigned n_long = 0;
        std::uint64_t longest = 0;
    };

    std::uint64_t last_ = 0; // 0: it has not looked yet
    std::uint64_t epoch_began_ = 0, away_ = 0;
    Epoch now_, before_;
};

} // namespace fsbml

#endif
