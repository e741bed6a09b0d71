// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/fit/fit.hpp"

#include "model/model.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

constexpr double kInTheNoise = 2.5;  // standard errors
constexpr double kMostPerByte = 1e3; // ns: no processor takes longer for a byte
constexpr double kOfTheGap = 0.02;   // G is not known better

// Largest size but the small one that a measure of overhead exists for; 0 and false if there is none.
template <class Measure>
bool at_large(const Samples &samples, double small, Measure measure, double &bytes, Value &out)
{
    bytes = 0.0;
    for (const Samples::Cell &c : samples.cells()) {
        Value v;
        if (c.prtt.bytes > small && c.prtt.bytes > bytes && measure(static_cast<double>(c.prtt.bytes), v)) {
            bytes = c.prtt.bytes;
            out = v;
        }
    }
    return bytes > 0.0;
}

// What each byte adds, by two sizes; 0 if that is within the noise.
double per_byte(const Value &small, const Value &large, double bytes)
{
    const double more = large.ns - small.ns;
    return more > kInTheNoise * std::hypot(small.sigma, large.sigma) ? more / bytes : 0.0;
}

void fit_at_small(fsbml_fit_t &fit, bool sent, const Value &send, bool taken, const Value &take,
                  double one_way)
{
    fsbml_loggp_t &p = fit.params;
    if (!sent) {
        remark(fit, "o not measured within the budget, taken as 0");
    }
    p.o_s_ns = sent ? std::clamp(send.ns, 0.0, one_way) : 0.0;
    if (sent && (send.ns < 0.0 || send.ns > one_way)) {
        remark(fit, "o set to %.2f us, measured %.2f", p.o_s_ns / 1e3, send.ns / 1e3);
    }
    const double left = one_way - p.o_s_ns;
    p.o_r_ns = taken ? std::clamp(take.ns, 0.0, left) : std::min(p.o_s_ns, left);
    if (taken && (take.ns < 0.0 || take.ns > left * (1.0 + kWorthARemark))) {
        remark(fit, "o_r set to %.2f us, measured %.2f", p.o_r_ns / 1e3, take.ns / 1e3);
    }
}

// Never more than what the round trips leave, and never more than the gap.
void bound_per_byte(fsbml_fit_t &fit, const Rest &rest)
{
    fsbml_loggp_t &p = fit.params;
    const double gap = std::min(std::max(p.G_ns_per_byte, p.G_above_ns_per_byte), kMostPerByte);
    const double measured = p.O_s_ns_per_byte + p.O_r_ns_per_byte;
    p.O_s_ns_per_byte = std::min(p.O_s_ns_per_byte, gap);
    p.O_r_ns_per_byte = std::min(p.O_r_ns_per_byte, gap);
    const double sum = p.O_s_ns_per_byte + p.O_r_ns_per_byte;
    const double room = rest.known ? std::max(0.0, rest.per_byte_ns + kInTheNoise * rest.error) : sum;
    if (sum > room) {
        p.O_s_ns_per_byte *= room / sum;
        p.O_r_ns_per_byte *= room / sum;
    }
    const double set = p.O_s_ns_per_byte + p.O_r_ns_per_byte;
    if (measured - set > kOfTheGap * gap) {
        remark(fit, "O_s + O_r set to %.3g ns/B, measured %.3g", set, measured);
    }
}

} // namespace

bool send_overhead(const Samples &samples, fsbml_probe_kind_t kind, double bytes, double gap_ns,
                   double timer_ns, Value &out)
{
    const Samples::Cell *delayed = nullptr;
    for (const Samples::Cell &c : samples.cells()) {
        if (c.prtt.kind == kind && 0 != c.prtt.delay_ns && c.prtt.bytes == bytes
            && static_cast<double>(c.prtt.delay_ns) >= gap_ns
            && (nullptr == delayed || c.times_ns.size() > delayed->times_ns.size())) {
            delayed = &c;
        }
    }
    GapPoint p{};
    if (nullptr == delayed || !gap_of(samples, *delayed, p)) {
        return false;
    }
    out = Value{p.gap_ns - static_cast<double>(delayed->prtt.delay_ns) - kLooksOfDelay * timer_ns, p.sigma,
                p.samples};
    return true;
}

