// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Kernels of applications: what all of them are, and what they are made of: a grid with its halo, the
// transform of a row, a sparse matrix.
#ifndef FSBML_BENCH_KERNELS_HPP
#define FSBML_BENCH_KERNELS_HPP

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

namespace fsbml::bench
{

// ---- The interface of an application's kernel.

enum class Size { small, medium, large };

inline int pick(Size size, int small, int medium, int large)
{
    return size == Size::small ? small : size == Size::medium ? medium : large;
}

// What a rank hands over for other ranks in a step. A reduction counts as one message of its vector.
struct Volume {
    int messages = 0;
    double bytes = 0;
};

// A distributed computation that goes on in steps. All ranks call everything.
class Kernel
{
public:
    Kernel()
    {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    }
    virtual ~Kernel() = default;
    Kernel(const Kernel &) = delete;
    Kernel &operator=(const Kernel &) = delete;

    // The data as at the beginning.
    virtual void prepare() = 0;
    virtual void step() = 0;
    // What is wrong after the steps since prepare(), or nothing. It may need the data for other tests, so
    // prepare() comes next.
    virtual std::string check() = 0;
    // Of this rank in the last step.
    virtual Volume volume() const = 0;
    // Steps that make a sample long enough to be timed.
    virtual int usual_steps() const = 0;

    // Seconds that this rank's steps have spent in MPI.
    double communication() const { return communication_; }

protected:
    // Does the MPI calls of a step.
    template <typename Calls>
    void communicate(Calls &&calls)
    {
        const double start = MPI_Wtime();
        std::forward<Calls>(calls)();
        communication_ += MPI_Wtime() - start;
    }

    int rank_ = 0;
    int ranks_ = 1;

private:
    double communication_ = 0;
};

std::unique_ptr<Kernel> make_halo2d(Size size);
std::unique_ptr<Kernel> make_halo3d(Size size);
std::unique_ptr<Kernel> make_fft(Size size);
std::unique_ptr<Kernel> make_sort(Size size);
std::unique_ptr<Kernel> make_cg(Size size);

// Where part `part` of `items` begins, dealt to `parts` as evenly as it goes; part `parts` begins at the end.
inline int share_begin(int items, int parts, int part)
{
    return static_cast<int>(static_cast<std::int64_t>(items) * part / parts);
}

// A number that looks random and is the same for the same index on any rank (the finaliser of MurmurHash3).
inline std::uint64_t scramble(std::uint64_t index)
{
    index += 0x9e3779b97f4a7c15u;
    index = (index ^ (index >> 33)) * 0xff51afd7ed558ccdu;
    index = (index ^ (index >> 33)) * 0xc4ceb9fe1a85ec53u;
    return index ^ (index >> 33);
}

// The same from -1 to 1.
inline double scramble_real(std::uint64_t index)
{
    return static_cast<double>(scramble(index) >> 11) * 0x1p-52 - 1;
}

// With all its digits, however small.
inline std::string text(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

// ---- A block of a periodic grid and the exchange of its faces with the neighbours' blocks.

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

// Fast Fourier transform of one row in memory, radix 2.
class RowTransform
{
public:
    // The length is a power of two.
    explicit RowTransform(std::size_t length) : length_(length), roots_(length / 2), reversed_(length)
    {
        const double turn = 2 * std::acos(-1.0);
        for (std::size_t k = 0; k < roots_.size(); ++k) {
            roots_[k] = std::polar(1.0, -turn * static_cast<double>(k) / static_cast<double>(length));
        }
        for (std::size_t i = 1; i < length; ++i) {
            reversed_[i] = reversed_[i / 2] / 2 + (i % 2 != 0 ? length / 2 : 0);
        }
    }

    void forward(std::complex<double> *row) const { transform(row, 1); }
    // Not divided by the length.
    void backward(std::complex<double> *row) const { transform(row, -1); }

private:
    void transform(std::complex<double> *row, double sign) const
    {
        for (std::size_t i = 0; i < length_; ++i) {
            if (i < reversed_[i]) {
                std::swap(row[i], row[reversed_[i]]);
            }
        }
        for (std::size_t half = 1; half < length_; half *= 2) {
            const std::size_t root_step = length_ / (2 * half);
            for (std::size_t begin = 0; begin < length_; begin += 2 * half) {
                for (std::size_t k = 0; k < half; ++k) {
                    std::complex<double> &even = row[begin + k];
                    std::complex<double> &odd = row[begin + k + half];
                    // By hand: the operator's test for infinity would take most of the time.
                    const double re = roots_[k * root_step].real();
                    const double im = roots_[k * root_step].imag() * sign;
                    const std::complex<double> turned(odd.real() * re - odd.imag() * im,
                                                      odd.real() * im + odd.imag() * re);
                    odd = even - turned;
                    even += turned;
                }
            }
        }
    }

    std::size_t length_;
    std::vector<std::complex<double>> roots_;
    std::vector<std::size_t> reversed_;
};

// A sparse matrix with its rows dealt to the ranks, and its product with a vector. Compressed sparse rows.
// What a product needs of other ranks' parts of the vector follows from where the rows have values.
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

#endif
