// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "calibrate.hpp"

#include "tools/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

// Of a frame of 1514 bytes, tcp has 1448 for data (with time stamps).
constexpr double frame = 1514.0 / 1448.0;

double known_quantity(const std::string &text, const Units &units)
{
    const std::optional<double> value = quantity(text, units);
    if (!value) {
        throw std::invalid_argument(fmt::format("'{}' is no quantity with a unit that is known", text));
    }
    return *value;
}

// A rail of a run, by its key.
const fsbml_table_rail_t *find(const Run &run, const std::string &key, std::size_t &index)
{
    for (index = 0; index < run.table.n_rails; ++index) {
        if (key == run.table.rail[index].key) {
            return &run.table.rail[index];
        }
    }
    return nullptr;
}

std::optional<double> known_median(const std::vector<double> &values)
{
    return values.empty() ? std::nullopt : std::optional<double>(median(values));
}

std::optional<Estimate> known_estimate(const std::vector<double> &values)
{
    return values.empty() ? std::nullopt : std::optional<Estimate>(estimate_of(values));
}

// The notes of all runs, each once.
void note(RailFindings &rail, const std::string &text)
{
    if (!text.empty() && std::find(rail.notes.begin(), rail.notes.end(), text) == rail.notes.end()) {
        rail.notes.push_back(text);
    }
}

// How far a run's parameters are from the medians, those count that differ at all.
double distance(const RailFindings &rail, const fsbml_loggp_t &p)
{
    double sum = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Estimate &e = rail.value[i];
        sum += e.most > 0 ? std::abs(p.*parameters[i].value - e.median) / e.most : 0;
    }
    return sum;
}

void choose_typical(const std::vector<Run> &runs, RailFindings &rail)
{
    double least = std::numeric_limits<double>::infinity();
    for (const Run &run : runs) {
        std::size_t index = 0;
        const fsbml_table_rail_t *found = find(run, rail.key, index);
        if (found != nullptr && found->fit.valid && distance(rail, found->fit.params) < least) {
            least = distance(rail, found->fit.params);
            rail.typical = found->fit;
        }
    }
}

RailFindings rail_of(const std::vector<Run> &runs, const fsbml_table_rail_t &first)
{
    RailFindings rail;
    rail.name = first.name;
    rail.key = first.key;
    rail.valid = true;
    std::array<std::vector<double>, parameters.size()> value, low, high;
    std::vector<double> residual, probes, sent, time, back, duplex, together;
    for (const Run &run : runs) {
        std::size_t index = 0;
        const fsbml_table_rail_t *found = find(run, rail.key, index);
        if (found == nullptr || !found->fit.valid) {
            rail.valid = false;
            rail.failure = found == nullptr ? "it was not there in every calibration" : found->fit.reason;
            note(rail, rail.failure);
            continue;
        }
        const fsbml_fit_t &fit = found->fit;
        note(rail, fit.reason);
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            value[i].push_back(fit.params.*parameters[i].value);
            if (fit.high.G_ns_per_byte > 0) {
                low[i].push_back(fit.low.*parameters[i].value);
                high[i].push_back(fit.high.*parameters[i].value);
            }
        }
        residual.push_back(fit.residual);
        probes.push_back(run.cost[index].probes);
        sent.push_back(run.cost[index].bytes);
        time.push_back(run.cost[index].time_ns);
        rail.tight += fit.tight ? 1 : 0;
        const auto keep = [](std::vector<double> &list, double figure) {
            if (figure > 0) {
                list.push_back(figure);
            }
        };
        keep(back, fit.back.G_ns_per_byte);
        keep(duplex, fit.duplex);
        keep(together, fit.together);
        for (const fsbml_sample_t &s : run.holdout) {
            if (s.probe.rail == index) {
                rail.holdout.push_back({s.probe.packets, s.probe.bytes, static_cast<double>(s.time_ns),
                                        static_cast<double>(s.predicted_ns)});
            }
        }
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        rail.value[i] = estimate_of(value[i]);
        rail.value[i].low = known_median(low[i]);
        rail.value[i].high = known_median(high[i]);
    }
    choose_typical(runs, rail);
    rail.residual = estimate_of(residual);
    rail.probes = estimate_of(probes);
    rail.sent_bytes = estimate_of(sent);
    rail.time_ns = estimate_of(time);
    rail.back_rate = known_estimate(back);
    rail.duplex = known_estimate(duplex);
    rail.together = known_estimate(together);
    return rail;
}

} // namespace

Estimate estimate_of(const std::vector<double> &runs)
{
    Estimate e;
    e.runs = runs;
    if (runs.empty()) {
        return e;
    }
    e.median = median(runs);
    e.spread = (quantile(runs, 0.75) - quantile(runs, 0.25)) / 2;
    for (double value : runs) {
        e.most = std::max(e.most, std::abs(value - e.median));
    }
    return e;
}

double error_of(const Exchange &exchange)
{
    return std::abs(exchange.predicted_ns - exchange.measured_ns) / exchange.measured_ns;
}

Setting setting_of(const std::string &spec)
{
    Setting setting;
    std::istringstream words(spec);
    std::string word;
    std::getline(words, word, ',');
    if (word != "none") {
        setting.ns_per_byte = frame * 8e9 / known_quantity(word, rate_units);
    }
    while (std::getline(words, word, ',')) {
        if (word.compare(0, 6, "delay=") == 0) {
            setting.latency_ns = known_quantity(word.substr(6), time_units);
        }
    }
    return setting;
}

Findings findings_of(const std::string &setting, std::vector<Run> runs,
                     const std::map<std::string, Setting> &set)
{
    Findings findings;
    findings.setting = setting;
    std::vector<double> duration;
    for (const Run &run : runs) {
        duration.push_back(static_cast<double>(run.table.duration_ns));
    }
    findings.duration_ns = estimate_of(duration);
    for (std::uint32_t i = 0; i < runs.at(0).table.n_rails; ++i) {
        findings.rails.push_back(rail_of(runs, runs[0].table.rail[i]));
        RailFindings &rail = findings.rails.back();
        const auto known = set.find(rail.name);
        if (known == set.end()) {
            continue;
        }
        for (std::size_t p = 0; p < parameters.size(); ++p) {
            if (parameters[p].value == &fsbml_loggp_t::L_ns) {
                rail.value[p].set = known->second.latency_ns;
            } else if (parameters[p].value == &fsbml_loggp_t::G_ns_per_byte) {
                rail.value[p].set = known->second.ns_per_byte;
            }
        }
    }
    findings.runs = std::move(runs);
    return findings;
}

fsbml_table_t table_of(const Findings &findings)
{
    fsbml_table_t table = findings.runs.at(0).table;
    for (std::uint32_t i = 0; i < table.n_rails; ++i) {
        table.rail[i].fit = findings.rails[i].typical;
    }
    return table;
}

} // namespace fsbml::bench
