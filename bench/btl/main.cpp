// Micro-benchmarks below MPI: on one of Open MPI's BTLs, as the BML offers it, past the PML.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "btl.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

namespace
{

using namespace fsbml::bench;

const char *const purpose =
    "Micro-benchmarks of the layer below MPI, between ranks 0 and 1, on a BTL of Open MPI's: what S. "
    "Kutlug's thesis "
    "(chapter 3) measures on user level protocols. With --mca bml r2 that is a real BTL, with --mca bml "
    "fsbml FSBML's "
    "pseudo BTL; the difference is what FSBML costs. Needs --mca pml ob1 where that is not the default.\n\n"
    "latency      half of a round trip; variant sendi: by the BTL's immediate send, if it has one\n"
    "bandwidth    --window messages, then one short answer\n"
    "logp         o_s, o_r, g (of --window messages) and L, the rest of the latency. L is below 0 where the "
    "way is part\n"
    "             of the send call, as on one host\n"
    "reuse        latency from the user's memory, if this share of the messages is from one buffer and the "
    "others from\n"
    "             buffers on pages of their own, each used once\n"
    "connections  latency while rank 0 has that many connections and uses all; more than 1 needs more than 2 "
    "ranks\n"
    "progress     latency if both ranks poll, or both wait for events (only where the BTL needs nothing but "
    "events),\n"
    "             and as progress-cpu the processor time of rank 0 for a round trip\n"
    "segments     latency of a message that lies in memory in several pieces; more than one are packed\n"
    "completion   messages a second in windows, with a completion callback for each, and with none asked for";

// By default only what is always looked at has many sizes: a launch should take seconds, also on a slow rail.
const std::vector<std::size_t> many_sizes = {1, 64, 1024, 4096, 16384};
const std::vector<std::size_t> few_sizes = {64, 8192};

struct Choice {
    std::vector<std::size_t> sizes;
    std::vector<std::string> operations;
    int entry = 0;
    int window = 32;
    int patience = 30;
};

struct Operation {
    std::string name;
    void (*measure)(Bench &, std::size_t);
    const std::vector<std::size_t> &default_sizes;
};

const std::vector<Operation> all = {
    {"latency", measure_latency, many_sizes},
    {"bandwidth", measure_bandwidth, many_sizes},
    {"logp", measure_logp, many_sizes},
    {"reuse", measure_reuse, few_sizes},
    {"connections", measure_connections, few_sizes},
    {"progress", measure_progress, few_sizes},
    {"segments", measure_segments, few_sizes},
    {"completion", measure_completion, few_sizes},
};

// The worst of all ranks; all of them get it.
long least(long value)
{
    long result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
    return result;
}

// False, with a word about it, unless all ranks can go on.
bool can_start(const Session &session, const Choice &choice)
{
    const char *reason = port_start(session.ranks());
    if (least(reason == nullptr ? 1 : 0) == 0) {
        if (session.rank() == 0) {
            std::fprintf(stderr, "btlbench: %s\n",
                         reason != nullptr ? reason : "another rank cannot use its BTLs");
        }
        return false;
    }
    const bool is_end = session.rank() < 2;
    const long entries = least(is_end ? port_entries(1 - session.rank()) : 1000000);
    if (choice.entry < entries) {
        return true;
    }
    if (session.rank() == 0) {
        std::fprintf(stderr,
                     "btlbench: there is no BTL %d between ranks 0 and 1: they have %ld, counted from 0\n",
                     choice.entry, entries);
    }
    return false;
}

// What holds for both ends.
port_entry_t agree_about(const Session &session, port_entry_t about)
{
    const bool is_end = session.rank() < 2;
    const long much = 1L << 40;
    about.eager_limit = static_cast<std::size_t>(least(is_end ? static_cast<long>(about.eager_limit) : much));
    about.max_send_size =
        static_cast<std::size_t>(least(is_end ? static_cast<long>(about.max_send_size) : much));
    about.immediate = static_cast<int>(least(is_end ? about.immediate : 1));
    about.event_driven = static_cast<int>(least(is_end ? about.event_driven : 1));
    MPI_Bcast(about.name, sizeof(about.name), MPI_CHAR, 0, MPI_COMM_WORLD);
    return about;
}

// Ranks from 2 on that rank 0 reaches by this BTL, and that reach it by the same.
std::vector<int> others_by(const Session &session, const port_entry_t &about, int entry)
{
    std::vector<int> ranks;
    auto same = [&](int rank) {
        port_entry_t its{};
        port_peer_t *peer = port_connect(rank, entry, &its);
        port_disconnect(peer);
        return peer != nullptr && std::strcmp(its.name, about.name) == 0 ? 1 : 0;
    };
    for (int rank = 2; rank < session.ranks(); ++rank) {
        const int ok = session.rank() == 0 ? same(rank) : session.rank() == rank ? same(0) : 1;
        if (least(ok) != 0) {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

// Each size at most once, and none that the BTL does not take.
std::vector<std::size_t> clip(const std::vector<std::size_t> &sizes, std::size_t most)
{
    std::vector<std::size_t> clipped;
    for (std::size_t size : sizes) {
        size = std::min(size, most);
        if (std::find(clipped.begin(), clipped.end(), size) == clipped.end()) {
            clipped.push_back(size);
        }
    }
    return clipped;
}

void describe(const Session &session, const Bench &bench)
{
    if (session.rank() == 0 && !session.settings().json) {
        std::printf(
            "# BTL %d of %d to rank 1 is %s: eager limit %zu, largest message %zu bytes, %s immediate send\n",
            bench.entry, port_entries(1), bench.about.name, bench.about.eager_limit,
            bench.about.max_send_size, bench.about.immediate != 0 ? "has" : "no");
    }
}

void measure_all(Session &session, const Choice &choice)
{
    // Peers by rank: rank 0 has all others, the others have rank 0.
    std::map<int, Peer> peers;
    auto peer_of = [&](int rank) {
        const int mine = session.rank() == 0 ? rank : 0;
        return session.rank() != 0 && session.rank() != rank
                   ? nullptr
                   : &peers.try_emplace(rank, session, mine, choice.entry, choice.patience).first->second;
    };
    Peer *first = peer_of(1);
    const port_entry_t limits = agree_about(session, first != nullptr ? first->about() : port_entry_t{});
    Bench bench{session,          limits, choice.entry, choice.window, static_cast<double>(choice.patience),
                {session, first}, {}};
    for (int rank : others_by(session, limits, choice.entry)) {
        bench.other.emplace_back(session, peer_of(rank));
    }
    describe(session, bench);
    std::size_t longest = 0;
    for (const Operation &operation : all) {
        if (std::find(choice.operations.begin(), choice.operations.end(), operation.name)
            == choice.operations.end()) {
            continue;
        }
        const std::vector<std::size_t> &sizes = choice.sizes.empty() ? operation.default_sizes : choice.sizes;
        longest = std::max(longest, *std::max_element(sizes.begin(), sizes.end()));
        if (operation.name == "progress" && limits.event_driven == 0) {
            remark(session, std::string("progress: ") + limits.name + " must be polled, so nothing blocks");
        }
        for (std::size_t size : clip(sizes, limits.max_send_size)) {
            operation.measure(bench, size);
        }
    }
    if (longest > limits.max_send_size) {
        remark(session, std::string(limits.name) + " takes " + std::to_string(limits.max_send_size)
                            + " bytes at most: longer messages were measured with that size");
    }
    for (auto &[rank, peer] : peers) {
        peer.drain();
    }
}

} // namespace

void fsbml::bench::remark(const Session &session, const std::string &text)
{
    if (session.rank() == 0) {
        std::fprintf(stderr, "btlbench: %s\n", text.c_str());
    }
}

int main(int argc, char **argv)
{
    Choice choice;
    for (const auto &operation : all) {
        choice.operations.push_back(operation.name);
    }
    const std::vector<std::string> names = choice.operations;
    Options options("btlbench", purpose);
    options.add("operations", choice.operations, names, "which");
    options.add(
        "sizes", choice.sizes, 1, std::size_t{1} << 30,
        "message sizes in bytes; if none are given, 1,64,1024,4096,16384 for the first three operations and "
        "64,8192 for the others");
    options.add("window", choice.window, 1, 4096, "messages in a row (bandwidth, logp's g, completion)");
    options.add("entry", choice.entry, 0, 255, "which of the BTLs to a peer, 0 is the first");
    options.add("patience", choice.patience, 1, 3600, "seconds of silence that end the job");
    Session session("btl", options, argc, argv);
    if (!session.ready() || !session.needs_ranks(2)) {
        return session.exit_code();
    }
    if (!can_start(session, choice)) {
        return 2;
    }
    measure_all(session, choice);
    return 0;
}
