// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a shaper's bucket hides: how much that is, and what small messages take once it is empty.
#ifndef FSBML_BUCKET_HPP
#define FSBML_BUCKET_HPP

#include "api/fsbml_core.h"
#include "measure/samples/gaps.hpp"
#include "measure/samples/samples.hpp"

#include <vector>

namespace fsbml
{

// What a single message of a size takes one way, on a rail without a bucket, beside what one byte takes.
double bytes_time(const fsbml_loggp_t &p, const GapLine &line, double bytes) noexcept;

// burst_ns: how much earlier than the gaps say a single message arrives after a pause, 2 (o_s + L + o_r +
// G (s-1)) - PRTT(1,0,s) over two ways. The least of all bulk sizes, so that what grows with the size (a link
// that takes bytes in faster than it can go on doing) is not taken for a bucket; and none where it is less
// than a message's overheads, which is noise.
void fit_burst(fsbml_fit_t &fit, const Samples &samples, const GapLine &line, double one_way_ns);

// The gap of sizes below kBulkBytes that were measured with enough messages that the bucket was empty long
// before the last one: of n gaps it hides all but what PRTT(n,0,s) shows,
//   n gap(s) = PRTT(n,0,s) - 2 one_way + burst + gap(1).
// Sizes with a PRTT(1,0,s) are not among them (gap_points has these), nor those where the processor's time
// shows. None where there is no bucket.
std::vector<GapPoint> gaps_beyond_burst(const fsbml_fit_t &fit, const Samples &samples, const GapLine &line,
                                        std::uint32_t small, double one_way_ns);

} // namespace fsbml

#endif
