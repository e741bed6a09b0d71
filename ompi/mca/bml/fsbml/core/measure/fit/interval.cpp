// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/fit/fit.hpp"

#include "model/model.hpp"

#include <random>
#include <vector>

namespace fsbml
{

namespace
{

Samples draw(const Samples &samples, std::mt19937_64 &random)
{
    Samples drawn;
    for (const Samples::Cell &c : samples.cells()) {
        for (std::size_t i = 0; i < c.times_ns.size(); ++i) {
            drawn.add(c.prtt, c.times_ns[random() % c.times_ns.size()]);
        }
    }
    return drawn;
}

} // namespace

void find_interval(fsbml_fit_t &fit, const Samples &samples, const Samples &rough, std::uint32_t small,
                   std::uint64_t seed, const Known &known)
{
    fit.low = fit.high = fsbml_loggp_t{};
    if (!fit.valid) {
        return;
    }
    std::mt19937_64 random(seed);
    std::vector<fsbml_loggp_t> fits;
    for (unsigned i = 0; i < kResamples; ++i) {
        const fsbml_fit_t other = fit_rail(draw(samples, random), draw(rough, random), small, known);
        if (other.valid && (other.params.break_bytes > 0.0) == (fit.params.break_bytes > 0.0)) {
            fits.push_back(other.params);
        }
    }
    if (2 * fits.size() < kResamples) {
        return;
    }
    const std::size_t tail = fits.size() / 20;
    for (double fsbml_loggp_t::*p : kMembers) {
        std::vector<double> values;
        for (const fsbml_loggp_t &f : fits) {
            values.push_back(f.*p);
        }
        fit.low.*p = order_statistic(values, tail);
        fit.high.*p = order_statistic(values, values.size() - 1 - tail);
    }
}

} // namespace fsbml
