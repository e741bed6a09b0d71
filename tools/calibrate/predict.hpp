// What the model says of an exchange.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "api/fsbml_core.h"

namespace fsbml::bench
{

// gap(s): g + G (s-1), or on the second piece g_above + G_above (s - break).
double gap_ns(const fsbml_loggp_t &p, double bytes);

// PRTT(n, d, s): n messages there, one of that size back. Alone, a message takes o_s + L + o_r and the time
// of its bytes, gap(s) - gap(1); n of them follow each other by max(o_s + d, gap(s)). A backlog of up to
// `burst` delays no message: a shaper's bucket, which is full at first.
double predict_ns(const fsbml_loggp_t &p, unsigned packets, double delay_ns, double bytes);

} // namespace fsbml::bench
