// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The cost of a decision: nanoseconds for choosing a rail and charging it, through the C boundary as the shim
// calls it.
//
//   choose_and_charge/R/P  R rails, policy P; messages of changing size, a clock that moves on
//   reported/R             the same (arrival) where a report of the job is wanted
//   observed/R/E           the same (arrival) with an observer; one in E decisions is traced, 0: none
//   pieces/R/B             the same (arrival), rails with overheads by size and a gap of two pieces, B breaks
//   bucket/R/MS            the same (arrival), rails with a shaper's bucket of MS milliseconds
//   choose/R               the choice alone
//   contended/R            the same with two threads on one scheduler
//   ranks/R                the same with two schedulers on one ledger, as two ranks of a node have it
//   loop                   what of the first is the benchmark's own loop
//   delivery...            exactly once, a message: delivery_bench.cpp
//   calibration/R          all that the core does for a measurement of R rails: plan, samples, fit; no time
//                          passes on rails (their PRTTs come from the formulas, thesis 3.2.2)
#include "api/fsbml_core.h"
#include "api/fsbml_explain.h"
#include "model/model.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

namespace
{

struct Destroy {
    void operator()(fsbml_sched_t *s) const noexcept { fsbml_sched_destroy(s); }
};
using SchedPtr = std::unique_ptr<fsbml_sched_t, Destroy>;

fsbml_loggp_t loggp(double L, double o, double g, double G)
{
    return {L, o, o, g, G, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
}

// Rails of 100 Mbit/s, 200 Mbit/s, ...; the clock goes just so fast that some are busy and some idle.
SchedPtr make(std::size_t rails, fsbml_policy_t policy, std::size_t breaks = 0, double burst_ns = 0.0)
{
    SchedPtr s(fsbml_sched_create(rails, policy));
    for (std::size_t i = 0; i < rails; ++i) {
        fsbml_loggp_t p = loggp(20e3, 1e3, 2e3, 80.0 / static_cast<double>(i + 1));
        p.burst_ns = burst_ns;
        if (0 != breaks) {
            p.O_s_ns_per_byte = 0.05;
            p.O_r_ns_per_byte = 0.1;
            p.break_bytes = 32768.0 + 1024.0 * static_cast<double>(i % breaks);
            p.g_above_ns = p.g_ns + p.G_ns_per_byte * p.break_bytes;
            p.G_above_ns_per_byte = 1.25 * p.G_ns_per_byte;
        }
        if (0 != fsbml_sched_set_model(s.get(), i, &p)) {
            return nullptr;
        }
    }
    return s;
}

std::uint32_t all(std::size_t rails)
{
    return static_cast<std::uint32_t>((std::uint64_t{1} << rails) - 1);
}

// Decides on and on; `charge` does with the rail, the time and the bytes what follows a choice.
template <typename Charge>
void decide(benchmark::State &state, const SchedPtr &s, const Charge &charge)
{
    const auto rails = static_cast<std::size_t>(state.range(0));
    std::uint64_t now = 1000000000;
    std::size_t bytes = 16;
    for (auto _ : state) {
        const int rail = fsbml_sched_choose(s.get(), now, bytes, all(rails));
        charge(static_cast<std::size_t>(rail), now, bytes);
        now += 30000;
        bytes = (bytes * 5 + 64) & 0xffff;
    }
}

void decide(benchmark::State &state, const SchedPtr &s)
{
    decide(state, s, [&](std::size_t rail, std::uint64_t now, std::size_t bytes) {
        fsbml_sched_charge(s.get(), rail, now, bytes);
    });
}

void decide_observed(benchmark::State &state, const fsbml_observer_config_t &config)
{
    const auto rails = static_cast<std::size_t>(state.range(0));
    const SchedPtr s = make(rails, FSBML_POLICY_ARRIVAL);
    fsbml_observer_t *const observer = fsbml_observer_create(s.get(), &config);
    decide(state, s, [&](std::size_t rail, std::uint64_t now, std::size_t bytes) {
        fsbml_observer_charge(observer, rail, now, bytes, all(rails), 1, nullptr);
    });
    fsbml_observer_destroy(observer);
}

void choose_and_charge(benchmark::State &state)
{
    const auto policy = static_cast<fsbml_policy_t>(state.range(1));
    decide(state, make(static_cast<std::size_t>(state.range(0)), policy));
    state.SetLabel(fsbml_policy_name(policy));
}

void pieces(benchmark::State &state)
{
    decide(state, make(static_cast<std::size_t>(state.range(0)), FSBML_POLICY_ARRIVAL,
                       static_cast<std::size_t>(state.range(1))));
}

void bucket(benchmark::State &state)
{
    decide(state, make(static_cast<std::size_t>(state.range(0)), FSBML_POLICY_ARRIVAL, 0,
                       1e6 * static_cast<double>(state.range(1))));
}

// A report is wanted: each decision is replayed by other rules as well.
void reported(benchmark::State &state)
{
    const auto rails = static_cast<std::size_t>(state.range(0));
    fsbml_account_t *const account = fsbml_account_create(rails);
    for (std::size_t i = 0; i < rails; ++i) {
        const fsbml_loggp_t p = loggp(20e3, 1e3, 2e3, 80.0 / static_cast<double>(i + 1));
        fsbml_account_set_model(account, i, &p);
    }
    fsbml_observer_config_t config{};
    config.audience = fsbml_account_audience(account);
    decide_observed(state, config);
    fsbml_account_destroy(account);
}

// With an observer: one in `every` decisions is traced, 0: none, as when counters are read only.
void observed(benchmark::State &state)
{
    fsbml_observer_config_t config{};
    config.trace_every = static_cast<std::uint32_t>(state.range(1));
    config.trace_entries = 65536;
    decide_observed(state, config);
}

void choose(benchmark::State &state)
{
    const auto rails = static_cast<std::size_t>(state.range(0));
    const SchedPtr s = make(rails, FSBML_POLICY_ARRIVAL);
    std::uint64_t now = 1000000000;
    for (auto _ : state) {
        benchmark::DoNotOptimize(fsbml_sched_choose(s.get(), now, now & 0xffff, all(rails)));
        now += 300;
    }
}

SchedPtr shared;

void contended(benchmark::State &state)
{
    const auto rails = static_cast<std::size_t>(state.range(0));
    if (0 == state.thread_index()) {
        shared = make(rails, FSBML_POLICY_ARRIVAL);
    }
    std::uint64_t now = 1000000000;
    for (auto _ : state) {
        const int rail = fsbml_sched_choose(shared.get(), now, 4096, all(rails));
        fsbml_sched_charge(shared.get(), static_cast<std::size_t>(rail), now, 4096);
        now += 30000;
    }
}

// Each thread is a rank: the ledger is all that the two share.
void ranks(benchmark::State &state)
{
    const auto rails = static_cast<std::size_t>(state.range(0));
    const std::string path = "/dev/shm/fsbml_bench." + std::to_string(getpid()) + "." + std::to_string(rails);
    const fsbml_ledger_config_t config{path.c_str(), 1000000000, 0, 0};
    char reason[FSBML_REASON_MAX] = "";
    fsbml_ledger_t *const ledger = fsbml_ledger_open(&config, reason);
    SchedPtr s = make(rails, FSBML_POLICY_ARRIVAL);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < rails; ++i) {
        names.push_back("rail" + std::to_string(i));
    }
    std::vector<const char *> keys;
    for (const std::string &name : names) {
        keys.push_back(name.c_str());
    }
    if (nullptr == ledger || 0 != fsbml_sched_share(s.get(), ledger, keys.data())) {
        state.SkipWithError(reason);
    }
    std::uint64_t now = 1000000000;
    for (auto _ : state) {
        const int rail = fsbml_sched_choose(s.get(), now, 4096, all(rails));
        fsbml_sched_charge(s.get(), static_cast<std::size_t>(rail), now, 4096);
        now += 30000;
    }
    s.reset();
    fsbml_ledger_close(ledger);
}

std::uint64_t prtt_ns(const fsbml_loggp_t &p, const fsbml_probe_t &probe)
{
    const double bytes = p.G_ns_per_byte * (probe.bytes - 1.0);
    const double between = std::max(p.o_s_ns + static_cast<double>(probe.delay_ns), p.g_ns + bytes);
    return static_cast<std::uint64_t>(2.0 * (p.o_s_ns + p.L_ns + p.o_r_ns + bytes)
                                      + (probe.packets - 1.0) * between);
}

void calibration(benchmark::State &state)
{
    const auto rails = static_cast<std::size_t>(state.range(0));
    const fsbml_calib_config_t config{16, 2048, 1, 9, 300000000, 1, 0};
    const std::vector<fsbml_calib_rail_t> known(rails, fsbml_calib_rail_t{131072, {}});
    double probes = 0.0;
    for (auto _ : state) {
        fsbml_calib_t *calib = fsbml_calib_create(&config, rails, known.data());
        fsbml_probe_t probe{};
        for (std::uint64_t elapsed = 0; 1 == fsbml_calib_next(calib, elapsed, &probe); ++probes) {
            const fsbml_loggp_t p = loggp(20e3, 1e3, 2e3, 8.0 * static_cast<double>(probe.rail + 1));
            const std::uint64_t time = prtt_ns(p, probe);
            fsbml_calib_report(calib, &probe, time);
            elapsed += time;
        }
        fsbml_fit_t fit{};
        for (std::size_t rail = 0; rail < rails; ++rail) {
            fsbml_calib_fit(calib, rail, &fit);
        }
        if (!fit.valid) {
            state.SkipWithError(fit.reason);
        }
        fsbml_calib_destroy(calib);
    }
    state.counters["probes"] = probes / static_cast<double>(state.iterations());
}

void loop(benchmark::State &state)
{
    std::uint64_t now = 1000000000;
    std::size_t bytes = 16;
    for (auto _ : state) {
        benchmark::DoNotOptimize(now);
        benchmark::DoNotOptimize(bytes);
        now += 30000;
        bytes = (bytes * 5 + 64) & 0xffff;
    }
}

BENCHMARK(loop);
BENCHMARK(choose_and_charge)->ArgsProduct({{1, 2, 4, 8, 16, 32}, {FSBML_POLICY_ARRIVAL}});
BENCHMARK(choose_and_charge)
    ->ArgsProduct({{2, 16}, {FSBML_POLICY_THESIS, FSBML_POLICY_ROUNDROBIN, FSBML_POLICY_SINGLE}});
BENCHMARK(reported)->Arg(2)->Arg(16);
BENCHMARK(observed)->ArgsProduct({{2, 16}, {0, 100, 1}});
BENCHMARK(pieces)->ArgsProduct({{2, 8, 16}, {1}})->Args({2, 2})->Args({8, 8});
BENCHMARK(bucket)->ArgsProduct({{2, 16}, {1, 80}});
BENCHMARK(choose)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16)->Arg(32);
BENCHMARK(contended)->Arg(2)->Arg(16)->Threads(2);
BENCHMARK(ranks)->Arg(2)->Arg(16)->Threads(1)->Threads(2);
BENCHMARK(calibration)->Arg(2)->Arg(4)->Unit(benchmark::kMicrosecond);

} // namespace

int main(int argc, char **argv)
{
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    benchmark::AddCustomContext("bytes a rail", std::to_string(sizeof(fsbml::Rail) + sizeof(fsbml::VftSlot)));
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
