// The parameters of LogP, by the method of the thesis (3.2.3) and of Culler et al., which it follows: o_s is
// the time of a send when the way is free, g the time a message of a long row, and o_r what a receive still
// takes when a delay has let the message arrive. The latency test gives o_s + L + o_r, and so L.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "btl.hpp"

#include "tools/text/text.hpp"

#include <algorithm>
#include <functional>
#include <sched.h>

namespace fsbml::bench
{

namespace
{

const double most_delay = 0.2; // s

// No progress: what comes in stays where it is. Others may have the processor.
void pause(double seconds)
{
    const double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end) {
        sched_yield();
    }
}

// The answer comes only after the message has arrived, so the next one finds the way free: no delay need be
// guessed.
double send_overhead(Bench &bench, const Message &message, const Message &answer)
{
    double taken = 0;
    if (bench.pair.leads()) {
        Peer &peer = bench.pair.peer();
        const double start = MPI_Wtime();
        peer.send(message);
        taken = MPI_Wtime() - start;
        peer.receive(1, answer.bytes);
        peer.drain();
    } else if (bench.pair.mirrors()) {
        bench.pair.peer().receive(1, message.bytes);
        bench.pair.peer().send(answer);
    }
    return taken * 1e6;
}

// The leader asks for a message, and looks for it only `delay` seconds later. The other one waits for a third
// of that first, so that the leader, which may need progress to get its question out, does not meet the
// message meanwhile. A message that had not arrived (the other one had lost its processor) shows by the calls
// of progress; then the delay is doubled.
double receive_overhead(Bench &bench, const Message &message, const Message &question, double &delay)
{
    const unsigned few_turns = 16; // more than a BTL at low priority needs, which has every eighth
    const int tries = 4;
    double taken = 0;
    for (int i = 0; i < tries; ++i) {
        unsigned turns = 0;
        if (bench.pair.leads()) {
            Peer &peer = bench.pair.peer();
            peer.send(question);
            peer.drain();
            pause(delay);
            const double start = MPI_Wtime();
            turns = peer.receive(1, message.bytes);
            taken = MPI_Wtime() - start;
        } else if (bench.pair.mirrors()) {
            Peer &peer = bench.pair.peer();
            peer.receive(1, question.bytes);
            pause(delay / 3);
            peer.send(message);
            peer.drain();
        }
        if (bench.session.agree(turns <= few_turns ? 1 : 0) != 0) {
            break;
        }
        delay = std::min(2 * delay, most_delay);
    }
    return taken * 1e6;
}

} // namespace

void measure_logp(Bench &bench, std::size_t size)
{
    Outgoing out(size);
    const Outgoing little(1);
    const Message message = out.message(0, Path::descriptor);
    const Message word = little.message(0, Path::descriptor);
    const std::vector<Message> one = {message};
    const std::vector<Message> row(static_cast<std::size_t>(bench.window), message);
    if (bench.session.settings().verify) {
        bench.pair.check_trips(out, {0}, Path::descriptor);
        Outgoing all(size, bench.window);
        bench.pair.check_burst(all, Path::descriptor);
    }
    // Measures and returns the median.
    auto point = [&](const char *parameter, int messages, const std::function<double()> &sample) {
        std::vector<double> samples;
        bench.session.measure({"", parameter, "", messages, size, "us", {}, {}}, [&] {
            samples.push_back(sample());
            return samples.back();
        });
        return median(samples);
    };
    std::vector<double> ways;
    for (int i = 0; i < 5; ++i) {
        ways.push_back(bench.pair.trips(one));
    }
    // Three times the way and 1 ms, of which two thirds are after the send: surely arrived, unless the
    // machine is busy.
    double delay = std::min(bench.session.agree(3e-6 * median(ways) + 1e-3), most_delay);
    const double o_s = point("o_s", 1, [&] { return send_overhead(bench, message, word); });
    const double o_r = point("o_r", 1, [&] { return receive_overhead(bench, message, word, delay); });
    point("g", bench.window, [&] { return bench.pair.burst(row) / bench.window * 1e6; });
    point("L", 1, [&] { return bench.pair.trips(one) - o_s - o_r; });
}

} // namespace fsbml::bench
