// Conjugate gradients for a sparse system: Poisson's equation on a square, with five values in a row.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "kernels.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml::bench
{

namespace
{

using Vector = std::vector<double>;

// A step is an iteration. A solution found is thrown away, and the next step begins anew.
class Cg : public Kernel
{
public:
    explicit Cg(Size size)
        : length_(pick(size, 128, 512, 1024)), matrix_(length_ * length_), right_(local()),
          solution_(local()), residual_(local()), direction_(matrix_.vector_size()), product_(local())
    {
        for (int row = matrix_.begin(); row < matrix_.begin() + matrix_.rows(); ++row) {
            const int y = row / length_;
            const int x = row % length_;
            add_if(y > 0, row - length_);
            add_if(x > 0, row - 1);
            matrix_.add(row, 4);
            add_if(x < length_ - 1, row + 1);
            add_if(y < length_ - 1, row + length_);
            matrix_.end_row();
        }
        matrix_.finish();
        direction_.resize(matrix_.vector_size());
    }

    void prepare() override
    {
        for (std::size_t i = 0; i < right_.size(); ++i) {
            right_[i] = scramble_real(static_cast<std::uint64_t>(matrix_.begin()) + i);
        }
        start();
    }

    void step() override
    {
        if (found(1e-10)) {
            restart();
        }
        communicate([&] { matrix_.exchange(direction_); });
        matrix_.multiply(direction_, product_);
        const double length = square_ / dot(direction_, product_);
        for (std::size_t i = 0; i < solution_.size(); ++i) {
            solution_[i] += length * direction_[i];
            residual_[i] -= length * product_[i];
        }
        const double last = square_;
        square_ = dot(residual_, residual_);
        for (std::size_t i = 0; i < residual_.size(); ++i) {
            direction_[i] = residual_[i] + square_ / last * direction_[i];
        }
        ++iterations_;
    }

    std::string check() override
    {
        const std::string wrong = check_residual();
        return wrong.empty() ? check_solution() : wrong;
    }

    Volume volume() const override
    {
        Volume volume = matrix_.volume();
        if (ranks_ > 1) {
            volume.messages += 2; // the dot products
            volume.bytes += 2 * sizeof(double);
        }
        return volume;
    }

    int usual_steps() const override { return 20; }

private:
    std::size_t local() const { return static_cast<std::size_t>(matrix_.rows()); }

    void add_if(bool inside, int column)
    {
        if (inside) {
            matrix_.add(column, -1);
        }
    }

    // Right-hand side is set.
    void start()
    {
        right_square_ = dot(right_, right_);
        restart();
    }

    void restart()
    {
        std::fill(solution_.begin(), solution_.end(), 0.0);
        residual_ = right_;
        std::copy(right_.begin(), right_.end(), direction_.begin());
        square_ = right_square_;
        iterations_ = 0;
    }

    bool found(double part) const { return square_ <= part * part * right_square_; }

    // Of the rank's own elements only, if one has more.
    double dot(const Vector &a, const Vector &b)
    {
        double mine = 0;
        for (std::size_t i = 0; i < local(); ++i) {
            mine += a[i] * b[i];
        }
        double all = 0;
        communicate([&] { MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
        return all;
    }

    // The iterations carry the residual along; here is what the solution so far really leaves.
    std::string check_residual()
    {
        Vector vector(matrix_.vector_size());
        std::copy(solution_.begin(), solution_.end(), vector.begin());
        matrix_.exchange(vector);
        matrix_.multiply(vector, product_);
        for (std::size_t i = 0; i < local(); ++i) {
            product_[i] = right_[i] - product_[i] - residual_[i];
        }
        const double off = std::sqrt(dot(product_, product_));
        // Rounding in every iteration, by the size of what is added up: the matrix has norm 8.
        const double tolerance =
            1e-15 * (iterations_ + 1) * (std::sqrt(right_square_) + 8 * std::sqrt(dot(vector, vector)));
        return off <= tolerance ? ""
                                : "the residual after " + std::to_string(iterations_)
                                      + " iterations is off by " + text(off);
    }

    // The sum of a few eigenvectors as the right-hand side: the solution is known, and takes as many
    // iterations as there are different eigenvalues.
    std::string check_solution()
    {
        const int waves[] = {1, 3, 5, 7, 9};
        const int count = 5;
        const double half_turn = std::acos(-1.0);
        Vector known(local());
        std::fill(right_.begin(), right_.end(), 0.0);
        for (int wave : waves) {
            // As often along both sides.
            const double angle = half_turn * std::lround(0.1 * wave * (length_ + 1)) / (length_ + 1);
            const double eigenvalue = 4 - 4 * std::cos(angle);
            for (std::size_t i = 0; i < local(); ++i) {
                const int row = matrix_.begin() + static_cast<int>(i);
                const double value =
                    std::sin(angle * (row / length_ + 1)) * std::sin(angle * (row % length_ + 1));
                right_[i] += value;
                known[i] += value / eigenvalue;
            }
        }
        start();
        // Eigenvectors are orthogonal, and this is the square of each.
        const double square = std::pow((length_ + 1) / 2.0, 2);
        if (!(std::fabs(right_square_ / (count * square) - 1) <= 1e-12)) {
            return "a dot product is " + text(right_square_) + " and not " + text(count * square);
        }
        while (!found(1e-9) && iterations_ <= 2 * count) {
            step();
        }
        if (iterations_ != count) {
            return "a solution that takes " + std::to_string(count) + " iterations took "
                   + std::to_string(iterations_);
        }
        const std::string wrong = check_residual();
        for (std::size_t i = 0; wrong.empty() && i < local(); ++i) {
            if (!(std::fabs(solution_[i] - known[i]) <= 1e-7)) {
                return "the solution is off by " + text(std::fabs(solution_[i] - known[i]));
            }
        }
        return wrong;
    }

    int length_; // of the square's sides, in cells
    SparseMatrix matrix_;
    Vector right_, solution_, residual_, direction_, product_;
    double square_ = 0; // of the residual
    double right_square_ = 0;
    int iterations_ = 0;
};

} // namespace

std::unique_ptr<Kernel> make_cg(Size size)
{
    return std::make_unique<Cg>(size);
}

} // namespace fsbml::bench
