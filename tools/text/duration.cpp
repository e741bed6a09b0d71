// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "duration.hpp"

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

} // namespace fsbml::bench
