// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "kernels.hpp"

#include <algorithm>

namespace fsbml::bench
{

Halo::Halo(int dimensions, int cells, int width) : first_(3 - dimensions), width_(width)
{
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Cell parts = {1, 1, 1};
    std::fill(parts.begin() + first_, parts.end(), 0);
    MPI_Dims_create(ranks, 3, parts.data());
    const Cell periodic = {1, 1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 3, parts.data(), periodic.data(), 0, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    Cell mine = {0, 0, 0};
    MPI_Cart_coords(comm_, rank_, 3, mine.data());
    for (int dimension = first_; dimension < 3; ++dimension) {
        const std::size_t d = at(dimension);
        grid_[d] = std::max(cells, parts[d] * width);
        begin_[d] = share_begin(grid_[d], parts[d], mine[d]);
        extent_[d] = share_begin(grid_[d], parts[d], mine[d] + 1) - begin_[d];
    }
    for (int dimension = first_; dimension < 3; ++dimension) {
        Face low, high;
        MPI_Cart_shift(comm_, dimension, 1, &low.neighbour, &high.neighbour);
        low.inner = slab(dimension, width_);
        low.outer = slab(dimension, 0);
        high.inner = slab(dimension, extent(dimension));
        high.outer = slab(dimension, extent(dimension) + width_);
        double values = width_;
        for (int other = 0; other < 3; ++other) {
            values *= other == dimension ? 1 : extent(other);
        }
        low.bytes = high.bytes = values * sizeof(double);
        faces_.push_back(low);
        faces_.push_back(high);
    }
}

Halo::~Halo()
{
    for (Face &face : faces_) {
        MPI_Type_free(&face.inner);
        MPI_Type_free(&face.outer);
    }
    MPI_Comm_free(&comm_);
}

// As thick as the halo in one dimension, as the block in the others.
MPI_Datatype Halo::slab(int dimension, int begin) const
{
    Cell sizes, parts, begins;
    for (int d = 0; d < 3; ++d) {
        sizes[at(d)] = with_halo(d);
        parts[at(d)] = d == dimension ? width_ : extent(d);
        begins[at(d)] = d == dimension ? begin : d >= first_ ? width_ : 0;
    }
    MPI_Datatype type;
    MPI_Type_create_subarray(3, sizes.data(), parts.data(), begins.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

void Halo::exchange(std::vector<Field> &fields)
{
    const int sides = static_cast<int>(faces_.size());
    requests_.clear();
    auto request = [this] { return &requests_.emplace_back(MPI_REQUEST_NULL); };
    // The tag says through which side of its sender a message leaves: both neighbours may be the same rank.
    for (std::size_t field = 0; field < fields.size(); ++field) {
        for (int side = 0; side < sides; ++side) {
            const Face &face = faces_[at(side)];
            MPI_Irecv(fields[field].data(), 1, face.outer, face.neighbour,
                      static_cast<int>(field) * sides + (side ^ 1), comm_, request());
        }
    }
    for (std::size_t field = 0; field < fields.size(); ++field) {
        for (int side = 0; side < sides; ++side) {
            const Face &face = faces_[at(side)];
            MPI_Isend(fields[field].data(), 1, face.inner, face.neighbour,
                      static_cast<int>(field) * sides + side, comm_, request());
        }
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

std::size_t Halo::field_size() const
{
    std::size_t size = 1;
    for (int d = 0; d < 3; ++d) {
        size *= static_cast<std::size_t>(with_halo(d));
    }
    return size;
}

std::ptrdiff_t Halo::stride(int dimension) const
{
    std::ptrdiff_t stride = 1;
    for (int d = dimension + 1; d < 3; ++d) {
        stride *= with_halo(d);
    }
    return stride;
}

std::size_t Halo::place(const Cell &cell) const
{
    std::ptrdiff_t place = 0;
    for (int d = 0; d < 3; ++d) {
        place += (cell[at(d)] + (d >= first_ ? width_ : 0)) * stride(d);
    }
    return static_cast<std::size_t>(place);
}

Cell Halo::global(const Cell &cell) const
{
    Cell result;
    for (std::size_t d = 0; d < 3; ++d) {
        result[d] = (begin_[d] + cell[d] + grid_[d]) % grid_[d];
    }
    return result;
}

Volume Halo::volume() const
{
    Volume volume;
    for (const Face &face : faces_) {
        if (face.neighbour != rank_) {
            volume.messages += 1;
            volume.bytes += face.bytes;
        }
    }
    return volume;
}

} // namespace fsbml::bench
