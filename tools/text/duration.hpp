// A duration, and a rate, as text with its unit: written, and read.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace fsbml::bench
{

// "1.25 ms": four digits, from ns to s.
std::string duration(double ns);

// "10 Gbit/s"
std::string rate_text(double bits_per_second);

// The units of users, and how many ns, or bits a second, each is.
using Units = std::map<std::string, double>;
extern const Units time_units, rate_units;

// "200mbit": a number without a sign, and one of the units behind it. Nothing if it is something else.
std::optional<double> quantity(const std::string &text, const Units &units);

} // namespace fsbml::bench
