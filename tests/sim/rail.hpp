// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A rail in virtual time: LogGP messages through a token bucket, with noise and disturbances, seeded.
//
//   sender CPU --o_s--> bucket (rate, burst) --> wire (line speed, latency) --o_r--> receiver
//
// A bucket refills while its direction is idle, so what a probe sees depends on what came before it, as on a
// real shaped link. Without a burst the times are exactly those of the PRTT formulas (thesis 3.2.2). The
// other direction may have parameters of its own, both share the wire to the degree that it is not full
// duplex, and the clock, TCP and the rail itself may misbehave.
#ifndef FSBML_TESTS_SIM_RAIL_HPP
#define FSBML_TESTS_SIM_RAIL_HPP

#include "api/fsbml_core.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

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
    fsbml_loggp_t other{};         // the other direction's, if its G is not 0
    double duplex = 1.0;           // time of both directions at once by that of one: 1 to 2
    double stall = 0.0;            // share of probes that wait for TCP's retransmission timer, 200 ms
    double clock_steps = 0.0;      // share of probes whose clock shows 0, or an age
    std::uint32_t answers = ~0U;   // probes that it answers, then never one more
    std::uint32_t kinds = ~0U;     // bit mask of the kinds of probes that bring a time
    double held_up_ns = 0.0;       // until then, something adds 10 ms on average to each probe
    double busy = 0.0;             // share of the time in which something else runs, in episodes of 20 ms
    double busy_ns = 0.0;          // mean delay of a probe that begins in one

    // Gap per byte in the long run, frames' headers included.
    double true_G() const { return p.G_ns_per_byte * frames(); }
    double true_G_back() const { return back().G_ns_per_byte * frames(); }
    const fsbml_loggp_t &back() const { return other.G_ns_per_byte > 0.0 ? other : p; }
    double frames() const { return segment > 0.0 ? 1.0 + header / segment : 1.0; }
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

    // Runs a PRTT that begins at `now`; returns its time, below 0 if there is no answer.
    double run(double now, const fsbml_probe_t &probe)
    {
        if (answered_ >= s_.answers) {
            return -1.0;
        }
        ++answered_;
        if (0 == (s_.kinds & (1U << probe.kind))) {
            return 0.0;
        }
        double time = ideal(now, probe) - now;
        if (s_.noise_ns > 0.0) {
            time += std::exponential_distribution<double>(1.0 / s_.noise_ns)(random_);
        }
        if (chance(s_.wild)) {
            time += s_.wild_ns;
        }
        if (now < s_.held_up_ns) {
            time += std::exponential_distribution<double>(1e-7)(random_);
        }
        if (busy(now)) {
            time += std::exponential_distribution<double>(1.0 / s_.busy_ns)(random_);
        }
        if (s_.stall > 0.0 && chance(s_.stall)) {
            time += 200e6;
        }
        return time;
    }

    // What the leader's clock says of a probe that took this time.
    double clocked(double time)
    {
        if (s_.clock_steps > 0.0 && chance(s_.clock_steps)) {
            return chance(0.5) ? 0.0 : 1e14;
        }
        return time;
    }

