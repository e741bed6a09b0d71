// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "arms.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <sstream>

namespace fsbml::bench
{
namespace
{

struct Line {
    std::string origin; // [host:pid]
    std::string text;
};

std::optional<Line> fsbml_line(const std::string &line)
{
    const std::string mark = "] fsbml: ";
    const std::size_t end = line.find(mark);
    if (line.empty() || line[0] != '[' || end == std::string::npos) {
        return std::nullopt;
    }
    return Line{line.substr(0, end + 1), line.substr(end + mark.size())};
}

std::vector<std::string> words_of(const std::string &text)
{
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    return words;
}

bool is_heading(const std::vector<std::string> &words)
{
    return words.size() > 1 && words[0] == "rail" && words[1] == "key";
}

// name, key, L, o_s, o_r, g, G and more
std::optional<MeasuredRail> row_of(const std::vector<std::string> &words)
{
    if (words.size() < 8 || words[1].find_first_of(":#") == std::string::npos) {
        return std::nullopt;
    }
    MeasuredRail rail{words[0], words[1], 0, 0, 0, 0, 0};
    double *const numbers[] = {&rail.latency_us, &rail.overhead_send_us, &rail.overhead_receive_us,
                               &rail.gap_us, &rail.ns_per_byte};
    for (std::size_t i = 0; i < 5; ++i) {
        std::istringstream number(words[i + 2]);
        if (!(number >> *numbers[i]) || !number.eof()) {
            return std::nullopt;
        }
    }
    return rail;
}

} // namespace

RailTable read_rail_table(std::istream &log)
{
    RailTable table;
    std::string origin;
    bool ended = false;
    for (std::string text; std::getline(log, text);) {
        const std::optional<Line> line = fsbml_line(text);
        if (!line) {
            continue;
        }
        const std::vector<std::string> words = words_of(line->text);
        if (origin.empty() && is_heading(words)) {
            origin = line->origin;
            table.lines.push_back(line->text);
        } else if (line->origin == origin && !ended) {
            const std::optional<MeasuredRail> rail = row_of(words);
            // What is noted of a rail begins with its name and a colon.
            const bool note =
                !words.empty()
                && std::any_of(table.rails.begin(), table.rails.end(),
                               [&](const MeasuredRail &known) { return words[0] == known.name + ":"; });
            if (rail) {
                table.rails.push_back(*rail);
            }
            if (rail || note) {
                table.lines.push_back(line->text);
            } else {
                ended = true;
            }
        }
    }
    return table;
}

} // namespace fsbml::bench
