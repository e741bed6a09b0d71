// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Sets of simulated rails, for tests of the whole calibration.
#ifndef FSBML_TESTS_SIM_CALIBRATION_RAILS_HPP
#define FSBML_TESTS_SIM_CALIBRATION_RAILS_HPP

#include "calibration.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sim
{

constexpr double kBudget = 300e6;
constexpr int kSeeds = 40;

inline std::string name_of(const std::vector<double> &mbit)
{
    std::string name;
    for (const double m : mbit) {
        name += std::to_string(static_cast<int>(m)) + " ";
    }
    return name + "Mbit/s";
}

inline std::vector<Shape> rails(Shape (*kind)(double), const std::vector<double> &mbit)
{
    std::vector<Shape> shapes;
    for (const double m : mbit) {
        shapes.push_back(kind(m));
        if (m > 1000.0) {
            shapes.back().noise_ns = std::min(shapes.back().noise_ns, 500.0);
        }
    }
    return shapes;
}

inline double error_of(const Result &r, const std::vector<Shape> &shapes, std::size_t i)
{
    return std::fabs(r.fits[i].params.G_ns_per_byte / shapes[i].true_G() - 1.0);
}

inline const std::vector<std::vector<double>> kSets = {
    {200, 20},          {100, 100},       {20, 20}, {200, 1},           {1},
    {100000, 100000},   {100000, 1},      {1000},   {10000, 1000},      {200, 200, 20, 20},
    {400, 100, 50, 20}, {10, 10, 10, 10}, {5, 5},   {10000, 200, 20, 1}};

} // namespace sim

#endif // FSBML_TESTS_SIM_CALIBRATION_RAILS_HPP
