// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "forms.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fsbml::matrix
{

namespace
{

constexpr const char *kHeads[] = {"regime", "messages",   "bytes",    "fsbml us", "best us",
                                  "best",   "fsbml/best", "fsbml/r2", "verdict"};

std::vector<std::string> words_of(const Cell &c)
{
    return {c.regime,
            fmt::format("{}", c.messages),
            fmt::format("{}", c.bytes),
            fmt::format("{:.4g}", c.fsbml_us),
            fmt::format("{:.4g}", c.best_us),
            c.best.compare(0, 3, "r2:") == 0 ? "r2 told" : c.best, // its parameters are the regime's rates
            fmt::format("{:.2f} ({:.2f}-{:.2f})", c.ratio, c.low, c.high),
            c.r2 > 0.0 ? fmt::format("{:.2f}", c.r2) : "-",
            name_of(c.verdict)};
}

constexpr const char *kStartHeads[] = {"regime",    "starts",     "rails",      "without parameters",
                                       "disturbed", "> 10 % off", "> 30 % off", "worst/set"};

std::vector<std::string> words_of(const Starts &s)
{
    return {s.regime,
            fmt::format("{}", s.starts),
            fmt::format("{}", s.rails),
            fmt::format("{}", s.without),
            fmt::format("{}", s.disturbed),
            fmt::format("{}", s.off),
            fmt::format("{}", s.far_off),
            fmt::format("{:.2f}", s.worst)};
}

template <class Rows, std::size_t N>
std::string table(const Rows &rows, const char *const (&heads)[N])
{
    std::vector<std::vector<std::string>> lines{{heads, heads + N}};
    for (const auto &row : rows) {
        lines.push_back(words_of(row));
    }
    std::string text;
    for (const std::vector<std::string> &line : lines) {
        for (std::size_t i = 0; i < N; ++i) {
            std::size_t width = 0;
            for (const std::vector<std::string> &other : lines) {
                width = std::max(width, other[i].size());
            }
            text += i == 0 ? fmt::format("{:<{}}", line[i], width) : fmt::format("  {:>{}}", line[i], width);
        }
        text += '\n';
    }
    return text;
}

template <class Rows, std::size_t N>
std::string html_table(const Rows &rows, const char *const (&heads)[N])
{
    std::string text = "<table><tr>";
    for (const char *head : heads) {
        text += fmt::format("<th>{}</th>", head);
    }
    text += "</tr>\n";
    for (const auto &row : rows) {
        const std::vector<std::string> words = words_of(row);
        text += fmt::format("<tr class=\"{}\">", words.back());
        for (const std::string &word : words) {
            text += fmt::format("<td>{}</td>", word);
        }
        text += "</tr>\n";
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
    std::string text = matrix.setting + "\n\n" + table(matrix.cells, kHeads) + '\n';
    if (!matrix.starts.empty()) {
        text += "The measurement at start, by the rates that the rails are set to:\n"
                + table(matrix.starts, kStartHeads) + '\n';
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
           + html_table(matrix.cells, kHeads)
           + (matrix.starts.empty()
                  ? ""
                  : "<h2>The measurement at start</h2>\n" + html_table(matrix.starts, kStartHeads))
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
                               {"high", c.high},     {"verdict", name_of(c.verdict)}};
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
