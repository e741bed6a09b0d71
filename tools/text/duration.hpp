// A duration, and a rate, as text with its unit.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <string>

namespace fsbml::bench
{

// "1.25 ms": four digits, from ns to s.
std::string duration(double ns);

// "10 Gbit/s"
std::string rate_text(double bits_per_second);

} // namespace fsbml::bench
