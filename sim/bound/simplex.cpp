// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "bound.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace fsbml::sim::bound
{

namespace
{
constexpr double kTiny = 1e-11;
}

Simplex::Simplex(std::size_t rows, std::size_t columns)
    : rows_(rows), columns_(columns), table_((rows + 1) * (columns + 1), 0.0), basic_(rows), free_(columns)
{
    for (std::size_t j = 0; j < columns; ++j) {
        free_[j] = j;
    }
    for (std::size_t i = 0; i < rows; ++i) {
        basic_[i] = columns + i;
    }
}

void Simplex::pivot(std::size_t row, std::size_t column)
{
    const double inverse = 1.0 / a(row, column);
    for (std::size_t j = 0; j <= columns_; ++j) {
        a(row, j) *= j == column ? 0.0 : inverse;
    }
    a(row, column) = inverse;
    for (std::size_t i = 0; i <= rows_; ++i) {
        const double factor = a(i, column);
        if (i == row || factor == 0.0) {
            continue;
        }
        a(i, column) = 0.0;
        for (std::size_t j = 0; j <= columns_; ++j) {
            a(i, j) -= factor * a(row, j);
        }
    }
    std::swap(basic_[row], free_[column]);
}

std::vector<double> Simplex::prices()
{
    for (std::size_t turn = 0; turn < 50 * (rows_ + columns_); ++turn) {
        std::size_t row = rows_;
        double worst = -kTiny;
        for (std::size_t i = 0; i < rows_; ++i) {
            if (b(i) < worst) {
                worst = b(i);
                row = i;
            }
        }
        if (row == rows_) {
            break;
        }
        std::size_t column = columns_;
        double least = 0.0;
        for (std::size_t j = 0; j < columns_; ++j) {
            if (a(row, j) >= -kTiny) {
                continue;
            }
            const double ratio = c(j) / -a(row, j);
            if (column == columns_ || ratio < least) {
                least = ratio;
                column = j;
            }
        }
        if (column == columns_) {
            break; // no solution: the prices so far hold
        }
        pivot(row, column);
    }
    std::vector<double> y(rows_, 0.0);
    for (std::size_t j = 0; j < columns_; ++j) {
        if (free_[j] >= columns_) {
            y[free_[j] - columns_] = std::fmax(c(j), 0.0);
        }
    }
    return y;
}

} // namespace fsbml::sim::bound
