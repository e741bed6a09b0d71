// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "simulate.hpp"

#include "sim/traffic/traffic.hpp"
#include "tools/text/text.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

constexpr double kHeaders = 84; // of Ethernet, with the gap between frames: what a small message takes more

// What processors and NICs spend on a message, beside the wire.
struct Stack {
    double o_s_ns, o_r_ns, O_ns_per_byte, g_ns;
};
constexpr Stack kTcp{2500, 3000, 0.1, 1000};
constexpr Stack kVerbs{300, 400, 0.0, 100};

sim::RailSpec rail(double mbits, double latency_us, const Stack &stack = kTcp)
{
    sim::RailSpec spec;
    const double wire = 8000 / mbits; // ns a byte
    spec.real.L_ns = latency_us * 1000;
    spec.real.o_s_ns = stack.o_s_ns;
    spec.real.o_r_ns = stack.o_r_ns;
    spec.real.O_s_ns_per_byte = spec.real.O_r_ns_per_byte = stack.O_ns_per_byte;
    spec.real.g_ns = stack.g_ns + kHeaders * wire;
    spec.real.G_ns_per_byte = wire * (1538.0 / 1448.0); // frames' headers
    spec.believed = spec.real;
    return spec;
}

RailSet with_names(RailSet set)
{
    for (std::size_t i = 0; i < set.rails.size(); ++i) {
        set.rails[i].name = fmt::format("rail{}", i);
    }
    return set;
}

std::vector<RailSet> make_sets()
{
    std::vector<RailSet> sets{
        {"200+20",
         "200 Mbit/s at 60 us, 20 Mbit/s at 250 us",
         false,
         false,
         false,
         {rail(200, 60), rail(20, 250)},
         {}},
        {"equal", "twice 1 Gbit/s at 40 us", false, false, false, {rail(1000, 40), rail(1000, 40)}, {}},
        {"near+far",
         "1 Gbit/s at 30 us, 1 Gbit/s at 400 us",
         false,
         false,
         false,
         {rail(1000, 30), rail(1000, 400)},
         {}},
        {"10g+1g",
         "10 Gbit/s at 20 us, 1 Gbit/s at 50 us",
         false,
         false,
         false,
         {rail(10000, 20), rail(1000, 50)},
         {}},
        {"crossed",
         "10 Gbit/s at 500 us, 1 Gbit/s at 20 us",
         false,
         false,
         false,
         {rail(10000, 500), rail(1000, 20)},
         {}},
        {"4-unequal",
         "10 Gbit/s at 20 us, 2.5 Gbit/s at 35 us, 1 Gbit/s at 60 us, 100 Mbit/s at 200 us",
         false,
         false,
         false,
         {rail(10000, 20), rail(2500, 35), rail(1000, 60), rail(100, 200)},
         {}},
        {"verbs",
         "100 Gbit/s at 1.5 us, 25 Gbit/s at 1 us, past the kernel",
         false,
         false,
         false,
         {rail(100000, 1.5, kVerbs), rail(25000, 1, kVerbs)},
         {}},
    };
    const auto trouble = [&](const char *name, const char *what, bool learned = false,
                             bool from_start = false) -> RailSet & {
        sets.push_back({name, what, true, learned, from_start, {rail(200, 60), rail(20, 250)}, {}});
        return sets.back();
    };
    constexpr sim::Time ms = 1'000'000 * sim::kPsPerNs;
    for (sim::RailSpec &r : trouble("jitter", "200+20, latency and gaps 10 % longer by chance").rails) {
        r.jitter = 0.1;
    }
    trouble("slowed", "200+20, the fast rail has a quarter of its rate from 5 to 25 ms", true)
        .rails[0]
        .changes = {{5 * ms, 4.0}, {25 * ms, 1.0}};
    trouble("swapped", "200+20, from 5 ms on the fast rail is the slow one", true).rails[0].changes = {
        {5 * ms, 20.0}};
    for (sim::RailSpec &r :
         trouble("missing", "200+20, nothing was measured: both count as 10 Gbit/s", true, true).rails) {
        r.believed = rail(10000, 10).real;
        r.guessed = true;
    }
    RailSet &wrong = trouble(
        "wrong", "200+20, the fast rail is believed 4 times slower, the slow one 4 times faster", true, true);
    for (const auto &[r, factor] : {std::pair(0, 4.0), std::pair(1, 0.25)}) {
        fsbml_loggp_t &believed = wrong.rails[static_cast<std::size_t>(r)].believed;
        believed.g_ns *= factor;
        believed.G_ns_per_byte *= factor;
    }
    // Paper 004: switches joined by one link, here as fast as two of the nodes' own.
    trouble("bottleneck", "200+20, half of the nodes reach the others over a link of 400 Mbit/s")
        .bottlenecks = {{0, {}, 20.0 * 1538 / 1448, 0, 0}};
    trouble("overflow", "the same with a buffer of 256 KiB, and 2 ms until what is lost is sent again")
        .bottlenecks = {{0, {}, 20.0 * 1538 / 1448, 256 * 1024, 2 * ms}};
    for (RailSet &set : sets) {
        set = with_names(std::move(set));
    }
    return sets;
}

