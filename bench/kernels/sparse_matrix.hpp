// A sparse matrix with its rows dealt to the ranks, and its product with a vector.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "kernel.hpp"

#include <cstddef>
#include <vector>

namespace fsbml::bench
{

// Compressed sparse rows. What a product needs of other ranks' parts of the vector follows from where the
// rows have values.
class SparseMatrix
{
public:
    // A square matrix of that many rows in all.
    explicit SparseMatrix(int rows);
    int begin() const { return begin_; } // first row that is here
    int rows() const { return rows_; }   // that are here

    // Fills the next row.
    void add(int column, double value);
    void end_row();
    // After the last row: finds out what to exchange with which rank.
    void finish();

    // Elements of a vector that can be multiplied: the rank's own, and behind them those it needs of others.
    std::size_t vector_size() const { return static_cast<std::size_t>(rows_) + needed_.size(); }
    // Gets the elements that belong to others.
    void exchange(std::vector<double> &vector);
    // The product with a vector that has been exchanged.
    void multiply(const std::vector<double> &vector, std::vector<double> &product) const;
    // What an exchange sends.
    Volume volume() const;

private:
    // Elements that go to or come from one rank.
    struct Peer {
        int rank;
        int begin; // in sent_ or needed_
        int count;
    };

    static std::vector<Peer> peers(const std::vector<int> &counts);

    int total_;
    int begin_;
    int rows_;
    std::vector<int> row_begins_ = {0};
    std::vector<int> columns_; // global until finish(), then places in the vector
    std::vector<double> values_;
    std::vector<int> needed_; // columns that belong to other ranks
    std::vector<int> sent_;   // own elements that others need
    std::vector<double> packed_;
    std::vector<Peer> sources_, targets_;
    std::vector<MPI_Request> requests_;
};

} // namespace fsbml::bench
