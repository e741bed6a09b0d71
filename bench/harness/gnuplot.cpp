// Plots of a run: drawing them with gnuplot.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "launch.hpp"
#include "plots.hpp"
#include "write.hpp"

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
