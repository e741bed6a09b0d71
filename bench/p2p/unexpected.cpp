// Messages that are there before their receives: the cost of a long queue, matched from either end.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "p2p.hpp"

#include "tools/points/points.hpp"

namespace fsbml::bench::p2p
{

namespace
{

const std::vector<int> queue_lengths = {1, 16, 128};
const std::size_t most_queued = std::size_t{512} << 10; // bytes that the library has to keep somewhere
const int first_tag = 16;

class Queue
{
public:
    Queue(const Session &session, int length, std::size_t size, bool reverse)
        : session_(session), rank_(session.rank()), length_(length), size_(size), reverse_(reverse),
          memory_(static_cast<std::size_t>(length) * size), requests_(static_cast<std::size_t>(length))
    {
    }

    // Returns rank 0's seconds for all receives.
    double run()
    {
        if (rank_ == 1) {
            send_all();
        }
        return rank_ == 0 ? receive_all() : 0;
    }

    void run_checked()
    {
        for (int i = 0; i < length_; ++i) {
            fill(place(i), size_, rank_ == 1 ? 1 : ~0u, static_cast<std::uint32_t>(i));
        }
        run();
        for (int i = 0; rank_ == 0 && i < length_; ++i) {
            const std::size_t wrong = first_wrong(place(i), size_, 1, static_cast<std::uint32_t>(i));
            if (wrong < size_) {
                session_.wrong("byte " + std::to_string(wrong) + " of unexpected message " + std::to_string(i)
                               + " of " + std::to_string(size_) + " bytes is wrong");
            }
        }
    }

private:
    unsigned char *place(int index) { return memory_.data() + static_cast<std::size_t>(index) * size_; }

    void send_all()
    {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < length_; ++i) {
            MPI_Isend(place(i), static_cast<int>(size_), MPI_BYTE, 0, first_tag + i, MPI_COMM_WORLD,
                      &requests_[static_cast<std::size_t>(i)]);
        }
        MPI_Send(nullptr, 0, MPI_BYTE, 0, control_tag, MPI_COMM_WORLD);
        MPI_Waitall(length_, requests_.data(), MPI_STATUSES_IGNORE);
    }

    double receive_all()
    {
        MPI_Send(nullptr, 0, MPI_BYTE, 1, control_tag, MPI_COMM_WORLD);
        // Messages of one sender match in order, so those sent before this one are in the queue when it is
        // received.
        MPI_Recv(nullptr, 0, MPI_BYTE, 1, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const double start = MPI_Wtime();
        for (int i = 0; i < length_; ++i) {
            const int index = reverse_ ? length_ - 1 - i : i;
            MPI_Recv(place(index), static_cast<int>(size_), MPI_BYTE, 1, first_tag + index, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        return MPI_Wtime() - start;
    }

    const Session &session_;
    int rank_;
    int length_;
    std::size_t size_;
    bool reverse_;
    Pages memory_;
    std::vector<MPI_Request> requests_;
};

void measure_queue(Session &session, int length, std::size_t size, bool reverse)
{
    Queue queue(session, length, size, reverse);
    if (session.settings().verify) {
        queue.run_checked();
    }
    const std::string variant =
        "queue=" + std::to_string(length) + ",order=" + (reverse ? "reverse" : "forward");
    session.measure({"", "unexpected", variant, length, size, "us", {}, {}},
                    [&] { return queue.run() / length * 1e6; });
}

} // namespace

void measure_unexpected(Session &session, const Choice &choice)
{
    for (std::size_t size : choice.sizes) {
        for (int length : queue_lengths) {
            if (size * static_cast<std::size_t>(length) > most_queued) {
                continue;
            }
            measure_queue(session, length, size, false);
            if (length > 1) {
                measure_queue(session, length, size, true);
            }
        }
    }
}

} // namespace fsbml::bench::p2p
