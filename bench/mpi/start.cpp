// How a job starts: MPI_Init, the first messages between all pairs of ranks, and what a rank takes then.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/points/points.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace
{

using namespace fsbml::bench;

const char *const about =
    "Starts MPI, and has each rank send 64 bytes to each other one, all at once, three times: the first time makes the "
    "connections. A job is one sample of each point: launch it often.\n"
    "\n"
    "whole-init: time in MPI_Init, the longest of all ranks.\n"
    "first, second: time until a rank has received from all others, the longest of all ranks. Nothing is sent before the "
    "first one.\n"
    "resident, private, files: of a rank after these, the mean of all. private is what no other process shares, "
    "files are its open file descriptors.";

double seconds_of(const std::function<void()> &work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// KiB, as the kernel adds them up over all mappings.
struct Memory {
    double resident = 0;
    double own = 0;
};

Memory memory()
{
    std::ifstream file("/proc/self/smaps_rollup");
    Memory memory;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string name;
        double size = 0;
        words >> name >> size;
        if (name == "Rss:") {
            memory.resident = size;
        } else if (name == "Private_Clean:" || name == "Private_Dirty:") {
            memory.own += size;
        }
    }
    return memory;
}

double open_files()
{
    const std::filesystem::directory_iterator files("/proc/self/fd");
    // One is this list's own.
    return static_cast<double>(std::distance(begin(files), end(files))) - 1;
}

// Every block has its sender and its receiver.
class Exchange
{
public:
    Exchange(int rank, int ranks)
        : rank_(rank), ranks_(ranks), out_(block * static_cast<std::size_t>(ranks)), in_(out_.size())
    {
        for (int peer = 0; peer < ranks; ++peer) {
            out_[block * static_cast<std::size_t>(peer)] = mark(rank, peer);
        }
    }

    double run()
    {
        std::vector<MPI_Request> requests;
        requests.reserve(2 * static_cast<std::size_t>(ranks_));
        const auto start = [&](auto operation, std::vector<std::uint64_t> &blocks, int peer) {
            requests.emplace_back();
            operation(blocks.data() + static_cast<std::ptrdiff_t>(block) * peer, block, MPI_UINT64_T, peer, 0,
                      MPI_COMM_WORLD, &requests.back());
        };
        return seconds_of([&] {
            for (int step = 0; step < ranks_; ++step) {
                start(MPI_Irecv, in_, (rank_ + ranks_ - step) % ranks_);
            }
            for (int step = 0; step < ranks_; ++step) {
                start(MPI_Isend, out_, (rank_ + step) % ranks_);
            }
            MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        });
    }

    bool right() const
    {
        bool right = true;
        for (int peer = 0; peer < ranks_; ++peer) {
            right = right && in_[block * static_cast<std::size_t>(peer)] == mark(peer, rank_);
        }
        return right;
    }

private:
    static constexpr int block = 8;

    static std::uint64_t mark(int from, int to)
    {
        return static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
    }

    int rank_, ranks_;
    std::vector<std::uint64_t> out_, in_;
};

} // namespace

int main(int argc, char **argv)
{
    const double init = seconds_of([&] { MPI_Init(&argc, &argv); });
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Options options("start", about);
    const int outcome = options.parse(argc, argv, rank == 0);
    if (outcome != 0) {
        MPI_Finalize();
        return outcome == 2 ? 2 : 0;
    }
    Exchange exchange(rank, ranks);
    const double first = exchange.run();
    const double second = exchange.run();
    (void) exchange.run();
    if (!exchange.right()) {
        std::cerr << "start: rank " << rank << ": a block is not what was sent\n";
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    const Memory used = memory();
    const std::vector<double> times = {init, first, second};
    const std::vector<double> sizes = {used.resident, used.own, open_files()};
    std::vector<double> longest(times.size());
    std::vector<double> sum(sizes.size());
    MPI_Reduce(times.data(), longest.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(sizes.data(), sum.data(), static_cast<int>(sizes.size()), MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    if (rank == 0) {
        const Settings &settings = options.settings();
        print_header(settings);
        print_init(settings, "start", init);
        const auto print = [&](const char *what, const char *unit, double value) {
            Point point;
            point.bench = "start";
            point.operation = what;
            point.unit = unit;
            point.samples = {value};
            print_point(settings, point);
        };
        print("whole-init", "s", longest[0]);
        print("first", "s", longest[1]);
        print("second", "s", longest[2]);
        print("resident", "KiB", sum[0] / ranks);
        print("private", "KiB", sum[1] / ranks);
        print("files", "files", sum[2] / ranks);
    }
    MPI_Finalize();
    return 0;
}
