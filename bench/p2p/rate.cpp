// Windows of messages: bandwidth one way and both ways, of many pairs, rates, and how to await the end.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "p2p.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fsbml::bench::p2p
{

namespace
{

const std::size_t largest_small = 1024; // rates are about messages whose bytes hardly count
const std::vector<int> rate_windows = {1, 8, 64};

// What a sample says about `amount` things that took so long. Idle ranks have no time; their value is not
// looked at.
double per_second(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

double megabytes(int messages, std::size_t size)
{
    return static_cast<double>(messages) * static_cast<double>(size) / 1e6;
}

void measure_stream(Session &session, Stream &stream, Point point, double amount,
                    Session::Counts counts = Session::Counts::root)
{
    stream.run_checked();
    session.measure(
        std::move(point), [&] { return per_second(amount, stream.run()); }, counts);
}

// The node of each rank, as the number of one of its ranks.
std::vector<int> nodes_of_ranks(const Session &session)
{
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int mine = session.rank();
    MPI_Bcast(&mine, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    std::vector<int> nodes(static_cast<std::size_t>(session.ranks()));
    MPI_Allgather(&mine, 1, MPI_INT, nodes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    return nodes;
}

// The ranks, those of a node behind each other: the first half sends to the second, so that all
// ranks of a node share their rails for the same direction.
std::vector<int> ranks_by_node(const std::vector<int> &nodes)
{
    std::vector<int> ranks(nodes.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
        return nodes[static_cast<std::size_t>(a)] < nodes[static_cast<std::size_t>(b)];
    });
    return ranks;
}

template <typename Measure>
void for_each_stream(const Choice &choice, const Measure &measure)
{
    for (std::size_t size : choice.sizes) {
        for (int window : choice.windows) {
            measure(window, size);
        }
    }
}

} // namespace

void measure_bandwidth(Session &session, const Choice &choice)
{
    for_each_stream(choice, [&](int window, std::size_t size) {
        Stream stream(session, window, size);
        measure_stream(session, stream, {"", "bandwidth", "", window, size, "MB/s", {}, {}},
                       megabytes(window, size));
    });
}

void measure_bidirectional(Session &session, const Choice &choice)
{
    for_each_stream(choice, [&](int window, std::size_t size) {
        Stream stream(session, window, size, 0, 1, true);
        measure_stream(session, stream, {"", "bidirectional", "", window, size, "MB/s", {}, {}},
                       2 * megabytes(window, size));
    });
}

void measure_rate(Session &session, const Choice &choice)
{
    for (std::size_t size : choice.sizes) {
        for (int window : rate_windows) {
            if (size <= largest_small) {
                Stream stream(session, window, size);
                const std::string variant = "window=" + std::to_string(window);
                measure_stream(session, stream, {"", "rate", variant, window, size, "1/s", {}, {}}, window);
            }
        }
    }
}

void measure_completion(Session &session, const Choice &choice)
{
    const std::vector<std::pair<std::string, Completion>> completions = {{"waitall", Completion::waitall},
                                                                         {"waitany", Completion::waitany},
                                                                         {"testsome", Completion::testsome},
                                                                         {"anysource", Completion::waitall}};
    for (std::size_t size : choice.sizes) {
        const int window = short_window(choice, size);
        for (const auto &[name, completion] : completions) {
            Stream stream(session, window, size);
            stream.complete_by(completion);
            if (name == "anysource") {
                stream.from_any();
            }
            measure_stream(session, stream, {"", "completion", name, window, size, "1/s", {}, {}}, window);
        }
    }
}

void measure_multipair(Session &session, const Choice &choice)
{
    const int pairs = session.ranks() / 2;
    const std::vector<int> ranks = ranks_by_node(nodes_of_ranks(session));
    const auto place = std::find(ranks.begin(), ranks.end(), session.rank()) - ranks.begin();
    const auto pair = static_cast<std::size_t>(place % pairs);
    const int first = ranks[pair];
    const int second = ranks[pair + static_cast<std::size_t>(pairs)];
    for_each_stream(choice, [&](int window, std::size_t size) {
        Stream stream(session, window, size, first, second);
        stream.begin_together();
        // Every rank counts the bytes of all, so that the least value is that of the rank that was ready
        // last.
        measure_stream(session, stream,
                       {"", "multipair", "pairs=" + std::to_string(pairs), window, size, "MB/s", {}, {}},
                       pairs * megabytes(window, size), Session::Counts::worst);
    });
}

} // namespace fsbml::bench::p2p
