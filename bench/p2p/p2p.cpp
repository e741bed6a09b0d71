// Point-to-point benchmarks at MPI level: what of the performance below reaches a program, and what costs it.
// After Kutlug, Performance Evaluation and Analysis of User Level Networking Protocols, chapter 4.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "p2p.hpp"

#include <algorithm>
#include <cstdio>

namespace
{

using namespace fsbml::bench;

const char *const about =
    "Point-to-point benchmarks between ranks 0 and 1 (put them on two nodes, say with --map-by node).\n"
    "\n"
    "latency: half of the ping-pong.\n"
    "bandwidth: a window of nonblocking sends, then an answer.\n"
    "bidirectional: both ways at once; the sum.\n"
    "rate: messages a second in windows of 1, 8 and 64, for sizes up to 1024 bytes.\n"
    "logp: o_s, the time in MPI_Isend with an idle network; o_r, the time in MPI_Recv for a message that "
    "has arrived; g, the time between messages of a stream; L, what is left of the latency without o_s "
    "and o_r. Sizes that the library does not send before there is a receive have no o_r and L.\n"
    "reuse: latency with 0 to 100 % of the messages in the same memory and the others in fresh pages.\n"
    "connections: latency after rank 0 exchanged messages with K ranks (the library may have more "
    "connections).\n"
    "multipair: with the ranks in the order of their nodes, each of the first half streams to one of the "
    "second, "
    "all at once; the sum (an even number of ranks).\n"
    "unexpected: the time of each receive when K messages (in all up to 512 KiB) are there before the "
    "first receive, in the order of the messages and from the last to the first.\n"
    "progress: latency with a loop of MPI_Test, with MPI_Wait, and with a loop that sleeps 50 us between "
    "tests; progress-cpu: the processor time that rank 0 spends in a round trip.\n"
    "overlap: latency of messages from 256 KiB on whose sender computes for 50 ms, in slices of 0, 1, 10 and 50 ms with an "
    "MPI_Test behind each, before it waits.\n"
    "beside: half of a ping-pong of 8 bytes while four messages from rank 0 to rank 1 are under way all the time, of each size from "
    "16 KiB on, in the same communicator and in another; beside-p99: the 99th of a hundred; beside-bulk: what the four "
    "get. Takes twenty times --seconds.\n"
    "segments: latency of 1 to 64 pieces that lie apart, as an MPI_Type_vector and packed by hand, for "
    "sizes that divide.\n"
    "completion: messages a second in a window whose requests are awaited by MPI_Waitall, MPI_Waitany or "
    "MPI_Testsome, and by MPI_Waitall when the receives are for any source (a window of up to 256 KiB, as "
    "for g).";

using Experiment = void (*)(Session &, const p2p::Choice &);
const std::vector<std::pair<std::string, Experiment>> experiments = {
    {"latency", p2p::measure_latency},
    {"bandwidth", p2p::measure_bandwidth},
    {"bidirectional", p2p::measure_bidirectional},
    {"rate", p2p::measure_rate},
    {"logp", p2p::measure_logp},
    {"reuse", p2p::measure_reuse},
    {"connections", p2p::measure_connections},
    {"multipair", p2p::measure_multipair},
    {"unexpected", p2p::measure_unexpected},
    {"progress", p2p::measure_progress},
    {"overlap", p2p::measure_overlap},
    {"beside", p2p::measure_beside},
    {"segments", p2p::measure_segments},
    {"completion", p2p::measure_completion},
};
const std::size_t largest_size = std::size_t{1} << 28;
const std::size_t most_memory = std::size_t{1} << 29; // of a window

std::vector<std::string> all_names()
{
    std::vector<std::string> names;
    for (const auto &experiment : experiments) {
        names.push_back(experiment.first);
    }
    return names;
}

void complain(const Session &session, const char *what)
{
    if (session.rank() == 0) {
        std::fprintf(stderr, "p2p: %s\n", what);
    }
}

// Whether all can be done; what is not asked for by name may be left out.
bool possible(const Session &session, const p2p::Choice &choice, std::vector<std::string> &operations)
{
    const std::size_t largest = *std::max_element(choice.sizes.begin(), choice.sizes.end());
    if (largest * static_cast<std::size_t>(choice.window()) > most_memory) {
        complain(session, "--window times the largest of --sizes is more than 512 MiB");
        return false;
    }
    const auto multipair = std::find(operations.begin(), operations.end(), "multipair");
    if (session.ranks() % 2 == 0 || multipair == operations.end()) {
        return true;
    }
    if (operations != all_names()) {
        complain(session, "multipair needs an even number of ranks");
        return false;
    }
    complain(session, "multipair is left out, as it needs an even number of ranks");
    operations.erase(multipair);
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    p2p::Choice choice;
    std::vector<std::string> operations = all_names();
    Options options("p2p", about);
    options.add("operations", operations, all_names(), "which");
    options.add("sizes", choice.sizes, 1, largest_size, "message sizes in bytes");
    options.add("window", choice.windows, 1, 4096,
                "messages under way at once: each (bandwidth, bidirectional, multipair), or the most of them "
                "(completion, g)");
    Session session("p2p", options, argc, argv);
    if (!session.ready() || !session.needs_ranks(2)) {
        return session.exit_code();
    }
    if (!possible(session, choice, operations)) {
        return 2;
    }
    for (const std::string &name : operations) {
        for (const auto &[known, experiment] : experiments) {
            if (known == name) {
                experiment(session, choice);
            }
        }
    }
    return 0;
}
