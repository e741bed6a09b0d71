// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "session.hpp"

#include "tools/points/points.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

namespace fsbml::bench
{
namespace
{

// How many turns a point takes: as many comparisons of neighbours there are.
constexpr int turns_of_point = 25;

} // namespace

Session::Session(const std::string &bench, Options &options, int argc, char **argv, int threads)
    : bench_(bench), options_(options)
{
    const auto start = std::chrono::steady_clock::now();
    int provided = 0;
    MPI_Init_thread(&argc, &argv, threads, &provided);
    const double init = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    outcome_ = options.parse(argc, argv, rank_ == 0);
    if (outcome_ != 0) {
        return;
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_);
    int on_node = 0;
    MPI_Comm_rank(node_, &on_node);
    MPI_Comm_split(MPI_COMM_WORLD, on_node == 0 ? 0 : MPI_UNDEFINED, rank_, &leaders_);
    if (rank_ == 0) {
        print_header(settings());
        print_init(settings(), bench_, init);
    }
    if (settings().turns.empty()) {
        return;
    }
    try {
        turns_.emplace(Turns::of_job(settings().turns));
    } catch (const std::exception &error) {
        if (rank_ == 0) {
            std::fprintf(stderr, "%s: --turns: %s\n", bench_.c_str(), error.what());
        }
        outcome_ = 2;
        return;
    }
    rest_until_all_are_here();
    if (rank_ == 0) {
        turns_->arrive();
    }
    wait_for_turn();
}

Session::~Session()
{
    if (leaders_ != MPI_COMM_NULL) {
        MPI_Comm_free(&leaders_);
    }
    if (node_ != MPI_COMM_NULL) {
        MPI_Comm_free(&node_);
    }
    MPI_Finalize();
    if (turns_ && rank_ == 0) {
        turns_->pass();
    }
}

void Session::wait_for_turn()
{
    try {
        turns_->wait();
    } catch (const std::exception &error) {
        wrong(error.what());
    }
}

void Session::let_others()
{
    rest_until_all_are_here();
    if (rank_ == 0) {
        turns_->pass();
    }
    wait_for_turn();
}

bool Session::needs_ranks(int least, bool even)
{
    if (ranks_ >= least && !(even && ranks_ % 2 != 0)) {
        return true;
    }
    if (rank_ == 0) {
        std::fprintf(stderr, "%s: needs at least %d ranks%s, not %d\n", bench_.c_str(), least,
                     even ? ", an even number" : "", ranks_);
    }
    outcome_ = 2;
    return false;
}

double Session::agree(double value) const
{
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return value;
}

Traffic Session::sum_over_nodes(const Traffic &traffic) const
{
    if (leaders_ == MPI_COMM_NULL) {
        return {};
    }
    const std::string mine = traffic_text(traffic);
    int nodes = 0;
    MPI_Comm_size(leaders_, &nodes);
    std::vector<char> all(static_cast<std::size_t>(nodes) * traffic_text_size);
    MPI_Gather(mine.data(), traffic_text_size, MPI_CHAR, all.data(), traffic_text_size, MPI_CHAR, 0,
               leaders_);
    Traffic sum;
    if (rank_ == 0) {
        for (int node = 0; node < nodes; ++node) {
            add_traffic_text(all.data() + static_cast<std::size_t>(node) * traffic_text_size, sum);
        }
    }
    return sum;
}

void Session::rest_until_all_are_here() const
{
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    int done = 0;
    MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    while (done == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    }
}

int Session::measure(Point point, const std::function<double()> &sample, Counts counts)
{
    const int turns = turns_ ? turns_of_point : 1;
    std::vector<double> samples;
    Traffic sent;
    int count = 0;
    bool warm_up = true;
    for (int turn = 0; turn < turns; ++turn) {
        if (turn > 0) {
            let_others();
        }
        Traffic before = interface_bytes();
        double seconds = 0;
        const auto timed = [&] {
            const double start = MPI_Wtime();
            const double value = sample();
            seconds = MPI_Wtime() - start;
            return value;
        };
        // A short first sample says little (cold caches, TCP's first window). A long one is as good as any:
        // what it may lack is small beside it, and the run that was verified has warmed up.
        if (turn == 0) {
            const double first = timed();
            warm_up = agree(seconds < 0.1 ? 1 : 0) != 0;
            if (!warm_up) {
                samples.push_back(first);
            }
        }
        const auto due = [&] { return static_cast<std::size_t>((count * (turn + 1) + turns - 1) / turns); };
        if (warm_up && (turn == 0 || samples.size() < due())) {
            timed();
            timed();
            before = interface_bytes();
        }
        if (turn == 0) {
            count = static_cast<int>(agree(sample_count(settings(), seconds)));
            warm_up = agree(seconds < 0.001 ? 1 : 0) != 0; // what a turn begins with is little of a long one
        }
        while (samples.size() < due()) {
            samples.push_back(sample());
        }
        // Read first, told to others later: that is traffic too.
        for (const auto &[name, bytes] : traffic_between(before, interface_bytes())) {
            sent[name] += bytes;
        }
    }
    rest_until_all_are_here();
    if (counts == Counts::worst) {
        const std::vector<double> mine = samples;
        MPI_Reduce(mine.data(), samples.data(), count, MPI_DOUBLE, is_rate(point.unit) ? MPI_MIN : MPI_MAX, 0,
                   MPI_COMM_WORLD);
    }
    point.samples = std::move(samples);
    point.traffic = sum_over_nodes(sent);
    print(std::move(point));
    return count;
}

void Session::print(Point point)
{
    if (rank_ == 0) {
        point.bench = bench_;
        print_point(settings(), point);
    }
}

void Session::wrong(const std::string &what) const
{
    std::fprintf(stderr, "%s: rank %d: %s\n", bench_.c_str(), rank_, what.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

} // namespace fsbml::bench