private:
    struct Direction {
        double free_at = 0.0; // when the next message can start
        double tokens = -1.0; // at `since`; below 0: full
        double since = 0.0;
    };

    bool chance(double share) { return std::uniform_real_distribution<double>(0.0, 1.0)(random_) < share; }

    // When the leader has what it waits for.
    double ideal(double now, const fsbml_probe_t &probe)
    {
        const double o_r = overhead(s_.back(), probe.bytes, false);
        switch (probe.kind) {
        case FSBML_PROBE_BACK:
            return stream(back_, s_.back(), request(now), probe) + o_r;
        case FSBML_PROBE_TAKE: {
            double at = now + static_cast<double>(probe.delay_ns);
            fsbml_probe_t fast = probe;
            fast.delay_ns = 0;
            const double asked = request(now);
            stream(back_, s_.back(), asked, fast);
            for (const double arrival : arrivals_) {
                at = std::max(at, arrival) + o_r;
            }
            return at;
        }
        case FSBML_PROBE_BOTH: { // asked for by a small message, and at the end one says that all came there
            shared_ = s_.duplex;
            const double asked = request(now);
            const double there = stream(there_, s_.p, now + s_.p.o_s_ns, probe);
            const double back = stream(back_, s_.back(), asked, probe);
            shared_ = 1.0;
            const double said = there + overhead(s_.p, probe.bytes, false) + s_.back().o_s_ns;
            return std::max(send(back_, s_.back(), said, 1.0) + s_.back().o_r_ns, back + o_r);
        }
        default: {
            const double there = stream(there_, s_.p, now, probe);
            const double taken = there + overhead(s_.p, probe.bytes, false);
            return send(back_, s_.back(), taken + overhead(s_.back(), probe.bytes, true), probe.bytes) + o_r;
        }
        }
    }

    // The mirror has one message of the least size.
    double request(double now) { return send(there_, s_.p, now + s_.p.o_s_ns, 1.0) + s_.p.o_r_ns; }

    // Sends the probe's messages; arrival of the last one.
    double stream(Direction &d, const fsbml_loggp_t &p, double now, const fsbml_probe_t &probe)
    {
        arrivals_.clear();
        double cpu = now;
        for (std::uint32_t i = 0; i < probe.packets; ++i) {
            cpu += i > 0 ? static_cast<double>(probe.delay_ns) : 0.0;
            cpu += overhead(p, probe.bytes, true);
            arrivals_.push_back(send(d, p, cpu, probe.bytes));
        }
        return arrivals_.back();
    }

    static double overhead(const fsbml_loggp_t &p, double bytes, bool sender)
    {
        return sender ? p.o_s_ns + p.O_s_ns_per_byte * (bytes - 1.0)
                      : p.o_r_ns + p.O_r_ns_per_byte * (bytes - 1.0);
    }

    // Episodes of 20 ms are busy or not by chance, the same for all rails of a seed.
    bool busy(double now) const
    {
        std::minstd_rand dice(static_cast<std::uint32_t>(now / 20e6) * 2654435761U + 1 + episodes_);
        dice.discard(3);
        return s_.busy > 0.0 && static_cast<double>(dice() % 1000) < 1000.0 * s_.busy;
    }

    // Arrival of a message that the sender's CPU has done with at `ready`.
    double send(Direction &d, const fsbml_loggp_t &p, double ready, double bytes)
    {
        const double frames = s_.segment > 0.0 ? std::max(1.0, std::ceil(bytes / s_.segment)) : 0.0;
        const double wire = bytes - 1.0 + frames * s_.header;
        const double start = std::max(ready, d.free_at);
        const double G = p.G_ns_per_byte * shared_;
        if (d.tokens < 0.0) {
            d.tokens = s_.burst;
            d.since = start;
        }
        const double tokens = std::min(s_.burst, d.tokens + (start - d.since) / G);
        const double line = s_.burst > 0.0 ? s_.line_ns_per_byte : G;
        double through = start + std::max(wire * line, (wire - tokens) * G);
        if (p.break_bytes > 0.0 && bytes >= p.break_bytes) { // on rails without a bucket
            through =
                start + p.g_above_ns - p.g_ns + p.G_above_ns_per_byte * shared_ * (bytes - p.break_bytes);
        }
        d.tokens = std::clamp(tokens + (through - start) / G - wire, 0.0, s_.burst);
        d.since = through;
        d.free_at = through + p.g_ns;
        return through + p.L_ns;
    }

    Shape s_;
    std::mt19937_64 random_;
    std::uint32_t episodes_;
    std::uint32_t answered_ = 0;
    double shared_ = 1.0; // what a byte takes more while both directions are busy
    Direction there_;
    Direction back_;
    std::vector<double> arrivals_; // of the last stream
};

} // namespace sim

#endif
