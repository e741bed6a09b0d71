// Words in columns, and in lines.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#pragma once

#include <string>
#include <vector>

namespace fsbml::bench
{

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

} // namespace fsbml::bench
