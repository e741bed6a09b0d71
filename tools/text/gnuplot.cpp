// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "text.hpp"

#include "tools/launch/launch.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

const char *const style =
    "set encoding utf8\nset grid linecolor rgb \"#dddddd\"\nset border 3\nset tics nomirror\n";

} // namespace

std::string quoted(const std::string &text)
{
    std::string safe;
    for (char c : text) {
        safe += c == '"' ? '\'' : c;
    }
    return '"' + safe + "\" noenhanced";
}

std::string file_part(const std::string &text)
{
    std::string part;
    for (char c : text) {
        part += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
    }
    return part;
}

std::string size_axis(const std::set<std::size_t> &sizes)
{
    std::string tics;
    std::size_t last = 0;
    for (std::size_t size : sizes) {
        // Labels need some room on a logarithmic axis.
        if (last != 0 && size < 2 * last) {
            continue;
        }
        last = std::max<std::size_t>(size, 1);
        const std::string label = size >= 1048576 && size % 1048576 == 0
                                      ? fmt::format("{} MiB", size / 1048576)
                                  : size >= 1024 && size % 1024 == 0 ? fmt::format("{} KiB", size / 1024)
                                                                     : fmt::format("{} B", size);
        tics += fmt::format("{}\"{}\" {}", tics.empty() ? "" : ", ", label, std::max<std::size_t>(size, 1));
    }
    // Somewhat wider than the sizes, or gnuplot leaves out the labels at both ends.
    return fmt::format("set xrange [{}:{}]\n",
                       static_cast<double>(std::max<std::size_t>(*sizes.begin(), 1)) / 1.3,
                       static_cast<double>(std::max<std::size_t>(*sizes.rbegin(), 1)) * 1.3)
           + "set logscale x 2\nset xlabel \"size of a message\"\nset xtics (" + tics + ") rotate by -30\n";
}

std::vector<std::string> draw(const std::vector<Plot> &plots, const std::string &folder)
{
    namespace fs = std::filesystem;
    fs::create_directories(folder);
    std::vector<std::string> files;
    for (const Plot &plot : plots) {
        const std::string base = (fs::path(folder) / plot.name).string();
        write(base + ".gp",
              fmt::format("{}set terminal svg size 900,560 font \"Helvetica,13\" background \"white\"\n"
                          "set output \"{}.svg\"\n{}set terminal pngcairo size 900,560 font \"Sans,11\"\n"
                          "set output \"{}.png\"\nreplot\nset output\n",
                          style, plot.name, plot.script, plot.name));
        const Launch launch{
            {"env", "-C", folder, "gnuplot", plot.name + ".gp"}, "/dev/null", base + ".log", 60};
        const Outcome outcome = run(launch, [] {});
        if (outcome.end != End::success) {
            throw std::runtime_error(fmt::format("gnuplot failed with status {} on '{}.gp': {}",
                                                 outcome.status, base, last_lines(base + ".log", 3)));
        }
        fs::remove(base + ".log");
        files.push_back(base + ".svg");
        files.push_back(base + ".png");
    }
    return files;
}

} // namespace fsbml::bench
