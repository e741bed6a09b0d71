// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A small linear program, by the dual simplex method.
#ifndef FSBML_SIM_BOUND_SIMPLEX_HPP
#define FSBML_SIM_BOUND_SIMPLEX_HPP

#include <cstddef>
#include <vector>

namespace fsbml::sim::bound
{

// min c x with A x <= b, x >= 0, where c >= 0 (so that it begins with prices that are feasible, and has such
// ones whenever it stops). Returns the prices y >= 0 of the rows; what proves a bound by them need not trust
// that they are optimal.
class Simplex
{
public:
    Simplex(std::size_t rows, std::size_t columns);

    double &a(std::size_t row, std::size_t column) { return table_[row * (columns_ + 1) + column]; }
    double &b(std::size_t row) { return a(row, columns_); }
    double &c(std::size_t column) { return a(rows_, column); }

    std::vector<double> prices();

private:
    void pivot(std::size_t row, std::size_t column);

    std::size_t rows_, columns_;
    std::vector<double> table_;      // the last row is c, the last column b
    std::vector<std::size_t> basic_; // of each row: columns x first, then slacks
    std::vector<std::size_t> free_;  // of each column
};

} // namespace fsbml::sim::bound

#endif
