// Messages one after the other: bandwidth, and the rate with and without completion callbacks.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "operations.hpp"

namespace fsbml::bench
{

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
