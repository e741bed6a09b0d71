// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// FSBML against all other arms in several regimes: the cells, what they say, and that for users, as a page,
// and for programs.
#ifndef FSBML_BENCH_MATRIX_HPP
#define FSBML_BENCH_MATRIX_HPP

#include "tools/arms/arms.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace fsbml::matrix
{

// ---- The cells of a matrix: what FSBML takes in a regime, and the best of all other arms, round by round.

using bench::Verdict;

struct Arm {
    std::string name;
    double us = 0.0; // the median over the rounds
};

struct Cell {
    std::string regime;
    std::size_t messages = 0;
    std::size_t bytes = 0;
    double fsbml_us = 0.0; // medians over the rounds
    double best_us = 0.0;
    std::string best;   // the arm with the least median
    double ratio = 0.0; // FSBML's time by that of the best, the median over rounds, and its bounds
    double low = 0.0;
    double high = 0.0;
    double r2 = 0.0; // FSBML's time by r2's on all rails; 0 where that was not run
    Verdict verdict = Verdict::unclear;
    std::vector<Arm> arms;
};

// Ratios of paired rounds: slower where the median is beyond 3 % and every round is beyond 1; the same where
// all lie within 3 %; faster where every round is below 1.
Verdict verdict_of(double low, double ratio, double high) noexcept;

// The cells of what `./fsbml bench onetoone --json` wrote. Throws std::runtime_error for what is none.
std::vector<Cell> cells_of(const std::string &regime, const nlohmann::json &document);

// How measurements at start came out: the rails that each start was to measure.
struct Starts {
    std::string regime;
    std::size_t starts = 0;
    std::size_t rails = 0;   // in all starts
    std::size_t without = 0; // that have no parameters
    std::size_t disturbed = 0;
    std::size_t off = 0;     // by more than a tenth of what they are set to
    std::size_t far_off = 0; // by more than 30 %
    double worst = 0.0;      // measured by set
};

// Of the tables that jobs print (bml_fsbml_verbose 1): `set` are the rails' G in ns/byte in their order, 0:
// not known.
Starts starts_of(const std::string &regime, const std::string &printed, const std::vector<double> &set);

// ---- A matrix for users, as a page, and for programs.

struct Matrix {
    std::string setting;
    std::vector<Cell> cells;
    std::vector<Starts> starts;
    std::vector<std::pair<std::string, std::string>> about; // each regime's name, and its rails in words
};

std::string text_of(const Matrix &matrix);
std::string page_of(const Matrix &matrix);
std::string leaflet_of(const Matrix &matrix);     // a page to hand round, of a few cells of each regime
nlohmann::json document_of(const Matrix &matrix); // docs/matrix.schema.json

} // namespace fsbml::matrix

#endif
