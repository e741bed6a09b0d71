// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The parameters of a rail, and what they predict: the LogGP model and its range, the time of probes, the
// data of a rail that decisions read; fixed-point time; remarks in a fit; statistics.
#ifndef FSBML_MODEL_HPP
#define FSBML_MODEL_HPP

#include "api/fsbml_core.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace fsbml
{

// ---- Fixed-point time and per-byte gap: the scheduler's arithmetic.
//
// Time is counted in ticks of 1/64 ns in 64 bits. A per-byte gap is ticks per byte with 35 fraction bits
// (Q29.35): one constant shift serves every rail, and the range that is allowed, 1 TB/s (0.064 ticks/B = 2^31
// units) to 1 kB/s (6.4e7 ticks/B < 2^61 units), is held with a relative error of at most 2^-32 from
// rounding.
//
// Nothing wraps, by bounds instead of checks: a message's cost stays below 2^61, L + o_r + o_s below 2^48,
// and the clock stops at kTimeMax = 2^64 - 2^61 - 2^48 (8.0 years), so that every sum of the hot path fits 64
// bits. After that every rail counts as idle and the choice is that of the model alone.

using Ticks = std::uint64_t;
__extension__ using Wide = unsigned __int128;

// The bounds are never reached in practice: as predicted branches they cost the hot path no latency.
constexpr bool likely(bool condition) noexcept
{
    return __builtin_expect_with_probability(condition, 1, 1.0) != 0;
}

constexpr unsigned kTickShift = 6; // 64 ticks a nanosecond
constexpr Ticks kTicksPerNs = Ticks{1} << kTickShift;
constexpr unsigned kGapFraction = 35; // fraction bits of a per-byte gap
constexpr std::uint64_t kStepsMax =
    (std::uint64_t{1} << kGapFraction) - 1; // 32 GiB; larger messages cost the same
constexpr Ticks kCostMax = Ticks{1} << 61;  // no message costs as much
constexpr Ticks kTimeMax = ~Ticks{0} - kCostMax - (Ticks{1} << 48) + 1;
// No rail to a destination is farther than its model by more: 17 s. Keys, which are arrivals less `now`, stay
// below 2^63.
constexpr Ticks kFarMax = Ticks{1} << 40;

constexpr Ticks ticks_from_ns(std::uint64_t ns) noexcept
{
    return likely(ns < (kTimeMax >> kTickShift)) ? ns << kTickShift : kTimeMax;
}

constexpr std::uint64_t ns_from_ticks(Ticks t) noexcept
{
    return t >> kTickShift;
}

// To the nearest tick. The caller has checked that ns is finite, not negative and below 2^57.
inline Ticks ticks_from_ns(double ns) noexcept
{
    return static_cast<Ticks>(std::llround(ns * static_cast<double>(kTicksPerNs)));
}

// What is farther than the model says; not a number is not farther.
inline Ticks far_ticks(double ns) noexcept
{
    constexpr auto most = static_cast<double>(kFarMax / kTicksPerNs);
    return !(ns > 0.0) ? 0 : ns < most ? ticks_from_ns(ns) : kFarMax;
}

// ns/byte to Q29.35. The caller has checked the range (kMinG, kMaxG).
inline std::uint64_t gap_from_ns_per_byte(double ns_per_byte) noexcept
{
    constexpr double unit =
        static_cast<double>(kTicksPerNs) * static_cast<double>(std::uint64_t{1} << kGapFraction);
    return static_cast<std::uint64_t>(std::llround(ns_per_byte * unit));
}

// A message's size as the hot path takes it: s-1 (an empty message costs what one of a byte does), shifted so
// that the product's high word is the cost.
constexpr std::uint64_t byte_steps(std::size_t bytes) noexcept
{
    const std::uint64_t steps = bytes - 1; // of none: the largest number
    return (likely(steps < kStepsMax) ? steps : bytes != 0 ? kStepsMax : 0) << (64 - kGapFraction);
}

// G (s-1) of byte_steps(s), to the nearest tick: an error below 0.1 % from 8 ns on.
constexpr Ticks bytes_cost(std::uint64_t gap_per_byte, std::uint64_t steps) noexcept
{
    const Wide product = static_cast<Wide>(gap_per_byte) * steps;
    return static_cast<Ticks>(product >> 64) + (static_cast<std::uint64_t>(product) >> 63);
}

// The same rounded down: enough for comparing rails, and two instructions less for each.
constexpr Ticks bytes_cost_floor(std::uint64_t gap_per_byte, std::uint64_t steps) noexcept
{
    return static_cast<Ticks>((static_cast<Wide>(steps) * gap_per_byte) >> 64);
}

// ---- The LogGP model of a rail: its valid range, and what follows from it.

// What the scheduler can represent: the bounds of fixed-point time rest on these. 1 TB/s to 1 kB/s; times
// up to 1000 s; overheads that grow by up to 1 us a byte.
constexpr double kMinG = 1e-3;
constexpr double kMaxG = 1e6;
constexpr double kMaxO = 1e3;
constexpr double kMaxTimeNs = 1e12;
// A break lies between 2 bytes (below it is at least one size) and 4 GiB. From there on a gap may be smaller
// than the line below says, by measurements' noise or since the rail goes to a cheaper protocol, but not by
// more than half: that is a fit that went wrong. The scheduler takes no larger message for cheaper than a
// smaller one (models.cpp).
constexpr double kMinBreak = 2.0;
constexpr double kMaxBreak = 4294967296.0;
constexpr double kLeastAbove = 0.5;

bool valid(const fsbml_loggp_t &p) noexcept;

// All members, in the order of records and files.
constexpr double fsbml_loggp_t::*kMembers[] = {
    &fsbml_loggp_t::L_ns,
    &fsbml_loggp_t::o_s_ns,
    &fsbml_loggp_t::o_r_ns,
    &fsbml_loggp_t::g_ns,
    &fsbml_loggp_t::G_ns_per_byte,
    &fsbml_loggp_t::burst_ns,
    &fsbml_loggp_t::O_s_ns_per_byte,
    &fsbml_loggp_t::O_r_ns_per_byte,
    &fsbml_loggp_t::break_bytes,
    &fsbml_loggp_t::g_above_ns,
    &fsbml_loggp_t::G_above_ns_per_byte,
};
constexpr std::size_t kMemberCount = sizeof kMembers / sizeof *kMembers;
static_assert(sizeof(fsbml_loggp_t) == kMemberCount * sizeof(double), "a record has all members of a model");

// Their names in files.
constexpr const char *kMemberNames[] = {"L",   "o_s", "o_r",   "g",       "G",      "burst",
                                        "O_s", "O_r", "break", "g_above", "G_above"};
static_assert(sizeof kMemberNames / sizeof *kMemberNames == kMemberCount, "each has a name");
// The six that every rail has are in files also where they are 0, so that a user sees what there is.
constexpr std::size_t kAlwaysNamed = 6;

// What a rail's measurement may say beside a valid model: numbers of which none is negative or beyond all
// ranges. Of the other direction some may be missing.
bool fit_sane(const fsbml_fit_t &f) noexcept;

// gap(s) in ns (the time that a message keeps its rail busy).
double gap_ns(const fsbml_loggp_t &p, double bytes) noexcept;

// The same rail, as many times slower; its shaper's bucket holds as many bytes.
fsbml_loggp_t slowed(const fsbml_loggp_t &p, double factor) noexcept;

// See fsbml_loggp_assumed().
fsbml_loggp_t assumed(double mbps) noexcept;

// See fsbml_fit_learn().
bool learn(fsbml_fit_t &fit, double gap_ns_per_byte, std::size_t quantum) noexcept;

// See fsbml_quantum().
std::size_t quantum(const fsbml_loggp_t *params, std::size_t n, double loss, std::size_t min,
                    std::size_t max) noexcept;

// ---- Predictions of a fit: for a probe, for the other direction, and for the rail without the others.

// Rails share something if beside each other they take this factor longer than alone.
constexpr double kShares = 1.15;

// The gaps of a fit, scaled; false, and unchanged, if that gives nothing that can be scheduled.
bool scale_gaps(fsbml_fit_t &fit, double factor) noexcept;

// A rail's fit as it was before it was scaled, if it was.
fsbml_fit_t fit_alone(const fsbml_fit_t &fit) noexcept;

// Time of PRTT(n,d,s) of a kind, in ns; s and n at least 1. With gap(s) and o(s) as fsbml_loggp_t has them,
// the bytes' time b(s) = gap(s) - gap(1), one(s) = o_s(s) + b(s) + L + o_r(s), and ' for the other direction:
// - arrive(n,d,s) = one(s) + (n-1) max(o_s(s) + d, gap(s)), less what a full bucket of `burst` ns hides: at
//   most all the gaps, g being a header's bytes there, so that no message comes before those that cost
//   nothing but o;
// - THERE: arrive(n,d,s) + arrive'(1,0,s), the answer with the o_s of there, as L was found with it;
// - BACK:  arrive(1,0,1) + arrive'(n,d,s);
// - TAKE:  n o_r(s);
// - BOTH:  arrive(1,0,1) + duplex max(arrive(n,d,s), arrive'(n,d,s)), as a small message asks for those back.
// The other direction has o_s, g and G of fit.back, and L, o_r, O and the bucket, in bytes, of this one.
// Without fit.back the directions are alike, without fit.duplex it is 1.
double predict_prtt(const fsbml_fit_t &fit, fsbml_probe_kind_t kind, double n, double d_ns,
                    double s) noexcept;

// When the last of n messages has been taken in, by that direction's parameters.
double predict_arrival(const fsbml_loggp_t &p, double n, double d_ns, double s) noexcept;

// The parameters of the other direction, as BACK above takes them.
fsbml_loggp_t other_direction(const fsbml_fit_t &fit) noexcept;

// Whether the other direction's G is another one: it differs by more than a tenth of the larger, which is
// more than two measurements do.
bool directions_differ(double there_ns_per_byte, double back_ns_per_byte) noexcept;

// The same for processes that send in that direction, if it is another. Interference with other rails is in G
// as it is there.
fsbml_loggp_t reverse(const fsbml_fit_t &fit) noexcept;

// ---- The scheduler's data of one rail: a cache line with its model, and one with its virtual finishing
// time.
//
// The VFT is the process' own, or in the node's ledger (ledger/ledger.hpp), where others write it. It is
// never trusted: in unsigned arithmetic, a VFT that lies in the past, or farther ahead than any charge puts
// it, differs from `now` by `beyond` or more, so one comparison takes both for idle, and the next charge
// repairs it.

constexpr std::size_t kBulkMessage = 65536;

// `beyond` of rails that no other process charges (13 days), and of those of a ledger (69 s). A charge stops
// short of it by kBehind (17 ms): others' `now` may be a little older.
constexpr Ticks kBeyondOwn = Ticks{1} << 56;
constexpr Ticks kBeyondShared = Ticks{1} << 42;
constexpr Ticks kBehind = Ticks{1} << 30;

struct alignas(64) VftSlot {
    std::atomic<std::uint64_t> key{0}; // in a ledger the hash of the rail's name, 0: free
    std::atomic<Ticks> vft{0};
};

// How long a rail is still busy at `now`.
inline Ticks backlog(Ticks vft, Ticks now, Ticks beyond) noexcept
{
    return vft - now < beyond ? vft - now : 0;
}

// What the model makes of a rail for messages between two sizes: straight lines over s-1. Where a rail's
// gap has a break, it has one such line below it and one above (schedule/models.hpp).
//
// Every value is an atomic of its own, so that a model can be replaced while others schedule. A decision
// taken at that moment may mix old and new values of the rail; the worst is one choice, and one charge, that
// neither model alone would have made. A line of sizes above a break may begin below 0, in unsigned
// arithmetic; no charge does. `per_byte` is stored last and read first (release/acquire): a reader that sees
// the first model at all sees it whole.
struct alignas(64) Rail {
    // Of a bucket, what a message is credited with at most; and of one that takes so long to fill, all of it,
    // but not by more than so often the message's own bytes (2^n).
    static constexpr Ticks kBucketPart = 4;
    static constexpr Ticks kLongBucket = 20'000'000 * kTicksPerNs;
    static constexpr std::uint64_t kLongShift = 5;

    std::atomic<std::uint64_t> per_byte{0}; // G + O_s + O_r in Q29.35; 0 = not measured yet
    std::atomic<Ticks> base{0};             // o_s + L + o_r: what the first byte takes on an idle rail
    std::atomic<Ticks> o_s{0};
    std::atomic<Ticks> credit{0};               // see below; ...
    std::atomic<std::uint64_t> credit_shift{0}; // ... times 2^n
    std::atomic<std::uint64_t> gap_per_byte{0}; // G in Q29.35
    std::atomic<Ticks> gap{1};                  // g, a tick at least: no charge is nothing
    // What policy `single` compares, gap(64 KiB), or `roundrobin`: when it was last charged.
    std::atomic<std::uint64_t> turn{0};

    // max(now + o_s, VFT - credit) + L + gap(s) - gap(1) + (O_s + O_r) (s-1) + o_r, less `now`: o_s overlaps
    // the wait for a busy rail (thesis 4.4.5), but not what the bytes add, which are copied after it (and
    // whose overlap would cost 2 ns of a decision among 16 rails).
    //
    // The credit is for a shaper, which lets as much pass at once as its bucket holds: that much backlog is
    // none for the next one. But it is no more than the message's own bytes take, or many small messages
    // would stay on one rail where fast ones carry more side by side; nor than a part of the bucket: what
    // else that has given away, to acknowledgements for one, is not known, and a small one is hardly ever
    // full. A cloud's holds so much that looks at the rail tell what is left of it (core/flow/feedback.cpp),
    // and a message of some KiB may have it all. At rest a rail looks as it would without a bucket. Where no
    // rail has one, kShaped is false, and a decision the shorter.
    template <bool kShaped>
    Ticks delivery(Ticks vft, Ticks now, Ticks beyond, std::uint64_t steps) const noexcept
    {
        return delivery<kShaped>(vft, now, beyond, steps, steps);
    }

    // The same for a part of a message, which is credited with what the `whole` of it takes.
    template <bool kShaped>
    Ticks delivery(Ticks vft, Ticks now, Ticks beyond, std::uint64_t steps,
                   std::uint64_t whole) const noexcept
    {
        constexpr auto relaxed = std::memory_order_relaxed;
        const std::uint64_t each = per_byte.load(std::memory_order_acquire);
        const Ticks idle = base.load(relaxed) + bytes_cost_floor(each, steps);
        const std::uint64_t shift = kShaped ? credit_shift.load(relaxed) : 0;
        const Ticks hidden =
            kShaped ? std::min(credit.load(relaxed), bytes_cost_floor(each, whole)) << shift : 0;
        const Ticks then = now + o_s.load(relaxed) + hidden;
        return vft - then < beyond ? vft + (idle - then) : idle;
    }

    void set_bucket(Ticks burst) noexcept
    {
        const bool is_long = burst >= kLongBucket;
        credit.store(is_long ? burst >> kLongShift : burst / kBucketPart, std::memory_order_relaxed);
        credit_shift.store(is_long ? kLongShift : 0, std::memory_order_relaxed);
    }
    Ticks bucket() const noexcept
    {
        const std::uint64_t shift = credit_shift.load(std::memory_order_relaxed);
        const Ticks most = credit.load(std::memory_order_relaxed);
        return 0 != shift ? most << shift : kBucketPart * most;
    }

    // 2o + L + max(VFT, now) (thesis 4.4.8), less `now`, with 2o = o_s + o_r.
    Ticks thesis_key(Ticks vft, Ticks now, Ticks beyond) const noexcept
    {
        return backlog(vft, now, beyond) + base.load(std::memory_order_relaxed);
    }

    // gap(s), and no less than a tick, also of values that do not belong together.
    Ticks cost(std::uint64_t steps) const noexcept
    {
        const Ticks cost = bytes_cost(gap_per_byte.load(std::memory_order_relaxed), steps)
                           + gap.load(std::memory_order_relaxed);
        return likely(static_cast<std::int64_t>(cost) > 0) ? cost : 1;
    }
};

// VFT = max(VFT, now) + cost, which it returns: an idle rail earns no credit.
inline Ticks charge(std::atomic<Ticks> &vft, Ticks now, Ticks beyond, Ticks cost) noexcept
{
    constexpr auto relaxed = std::memory_order_relaxed;
    const Ticks idle = now + cost;
    const Ticks most = now + (beyond - kBehind);
    Ticks seen = vft.load(relaxed);
    Ticks next = 0;
    do {
        next = seen - now < beyond ? seen + cost : idle;
        if (!likely(next <= most)) {
            next = most;
            std::atomic_signal_fence(std::memory_order_acq_rel); // keeps it a branch, which is predicted
        }
    } while (!vft.compare_exchange_weak(seen, next, relaxed));
    return next;
}

static_assert(sizeof(Rail) == 64 && sizeof(VftSlot) == 64, "a cache line each");
static_assert(std::atomic<Ticks>::is_always_lock_free, "decisions take no lock");

// ---- A sentence in a fit's reason: what was replaced or is doubtful.

// Of a bound, or of what something is compared with: what is beyond by so much is told.
constexpr double kWorthARemark = 0.05;

// Adds it; what does not fit is cut.
__attribute__((format(printf, 2, 3))) inline void remark(fsbml_fit_t &fit, const char *format, ...)
{
    char text[FSBML_REASON_MAX];
    std::va_list args;
    va_start(args, format);
    (void) std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const std::size_t used = std::strlen(fit.reason);
    (void) std::snprintf(fit.reason + used, sizeof fit.reason - used, "%s%s", used > 0 ? "; " : "", text);
}

// ---- The statistics that measuring needs (thesis 3.3): free functions on plain values.

struct Point {
    double x;
    double y;
};

struct Line { // y = slope x + intercept
    double slope = 0.0;
    double intercept = 0.0;
    bool valid = false; // false: fewer than two different x

    double at(double x) const noexcept { return slope * x + intercept; }
};

// The k-th smallest (0-based), NaN if there is none.
double order_statistic(std::vector<double> values, std::size_t k);

// The middle value, the mean of the two middle ones if their number is even, NaN of nothing.
double median(std::vector<double> values);

// Least squares in y (thesis 3.3.4).
Line least_squares(const std::vector<Point> &points);

// Theil-Sen: the median of the slopes of all pairs with different x; intercept = median of y - slope x.
// Stands up to 29 % of wild points, where one is enough to ruin least squares.
Line theil_sen(const std::vector<Point> &points);

} // namespace fsbml

#endif
