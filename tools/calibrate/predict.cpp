// What the model says of an exchange.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "predict.hpp"

#include <algorithm>

namespace fsbml::bench
{
namespace
{

// n messages one way: until the last of them has been taken in.
double one_way_ns(const fsbml_loggp_t &p, unsigned packets, double delay_ns, double bytes)
{
    const double send = p.o_s_ns + p.O_s_ns_per_byte * (bytes - 1);
    const double receive = p.o_r_ns + p.O_r_ns_per_byte * (bytes - 1);
    double given = 0;    // when the last message is given to the rail
    double finished = 0; // the rail's virtual finishing time
    for (unsigned i = 0; i < packets; ++i) {
        given += i == 0 ? 0 : send + delay_ns;
        finished = std::max(finished, given) + gap_ns(p, bytes);
    }
    return send + std::max(given, finished - gap_ns(p, 1) - p.burst_ns) + p.L_ns + receive;
}

} // namespace

double gap_ns(const fsbml_loggp_t &p, double bytes)
{
    return p.break_bytes > 0 && bytes >= p.break_bytes
               ? p.g_above_ns + p.G_above_ns_per_byte * (bytes - p.break_bytes)
               : p.g_ns + p.G_ns_per_byte * (bytes - 1);
}

double predict_ns(const fsbml_loggp_t &p, unsigned packets, double delay_ns, double bytes)
{
    return one_way_ns(p, packets, delay_ns, bytes) + one_way_ns(p, 1, 0, bytes);
}

} // namespace fsbml::bench
