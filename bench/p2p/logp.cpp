// The parameters of the LogP model as a program sees them: o_s, o_r, g and L.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "p2p.hpp"

#include "tools/text/text.hpp"

#include <algorithm>

namespace fsbml::bench::p2p
{

namespace
{

const double pause_seconds = 50e-6;
const int most_attempts = 4;

// Passes time outside of MPI.
void spin(double seconds)
{
    const double start = MPI_Wtime();
    while (MPI_Wtime() - start < seconds) {
    }
}

void say_go(int peer)
{
    MPI_Send(nullptr, 0, MPI_BYTE, peer, control_tag, MPI_COMM_WORLD);
}

void await_go(int peer)
{
    MPI_Recv(nullptr, 0, MPI_BYTE, peer, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

class LogP
{
public:
    LogP(Session &session, std::size_t size, int window)
        : session_(session), rank_(session.rank()), size_(size), window_(window), message_(size),
          memory_(size)
    {
    }

    void measure()
    {
        check_round_trip(session_, message_);
        const double o_s = measure_sending();
        measure_gap();
        const double arrival = longest_round_trip() * 2 + 1e-3;
        // A message that waits for its receiver does not arrive before MPI_Recv: then its time is not
        // overhead.
        if (arrives_alone(arrival)) {
            measure_latency(o_s + measure_receiving(arrival));
        }
    }

private:
    Point point(const std::string &operation) const { return {"", operation, "", 1, size_, "us", {}, {}}; }
    int length() const { return static_cast<int>(size_); }

    // The message before has been answered, so the pause is longer than the gap, whatever that is.
    double send_once()
    {
        double seconds = 0;
        if (rank_ == 0) {
            MPI_Request request = MPI_REQUEST_NULL;
            spin(pause_seconds);
            const double start = MPI_Wtime();
            MPI_Isend(memory_.data(), length(), MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, &request);
            seconds = MPI_Wtime() - start;
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            await_go(1);
        } else if (rank_ == 1) {
            MPI_Recv(memory_.data(), length(), MPI_BYTE, 0, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            say_go(0);
        }
        return seconds;
    }

    double receive_once(double arrival)
    {
        double seconds = 0;
        if (rank_ == 0) {
            say_go(1);
            spin(arrival);
            const double start = MPI_Wtime();
            MPI_Recv(memory_.data(), length(), MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            seconds = MPI_Wtime() - start;
        } else if (rank_ == 1) {
            await_go(0);
            MPI_Send(memory_.data(), length(), MPI_BYTE, 0, data_tag, MPI_COMM_WORLD);
        }
        return seconds;
    }

    // Whether rank 1's send ends while rank 0 is outside of MPI.
    bool arrives_alone(double arrival)
    {
        int alone = 0;
        if (rank_ == 0) {
            say_go(1);
            spin(arrival);
            MPI_Recv(memory_.data(), length(), MPI_BYTE, 1, data_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(&alone, 1, MPI_INT, 1, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank_ == 1) {
            MPI_Request request = MPI_REQUEST_NULL;
            await_go(0);
            const double start = MPI_Wtime();
            MPI_Isend(memory_.data(), length(), MPI_BYTE, 0, data_tag, MPI_COMM_WORLD, &request);
            while (alone == 0 && MPI_Wtime() - start < arrival / 2) {
                MPI_Test(&request, &alone, MPI_STATUS_IGNORE);
            }
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Send(&alone, 1, MPI_INT, 0, control_tag, MPI_COMM_WORLD);
        }
        return session_.agree(alone) != 0;
    }

    double longest_round_trip()
    {
        double longest = 0;
        for (int i = 0; i < 4; ++i) {
            longest = std::max(longest, round_trip(session_, message_));
        }
        return session_.agree(longest);
    }

    double measure_sending()
    {
        std::vector<double> all;
        const int count = session_.measure(point("o_s"), [&] { return all.emplace_back(send_once() * 1e6); });
        all.erase(all.begin(), all.end() - count); // without the warm-up
        return median(all);
    }

    double measure_receiving(double arrival)
    {
        std::vector<double> all;
        const int count = session_.measure(point("o_r"), [&] {
            double seconds = receive_once(arrival);
            // So long only if the message was late: the sender had no processor.
            for (int i = 1; i < most_attempts && session_.agree(seconds) > arrival / 4; ++i) {
                seconds = receive_once(arrival);
            }
            return all.emplace_back(seconds * 1e6);
        });
        all.erase(all.begin(), all.end() - count); // without the warm-up
        return median(all);
    }

    // The slope over the number of messages: what a window costs only once (the answer's way) falls out.
    void measure_gap()
    {
        Stream one(session_, 1, size_);
        Stream many(session_, window_ + 1, size_);
        many.run_checked();
        Point gap = point("g");
        gap.messages = window_;
        session_.measure(gap, [&] {
            const double least = one.run();
            return (many.run() - least) / window_ * 1e6;
        });
    }

    // Not bounded by 0: where sender and receiver work at the same time (shared memory), the overheads
    // overlap.
    void measure_latency(double overheads)
    {
        session_.measure(point("L"), [&] { return round_trip(session_, message_) / 2 * 1e6 - overheads; });
    }

    Session &session_;
    int rank_;
    std::size_t size_;
    int window_;
    Message message_;
    Pages memory_;
};

} // namespace

void measure_logp(Session &session, const Choice &choice)
{
    for (std::size_t size : choice.sizes) {
        LogP(session, size, short_window(choice, size)).measure();
    }
}

} // namespace fsbml::bench::p2p
