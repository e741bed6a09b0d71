// One table of many benchmarks: each regime's, and how the measurements at start came out.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "matrix.hpp"

#include "tools/launch/command.hpp"
#include "tools/text/text.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace
{

using namespace fsbml::matrix;

struct Request {
    std::vector<std::string> cells;
    std::vector<std::string> starts;
    std::string setting;
    std::string json;
    std::string html, leaflet;
    std::vector<std::string> about;
};

std::string read(const std::string &file)
{
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream) {
        throw std::runtime_error(fmt::format("cannot read '{}'", file));
    }
    return text.str();
}

// NAME=REST.
std::pair<std::string, std::string> parted(const std::string &word)
{
    const std::size_t at = word.find('=');
    if (at == std::string::npos || at == 0) {
        throw std::runtime_error(fmt::format("'{}' is not like NAME=FILE", word));
    }
    return {word.substr(0, at), word.substr(at + 1)};
}

void add_options(CLI::App &app, Request &request)
{
    app.add_option("--cells", request.cells,
                   "a regime's benchmark: NAME=FILE, FILE as `bench --json` writes it");
    app.add_option(
        "--starts", request.starts,
        "a regime's starts: NAME=G,G,...:FILE, with the ns/byte that the rails are set to (0: not known), "
        "FILE with the tables that jobs printed");
    app.add_option("--setting", request.setting, "what stands above the table");
    app.add_option("--json", request.json, "write everything to this file; - is stdout");
    app.add_option("--html", request.html, "write a page to this file");
    app.add_option("--leaflet", request.leaflet, "write a page to hand round to this file");
    app.add_option("--about", request.about, "a regime's rails in words: NAME=WORDS");
}

void work(const Request &request)
{
    Matrix matrix;
    matrix.setting = request.setting;
    for (const std::string &word : request.cells) {
        const auto [name, file] = parted(word);
        const std::vector<Cell> cells = cells_of(name, nlohmann::json::parse(read(file)));
        matrix.cells.insert(matrix.cells.end(), cells.begin(), cells.end());
    }
    for (const std::string &word : request.starts) {
        const auto [name, rest] = parted(word);
        const std::size_t at = rest.find(':');
        std::vector<double> set;
        std::istringstream values(rest.substr(0, at));
        for (std::string value; std::getline(values, value, ',');) {
            set.push_back(std::stod(value));
        }
        matrix.starts.push_back(starts_of(name, read(rest.substr(at + 1)), set));
    }
    for (const std::string &word : request.about) {
        matrix.about.push_back(parted(word));
    }
    if (request.json != "-") {
        fmt::print("{}", text_of(matrix));
    }
    if (!request.json.empty()) {
        fsbml::bench::write(request.json, document_of(matrix).dump(1) + '\n');
    }
    if (!request.html.empty()) {
        fsbml::bench::write(request.html, page_of(matrix));
    }
    if (!request.leaflet.empty()) {
        fsbml::bench::write(request.leaflet, leaflet_of(matrix));
    }
}

} // namespace

int main(int argc, char **argv)
{
    Request request;
    CLI::App app("Makes one table of the benchmarks of many regimes. `fsbml bench matrix` calls it.",
                 "matrix");
    add_options(app, request);
    return fsbml::bench::run_command(app, argc, argv, [&] { work(request); });
}