bool take_overhead(const Samples &samples, double bytes, Value &out)
{
    const Samples::Cell *few = nullptr;
    const Samples::Cell *many = nullptr;
    for (const Samples::Cell &c : samples.cells()) {
        if (FSBML_PROBE_TAKE == c.prtt.kind && c.prtt.bytes == bytes) {
            few = nullptr == few || c.prtt.packets < few->prtt.packets ? &c : few;
            many = nullptr == many || c.prtt.packets > many->prtt.packets ? &c : many;
        }
    }
    if (nullptr == few || few->prtt.packets == many->prtt.packets) {
        return false;
    }
    const Value of_few = value_of(*few);
    const Value of_many = value_of(*many);
    const double between = static_cast<double>(many->prtt.packets) - few->prtt.packets;
    out = Value{(of_many.ns - of_few.ns) / between, std::hypot(of_many.sigma, of_few.sigma) / between,
                std::min(of_many.samples, of_few.samples)};
    return true;
}

Rest rest_per_byte(const Samples &samples, const GapLine &line, const fsbml_loggp_t &back)
{
    std::vector<Measured> points;
    for (const Samples::Cell &c : samples.cells()) {
        const Prtt &prtt = c.prtt;
        if (FSBML_PROBE_THERE == prtt.kind && 1 == prtt.packets && prtt.bytes >= kBulkBytes) {
            // As in predict.cpp: the answer comes at the pace of the other direction, where that is known.
            const double there = line.at(prtt.bytes);
            const double answer =
                back.G_ns_per_byte > 0.0 ? back.g_ns + back.G_ns_per_byte * (prtt.bytes - 1.0) : there;
            const Value v = value_of(c);
            const double sigma = std::max({v.sigma / 2.0, kUnlike * v.ns / 2.0, 1e-3});
            points.push_back(Measured{prtt.bytes - 1.0, v.ns / 2.0 - (there + answer) / 2.0, sigma});
        }
    }
    Rest rest;
    const Line slope = theil_sen(points);
    if (points.size() >= kLeastPoints && slope.valid) {
        rest.known = true;
        rest.per_byte_ns = slope.slope;
        rest.error = std::hypot(error_of(points).slope, line.G_error);
    }
    return rest;
}

void fit_overheads(fsbml_fit_t &fit, const Samples &samples, double small, const GapLine &line,
                   double one_way_ns, double timer_ns)
{
    // A shaper's bucket may hide what the line says of small messages, and a disturbance may lengthen what
    // was seen.
    const std::vector<GapPoint> seen = gap_points(samples, FSBML_PROBE_THERE);
    const auto sending = [&](double bytes, Value &v) {
        double gap = line.at(bytes);
        for (const GapPoint &point : seen) {
            gap = point.bytes == bytes ? std::min(gap, point.gap_ns) : gap;
        }
        return send_overhead(samples, FSBML_PROBE_THERE, bytes, gap, timer_ns, v);
    };
    const auto taking = [&](double bytes, Value &v) { return take_overhead(samples, bytes, v); };
    Value send;
    Value take;
    const bool sent = sending(small, send);
    const bool taken = taking(small, take);
    fit_at_small(fit, sent, send, taken, take, one_way_ns);

    fsbml_loggp_t &p = fit.params;
    const Rest rest = rest_per_byte(samples, line, fit.back);
    double bytes = 0.0;
    Value large;
    const bool sends = sent && at_large(samples, small, sending, bytes, large);
    p.O_s_ns_per_byte = sends ? per_byte(send, large, bytes - small) : 0.0;
    const bool takes = taken && at_large(samples, small, taking, bytes, large);
    p.O_r_ns_per_byte = takes ? per_byte(take, large, bytes - small) : 0.0;
    const double noise = std::max(kInTheNoise * rest.error, kOfTheGap * p.G_ns_per_byte);
    const double unknown = rest.per_byte_ns - p.O_s_ns_per_byte - p.O_r_ns_per_byte;
    if (rest.known && unknown > noise) {
        p.O_s_ns_per_byte = sends ? p.O_s_ns_per_byte : unknown / (takes ? 1.0 : 2.0);
        p.O_r_ns_per_byte = takes ? p.O_r_ns_per_byte : unknown / (sends ? 1.0 : 2.0);
    }
    bound_per_byte(fit, rest);
}

} // namespace fsbml
