// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

// What a decision costs: nanoseconds for choosing a rail and charging it, through the C boundary as the shim
// calls it.
//
//   choose_and_charge/R/P   R rails, policy P; messages of changing size, a clock that moves on
//   choose/R                the choice alone
//   contended/R             the same with two threads on one scheduler
//   loop                    what of the first is the benchmark's own loop
#include "fsbml_core.h"

#include <benchmark/benchmark.h>

#include <memory>

namespace
{

struct Destroy {
    void operator()(fsbml_sched_t *s) const noexcept { fsbml_sched_destroy(s); }
};
using SchedPtr = std::unique_ptr<fsbml_sched_t, Destroy>;

// Rails of 100 Mbit/s, 200 Mbit/s, ...; the clock goes just so fast that some are busy and some idle.
SchedPtr make(std::size_t rails, fsbml_policy_t policy)
{
    SchedPtr s(fsbml_sched_create(rails, policy));
    for (std::size_t i = 0; i < rails; ++i) {
        const fsbml_loggp_t p{20e3, 1e3, 1e3, 2e3, 80.0 / static_cast<double>(i + 1)};
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

void choose_and_charge(benchmark::State &state)
{
    const auto rails = static_cast<std::size_t>(state.range(0));
    const SchedPtr s = make(rails, static_cast<fsbml_policy_t>(state.range(1)));
    std::uint64_t now = 1000000000;
    std::size_t bytes = 16;
    for (auto _ : state) {
        const int rail = fsbml_sched_choose(s.get(), now, bytes, all(rails));
        fsbml_sched_charge(s.get(), static_cast<std::size_t>(rail), now, bytes);
        now += 30000;
        bytes = (bytes * 5 + 64) & 0xffff;
    }
    state.SetLabel(fsbml_policy_name(static_cast<fsbml_policy_t>(state.range(1))));
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
BENCHMARK(choose_and_charge)->ArgsProduct({{1, 2, 4, 16, 32}, {FSBML_POLICY_ARRIVAL}});
BENCHMARK(choose_and_charge)
    ->ArgsProduct({{2, 16}, {FSBML_POLICY_THESIS, FSBML_POLICY_ROUNDROBIN, FSBML_POLICY_SINGLE}});
BENCHMARK(choose)->Arg(1)->Arg(2)->Arg(4)->Arg(16)->Arg(32);
BENCHMARK(contended)->Arg(2)->Arg(16)->Threads(2);

} // namespace

BENCHMARK_MAIN();
