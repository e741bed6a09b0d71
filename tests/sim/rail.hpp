// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// A rail in virtual time: LogGP messages through a token bucket, with noise and disturbances, seeded.
//
//   sender CPU --o_s--> bucket (rate, burst) --> wire (line speed, latency) --o_r--> receiver
//
// A bucket refills while its direction is idle, so what a probe sees depends on what came before it, as on a
// real shaped link. Without a burst the times are exactly those of the PRTT formulas (thesis 3.2.2).
#ifndef FSBML_TESTS_SIM_RAIL_HPP
#define FSBML_TESTS_SIM_RAIL_HPP

#include "fsbml_core.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace sim
{

struct Shape {
    fsbml_loggp_t p{};             // G is the shaped one
    double burst = 0.0;            // bytes that pass at line speed after a pause
    double line_ns_per_byte = 0.0; // behind the burst
    double segment = 0.0;          // bytes of payload in a frame; 0 = no frames
    double header = 0.0;           // bytes of each frame's and each message's header
    double noise_ns = 0.0;         // mean of an exponential delay of each probe
    double wild = 0.0;             // share of probes that something disturbs
    double wild_ns = 0.0;          // by how much
    double busy = 0.0;             // share of the time in which something else runs, in episodes of 20 ms
    double busy_ns = 0.0;          // mean delay of a probe that begins in one

    // Gap per byte in the long run, frames' headers included.
    double true_G() const { return p.G_ns_per_byte * (segment > 0.0 ? 1.0 + header / segment : 1.0); }
};

inline fsbml_loggp_t loggp(double L, double o, double g, double G)
{
    return {L, o, o, g, G, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
}

// The cluster's rails: tbf with a burst of 3100 bytes, TCP frames of 1448 + 66 bytes, veth behind.
inline Shape shaped(double mbit)
{
    Shape s;
    s.p = loggp(15e3, 2e3, 1e3, 8e3 / mbit);
    s.burst = 3100.0;
    s.line_ns_per_byte = std::min(0.1, s.p.G_ns_per_byte / 2.0);
    s.segment = 1448.0;
    s.header = 66.0;
    s.noise_ns = 8e3;
    return s;
}

// A LogGP rail and nothing else.
inline Shape plain(double mbit)
{
    Shape s;
    s.p = loggp(15e3, 1.5e3, 2e3, 8e3 / mbit);
    return s;
}

class Rail
{
public:
    Rail(const Shape &shape, std::uint64_t seed, std::uint32_t episodes = 0)
        : s_(shape), random_(seed), episodes_(episodes)
    {
    }

    // Runs a PRTT that begins at `now`; returns its time.
    double run(double now, const fsbml_probe_t &probe)
    {
        double cpu = now;
        double arrived = now;
        for (std::uint32_t i = 0; i < probe.packets; ++i) {
            cpu += i > 0 ? static_cast<double>(probe.delay_ns) : 0.0;
            cpu += s_.p.o_s_ns;
            arrived = send(there_, cpu, probe.bytes);
        }
        const double back = send(back_, arrived + s_.p.o_s_ns, probe.bytes);
        double time = back - now;
        if (s_.noise_ns > 0.0) {
            time += std::exponential_distribution<double>(1.0 / s_.noise_ns)(random_);
        }
        if (std::uniform_real_distribution<double>(0.0, 1.0)(random_) < s_.wild) {
            time += s_.wild_ns;
        }
        if (busy(now)) {
            time += std::exponential_distribution<double>(1.0 / s_.busy_ns)(random_);
        }
        return time;
    }

private:
    // Episodes of 20 ms are busy or not by chance, the same for all rails of a seed.
    bool busy(double now) const
    {
        std::minstd_rand dice(static_cast<std::uint32_t>(now / 20e6) * 2654435761U + 1 + episodes_);
        dice.discard(3);
        return s_.busy > 0.0 && static_cast<double>(dice() % 1000) < 1000.0 * s_.busy;
    }

    struct Direction {
        double free_at = 0.0; // when the next message can start
        double tokens = -1.0; // at `since`; below 0: full
        double since = 0.0;
    };

    // Delivery of a message that the sender's CPU has done with at `ready`.
    double send(Direction &d, double ready, double bytes)
    {
        const double frames = s_.segment > 0.0 ? std::max(1.0, std::ceil(bytes / s_.segment)) : 0.0;
        const double wire = bytes - 1.0 + frames * s_.header;
        const double start = std::max(ready, d.free_at);
        if (d.tokens < 0.0) {
            d.tokens = s_.burst;
            d.since = start;
        }
        const double tokens = std::min(s_.burst, d.tokens + (start - d.since) / s_.p.G_ns_per_byte);
        const double line = s_.burst > 0.0 ? s_.line_ns_per_byte : s_.p.G_ns_per_byte;
        const double through = start + std::max(wire * line, (wire - tokens) * s_.p.G_ns_per_byte);
        d.tokens = std::clamp(tokens + (through - start) / s_.p.G_ns_per_byte - wire, 0.0, s_.burst);
        d.since = through;
        d.free_at = through + s_.p.g_ns;
        return through + s_.p.L_ns + s_.p.o_r_ns;
    }

    Shape s_;
    std::mt19937_64 random_;
    std::uint32_t episodes_;
    Direction there_;
    Direction back_;
};

} // namespace sim

#endif
