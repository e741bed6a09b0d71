// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "whatif.hpp"

#include "records/records.hpp"
#include "tools/text/text.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace fsbml::whatif
{
using bench::rate_text;

namespace
{

// A rate is that of the wire. Of a frame of 1514 bytes, tcp has 1448 for data (as `calibrate` has it).
constexpr double kFrame = 1514.0 / 1448.0;
constexpr double kMostTimes = 1e6;

[[noreturn]] void refuse(const std::string &why)
{
    throw std::invalid_argument(why);
}

double number_of(const std::string &text, const bench::Units &units, const std::string &example)
{
    const std::optional<double> value = bench::quantity(text, units);
    if (!value) {
        refuse(fmt::format("'{}' is not like {}", text, example));
    }
    return *value;
}

Rails::iterator find(Rails &rails, const std::string &name)
{
    return std::find_if(rails.begin(), rails.end(), [&](const Rail &rail) { return rail.name == name; });
}

Rails::iterator known(Rails &rails, const std::string &name)
{
    const auto rail = find(rails, name);
    if (rail == rails.end()) {
        refuse(fmt::format("there is no rail '{}' among {}", name, bench::names_of(rails)));
    }
    return rail;
}

double slope(const fsbml_loggp_t &p)
{
    return p.break_bytes > 0 ? p.G_above_ns_per_byte : p.G_ns_per_byte;
}

// Scales the bytes that a rail carries in a time. A message costs its g as before, and what a bucket holds
// are bytes.
void speed_up(fsbml_loggp_t &p, double times)
{
    p.G_ns_per_byte /= times;
    p.G_above_ns_per_byte /= times;
    p.g_above_ns = p.break_bytes > 0 ? p.g_ns + std::max(0.0, p.g_above_ns - p.g_ns) / times : p.g_above_ns;
    p.burst_ns /= times;
}

void check_rail(const Rail &rail)
{
    if (!fsbml_loggp_valid(&rail.params)) {
        refuse(fmt::format("rail '{}' would have parameters that are out of range", rail.name));
    }
}

std::string ordinal(std::size_t n)
{
    static const char *const words[] = {"first", "second", "third", "fourth", "fifth", "sixth"};
    return n <= std::size(words) ? words[n - 1] : fmt::format("{}th", n);
}

std::map<std::string, std::string> words_of(const std::string &spec)
{
    std::map<std::string, std::string> words;
    std::istringstream items(spec);
    for (std::string item; std::getline(items, item, ',');) {
        const std::size_t at = item.find('=');
        const std::string key = item.substr(0, at);
        if (at == std::string::npos || at + 1 == item.size()) {
            refuse(fmt::format("--rail '{}': '{}' is not KEY=VALUE, such as rate=10gbit", spec, item));
        }
        if (key != "name" && key != "rate" && key != "delay" && key != "overhead" && key != "gap"
            && key != "like") {
            refuse(
                fmt::format("--rail '{}': unknown key '{}'; known: name, rate, delay, overhead, gap and like",
                            spec, key));
        }
        if (!words.emplace(key, item.substr(at + 1)).second) {
            refuse(fmt::format("--rail '{}': {} is given twice", spec, key));
        }
    }
    return words;
}

std::string free_name(Rails &rails)
{
    for (std::size_t n = rails.size();; ++n) {
        const std::string name = fmt::format("rail{}", n);
        if (find(rails, name) == rails.end()) {
            return name;
        }
    }
}

} // namespace

double nanoseconds_of(const std::string &text)
{
    return number_of(text, bench::time_units, "20us (ns, us, ms or s)");
}

double rate_of(const Rail &rail)
{
    return kFrame * 8e9 / slope(rail.params);
}

Rails read_rails(const std::string &file)
{
    std::ifstream stream(file);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf())) {
        throw std::runtime_error(fmt::format("cannot read the table '{}'", file));
    }
    fsbml_table_t table{};
    std::string reason;
    if (0 != table_from_file(table, text.str(), nullptr, reason)) {
        throw std::runtime_error(fmt::format("'{}' is no table of rails: {}", file, reason));
    }
    Rails rails;
    for (std::uint32_t r = 0; r < table.n_rails; ++r) {
        const fsbml_table_rail_t &rail = table.rail[r];
        if (!rail.fit.valid) {
            throw std::runtime_error(fmt::format("'{}': rail {} was not measured", file, rail.name));
        }
        if (find(rails, rail.name) != rails.end()) {
            throw std::runtime_error(fmt::format("'{}': two rails have the name {}", file, rail.name));
        }
        rails.push_back({rail.name, rail.fit.params, rail.fit.duplex, rail.fit.residual});
    }
    return rails;
}

