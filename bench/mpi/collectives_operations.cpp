// The collective operations, each with a result that tells whether all ranks took part.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "collectives.hpp"

#include "tools/points/points.hpp"

#include <algorithm>
#include <cstdint>

namespace fsbml::bench::collectives
{

namespace
{

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

class Broadcast : public Operation
{
public:
    Broadcast(int rank, int ranks, std::size_t size) : Operation(rank, ranks), buffer_(size) {}

    void prepare() override
    {
        if (rank_ == root_rank) {
            fill(buffer_.data(), buffer_.size(), 1, 0);
        } else {
            std::fill(buffer_.begin(), buffer_.end(), static_cast<unsigned char>(0));
        }
    }

    void run() override
    {
        MPI_Bcast(buffer_.data(), static_cast<int>(buffer_.size()), MPI_BYTE, root_rank, MPI_COMM_WORLD);
    }

    bool right() const override
    {
        return first_wrong(buffer_.data(), buffer_.size(), 1, 0) == buffer_.size();
    }

    int awaited_rank() const override { return root_rank; }

private:
    static constexpr int root_rank = 0;

    std::vector<unsigned char> buffer_;
};

class Allgather : public Operation
{
public:
    Allgather(int rank, int ranks, std::size_t size)
        : Operation(rank, ranks), in_(size), out_(size * static_cast<std::size_t>(ranks))
    {
    }

    void prepare() override
    {
        fill(in_.data(), in_.size(), 1, static_cast<std::uint32_t>(rank_));
        std::fill(out_.begin(), out_.end(), static_cast<unsigned char>(0));
    }

    void run() override
    {
        const int size = static_cast<int>(in_.size());
        MPI_Allgather(in_.data(), size, MPI_BYTE, out_.data(), size, MPI_BYTE, MPI_COMM_WORLD);
    }

    bool right() const override
    {
        for (int peer = 0; peer < ranks_; ++peer) {
            const unsigned char *block = out_.data() + static_cast<std::size_t>(peer) * in_.size();
            if (first_wrong(block, in_.size(), 1, static_cast<std::uint32_t>(peer)) < in_.size()) {
                return false;
            }
        }
        return true;
    }

private:
    std::vector<unsigned char> in_;
    std::vector<unsigned char> out_;
};

} // namespace

std::unique_ptr<Operation> make_operation(const std::string &name, int rank, int ranks, std::size_t size)
{
    if (name == "barrier") {
        return std::make_unique<Barrier>(rank, ranks);
    }
    if (name == "allreduce") {
        return std::make_unique<Allreduce>(rank, ranks, size);
    }
    if (name == "alltoall") {
        return std::make_unique<Alltoall>(rank, ranks, size);
    }
    if (name == "broadcast") {
        return std::make_unique<Broadcast>(rank, ranks, size);
    }
    return std::make_unique<Allgather>(rank, ranks, size);
}

} // namespace fsbml::bench::collectives
