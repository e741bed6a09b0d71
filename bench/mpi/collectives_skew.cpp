// Collectives with skew: each rank's own time, and the delay after the last rank came, which may come late.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "collectives.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

namespace fsbml::bench::collectives
{

namespace
{

const int clock_tag = 1;
const int clock_rounds = 50;
const double wake_up = 200e-6;

double reduce(double value, MPI_Op how)
{
    double result = 0;
    MPI_Reduce(&value, &result, 1, MPI_DOUBLE, how, 0, MPI_COMM_WORLD);
    return result;
}

// Returns the time at the end. Sleeps for the most of it, as virtual nodes share their processors.
double sleep_until(double end)
{
    double now = MPI_Wtime();
    if (end - now > wake_up) {
        std::this_thread::sleep_for(std::chrono::duration<double>(end - now - wake_up));
    }
    while (now < end) {
        now = MPI_Wtime();
    }
    return now;
}

} // namespace

void Skew::measure(Operation &operation, const std::string &name, std::size_t size)
{
    session_.measure({"", name + "-average", "", 1, size, "us", {}, {}}, [&] { return average(operation); });
    compare_clocks();
    session_.measure({"", name + "-sync", "", 1, size, "us", {}, {}},
                     [&] { return delay(operation, MPI_PROC_NULL); });
    compare_clocks();
    session_.measure({"", name + "-late", "", 1, size, "us", {}, {}},
                     [&] { return delay(operation, operation.awaited_rank()); });
}

void Skew::print_error()
{
    session_.print({"", "clock-error", "", 1, 0, "us", errors_, {}});
}

// Rank 0 asks each rank for its time. The answer lies somewhere within the round trip, so the shortest one
// says most, and is wrong by at most half of it.
void Skew::compare_clocks()
{
    const int rank = session_.rank();
    double worst = 0;
    for (int other = 1; other < session_.ranks(); ++other) {
        double offset = 0;
        double shortest = std::numeric_limits<double>::max();
        for (int round = 0; round < clock_rounds; ++round) {
            double there = 0;
            if (rank == 0) {
                const double start = MPI_Wtime();
                MPI_Send(nullptr, 0, MPI_BYTE, other, clock_tag, MPI_COMM_WORLD);
                MPI_Recv(&there, 1, MPI_DOUBLE, other, clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                const double end = MPI_Wtime();
                if (end - start < shortest) {
                    shortest = end - start;
                    offset = start + shortest / 2 - there;
                }
            } else if (rank == other) {
                MPI_Recv(nullptr, 0, MPI_BYTE, 0, clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                there = MPI_Wtime();
                MPI_Send(&there, 1, MPI_DOUBLE, 0, clock_tag, MPI_COMM_WORLD);
            }
        }
        if (rank == 0) {
            MPI_Send(&offset, 1, MPI_DOUBLE, other, clock_tag, MPI_COMM_WORLD);
            worst = std::max(worst, shortest / 2);
        } else if (rank == other) {
            MPI_Recv(&offset_, 1, MPI_DOUBLE, 0, clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (rank == 0) {
        errors_.push_back(worst * 1e6);
    }
}

double Skew::average(Operation &operation)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    operation.run();
    return reduce(MPI_Wtime() - start, MPI_SUM) / session_.ranks() * 1e6;
}

// From when the last rank came until the last rank left. A late rank comes last, and its own end does not
// count: asked is what the others pay beyond its delay.
double Skew::delay(Operation &operation, int late_rank)
{
    const bool late = session_.rank() == late_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    double entry = MPI_Wtime();
    if (late) {
        entry = sleep_until(entry + late_seconds_);
    }
    operation.run();
    const double exit = MPI_Wtime();
    const double last_entry = reduce(entry + offset_, MPI_MAX);
    const double last_exit = reduce(late ? std::numeric_limits<double>::lowest() : exit + offset_, MPI_MAX);
    return (last_exit - last_entry) * 1e6;
}

} // namespace fsbml::bench::collectives
