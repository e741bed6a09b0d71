// What the runs say: ratios and how they spread, and the bars that FSBML is held to.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "runs.hpp"

#include "tools/text/bar.hpp"

#include <optional>

namespace fsbml::bench
{

// How ratios spread over some of the runs.
struct Spread {
    std::size_t runs = 0;
    double geometric_mean = 0, median = 0, p99 = 0;
    double worst = 0;
    const Trial *where = nullptr; // the worst; the first of equal ones
};

using Choice = std::function<bool(const Trial &)>;
using RatioOf = std::function<double(const Trial &)>;

// None if no run is chosen.
std::optional<Spread> spread_of(const std::vector<Trial> &runs, const Choice &chosen, const RatioOf &ratio);

// A rule's makespan by the bound, FSBML's by another rule's, and by that of the best rail alone. Two that
// take no time are alike.
RatioOf by_bound(std::size_t rule = 0);
RatioOf by_rule(std::size_t rule);
double by_best_rail(const Trial &run);

// "ring on 10g+1g, seed 3"
std::string name_of(const Proof &proof, const Trial &run);

// Of a class of traffic, or a set of rails. Classes leave out rails in trouble.
Choice of_class(const Proof &proof, std::size_t traffic, bool wrong);
Choice of_set(std::size_t set, bool wrong);
// Of all classes.
Choice settled(const Proof &proof, bool wrong);

// What there are runs for: of rails in trouble, only those that FSBML has to learn of, and of wrong
// parameters only if there are such.
std::vector<Bar> judge(const Proof &proof, const std::vector<Trial> &runs);

} // namespace fsbml::bench