std::string put_rail(Rails &rails, const std::string &spec)
{
    auto words = words_of(spec);
    const std::string name = words.count("name") > 0 ? words["name"] : free_name(rails);
    const auto old = find(rails, name);
    const bool added = old == rails.end();
    // What is not said of a new rail is as with the fastest one.
    const auto fastest = std::min_element(rails.begin(), rails.end(), [](const Rail &a, const Rail &b) {
        return slope(a.params) < slope(b.params);
    });
    Rail rail = words.count("like") > 0 ? *known(rails, words["like"]) : added ? *fastest : *old;
    rail.name = name;
    fsbml_loggp_t &p = rail.params;
    std::string wire = rate_text(rate_of(rail));
    if (words.count("rate") > 0) {
        const double rate = number_of(words["rate"], bench::rate_units, "10gbit (kbit, mbit or gbit)");
        if (!(rate > 0)) {
            refuse(fmt::format("--rail '{}': a rate of 0", spec));
        }
        speed_up(p, slope(p) / (kFrame * 8e9 / rate));
        wire = rate_text(rate);
    } else if (added && words.count("like") == 0) {
        refuse(fmt::format("--rail '{}': a new rail needs a rate, such as rate=10gbit, or like=RAIL", spec));
    }
    p.L_ns = words.count("delay") > 0 ? nanoseconds_of(words["delay"]) : p.L_ns;
    if (words.count("overhead") > 0) {
        p.o_s_ns = p.o_r_ns = nanoseconds_of(words["overhead"]);
    }
    p.g_ns = words.count("gap") > 0 ? nanoseconds_of(words["gap"]) : p.g_ns;
    check_rail(rail);
    if (!added) {
        *old = rail;
        return words.count("rate") > 0 ? fmt::format("giving {} {}", name, wire) : "changing " + name;
    }
    if (rails.size() == FSBML_MAX_RAILS) {
        refuse(fmt::format("more than {} rails", FSBML_MAX_RAILS));
    }
    rails.push_back(rail);
    return fmt::format("a {} {} rail", ordinal(rails.size()), wire);
}

std::string make_faster(Rails &rails, const std::string &words)
{
    const std::size_t at = words.rfind('=');
    if (at == std::string::npos || at == 0) {
        refuse(fmt::format("--faster '{}' is not RAIL=TIMES, such as eth1=2", words));
    }
    const double times = number_of(words.substr(at + 1), {{"", 1}}, "2 or 1.5");
    if (!(times >= 1 / kMostTimes) || times > kMostTimes) {
        refuse(fmt::format("--faster '{}': that factor is out of range", words));
    }
    Rail &rail = *known(rails, words.substr(0, at));
    speed_up(rail.params, times);
    check_rail(rail);
    return fmt::format("making {} {:g} times as fast", rail.name, times);
}

std::string leave_out(Rails &rails, const std::string &name)
{
    const auto rail = known(rails, name);
    if (rails.size() == 1) {
        refuse(fmt::format("without {} there is no rail left", name));
    }
    rails.erase(rail);
    return "leaving out " + name;
}

bool half_duplex(const Rails &rails)
{
    return std::all_of(rails.begin(), rails.end(), [](const Rail &rail) { return rail.duplex > 1.5; });
}

} // namespace fsbml::whatif
