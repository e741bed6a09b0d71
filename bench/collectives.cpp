// Collective operations: the time from a common start until the last rank is done.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "bench.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

namespace
{

using namespace fsbml::bench;

const char *const usage =
    "usage: mpirun -n RANKS collectives [options]\n\n"
    "Times collective operations. A sample is the longest time of all ranks, each counted from the end of a "
    "barrier.\n\n"
    "  --arm NAME          names this launch in the output (default)\n"
    "  --operations LIST   of barrier,allreduce,alltoall (all)\n"
    "  --sizes BYTES,...   vector (allreduce, rounded to whole 8-byte integers) or block for each rank "
    "(alltoall);\n"
    "                      (8,64,256,1024,4096,8192,16384)\n"
    "  --seconds S         time for the samples of one point (0.05)\n"
    "  --min-samples K     at least so many a point (3)\n"
    "  --max-samples K     at most so many (1000)\n"
    "  --no-verify         leave out the run that checks every result, one a point\n"
    "  --json              one JSON object a line with all samples, instead of a table\n";

class Operation
{
public:
    Operation(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
    virtual ~Operation() = default;
    virtual void run() = 0;
    virtual void prepare() {}
    virtual bool right() const { return true; }

protected:
    int rank_;
    int ranks_;
};

class Barrier : public Operation
{
public:
    using Operation::Operation;
    void run() override { MPI_Barrier(MPI_COMM_WORLD); }
};

class Allreduce : public Operation
{
public:
    Allreduce(int rank, int ranks, std::size_t size)
        : Operation(rank, ranks), in_(std::max<std::size_t>(1, size / 8)), out_(in_.size())
    {
    }

    void prepare() override
    {
        for (std::size_t i = 0; i < in_.size(); ++i) {
            in_[i] = static_cast<std::int64_t>(i) * 3 + rank_;
            out_[i] = -1;
        }
    }

    void run() override
    {
        MPI_Allreduce(in_.data(), out_.data(), static_cast<int>(in_.size()), MPI_INT64_T, MPI_SUM,
                      MPI_COMM_WORLD);
    }

    bool right() const override
    {
        std::int64_t ranks_sum = static_cast<std::int64_t>(ranks_) * (ranks_ - 1) / 2;
        for (std::size_t i = 0; i < out_.size(); ++i) {
            if (out_[i] != static_cast<std::int64_t>(i) * 3 * ranks_ + ranks_sum) {
                return false;
            }
        }
        return true;
    }

private:
    std::vector<std::int64_t> in_;
    std::vector<std::int64_t> out_;
};

class Alltoall : public Operation
{
public:
    Alltoall(int rank, int ranks, std::size_t size)
        : Operation(rank, ranks), size_(size), in_(size * static_cast<std::size_t>(ranks) + 1),
          out_(in_.size())
    {
    }

    void prepare() override
    {
        for (int peer = 0; peer < ranks_; ++peer) {
            fill(in_.data() + offset(peer), size_, static_cast<std::uint32_t>(rank_),
                 static_cast<std::uint32_t>(peer));
        }
        std::fill(out_.begin(), out_.end(), static_cast<unsigned char>(0));
    }

    void run() override
    {
        int size = static_cast<int>(size_);
        MPI_Alltoall(in_.data(), size, MPI_BYTE, out_.data(), size, MPI_BYTE, MPI_COMM_WORLD);
    }

    bool right() const override
    {
        for (int peer = 0; peer < ranks_; ++peer) {
            const unsigned char *block = out_.data() + offset(peer);
            if (first_wrong(block, size_, static_cast<std::uint32_t>(peer), static_cast<std::uint32_t>(rank_))
                < size_) {
                return false;
            }
        }
        return true;
    }

private:
    std::size_t offset(int peer) const { return static_cast<std::size_t>(peer) * size_; }

    std::size_t size_;
    std::vector<unsigned char> in_;
    std::vector<unsigned char> out_;
};

std::unique_ptr<Operation> make(const std::string &name, int rank, int ranks, std::size_t size)
{
    if (name == "barrier") {
        return std::make_unique<Barrier>(rank, ranks);
    }
    if (name == "allreduce") {
        return std::make_unique<Allreduce>(rank, ranks, size);
    }
    return std::make_unique<Alltoall>(rank, ranks, size);
}

double timed(Operation &operation)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    operation.run();
    return MPI_Wtime() - start;
}

void measure(const Settings &settings, int rank, int ranks, const std::string &name, std::size_t size)
{
    std::unique_ptr<Operation> operation = make(name, rank, ranks, size);
    operation->prepare();
    timed(*operation);
    if (settings.verify && !operation->right()) {
        std::fprintf(stderr, "collectives: rank %d: %s of %zu bytes has a wrong result\n", rank, name.c_str(),
                     size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    timed(*operation);
    double seconds = timed(*operation);
    int samples = sample_count(settings, seconds);
    MPI_Bcast(&samples, 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::vector<double> mine(static_cast<std::size_t>(samples));
    std::vector<double> longest(mine.size());
    for (double &sample : mine) {
        sample = timed(*operation) * 1e6;
    }
    MPI_Reduce(mine.data(), longest.data(), samples, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        print_point(settings, Point{"collectives", name, 1, size, longest});
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
    settings.sizes = {8, 64, 256, 1024, 4096, 8192, 16384};
    settings.operations = {"barrier", "allreduce", "alltoall"};
    int outcome = parse_options(argc, argv, usage, rank == 0, settings);
    if (outcome == 0) {
        if (rank == 0) {
            print_header(settings);
            print_init(settings, "collectives", init);
        }
        for (const std::string &name : settings.operations) {
            if (name == "barrier") {
                measure(settings, rank, ranks, name, 0);
                continue;
            }
            for (std::size_t size : settings.sizes) {
                measure(settings, rank, ranks, name, size);
            }
        }
    }
    MPI_Finalize();
    return outcome == 2 ? 2 : 0;
}
