// Latency, and what it becomes by other memory, more connections, blocking, and memory in pieces; bandwidth,
// and the rate of messages with and without completion callbacks.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "btl.hpp"

#include <algorithm>
#include <sys/resource.h>

namespace fsbml::bench
{

namespace
{

// A checked round trip, then the samples of one way.
void measure_path(Bench &bench, const char *operation, const std::string &variant, Outgoing &out, Path path)
{
    if (bench.session.settings().verify) {
        bench.pair.check_trips(out, {0}, path);
    }
    const std::vector<Message> one = {out.message(0, path)};
    bench.session.measure({"", operation, variant, 1, out.bytes(), "us", {}, {}},
                          [&] { return bench.pair.trips(one); });
}

double cpu_seconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    auto seconds = [](const timeval &time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

} // namespace

void measure_latency(Bench &bench, std::size_t size)
{
    Outgoing out(size);
    measure_path(bench, "latency", "", out, Path::descriptor);
    // A longer message may be refused however often it is tried.
    if (bench.about.immediate != 0 && size <= bench.about.eager_limit) {
        measure_path(bench, "latency", "sendi", out, Path::immediate);
    }
}

// The thesis' 3.2.4, where every buffer is on a page of its own and used once (0 %), and what lies between.
void measure_reuse(Bench &bench, std::size_t size)
{
    const int cycle = 4; // messages of a sample, so that each sample has the same mix
    const std::size_t most_memory = std::size_t{64} << 20;
    const int slots = static_cast<int>(std::clamp<std::size_t>(most_memory / (size + 4096), 64, 4096));
    Outgoing pool(size, slots);
    int fresh = 0;
    for (int reused = 0; reused <= cycle; ++reused) {
        const std::string variant = "reuse=" + std::to_string(100 * reused / cycle) + "%";
        if (bench.session.settings().verify) {
            bench.pair.check_trips(pool, {0, 1 + reused % (slots - 1)}, Path::memory);
        }
        std::vector<Message> messages(cycle);
        bench.session.measure({"", "reuse", variant, cycle, size, "us", {}, {}}, [&] {
            for (int i = 0; i < cycle; ++i) {
                const bool again = (i + 1) * reused / cycle > i * reused / cycle;
                fresh = again ? fresh : fresh % (slots - 1) + 1;
                messages[static_cast<std::size_t>(i)] = pool.message(again ? 0 : fresh, Path::memory);
            }
            return bench.pair.trips(messages);
        });
    }
}

// The thesis' 3.2.5. MPI's own connections cannot be closed, so those that count are used before each sample.
void measure_connections(Bench &bench, std::size_t size)
{
    const std::size_t most = 1 + bench.other.size();
    Outgoing out(size);
    const Outgoing little(std::min<std::size_t>(size, 64));
    if (bench.session.settings().verify) {
        bench.pair.check_trips(out, {0}, Path::descriptor);
    }
    const std::vector<Message> one = {out.message(0, Path::descriptor)};
    const std::vector<Message> use = {little.message(0, Path::descriptor)};
    for (std::size_t open = 1; open <= most; open = open < most ? std::min(2 * open, most) : most + 1) {
        bench.session.measure(
            {"", "connections", "connections=" + std::to_string(open), 1, size, "us", {}, {}}, [&] {
                for (std::size_t i = 0; i + 1 < open; ++i) {
                    bench.other[i].trips(use);
                }
                return bench.pair.trips(one);
            });
    }
}

// The thesis' 3.2.6: both ranks poll, or both wait for events.
void measure_progress(Bench &bench, std::size_t size)
{
    const int trips = 10; // of a sample of processor time: the system counts it in us
    Outgoing out(size);
    const std::vector<Message> one = {out.message(0, Path::descriptor)};
    const std::vector<Message> some(trips, one.front());
    for (const bool blocks : {false, true}) {
        if (blocks && bench.about.event_driven == 0) {
            break;
        }
        const char *variant = blocks ? "blocking" : "polling";
        auto run = [&](const std::vector<Message> &messages) {
            if (!blocks || !(bench.pair.leads() || bench.pair.mirrors())) {
                return bench.pair.trips(messages);
            }
            const Blocking blocking(bench.patience);
            return bench.pair.trips(messages);
        };
        if (bench.session.settings().verify) {
            bench.pair.check_trips(out, {0}, Path::descriptor);
        }
        bench.session.measure({"", "progress", variant, 1, size, "us", {}, {}}, [&] { return run(one); });
        bench.session.measure({"", "progress-cpu", variant, trips, size, "us", {}, {}}, [&] {
            const double before = cpu_seconds();
            run(some);
            return (cpu_seconds() - before) / trips * 1e6;
        });
    }
}

// The thesis' 3.2.7. One piece is sent as it lies in memory; more are packed by the convertor.
void measure_segments(Bench &bench, std::size_t size)
{
    for (const int pieces : {1, 4, 16, 64}) {
        if (size % static_cast<std::size_t>(pieces) == 0) {
            Outgoing out(size, 1, pieces);
            measure_path(bench, "segments", "segments=" + std::to_string(pieces), out, Path::memory);
        }
    }
}

void measure_bandwidth(Bench &bench, std::size_t size)
{
    if (bench.session.settings().verify) {
        Outgoing all(size, bench.window);
        bench.pair.check_burst(all, Path::descriptor);
    }
    const Outgoing out(size);
    const std::vector<Message> window(static_cast<std::size_t>(bench.window),
                                      out.message(0, Path::descriptor));
    bench.session.measure({"", "bandwidth", "", bench.window, size, "MB/s", {}, {}}, [&] {
        return static_cast<double>(size) * bench.window / bench.pair.burst(window) / 1e6;
    });
}

// What a BTL has in place of the thesis' completion queues (3.2.8): a callback for each descriptor in every
// case, or only where the BTL could not complete it at once.
void measure_completion(Bench &bench, std::size_t size)
{
    const bool takes_part = bench.pair.leads() || bench.pair.mirrors();
    for (const bool callback : {true, false}) {
        if (bench.session.settings().verify) {
            Outgoing all(size, bench.window);
            const std::uint64_t before = port_callbacks();
            bench.pair.check_burst(all, Path::descriptor, callback);
            if (takes_part) {
                bench.pair.peer().drain();
            }
            const std::uint64_t called = port_callbacks() - before;
            if (bench.pair.leads() && callback && called != static_cast<std::uint64_t>(bench.window)) {
                bench.session.wrong("a BTL completed " + std::to_string(called) + " descriptors of "
                                    + std::to_string(bench.window));
            }
        }
        const Outgoing out(size);
        const std::vector<Message> window(static_cast<std::size_t>(bench.window),
                                          out.message(0, Path::descriptor, callback));
        bench.session.measure(
            {"", "completion", callback ? "callback" : "none", bench.window, size, "1/s", {}, {}}, [&] {
                const double start = MPI_Wtime();
                bench.pair.burst(window);
                if (bench.pair.leads() && callback) {
                    bench.pair.peer().drain();
                }
                return bench.window / (MPI_Wtime() - start);
            });
    }
}

} // namespace fsbml::bench
