// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// From samples to parameters (thesis 3.2.3), and their confidence intervals: fit_rail() is the whole of it,
// the others fill in parts.
#ifndef FSBML_FIT_HPP
#define FSBML_FIT_HPP

#include "api/fsbml_core.h"
#include "measure/samples/samples.hpp"

#include <cstdint>
#include <vector>

namespace fsbml
{

// What is known beside the samples.
struct Known {
    std::uint32_t limit[FSBML_LIMITS] = {}; // as in fsbml_calib_rail_t: where a break is looked for first
    double timer_ns = 0.0;                  // as in fsbml_calib_config_t
};

// `small` is the size of the PRTTs that o, L and the least gap come from. `rough` holds a few samples of
// another kind that are used only where `samples` has nothing above the small size. What would be negative
// or absurd is replaced by a bound with a remark: see what fills in the parts; L is at least 0, G within
// kMinG and kMaxG, g at least 0, and where a second piece begins the gap is at least half of that right
// before.
fsbml_fit_t fit_rail(const Samples &samples, const Samples &rough, std::uint32_t small,
                     const Known &known = {});

// ---- The processors' share of a message: o_s and o_r, and what each byte adds to them.

// Looks at the clock that the delay between two messages takes beside itself: one whole, before it begins and
// after it ends, and half of one by which it ends too late.
constexpr double kLooksOfDelay = 1.5;

// o_s at a size (equation 3.2.3.3), from the delayed PRTT of this kind with most samples, less the clock.
// False if there is none whose delay is at least the gap: a shorter one shows max(o + d, gap), and that is
// the gap.
bool send_overhead(const Samples &samples, fsbml_probe_kind_t kind, double bytes, double gap_ns,
                   double timer_ns, Value &out);

// o_r at a size: (T(n,s) - T(m,s)) / (n-m) of FSBML_PROBE_TAKE, with the least and the greatest n that there
// are.
bool take_overhead(const Samples &samples, double bytes, Value &out);

// How PRTT(1,0,s)/2 grows beside the time of the bytes: what is left for O_s + O_r. Of at least three bulk
// sizes.
struct Rest {
    bool known = false;
    double per_byte_ns = 0.0;
    double error = 0.0;
};
Rest rest_per_byte(const Samples &samples, const GapLine &line, const fsbml_loggp_t &back);

// Fills in o_s, o_r, O_s and O_r with these bounds, each with a remark where it replaces what was measured:
// - 0 <= o_s <= one way, 0 <= o_r <= one way - o_s, the one way being half of PRTT(1,0,small);
// - o_s is 0 if nothing tells it, o_r as o_s if nothing tells it;
// - 0 <= O_s, O_r <= the greatest G, as messages follow no faster than they are sent or taken; and <= 1 us;
// - O_s + O_r <= what rest_per_byte leaves, and 2.5 standard errors.
// Where no second size tells O_s or O_r, each is half of that rest; 0 where it is within 2.5 standard errors
// or 2 % of G.
void fit_overheads(fsbml_fit_t &fit, const Samples &samples, double small, const GapLine &line,
                   double one_way_ns, double timer_ns);

// ---- What a shaper's bucket hides: how much that is, and what small messages take once it is empty.

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

// ---- The other direction of a rail, and both at once.

// Bounds of fit.duplex: two directions do not gain from each other, and share no worse than four could.
constexpr double kFullDuplex = 1.0;
constexpr double kWorstDuplex = 4.0;

// Fills in g and G of fit.back from FSBML_PROBE_BACK samples, by gap_line() in one piece; all 0 without
// samples of two sizes, or with a remark where they make no usable G. G is within what a model may have, g
// at least 0.
void fit_back(fsbml_fit_t &fit, const Samples &samples, std::uint32_t small);

// Fills in its o_s, from 0 to one_way_ns, with a remark where it is set to a bound; as there if nothing tells
// it.
void fit_back_overhead(fsbml_fit_t &fit, const Samples &samples, std::uint32_t small, double one_way_ns,
                       double timer_ns);

// Fills in fit.duplex from FSBML_PROBE_BOTH samples: the median over their n and s of the time by that of
// the slower direction alone, each without the small message or the answer that goes with it
// (predict_prtt); within the bounds, with a remark where it is set to one that it is far beyond. 0 without
// samples. The rest of the fit is there.
void fit_duplex(fsbml_fit_t &fit, const Samples &samples, std::uint32_t small);

// ---- How sure a fit is: the parameters that other samples of the same kind would have given.
//
// By bootstrap (Efron, 1979): every PRTT's samples are drawn anew from themselves, with repetition, and
// fitted again. The interval holds the middle nine tenths of what comes out. It knows the scatter of the
// samples, and nothing of what disturbed them all alike; of PRTTs with less than five samples it makes too
// little (find_loose() asks for more then). It takes about 1 ms.

constexpr unsigned kResamples = 100;

// Fills in fit.low and fit.high of a valid fit of these samples (fit_rail). Without an interval both are 0:
// where most of what is drawn makes no valid fit, or one with another number of pieces.
void find_interval(fsbml_fit_t &fit, const Samples &samples, const Samples &rough, std::uint32_t small,
                   std::uint64_t seed, const Known &known = {});

} // namespace fsbml

#endif
