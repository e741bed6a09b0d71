// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Results as text: tables, bars that are met or not, durations and rates, plots, files; and quantiles of
// samples.
#ifndef FSBML_TOOLS_TEXT_HPP
#define FSBML_TOOLS_TEXT_HPP

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fsbml::bench
{

// ---- Words in columns, and in lines.

// A table of words: columns as wide as their widest, the first `left` ones to the left, the others to the
// right. A row of no words is an empty line.
std::string aligned(const std::vector<std::vector<std::string>> &rows, std::size_t left);

// The names of all of them.
template <class All>
std::string names_of(const All &all)
{
    std::string names;
    for (const auto &one : all) {
        names += (names.empty() ? "" : ", ") + std::string(one.name);
    }
    return names;
}

// A text in lines of at most `width` characters, each with its end; a longer word has a line of its own.
std::string wrapped(const std::string &text, std::size_t width);

// Bars, and whether results meet them.
struct Bar {
    std::string text;
    bool met = false;
    std::string figures;
    bool unclear = false; // missed, but nowhere by more than noise can explain

    const char *outcome() const { return met ? "met" : unclear ? "unclear" : "NOT MET"; }
};

// ---- A duration, and a rate, as text with its unit: written, and read.

// "1.25 ms": four digits, from ns to s.
std::string duration(double ns);

// "10 Gbit/s"
std::string rate_text(double bits_per_second);

// The units of users, and how many ns, or bits a second, each is.
using Units = std::map<std::string, double>;
extern const Units time_units, rate_units;

// "200mbit": a number without a sign, and one of the units behind it. Nothing if it is something else.
std::optional<double> quantity(const std::string &text, const Units &units);

// ---- Quantiles of samples.

// The value at `part` (0 to 1) of the sorted samples, interpolated. The samples must not be empty.
inline double quantile(std::vector<double> samples, double part)
{
    std::sort(samples.begin(), samples.end());
    const double place = part * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (place - static_cast<double>(below)) * (samples[above] - samples[below]);
}

inline double median(const std::vector<double> &samples)
{
    return quantile(samples, 0.5);
}

// ---- Plots, drawn by gnuplot.

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

// Writes a file that the user has named. Replaces what the file has; "-" is stdout. Throws std::runtime_error
// if not all of it can be written.
void write(const std::string &file, const std::string &text);

} // namespace fsbml::bench

#endif
