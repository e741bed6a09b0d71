// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "patterns.hpp"

#include "model/loggp.hpp"
#include "model/predict.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace fsbml::sim
{
namespace
{

double at_least_a_byte(double m)
{
    return std::max(m, 1.0);
}

double square(double x)
{
    return x * x;
}

} // namespace

// -------------------------------------------------------------------- LogGP

double LogGP::gap(double m) const
{
    return gap_ns(p, at_least_a_byte(m));
}

double LogGP::way(double m) const
{
    return predict_arrival(p, 1.0, 0.0, at_least_a_byte(m));
}

double LogGP::all_to_all_a(std::uint32_t ranks, double m) const
{
    return (ranks - 1) * way(m);
}

double LogGP::all_to_all_b(std::uint32_t ranks, double m) const
{
    return way(m) + (ranks - 2) * gap(m);
}

// -------------------------------------------------------------------- PLogP

double PlogP::latency(double round_trip_of_0, double g_of_0)
{
    return round_trip_of_0 / 2.0 - g_of_0;
}

double PlogP::gap_by_round_trip(double round_trip_of_m, double g_of_0) const
{
    return round_trip_of_m - 2.0 * L - g_of_0;
}

double PlogP::all_to_all_a(std::uint32_t ranks, double m) const
{
    return (ranks - 1) * (g(m) + L);
}

double PlogP::all_to_all_b(std::uint32_t ranks, double m) const
{
    return (ranks - 1) * g(m) + L;
}

PlogP plogp_of(const fsbml_loggp_t &p)
{
    const LogGP from{p};
    PlogP to;
    to.L = PlogP::latency(2.0 * from.way(0.0), from.gap(0.0));
    to.g = [from](double m) { return from.gap(m); };
    return to;
}

PlogP plogp_by_round_trips(const fsbml_loggp_t &p)
{
    const LogGP from{p};
    PlogP to;
    const double g_of_0 = from.gap(0.0);
    const double L = to.L = PlogP::latency(2.0 * from.way(0.0), g_of_0);
    to.g = [from, g_of_0, L](double m) {
        return PlogP{L, nullptr}.gap_by_round_trip(from.way(m) + from.way(0.0), g_of_0);
    };
    return to;
}

PlogP plogp_both_ways(const fsbml_fit_t &fit)
{
    const LogGP there{fit.params}, back{other_direction(fit)};
    const double duplex = fit.duplex > 0.0 ? fit.duplex : 1.0;
    PlogP to;
    to.g = [there, back, duplex](double m) { return duplex * std::max(there.gap(m), back.gap(m)); };
    to.L = PlogP::latency(2.0 * duplex * std::max(there.way(0.0), back.way(0.0)), to.g(0.0));
    return to;
}

// ------------------------------------------------------------------- PlogPT

PlogPT::PlogPT(PlogP both_ways, const std::vector<Level> &level, double timeout, double error)
    : rail_(std::move(both_ways)), level_(level), timeout_(timeout), error_(error)
{
    if (level_.empty() || !rail_.g) {
        throw std::invalid_argument("PlogPT: no levels or no gaps");
    }
    for (std::size_t i = 0; i < level_.size(); ++i) {
        if (!(level_[i].b > 0.0) || !(level_[i].d > 0.0)) {
            throw std::invalid_argument("PlogPT: height " + std::to_string(i + 1) + " has no b or no d");
        }
        if (i > 0) {
            level_[i].b = std::min(level_[i].b, 2.0 * level_[i - 1].b);
        }
    }
}

double PlogPT::switch_distance(std::uint32_t h, std::uint32_t h2) const
{
    const double wider = std::ldexp(1.0, static_cast<int>(h2) - static_cast<int>(h));
    return square(std::log(wider * b(h) / b(h2))) + square(std::log(d(h) / d(h2)));
}

// An edge at height k on the way has 2^(k-1) of them each way. As b(k + 1) <= 2 b(k), the highest is the
// narrowest.
double PlogPT::throughput(std::uint32_t h) const
{
    return b(h) / std::ldexp(1.0, static_cast<int>(h) - 1);
}

double PlogPT::gap(std::uint32_t h, double m) const
{
    return b(1) * rail_.g(m) / throughput(h);
}

// The paper prints P_C(C_{r,2^(h-1)}, C_{r,2^h}), which it does not define: taken as P_B of the
// communication that ends, one of height h.
std::uint32_t PlogPT::timeouts(std::uint32_t depth, double m) const
{
    std::uint32_t n = 0;
    for (std::uint32_t h = 1; h < depth; ++h) {
        n += switch_between(h, h + 1) && fills_buffer(h, throughput(h), m) ? 1 : 0;
    }
    return n;
}

double PlogPT::all_gaps(std::uint32_t depth, double m) const
{
    double sum = 0.0;
    for (std::uint32_t h = 1; h <= depth; ++h) {
        sum += std::ldexp(gap(h, m), static_cast<int>(h) - 1);
    }
    return sum;
}

double PlogPT::all_to_all_a(std::uint32_t depth, double m) const
{
    return all_gaps(depth, m) + (std::ldexp(1.0, static_cast<int>(depth)) - 1.0) * rail_.L;
}

double PlogPT::all_to_all_b(std::uint32_t depth, double m) const
{
    return all_gaps(depth, m) + rail_.L + timeouts(depth, m) * timeout_;
}

std::uint32_t height(std::uint32_t rank, std::uint32_t peer)
{
    std::uint32_t h = 0;
    for (std::uint32_t differ = rank ^ peer; differ != 0; differ >>= 1) {
        ++h;
    }
    return h;
}

} // namespace fsbml::sim
