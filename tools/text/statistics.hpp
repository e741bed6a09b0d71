// Quantiles of samples.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fsbml::bench
{

// The value at `part` (0 to 1) of the sorted samples, interpolated. The samples must not be empty.
inline double quantile(std::vector<double> samples, double part)
{
    std::sort(samples.begin(), samples.end());
    const double place = part * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (place - static_cast<double>(below)) * (samples[above] - samples[below]);
}

inline double median(const std::vector<double> &samples)
{
    return quantile(samples, 0.5);
}

} // namespace fsbml::bench
