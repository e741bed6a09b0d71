// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Models for tests: the five parameters of the thesis, and what else there may be as nothing.
#ifndef FSBML_TESTS_UNIT_MODEL_HPP
#define FSBML_TESTS_UNIT_MODEL_HPP

#include "api/fsbml_core.h"

constexpr fsbml_loggp_t loggp(double L, double o_s, double o_r, double g, double G, double burst = 0.0)
{
    return {L, o_s, o_r, g, G, burst, 0.0, 0.0, 0.0, 0.0, 0.0};
}

// The same with another line from a size on.
constexpr fsbml_loggp_t broken(fsbml_loggp_t p, double from, double g_above, double G_above)
{
    p.break_bytes = from;
    p.g_above_ns = g_above;
    p.G_above_ns_per_byte = G_above;
    return p;
}

#endif
