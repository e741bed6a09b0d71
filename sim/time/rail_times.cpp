// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "time.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace fsbml::sim::engine
{

namespace
{

constexpr double kPs = static_cast<double>(kPsPerNs);

double steps(std::uint64_t bytes)
{
    return bytes > 1 ? static_cast<double>(bytes - 1) : 0.0;
}

} // namespace

Time picoseconds(double ps)
{
    if (!(ps < static_cast<double>(kLongest))) {
        throw std::overflow_error("a message takes longer than the simulator can tell (26 days)");
    }
    return std::llround(ps);
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t which)
{
    std::uint64_t z = seed + (which + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

RailTimes::RailTimes(const RailSpec &spec, std::uint64_t seed)
    : p_(spec.real), latency_(picoseconds(p_.L_ns * kPs)), burst_(picoseconds(p_.burst_ns * kPs)),
      jitter_(spec.jitter), changes_(spec.changes), random_(seed)
{
}

Time RailTimes::overhead_send(std::uint64_t bytes) const
{
    return picoseconds(kPs * (p_.o_s_ns + p_.O_s_ns_per_byte * steps(bytes)));
}

Time RailTimes::overhead_receive(std::uint64_t bytes) const
{
    return picoseconds(kPs * (p_.o_r_ns + p_.O_r_ns_per_byte * steps(bytes)));
}

double RailTimes::gap_ps(std::uint64_t bytes) const
{
    const auto s = static_cast<double>(bytes);
    return kPs
           * (p_.break_bytes > 0.0 && s >= p_.break_bytes
                  ? p_.g_above_ns + p_.G_above_ns_per_byte * (s - p_.break_bytes)
                  : p_.g_ns + p_.G_ns_per_byte * steps(bytes));
}

// Box and Muller; std::normal_distribution differs between libraries.
double RailTimes::noise()
{
    if (!(jitter_ > 0.0)) {
        return 1.0;
    }
    const auto real = [this] { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; };
    const double radius = std::sqrt(-2.0 * std::log(real()));
    return 1.0 + jitter_ * std::abs(radius * std::cos(2.0 * 3.14159265358979323846 * real()));
}

double RailTimes::factor(Time when) const
{
    const auto later = std::upper_bound(changes_.begin(), changes_.end(), when,
                                        [](Time t, const Change &c) { return t < c.at; });
    return changes_.begin() == later ? 1.0 : std::prev(later)->factor;
}

bool RailTimes::dead_between(Time first, Time last) const
{
    return !(factor(first) > 0.0) || std::any_of(changes_.begin(), changes_.end(), [&](const Change &c) {
        return !(c.factor > 0.0) && c.at > first && c.at <= last;
    });
}

Time RailTimes::revival(Time when) const
{
    const auto change = std::find_if(changes_.begin(), changes_.end(),
                                     [&](const Change &c) { return c.at > when && c.factor > 0.0; });
    return changes_.end() == change ? -1 : change->at;
}

} // namespace fsbml::sim::engine
