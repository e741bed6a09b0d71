// A block of a periodic grid and the exchange of its faces with the neighbours' blocks.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include "kernel.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace fsbml::bench
{

// Several values of every cell, each with memory of its own: a block with its halo, the last dimension
// contiguous.
using Field = std::vector<double>;
using Cell = std::array<int, 3>;

// The grid has three dimensions; in the first `3 - dimensions` it is one cell thick and not divided.
class Halo
{
public:
    // The grid grows to what that many ranks need: a block is not thinner than the halo.
    Halo(int dimensions, int cells, int width);
    ~Halo();
    Halo(const Halo &) = delete;
    Halo &operator=(const Halo &) = delete;

    // Receives the halo of all fields: a message for each field and face, all at once.
    void exchange(std::vector<Field> &fields);

    int grid(int dimension) const { return grid_[at(dimension)]; }
    int width() const { return width_; }
    // Of this rank's block, without the halo.
    int extent(int dimension) const { return extent_[at(dimension)]; }
    // Doubles of a field, with the halo, and from one cell to the next.
    std::size_t field_size() const;
    std::ptrdiff_t stride(int dimension) const;
    // Place in a field of the cell with these coordinates in the block; the halo's are negative or behind the
    // extent.
    std::size_t place(const Cell &cell) const;
    // Coordinates in the grid of such a cell.
    Cell global(const Cell &cell) const;
    // Calls `visit` with each cell of the block.
    template <typename Visit>
    void each_cell(Visit &&visit) const
    {
        visit_box({0, 0, 0}, extent_, visit);
    }
    // Calls `visit` with each cell of the halo that an exchange fills: edges and corners are not among them.
    template <typename Visit>
    void each_halo_cell(Visit &&visit) const
    {
        for (int dimension = first_; dimension < 3; ++dimension) {
            Cell begin = {0, 0, 0};
            Cell end = extent_;
            begin[at(dimension)] = -width_;
            end[at(dimension)] = 0;
            visit_box(begin, end, visit);
            begin[at(dimension)] = extent_[at(dimension)];
            end[at(dimension)] = extent_[at(dimension)] + width_;
            visit_box(begin, end, visit);
        }
    }
    // What an exchange of one field sends to other ranks.
    Volume volume() const;

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    template <typename Visit>
    static void visit_box(const Cell &begin, const Cell &end, Visit &visit)
    {
        for (int z = begin[0]; z < end[0]; ++z) {
            for (int y = begin[1]; y < end[1]; ++y) {
                for (int x = begin[2]; x < end[2]; ++x) {
                    visit(Cell{z, y, x});
                }
            }
        }
    }
    int with_halo(int dimension) const { return extent(dimension) + (dimension >= first_ ? 2 * width_ : 0); }
    MPI_Datatype slab(int dimension, int begin) const;

    // One side of one dimension.
    struct Face {
        int neighbour;
        MPI_Datatype inner; // cells of the block that the neighbour needs
        MPI_Datatype outer; // the neighbour's cells that this rank needs
        double bytes;
    };

    int first_; // dimension that is divided
    int width_;
    int rank_ = 0;
    Cell grid_ = {1, 1, 1};
    Cell begin_ = {0, 0, 0};
    Cell extent_ = {1, 1, 1};
    MPI_Comm comm_ = MPI_COMM_NULL;
    std::vector<Face> faces_; // low and high side of each dimension
    std::vector<MPI_Request> requests_;
};

} // namespace fsbml::bench
