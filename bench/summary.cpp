// From the benchmarks' output to a table, one plain sentence, and whether the bars are met.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "bars.hpp"
#include "bench.hpp"

#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace
{

using namespace fsbml::bench;

const char *const usage = "usage: summary --experiment NAME --setting TEXT [--bars] [--brief] [--rail-table "
                          "FILE] [--json FILE] RESULTS\n\n"
                          "RESULTS holds the lines that the benchmarks print with --json, of all launches. "
                          "Arms are named r2, fsbml,\n"
                          "and anything else for one rail alone.\n\n"
                          "  --experiment NAME    onetoone, equal, single or collectives\n"
                          "  --setting TEXT       what was measured on, for the heading\n"
                          "  --bars               judge the results by the experiment's bars\n"
                          "  --brief              the table only\n"
                          "  --rail-table FILE    what FSBML said of the rails\n"
                          "  --json FILE          write everything, with all samples\n";

struct Options {
    std::string experiment, setting, rail_table, json, results;
    bool bars = false;
    bool brief = false;
};

bool parse(int argc, char **argv, Options &options)
{
    const option known[] = {{"experiment", required_argument, nullptr, 'e'},
                            {"setting", required_argument, nullptr, 's'},
                            {"bars", no_argument, nullptr, 'b'},
                            {"brief", no_argument, nullptr, 'B'},
                            {"rail-table", required_argument, nullptr, 'r'},
                            {"json", required_argument, nullptr, 'j'},
                            {nullptr, 0, nullptr, 0}};
    for (int option = 0; (option = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
        switch (option) {
        case 'e':
            options.experiment = optarg;
            break;
        case 's':
            options.setting = optarg;
            break;
        case 'b':
            options.bars = true;
            break;
        case 'B':
            options.brief = true;
            break;
        case 'r':
            options.rail_table = optarg;
            break;
        case 'j':
            options.json = optarg;
            break;
        default:
            return false;
        }
    }
    if (optind + 1 != argc) {
        return false;
    }
    options.results = argv[optind];
    return true;
}

// All arms that are neither r2 nor fsbml: one rail alone.
std::vector<std::string> rail_arms(const Results &results)
{
    std::vector<std::string> rails;
    for (const std::string &arm : results.arms()) {
        if (arm != "r2" && arm != "fsbml") {
            rails.push_back(arm);
        }
    }
    std::sort(rails.begin(), rails.end());
    return rails;
}

void print_cell(const std::optional<Figure> &figure)
{
    if (figure) {
        double percent = std::min(figure->spread * 100, 9999.0);
        std::printf("  %9.*f ±%4.*f%%", figure->median_us < 10 ? 2 : 1, figure->median_us,
                    percent < 99.95 ? 1 : 0, percent);
    } else {
        std::printf("  %16s", "-");
    }
}

void print_ratio(const std::optional<Ratio> &ratio)
{
    if (ratio) {
        std::printf("  %10.2f", ratio->median);
    } else {
        std::printf("  %10s", "-");
    }
}

void print_table(const Results &results, const std::vector<std::string> &rails)
{
    // With one rail there is no rail alone to compare with but r2 on it.
    std::vector<std::string> columns = rails;
    columns.insert(columns.end(), {"r2", "fsbml"});
    bool exchange = !results.places().empty() && results.places().front().operation == "exchange";
    std::printf(exchange ? "%8s %7s" : "%9s %6s", exchange ? "messages" : "operation", "bytes");
    for (const std::string &arm : columns) {
        bool rail = arm != "r2" && arm != "fsbml";
        std::printf("  %16s", (rail ? arm + " alone" : arm).c_str());
    }
    std::printf(rails.empty() ? "  %10s\n" : "  %10s  %10s\n", rails.empty() ? "fsbml/r2" : "fsbml/best",
                "r2/fsbml");
    int messages = -1;
    for (const Place &place : results.places()) {
        if (exchange && place.messages != messages && messages != -1) {
            std::printf("\n");
        }
        messages = place.messages;
        std::string first = exchange ? std::to_string(place.messages) : place.operation;
        std::printf(exchange ? "%8s %7zu" : "%9s %6zu", first.c_str(), place.bytes);
        for (const std::string &arm : columns) {
            print_cell(results.at(arm, place));
        }
        if (rails.empty()) {
            print_ratio(results.ratio("fsbml", "r2", place));
        } else {
            print_ratio(ratio_to_best(results, "fsbml", rails, place));
            print_ratio(results.ratio("r2", "fsbml", place));
        }
        std::printf("\n");
    }
}

// The rows of FSBML's own table: the columns are named in its heading, the rails stand first in their rows.
std::vector<MeasuredRail> measured_rails(const std::string &file, const std::vector<std::string> &rails)
{
    std::vector<MeasuredRail> measured;
    std::ifstream lines(file);
    // name, key, L, o_s, o_r, g, G
    const int column = 6;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::vector<std::string> fields;
        for (std::string word; words >> word;) {
            fields.push_back(word);
        }
        if (fields.size() <= column || std::find(rails.begin(), rails.end(), fields[0]) == rails.end()) {
            continue;
        }
        std::istringstream number(fields[column]);
        MeasuredRail rail{fields[0], 0};
        if (number >> rail.ns_per_byte) {
            measured.push_back(rail);
        }
    }
    return measured;
}

// How the results read in one sentence, whichever way they went. The place in the middle is the one with the
// most messages of 4 KiB (of what there is), the whole range stands beside it.
std::string sentence(const Results &results, const std::vector<std::string> &rails)
{
    const std::vector<std::string> against = rails.empty() ? std::vector<std::string>{"r2"} : rails;
    const std::string other = rails.empty() ? "r2 on the same rail" : "the best rail alone";
    std::vector<double> ratios;
    std::optional<Place> shown;
    for (const Place &place : results.places()) {
        std::optional<Ratio> ratio = ratio_to_best(results, "fsbml", against, place);
        if (!ratio) {
            continue;
        }
        ratios.push_back(ratio->median);
        if (place.bytes <= 4096
            && (!shown || std::tie(place.bytes, place.messages) > std::tie(shown->bytes, shown->messages))) {
            shown = place;
        }
    }
    if (ratios.empty() || !shown) {
        return "There is nothing to compare: fsbml or what it is compared with was not measured.";
    }
    Figure ours = *results.at("fsbml", *shown);
    Figure theirs = *best(results, against, *shown);
    const Ratio compared = *ratio_to_best(results, "fsbml", against, *shown);
    const double ratio = compared.median;
    // Less than a percent is no difference that one would notice, however steady the launches.
    const double noise = std::max(compared.spread, 0.01);
    char text[512];
    const char *verb = ratio < 1 - noise ? "faster than" : ratio > 1 + noise ? "SLOWER than" : "as fast as";
    std::string where =
        shown->operation == "exchange"
            ? std::to_string(shown->messages) + " messages of " + std::to_string(shown->bytes) + " bytes"
            : shown->operation + " of " + std::to_string(shown->bytes) + " bytes";
    std::snprintf(text, sizeof text,
                  "With %s, FSBML is %s %s: %.1f us against %.1f us, %.2f times its time (%.2f to %.2f over "
                  "all %zu points)",
                  where.c_str(), verb, other.c_str(), ours.median_us, theirs.median_us, ratio,
                  *std::min_element(ratios.begin(), ratios.end()),
                  *std::max_element(ratios.begin(), ratios.end()), ratios.size());
    std::string whole = text;
    std::optional<Figure> r2 = results.at("r2", *shown);
    std::optional<Ratio> r2_ratio = results.ratio("r2", "fsbml", *shown);
    if (!rails.empty() && r2 && r2_ratio) {
        std::snprintf(text, sizeof text, "; r2 on all rails takes %.1f us, %.1f times as long as FSBML",
                      r2->median_us, r2_ratio->median);
        whole += text;
    }
    return whole + ".";
}

// The spread that a quarter of all points exceeds: large where something else had the processor, which may be
// only at times.
double typical_spread(const Results &results)
{
    std::vector<double> spreads;
    for (const Place &place : results.places()) {
        for (const std::string &arm : results.arms()) {
            if (std::optional<Figure> figure = results.at(arm, place)) {
                spreads.push_back(figure->spread);
            }
        }
    }
    return spreads.empty() ? 0 : quantile(spreads, 0.75);
}

void print_rail_table(const std::string &name)
{
    std::ifstream lines(name);
    if (lines.peek() == std::ifstream::traits_type::eof()) {
        std::printf(
            "\nFSBML measured no rails: it does so only where two nodes share at least two of them.\n");
        return;
    }
    std::printf("\nThe rails as FSBML measured them when MPI started:\n");
    for (std::string line; std::getline(lines, line);) {
        std::printf("  %s\n", line.c_str());
    }
}

nlohmann::json as_json(const Options &options, const Results &results, const std::vector<Verdict> &verdicts)
{
    nlohmann::json all{
        {"experiment", options.experiment}, {"setting", options.setting}, {"launches", results.lines()}};
    all["bars"] = nlohmann::json::array();
    for (const Verdict &verdict : verdicts) {
        all["bars"].push_back({{"bar", verdict.bar}, {"met", verdict.met}, {"figures", verdict.figures}});
    }
    std::ifstream table(options.rail_table);
    all["rail_table"] = nlohmann::json::array();
    for (std::string line; std::getline(table, line);) {
        all["rail_table"].push_back(line);
    }
    return all;
}

int summarise(const Options &options)
{
    Results results;
    std::ifstream file(options.results);
    if (!file) {
        std::fprintf(stderr, "summary: cannot read '%s'\n", options.results.c_str());
        return 1;
    }
    results.read(file);
    const std::vector<std::string> rails = rail_arms(results);
    std::printf("\n%s\nmedian time of %s in us, ± half the distance of the quartiles over launches;\n"
                "ratios are medians over the rounds\n\n",
                options.setting.c_str(), options.experiment == "collectives" ? "an operation" : "a message");
    print_table(results, rails);
    if (options.brief) {
        return 0;
    }
    print_rail_table(options.rail_table);
    std::vector<Verdict> verdicts;
    if (options.bars) {
        verdicts = judge(options.experiment, results, rails, measured_rails(options.rail_table, rails));
        std::printf("\nBars:\n");
        for (const Verdict &verdict : verdicts) {
            std::printf("  %-7s %-52s %s\n", verdict.met ? "met" : "NOT MET", verdict.bar.c_str(),
                        verdict.figures.c_str());
        }
    }
    std::printf("\n%s\n", sentence(results, rails).c_str());
    if (double spread = typical_spread(results); spread > 0.1) {
        std::printf(
            "Beware: at a quarter of all points the launches differ by more than %.0f %%; was the machine "
            "busy with something else?\n",
            spread * 100);
    }
    if (!options.json.empty()) {
        std::ofstream out(options.json);
        out << as_json(options, results, verdicts).dump(1) << '\n';
        if (!out.flush()) {
            std::fprintf(stderr, "summary: cannot write '%s'\n", options.json.c_str());
            return 1;
        }
    }
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    Options options;
    if (!parse(argc, argv, options)) {
        std::fputs(usage, stderr);
        return 2;
    }
    try {
        return summarise(options);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "summary: %s: %s\n", options.results.c_str(), error.what());
        return 1;
    }
}