sim::RailSpec parse_rail(const std::string &text)
{
    const std::size_t at = text.find('@');
    const double mbits = quantity(text.substr(0, at), rate_units).value_or(0) / 1e6;
    const double us =
        at == std::string::npos ? 50.0 : quantity(text.substr(at + 1), time_units).value_or(0) / 1e3;
    if (!(mbits >= 0.1 && mbits <= 1e6 && us > 0 && us <= 1e6)) {
        throw std::invalid_argument(fmt::format(
            "'{}' is no rail such as 200mbit@100us, of 100 kbit to 1000 gbit and up to 1000 ms", text));
    }
    return rail(mbits, us);
}

} // namespace

const std::vector<RailSet> &rail_sets()
{
    static const std::vector<RailSet> sets = make_sets();
    return sets;
}

RailSet rail_set_of(const std::string &spec)
{
    for (const RailSet &set : rail_sets()) {
        if (set.name == spec) {
            return set;
        }
    }
    if (spec.find("bit") == std::string::npos) {
        throw std::invalid_argument(
            fmt::format("there is no set of rails '{}'; known: {}, and such as 200mbit@100us+20mbit@1ms",
                        spec, names_of(rail_sets())));
    }
    RailSet set{spec, spec, false, false, false, {}, {}};
    std::size_t begin = 0;
    for (std::size_t plus = 0; plus != std::string::npos; begin = plus + 1) {
        plus = spec.find('+', begin);
        set.rails.push_back(parse_rail(spec.substr(begin, plus == std::string::npos ? plus : plus - begin)));
        if (set.rails.size() > FSBML_MAX_RAILS) {
            throw std::invalid_argument(fmt::format("'{}' has more than {} rails", spec, FSBML_MAX_RAILS));
        }
    }
    return with_names(std::move(set));
}

sim::Cluster cluster_of(const RailSet &set, std::uint32_t ranks, std::uint32_t ranks_per_node, bool ledger)
{
    sim::Cluster cluster;
    cluster.nodes = ranks / ranks_per_node;
    cluster.ranks_per_node = ranks_per_node;
    cluster.rails = set.rails;
    cluster.bottlenecks = set.bottlenecks;
    for (sim::Bottleneck &b : cluster.bottlenecks) {
        for (std::uint32_t node = 0; node < cluster.nodes / 2; ++node) {
            b.side.push_back(node);
        }
    }
    cluster.ledger = ledger && ranks_per_node > 1;
    return cluster;
}

void believe_wrongly(sim::Cluster &cluster, double share, std::uint64_t seed)
{
    for (std::size_t i = 0; i < cluster.rails.size(); ++i) {
        sim::TrafficDice dice(seed, static_cast<std::uint32_t>(i));
        const auto factor = [&] { return 1 + share * (2 * dice.unit() - 1); };
        fsbml_loggp_t &p = cluster.rails[i].believed;
        p = cluster.rails[i].real;
        p.L_ns *= factor();
        const double o = factor();
        for (double *overhead : {&p.o_s_ns, &p.o_r_ns, &p.O_s_ns_per_byte, &p.O_r_ns_per_byte}) {
            *overhead *= o;
        }
        const double g = factor();
        p.g_ns *= g;
        p.g_above_ns *= g;
        const double G = factor();
        p.G_ns_per_byte *= G;
        p.G_above_ns_per_byte *= G;
    }
}

} // namespace fsbml::bench
