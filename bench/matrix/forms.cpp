// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "matrix.hpp"

#include "tools/text/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fsbml::matrix
{

namespace
{

template <class Row>
struct Column {
    const char *head;
    std::string (*word)(const Row &);
};

constexpr Column<Cell> kCells[] = {
    {"regime", [](const Cell &c) { return c.regime; }},
    {"messages", [](const Cell &c) { return fmt::format("{}", c.messages); }},
    {"bytes", [](const Cell &c) { return fmt::format("{}", c.bytes); }},
    {"fsbml us", [](const Cell &c) { return fmt::format("{:.4g}", c.fsbml_us); }},
    {"best us", [](const Cell &c) { return fmt::format("{:.4g}", c.best_us); }},
    {"best", // r2's parameters are the regime's rates
     [](const Cell &c) { return c.best.compare(0, 3, "r2:") == 0 ? "r2 told" : c.best; }},
    {"fsbml/best",
     [](const Cell &c) { return fmt::format("{:.2f} ({:.2f}-{:.2f})", c.ratio, c.low, c.high); }},
    {"fsbml/r2", [](const Cell &c) { return c.r2 > 0.0 ? fmt::format("{:.2f}", c.r2) : "-"; }},
    {"verdict", [](const Cell &c) { return std::string(word_of(c.verdict)); }},
};

constexpr Column<Starts> kStarts[] = {
    {"regime", [](const Starts &s) { return s.regime; }},
    {"starts", [](const Starts &s) { return fmt::format("{}", s.starts); }},
    {"rails", [](const Starts &s) { return fmt::format("{}", s.rails); }},
    {"without parameters", [](const Starts &s) { return fmt::format("{}", s.without); }},
    {"disturbed", [](const Starts &s) { return fmt::format("{}", s.disturbed); }},
    {"> 10 % off", [](const Starts &s) { return fmt::format("{}", s.off); }},
    {"> 30 % off", [](const Starts &s) { return fmt::format("{}", s.far_off); }},
    {"worst/set", [](const Starts &s) { return fmt::format("{:.2f}", s.worst); }},
};

using Words = std::vector<std::string>;

// The heads, and a line for each row.
template <class Row, std::size_t N>
std::vector<Words> words_of(const std::vector<Row> &rows, const Column<Row> (&columns)[N])
{
    std::vector<Words> lines(1 + rows.size());
    for (const Column<Row> &column : columns) {
        lines[0].push_back(column.head);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            lines[1 + r].push_back(column.word(rows[r]));
        }
    }
    return lines;
}

std::string html_line(const Words &line, const char *element)
{
    std::string text;
    for (const std::string &word : line) {
        text += fmt::format("<{0}>{1}</{0}>", element, word);
    }
    return text + "</tr>\n";
}

std::string html_table(const std::vector<Words> &lines)
{
    std::string text = "<table><tr>" + html_line(lines[0], "th");
    for (std::size_t i = 1; i < lines.size(); ++i) {
        text += fmt::format("<tr class=\"{}\">", lines[i].back()) + html_line(lines[i], "td");
    }
    return text + "</table>\n";
}

std::size_t count(const Matrix &matrix, Verdict verdict)
{
    return static_cast<std::size_t>(std::count_if(matrix.cells.begin(), matrix.cells.end(),
                                                  [&](const Cell &c) { return c.verdict == verdict; }));
}

std::string conclusion(const Matrix &matrix)
{
    return fmt::format(
        "Of {} cells, FSBML is faster than the best of all other arms at {}, the same within 3 % at {}, "
        "slower at {}; the rounds do not tell at {}.",
        matrix.cells.size(), count(matrix, Verdict::faster), count(matrix, Verdict::same),
        count(matrix, Verdict::slower), count(matrix, Verdict::unclear));
}

} // namespace

std::string text_of(const Matrix &matrix)
{
    std::string text = matrix.setting + "\n\n" + bench::aligned(words_of(matrix.cells, kCells), 1) + '\n';
    if (!matrix.starts.empty()) {
        text += "The measurement at start, by the rates that the rails are set to:\n"
                + bench::aligned(words_of(matrix.starts, kStarts), 1) + '\n';
    }
    return text + conclusion(matrix) + '\n';
}

std::string page_of(const Matrix &matrix)
{
    return fmt::format(
               "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
               "content=\"width=device-width\"><title>FSBML: matrix</title>\n<style>\n"
               ":root {{ color-scheme: light dark; }}\nbody {{ font: 15px/1.4 sans-serif; margin: 2em; }}\n"
               "table {{ border-collapse: collapse; margin: 1em 0; }}\ntd, th {{ padding: .15em .7em; text-align: right; "
               "border-bottom: 1px solid #8884; }}\ntd:first-child, th:first-child {{ text-align: left; }}\n"
               ".SLOWER {{ background: #d332; color: light-dark(#a00, #f88); font-weight: bold; }}\n"
               ".faster {{ color: light-dark(#070, #7d7); }}\n.unclear {{ opacity: .7; }}\n"
               "</style></head><body>\n<h1>FSBML against the best of all other arms</h1>\n<p>{}</p>\n<p>{}</p>\n",
               matrix.setting, conclusion(matrix))
           + html_table(words_of(matrix.cells, kCells))
           + (matrix.starts.empty()
                  ? ""
                  : "<h2>The measurement at start</h2>\n" + html_table(words_of(matrix.starts, kStarts)))
           + "</body></html>\n";
}

nlohmann::json document_of(const Matrix &matrix)
{
    nlohmann::json cells = nlohmann::json::array();
    for (const Cell &c : matrix.cells) {
        nlohmann::json cell = {{"regime", c.regime}, {"messages", c.messages},
                               {"bytes", c.bytes},   {"fsbml_us", c.fsbml_us},
                               {"best", c.best},     {"best_us", c.best_us},
                               {"ratio", c.ratio},   {"low", c.low},
                               {"high", c.high},     {"verdict", word_of(c.verdict)}};
        if (c.r2 > 0.0) {
            cell["r2_ratio"] = c.r2;
        }
        cells.push_back(std::move(cell));
    }
    nlohmann::json starts = nlohmann::json::array();
    for (const Starts &s : matrix.starts) {
        starts.push_back({{"regime", s.regime},
                          {"starts", s.starts},
                          {"rails", s.rails},
                          {"without", s.without},
                          {"disturbed", s.disturbed},
                          {"off", s.off},
                          {"far_off", s.far_off},
                          {"worst", s.worst}});
    }
    return {{"schema", "fsbml-matrix-1"},
            {"setting", matrix.setting},
            {"cells", cells},
            {"starts", starts},
            {"conclusion", conclusion(matrix)}};
}

} // namespace fsbml::matrix
