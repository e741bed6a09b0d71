// Plots, drawn by gnuplot.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace fsbml::bench
{

// One plot: the name of its files, without an ending, and gnuplot's commands but for the terminal and the
// output.
struct Plot {
    std::string name;
    std::string script;
};

// What scripts are made of: a string for gnuplot, which else takes _ for a subscript and " for the end; a
// part of a file's name; the axis of these sizes, a logarithmic one.
std::string quoted(const std::string &text);
std::string file_part(const std::string &text);
std::string size_axis(const std::set<std::size_t> &sizes);

// Draws them into the folder, which is made if need be. Returns the files. Throws std::runtime_error with
// gnuplot's words.
std::vector<std::string> draw(const std::vector<Plot> &plots, const std::string &folder);

} // namespace fsbml::bench
