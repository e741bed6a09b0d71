// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "points.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

namespace fsbml::bench
{

Traffic interface_bytes()
{
    std::ifstream table("/proc/self/net/dev");
    return read_interface_bytes(table);
}

Traffic read_interface_bytes(std::istream &table)
{
    Traffic traffic;
    for (std::string line; std::getline(table, line);) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) {
            continue; // one of the two headings
        }
        std::string name = line.substr(0, colon);
        name.erase(0, name.find_first_not_of(' '));
        // The name goes into JSON as it is.
        const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
            return std::isgraph(c) != 0 && c != '"' && c != '\\';
        });
        // Eight columns of what was received, then what was sent.
        std::istringstream numbers(line.substr(colon + 1));
        std::uint64_t bytes = 0;
        int column = 0;
        while (column < 9 && numbers >> bytes) {
            ++column;
        }
        if (plain && column == 9) {
            traffic[name] = bytes;
        }
    }
    return traffic;
}

std::string traffic_text(const Traffic &traffic)
{
    std::string text;
    for (const auto &[name, bytes] : traffic) {
        const std::string item = name + ' ' + std::to_string(bytes) + '\n';
        if (text.size() + item.size() < static_cast<std::size_t>(traffic_text_size)) {
            text += item;
        }
    }
    text.resize(traffic_text_size, '\0');
    return text;
}

void add_traffic_text(const char *text, Traffic &sum)
{
    std::istringstream items{std::string(text)};
    std::uint64_t bytes = 0;
    for (std::string name; items >> name >> bytes;) {
        sum[name] += bytes;
    }
}

Traffic traffic_between(const Traffic &before, const Traffic &after)
{
    Traffic difference;
    for (const auto &[name, bytes] : after) {
        auto earlier = before.find(name);
        if (earlier != before.end() && bytes > earlier->second) {
            difference[name] = bytes - earlier->second;
        }
    }
    return difference;
}

} // namespace fsbml::bench
