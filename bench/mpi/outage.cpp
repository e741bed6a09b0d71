// A stream of messages, and what of it arrives in each tenth of a second: what a job has of its rails while
// one of them fails.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "tools/points/points.hpp"

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace
{

using namespace fsbml::bench;

const char *const about =
    "Rank 0 streams messages of 256 KiB to rank 1, eight at once, and rank 1 checks each and prints:\n"
    "\n"
    "begins T: seconds since 1970.\n"
    "S MB: megabytes that arrived in the tenth of a second that began S seconds later.\n"
    "pause S: the longest time between two messages.";

constexpr std::size_t size = 262144;
constexpr int at_once = 8;
constexpr double slot = 0.1;

struct Lane {
    std::vector<unsigned char> bytes = std::vector<unsigned char>(size);
    MPI_Request request = MPI_REQUEST_NULL;
};

double now()
{
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void send(Lane &lane, std::uint32_t number)
{
    fill(lane.bytes.data(), size, 0, number);
    MPI_Isend(lane.bytes.data(), static_cast<int>(size), MPI_BYTE, 1, 0, MPI_COMM_WORLD, &lane.request);
}

void stream(double seconds)
{
    std::array<Lane, at_once> lanes;
    const double end = now() + seconds;
    for (std::uint32_t number = 0; now() < end; ++number) {
        Lane &lane = lanes[number % at_once];
        MPI_Wait(&lane.request, MPI_STATUS_IGNORE);
        send(lane, number);
    }
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD); // the end
    for (Lane &lane : lanes) {
        MPI_Wait(&lane.request, MPI_STATUS_IGNORE);
    }
}

// False: a message was not what was sent.
bool receive()
{
    std::array<Lane, at_once> lanes;
    const auto post = [](Lane &lane) {
        MPI_Irecv(lane.bytes.data(), static_cast<int>(size), MPI_BYTE, 0, 0, MPI_COMM_WORLD, &lane.request);
    };
    for (Lane &lane : lanes) {
        post(lane);
    }
    const double begin = now();
    double last = begin;
    double pause = 0;
    double sum = 0;
    int at = 0;
    bool right = true;
    std::printf("begins %.3f\n", begin);
    for (std::uint32_t number = 0;; ++number) {
        Lane &lane = lanes[number % at_once];
        MPI_Status status;
        int bytes = 0;
        MPI_Wait(&lane.request, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        const double time = now();
        for (; begin + (at + 1) * slot < time; ++at, sum = 0) {
            std::printf("%.1f %.3f\n", at * slot, sum);
        }
        std::fflush(stdout);
        pause = time - last > pause ? time - last : pause;
        last = time;
        if (0 == bytes) {
            break;
        }
        right = right && first_wrong(lane.bytes.data(), size, 0, number) >= size;
        sum += static_cast<double>(size) / 1e6;
        post(lane);
    }
    for (Lane &lane : lanes) {
        if (MPI_REQUEST_NULL != lane.request) {
            MPI_Cancel(&lane.request);
            MPI_Wait(&lane.request, MPI_STATUS_IGNORE);
        }
    }
    std::printf("pause %.3f\n", pause);
    return right;
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Options options("outage", about);
    int seconds = 12;
    options.add("for", seconds, 1, 3600, "seconds");
    const int outcome = options.parse(argc, argv, rank == 0);
    if (outcome != 0 || ranks < 2) {
        MPI_Finalize();
        return outcome == 1 ? 0 : 2;
    }
    if (0 == rank) {
        stream(seconds);
    } else if (1 == rank && !receive()) {
        std::fprintf(stderr, "outage: a message is not what was sent\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
