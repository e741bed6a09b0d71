// The thesis' one-to-one microbenchmark (5.8.1): rank 0 sends N messages, rank 1 receives them all and sends
// N back. SPDX-License-Identifier: BSD-3-Clause Copyright (c) 2026      The FSBML developers. All rights
// reserved.
#include "bench.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace
{

using namespace fsbml::bench;

const char *const usage =
    "usage: mpirun -n 2 onetoone [options]\n\n"
    "Rank 0 sends N messages to rank 1, which receives all of them and then sends N back (blocking, as in "
    "the thesis, 5.8.1).\n"
    "Printed is the time of this exchange divided by the 2 N messages: half of what the thesis prints, which "
    "divides by N.\n\n"
    "  --arm NAME          names this launch in the output (default)\n"
    "  --messages N,...    numbers of messages (1,8,16,32)\n"
    "  --sizes BYTES,...   message sizes (16,256,1024,4096,16384,65536)\n"
    "  --seconds S         time for the samples of one point (0.05)\n"
    "  --min-samples K     at least so many exchanges a point (3)\n"
    "  --max-samples K     at most so many (1000)\n"
    "  --no-verify         leave out the exchange that checks every byte, one a point\n"
    "  --json              one JSON object a line with all samples, instead of a table\n";

const int data_tag = 1;
const int control_tag = 2;

class Exchange
{
public:
    Exchange(int rank, int count, std::size_t size)
        : rank_(rank), count_(count), size_(size), buffer_(count * size + 1)
    {
    }

    // One exchange, timed on rank 0: seconds.
    double run()
    {
        double start = MPI_Wtime();
        if (rank_ == 0) {
            send_all();
            receive_all();
        } else {
            receive_all();
            send_all();
        }
        return MPI_Wtime() - start;
    }

    // The same with every byte checked at both ends. Ends the job on a wrong one.
    double run_checked()
    {
        std::uint32_t out = next_round_++;
        std::uint32_t back = next_round_++;
        fill_all(rank_ == 0 ? out : ~0u);
        double start = MPI_Wtime();
        if (rank_ == 0) {
            send_all();
            fill_all(~0u);
            receive_all();
            check_all(back);
        } else {
            receive_all();
            check_all(out);
            fill_all(back);
            send_all();
        }
        return MPI_Wtime() - start;
    }

private:
    unsigned char *message(int index) { return buffer_.data() + static_cast<std::size_t>(index) * size_; }
    int length() const { return static_cast<int>(size_); }

    void send_all()
    {
        for (int index = 0; index < count_; ++index) {
            MPI_Send(message(index), length(), MPI_BYTE, 1 - rank_, data_tag, MPI_COMM_WORLD);
        }
    }

    void receive_all()
    {
        for (int index = 0; index < count_; ++index) {
            MPI_Recv(message(index), length(), MPI_BYTE, 1 - rank_, data_tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
    }

    void fill_all(std::uint32_t round)
    {
        for (int index = 0; index < count_; ++index) {
            fill(message(index), size_, round, static_cast<std::uint32_t>(index));
        }
    }

    void check_all(std::uint32_t round)
    {
        for (int index = 0; index < count_; ++index) {
            std::size_t wrong = first_wrong(message(index), size_, round, static_cast<std::uint32_t>(index));
            if (wrong < size_) {
                std::fprintf(
                    stderr, "onetoone: rank %d: byte %zu of message %d (%d messages of %zu bytes) is wrong\n",
                    rank_, wrong, index, count_, size_);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
    }

    int rank_;
    int count_;
    std::size_t size_;
    std::vector<unsigned char> buffer_;
    std::uint32_t next_round_ = 1;
};

// Rank 0 decides from its clock, rank 1 is told.
int agree(int rank, int value)
{
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 1, control_tag, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, control_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return value;
}

void measure(const Settings &settings, int rank, int count, std::size_t size)
{
    Exchange exchange(rank, count, size);
    double seconds = settings.verify ? exchange.run_checked() : exchange.run();
    // A short first exchange says little (cold caches, TCP's first window); a long one is warm-up enough.
    int warm_up = agree(rank, seconds < 0.1 ? 2 : 0);
    for (int i = 0; i < warm_up; ++i) {
        seconds = exchange.run();
    }
    int samples = agree(rank, sample_count(settings, seconds));
    Point point{"onetoone", "exchange", count, size, {}};
    point.samples_us.reserve(static_cast<std::size_t>(samples));
    for (int i = 0; i < samples; ++i) {
        point.samples_us.push_back(exchange.run() / (2.0 * count) * 1e6);
    }
    if (rank == 0) {
        print_point(settings, point);
    }
}

} // namespace

int main(int argc, char **argv)
{
    auto start = std::chrono::steady_clock::now();
    MPI_Init(&argc, &argv);
    double init = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Settings settings;
    settings.sizes = {16, 256, 1024, 4096, 16384, 65536};
    int outcome = parse_options(argc, argv, usage, rank == 0, settings);
    if (outcome == 0 && ranks != 2) {
        if (rank == 0) {
            std::fprintf(stderr, "onetoone: needs 2 ranks, not %d\n", ranks);
        }
        outcome = 2;
    }
    if (outcome == 0) {
        if (rank == 0) {
            print_header(settings);
            print_init(settings, "onetoone", init);
        }
        for (int count : settings.counts) {
            for (std::size_t size : settings.sizes) {
                measure(settings, rank, count, size);
            }
        }
    }
    MPI_Finalize();
    return outcome == 2 ? 2 : 0;
}
