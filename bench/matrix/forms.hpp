// A matrix for users, as a page, and for programs.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#ifndef FSBML_BENCH_MATRIX_FORMS_HPP
#define FSBML_BENCH_MATRIX_FORMS_HPP

#include "judge.hpp"

namespace fsbml::matrix
{

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
