// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Where workloads get sizes, peers and pauses from: the same for a seed on every machine, as far as log and
// pow round alike.
#ifndef FSBML_SIM_TRAFFIC_DICE_HPP
#define FSBML_SIM_TRAFFIC_DICE_HPP

#include "sim/job/workload.hpp"

#include <random>

namespace fsbml::sim
{

class TrafficDice
{
public:
    // A stream for each rank, so that what one draws does not depend on how many others there are.
    explicit TrafficDice(std::uint64_t seed, std::uint32_t stream = 0);

    double unit();                                                // [0, 1)
    std::uint64_t integer(std::uint64_t low, std::uint64_t high); // each of [low, high] alike
    Time exponential(Time mean);
    std::uint32_t peer(std::uint32_t ranks, std::uint32_t self); // each of the others alike

private:
    std::mt19937_64 random_;
};

// How many bytes a message has: at least `low`, at most `high`.
struct Sizes {
    enum class Kind : std::uint8_t {
        fixed,       // always low
        uniform,     // each size alike
        log_uniform, // each factor of two alike
        pareto,      // bounded Pareto: P(X > x) as (low / x)^shape, up to high; 1.0 and less: a few hold most
                     // bytes
    };
    Kind kind = Kind::fixed;
    std::uint64_t low = 1;
    std::uint64_t high = 1;
    double shape = 1.0;

    static Sizes all(std::uint64_t bytes);
    static Sizes uniform(std::uint64_t low, std::uint64_t high);
    static Sizes log_uniform(std::uint64_t low, std::uint64_t high);
    static Sizes pareto(std::uint64_t low, std::uint64_t high, double shape);

    // Throws std::invalid_argument unless 1 <= low <= high <= 2^50 and shape > 0.
    void validate() const;
    std::uint64_t draw(TrafficDice &dice) const;
};

} // namespace fsbml::sim

#endif
