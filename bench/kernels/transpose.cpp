// A spectral code: a Fourier transform of two dimensions and back, with transpositions over all ranks.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "kernels.hpp"

#include <algorithm>

namespace fsbml::bench
{

namespace
{

using Complex = std::complex<double>;

// A step moves a periodic field by one cell in both dimensions, by turning the phases of its spectrum.
class Fft : public Kernel
{
public:
    explicit Fft(Size size)
        : length_(pick(size, 128, 512, 2048)), begin_(share_begin(length_, ranks_, rank_)),
          rows_(share_begin(length_, ranks_, rank_ + 1) - begin_),
          along_rows_(static_cast<std::size_t>(length_)),
          field_(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(length_)), packed_(field_.size()),
          received_(field_.size())
    {
        // In doubles, for each rank: the part of my rows that lies in its columns.
        for (int rank = 0; rank < ranks_; ++rank) {
            const int columns = share_begin(length_, ranks_, rank + 1) - share_begin(length_, ranks_, rank);
            counts_.push_back(2 * rows_ * columns);
            offsets_.push_back(2 * rows_ * share_begin(length_, ranks_, rank));
        }
    }

    void prepare() override
    {
        fill([&](int y, int x) { return original(y, x); });
        steps_ = 0;
    }

    void step() override
    {
        forward();
        const double turn = 2 * std::acos(-1.0);
        each([&](Complex &value, int y, int x) {
            // Divided by the number of cells, which the transform back leaves out.
            const double cells = static_cast<double>(length_) * length_;
            value *= std::polar(1 / cells, -turn * ((x + y) % length_) / length_);
        });
        backward();
        ++steps_;
    }

    std::string check() override
    {
        const std::string wrong = check_moved();
        return wrong.empty() ? check_spectrum() : wrong;
    }

    Volume volume() const override
    {
        Volume volume;
        for (int rank = 0; rank < ranks_; ++rank) {
            const int count = counts_[static_cast<std::size_t>(rank)];
            if (rank != rank_ && count > 0) {
                volume.messages += 2;
                volume.bytes += 2.0 * count * sizeof(double);
            }
        }
        return volume;
    }

    int usual_steps() const override { return 1; }

private:
    // Calls `visit` with each value that is here and its coordinates.
    template <typename Visit>
    void each(Visit &&visit)
    {
        Complex *value = field_.data();
        for (int y = begin_; y < begin_ + rows_; ++y) {
            for (int x = 0; x < length_; ++x) {
                visit(*value++, y, x);
            }
        }
    }

    template <typename Value>
    void fill(Value &&value_at)
    {
        each([&](Complex &value, int y, int x) { value = value_at(y, x); });
    }

    Complex original(int y, int x) const
    {
        const std::uint64_t place = 2
                                    * (static_cast<std::uint64_t>(y) * static_cast<std::uint64_t>(length_)
                                       + static_cast<std::uint64_t>(x));
        return {scramble_real(place), scramble_real(place + 1)};
    }

    // The spectrum is left transposed: its rows are the field's columns.
    void forward()
    {
        each_row([&](Complex *row) { along_rows_.forward(row); });
        transpose();
        each_row([&](Complex *row) { along_rows_.forward(row); });
    }

    void backward()
    {
        each_row([&](Complex *row) { along_rows_.backward(row); });
        transpose();
        each_row([&](Complex *row) { along_rows_.backward(row); });
    }

    template <typename Visit>
    void each_row(Visit &&visit)
    {
        for (int row = 0; row < rows_; ++row) {
            visit(field_.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(length_));
        }
    }

    void transpose()
    {
        const auto length = static_cast<std::size_t>(length_);
        const auto rows = static_cast<std::size_t>(rows_);
        // Column after column: what goes to a rank is one piece.
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t column = 0; column < length; ++column) {
                packed_[column * rows + row] = field_[row * length + column];
            }
        }
        communicate([&] {
            if (length_ % ranks_ == 0) {
                MPI_Alltoall(packed_.data(), counts_[0], MPI_DOUBLE, received_.data(), counts_[0], MPI_DOUBLE,
                             MPI_COMM_WORLD);
            } else {
                // What comes from a rank has the size of what goes to it.
                MPI_Alltoallv(packed_.data(), counts_.data(), offsets_.data(), MPI_DOUBLE, received_.data(),
                              counts_.data(), offsets_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
            }
        });
        // From each rank, a part of each of my new rows.
        const Complex *piece = received_.data();
        for (int rank = 0; rank < ranks_; ++rank) {
            const int begin = share_begin(length_, ranks_, rank);
            const int end = share_begin(length_, ranks_, rank + 1);
            for (std::size_t row = 0; row < rows; ++row, piece += end - begin) {
                std::copy(piece, piece + (end - begin), field_.data() + row * length + begin);
            }
        }
    }

    std::string check_moved()
    {
        const double tolerance = 1e-13 * (steps_ + 1);
        const int moved = length_ - steps_ % length_;
        std::string wrong;
        each([&](Complex &value, int y, int x) {
            const Complex should_be = original((y + moved) % length_, (x + moved) % length_);
            if (!(std::abs(value - should_be) <= tolerance)) {
                wrong = "after " + std::to_string(steps_) + " steps row " + std::to_string(y) + ", column "
                        + std::to_string(x) + " is off by " + text(std::abs(value - should_be));
            }
        });
        return wrong;
    }

    // Two waves, of which each must give one value that is not zero.
    std::string check_spectrum()
    {
        const double turn = 2 * std::acos(-1.0);
        const int y1 = 3, x1 = 5, y2 = length_ - 1, x2 = length_ / 2;
        fill([&](int y, int x) {
            return std::polar(1.0, turn * ((y * y1 + x * x1) % length_) / length_)
                   + std::polar(0.5, turn * ((y * y2 + x * x2) % length_) / length_);
        });
        forward();
        const double cells = static_cast<double>(length_) * length_;
        std::string wrong;
        each([&](Complex &value, int row, int column) {
            const double should_be = row == x1 && column == y1   ? cells
                                     : row == x2 && column == y2 ? cells / 2
                                                                 : 0;
            if (!(std::abs(value - should_be) <= 1e-13 * cells)) {
                wrong = "the spectrum of two waves is wrong at " + std::to_string(row) + ", "
                        + std::to_string(column);
            }
        });
        return wrong;
    }

    int length_; // of rows and columns
    int begin_;  // first row that is here
    int rows_;
    RowTransform along_rows_;
    std::vector<Complex> field_, packed_, received_;
    std::vector<int> counts_, offsets_;
    int steps_ = 0;
};

} // namespace

std::unique_ptr<Kernel> make_fft(Size size)
{
    return std::make_unique<Fft>(size);
}

} // namespace fsbml::bench
