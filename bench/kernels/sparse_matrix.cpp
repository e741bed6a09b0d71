// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "kernels.hpp"

#include <algorithm>

namespace fsbml::bench
{

namespace
{

int rank_of_world()
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int ranks_of_world()
{
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

std::vector<int> offsets_of(const std::vector<int> &counts)
{
    std::vector<int> offsets = {0};
    for (int count : counts) {
        offsets.push_back(offsets.back() + count);
    }
    return offsets;
}

} // namespace

SparseMatrix::SparseMatrix(int rows)
    : total_(rows), begin_(share_begin(rows, ranks_of_world(), rank_of_world())),
      rows_(share_begin(rows, ranks_of_world(), rank_of_world() + 1) - begin_)
{
}

void SparseMatrix::add(int column, double value)
{
    columns_.push_back(column);
    values_.push_back(value);
}

void SparseMatrix::end_row()
{
    row_begins_.push_back(static_cast<int>(columns_.size()));
}

std::vector<SparseMatrix::Peer> SparseMatrix::peers(const std::vector<int> &counts)
{
    std::vector<Peer> peers;
    int begin = 0;
    for (std::size_t rank = 0; rank < counts.size(); begin += counts[rank++]) {
        if (counts[rank] > 0) {
            peers.push_back({static_cast<int>(rank), begin, counts[rank]});
        }
    }
    return peers;
}

void SparseMatrix::finish()
{
    auto mine = [this](int column) { return column >= begin_ && column < begin_ + rows_; };
    for (int column : columns_) {
        if (!mine(column)) {
            needed_.push_back(column);
        }
    }
    std::sort(needed_.begin(), needed_.end());
    needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
    for (int &column : columns_) {
        const auto place = std::lower_bound(needed_.begin(), needed_.end(), column) - needed_.begin();
        column = mine(column) ? column - begin_ : rows_ + static_cast<int>(place);
    }
    // Tells each rank which of its elements are needed here. Sorted by column, they are sorted by rank.
    const int ranks = ranks_of_world();
    std::vector<int> wanted, given(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        auto first = [&](int part) {
            return std::lower_bound(needed_.begin(), needed_.end(), share_begin(total_, ranks, part));
        };
        wanted.push_back(static_cast<int>(first(rank + 1) - first(rank)));
    }
    MPI_Alltoall(wanted.data(), 1, MPI_INT, given.data(), 1, MPI_INT, MPI_COMM_WORLD);
    const std::vector<int> wanted_offsets = offsets_of(wanted);
    const std::vector<int> given_offsets = offsets_of(given);
    sent_.resize(static_cast<std::size_t>(given_offsets.back()));
    MPI_Alltoallv(needed_.data(), wanted.data(), wanted_offsets.data(), MPI_INT, sent_.data(), given.data(),
                  given_offsets.data(), MPI_INT, MPI_COMM_WORLD);
    for (int &column : sent_) {
        column -= begin_;
    }
    packed_.resize(sent_.size());
    sources_ = peers(wanted);
    targets_ = peers(given);
}

void SparseMatrix::exchange(std::vector<double> &vector)
{
    requests_.clear();
    for (const Peer &source : sources_) {
        MPI_Irecv(vector.data() + rows_ + source.begin, source.count, MPI_DOUBLE, source.rank, 0,
                  MPI_COMM_WORLD, &requests_.emplace_back(MPI_REQUEST_NULL));
    }
    for (std::size_t i = 0; i < sent_.size(); ++i) {
        packed_[i] = vector[static_cast<std::size_t>(sent_[i])];
    }
    for (const Peer &target : targets_) {
        MPI_Isend(packed_.data() + target.begin, target.count, MPI_DOUBLE, target.rank, 0, MPI_COMM_WORLD,
                  &requests_.emplace_back(MPI_REQUEST_NULL));
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

void SparseMatrix::multiply(const std::vector<double> &vector, std::vector<double> &product) const
{
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows_); ++row) {
        double sum = 0;
        for (int place = row_begins_[row]; place < row_begins_[row + 1]; ++place) {
            const auto p = static_cast<std::size_t>(place);
            sum += values_[p] * vector[static_cast<std::size_t>(columns_[p])];
        }
        product[row] = sum;
    }
}

Volume SparseMatrix::volume() const
{
    return {static_cast<int>(targets_.size()), static_cast<double>(sent_.size() * sizeof(double))};
}

} // namespace fsbml::bench
