// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "text.hpp"

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace fsbml::bench
{

std::string duration(double ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    for (const auto &unit : units) {
        if (ns >= unit.ns) {
            return fmt::format("{:.4g} {}", ns / unit.ns, unit.unit);
        }
    }
    return fmt::format("{:.4g} ns", ns);
}

std::string rate_text(double bits)
{
    return bits >= 999.5e6 ? fmt::format("{:.3g} Gbit/s", bits / 1e9)
           : bits >= 1e6   ? fmt::format("{:.3g} Mbit/s", bits / 1e6)
                           : fmt::format("{:.3g} kbit/s", bits / 1e3);
}

const Units time_units = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
const Units rate_units = {{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};

std::optional<double> quantity(const std::string &text, const Units &units)
{
    char *end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    // strtod also takes blanks, signs, "inf", "nan" and hexadecimal numbers.
    const bool plain =
        text.find_first_of("0123456789.") == 0 && text.find_first_of("xX") == std::string::npos;
    const auto unit = units.find(end);
    return plain && end != text.c_str() && std::isfinite(number) && unit != units.end()
               ? std::optional<double>(number * unit->second)
               : std::nullopt;
}

} // namespace fsbml::bench
