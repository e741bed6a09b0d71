// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "calibrate.hpp"

#include "tools/text/text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

using nlohmann::json;

using Rows = std::vector<std::vector<std::string>>;

// Four significant digits, and not more than two behind the point.
std::string number(double value)
{
    const double size = std::abs(value);
    if (size == 0) {
        return "0";
    }
    if (size < 1) {
        return fmt::format("{:.3g}", value);
    }
    return fmt::format("{:.{}f}", value, size < 100 ? 2 : size < 10000 ? 1 : 0);
}

std::string percent(double part)
{
    const double value = 100 * part;
    return value > 9999 ? "> 9999 %" : fmt::format("{:.{}f} %", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

// Parts of a median that is next to nothing say nothing.
std::string deviation(double off, const Estimate &estimate, const char *unit, double scale)
{
    return off > std::abs(estimate.median) || estimate.median == 0
               ? fmt::format("{} {}", number(off * scale), unit)
               : percent(off / std::abs(estimate.median));
}

// Where something is set to 0, a difference has no percentage.
std::string off_by(const Parameter &parameter, const Estimate &e)
{
    if (!e.set) {
        return "";
    }
    const double off = e.median - *e.set;
    const std::string plain =
        fmt::format("{}{} {}", off < 0 ? "-" : "+", number(std::abs(off) * parameter.scale), parameter.unit);
    const double part = *e.set > 0 ? 100 * off / *e.set : 0;
    return *e.set > 0 && std::abs(part) < 1000 ? fmt::format("{:+.{}f} %", part, std::abs(part) < 10 ? 2 : 1)
                                               : plain;
}

// What is 0 on every rail says nothing, but for the four of LogGP.
bool worth_a_row(std::size_t index, const Findings &findings)
{
    return index < 5
           || std::any_of(findings.rails.begin(), findings.rails.end(),
                          [&](const RailFindings &rail) { return rail.value[index].median > 0; });
}

std::string bytes_text(double bytes)
{
    return bytes < 1e6 ? fmt::format("{:.0f} kB", bytes / 1e3) : fmt::format("{:.2f} MB", bytes / 1e6);
}

std::string ratio_text(const std::optional<Estimate> &ratio)
{
    return ratio ? fmt::format("{:.2f}", ratio->median) : "-";
}

json of(const Estimate &e)
{
    json object = {{"median", e.median}, {"spread", e.spread}, {"farthest", e.most}, {"runs", e.runs}};
    if (e.low && e.high) {
        object["low"] = *e.low;
        object["high"] = *e.high;
    }
    if (e.set) {
        object["set"] = *e.set;
    }
    return object;
}

json of(const RailFindings &rail)
{
    json object = {{"name", rail.name},
                   {"key", rail.key},
                   {"valid", rail.valid},
                   {"notes", rail.notes},
                   {"parameters", json::object()}};
    if (!rail.residual.runs.empty()) {
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            object["parameters"][parameters[i].key] = of(rail.value[i]);
        }
        object["residual"] = of(rail.residual);
        object["probes"] = of(rail.probes);
        object["sent_bytes"] = of(rail.sent_bytes);
        object["time_ns"] = of(rail.time_ns);
        object["tight_runs"] = rail.tight;
    }
    if (rail.back_rate) {
        object["back_G_ns_per_byte"] = of(*rail.back_rate);
    }
    if (rail.duplex) {
        object["duplex"] = of(*rail.duplex);
    }
    if (rail.together) {
        object["together"] = of(*rail.together);
    }
    if (!rail.holdout.empty()) {
        std::vector<double> errors;
        json exchanges = json::array();
        for (const Exchange &exchange : rail.holdout) {
            errors.push_back(error_of(exchange));
            exchanges.push_back({{"n", exchange.packets},
                                 {"s_bytes", exchange.bytes},
                                 {"measured_ns", exchange.measured_ns},
                                 {"predicted_ns", exchange.predicted_ns}});
        }
        object["holdout"] = {{"median_error", median(errors)},
                             {"p95_error", quantile(errors, 0.95)},
                             {"exchanges", exchanges}};
    }
    return object;
}

} // namespace

std::string parameters_table(const Findings &findings)
{
    const bool many = findings.runs.size() > 1;
    bool set = false;
    for (const RailFindings &rail : findings.rails) {
        set =
            set || std::any_of(rail.value.begin(), rail.value.end(), [](const Estimate &e) { return e.set; });
    }
    Rows rows = {{"rail", "parameter", "unit", many ? "median" : "measured"}};
    const auto add = [&rows](const std::vector<std::string> &cells) {
        rows.back().insert(rows.back().end(), cells.begin(), cells.end());
    };
    if (many) {
        add({"± spread", "farthest"});
    }
    add({"90 % from", "to"});
    if (set) {
        add({"set", "off by"});
    }
    for (const RailFindings &rail : findings.rails) {
        if (&rail != &findings.rails.front()) {
            rows.push_back({});
        }
        bool first = true;
        const auto begin = [&](const std::string &name, const std::string &unit) {
            rows.push_back({first ? rail.name : "", name, unit});
            first = false;
        };
        if (rail.value[0].runs.empty()) {
            begin("not measured", "");
            continue;
        }
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (!worth_a_row(i, findings)) {
                continue;
            }
            const Parameter &p = parameters[i];
            const Estimate &e = rail.value[i];
            begin(p.name, p.unit);
            add({number(e.median * p.scale)});
            if (many) {
                add({deviation(e.spread, e, p.unit, p.scale), deviation(e.most, e, p.unit, p.scale)});
            }
            add({e.low ? number(*e.low * p.scale) : "-", e.high ? number(*e.high * p.scale) : "-"});
            if (set) {
                add({e.set ? number(*e.set * p.scale) : "", off_by(p, e)});
            }
            if (p.value == &fsbml_loggp_t::G_ns_per_byte && e.median > 0) {
                const auto rate = [](const std::optional<double> &gap) {
                    return gap && *gap > 0 ? number(1e3 / *gap) : "-";
                };
                begin("     bandwidth, 1/G", "MB/s");
                add({rate(e.median)});
                if (many) {
                    add({"", ""});
                }
                add({rate(e.high), rate(e.low)});
                if (set) {
                    add({e.set ? rate(e.set) : "", ""});
                }
            }
        }
        if (rail.back_rate) {
            begin("G    the other way", "ns/B");
            add({number(rail.back_rate->median)});
            if (many) {
                add({deviation(rail.back_rate->spread, *rail.back_rate, "ns/B", 1),
                     deviation(rail.back_rate->most, *rail.back_rate, "ns/B", 1)});
            }
        }
    }
    // Rows of one length: the table's columns are as wide as what stands in them.
    for (std::vector<std::string> &row : rows) {
        if (!row.empty()) {
            row.resize(rows[0].size());
        }
    }
    return aligned(rows, 3);
}

std::string quality_table(const Findings &findings)
{
    const int all = static_cast<int>(findings.runs.size());
    Rows rows = {
        {"rail", "network", "residual", "probes", "until", "sent", "took", "both ways", "beside others"}};
    for (const RailFindings &rail : findings.rails) {
        if (rail.residual.runs.empty()) {
            continue;
        }
        const std::string until = rail.tight == all ? "tight"
                                  : rail.tight == 0 ? "budget spent"
                                                    : fmt::format("tight in {} of {}", rail.tight, all);
        rows.push_back({rail.name, rail.key, percent(rail.residual.median),
                        fmt::format("{:.0f}", rail.probes.median), until, bytes_text(rail.sent_bytes.median),
                        fmt::format("{:.1f} ms", rail.time_ns.median / 1e6), ratio_text(rail.duplex),
                        ratio_text(rail.together)});
    }
    if (rows.size() == 1) {
        return "";
    }
    // Not of every version of FSBML.
    for (std::size_t column = 8; column >= 7; --column) {
        if (std::all_of(rows.begin() + 1, rows.end(), [&](const auto &row) { return row[column] == "-"; })) {
            for (auto &row : rows) {
                row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
            }
        }
    }
    return aligned(rows, 2);
}

std::string holdout_table(const Findings &findings)
{
    Rows rows = {{"rail", "exchanges", "median error", "95th percentile", "worst", "which"}};
    for (const RailFindings &rail : findings.rails) {
        if (rail.holdout.empty()) {
            continue;
        }
        std::vector<double> errors;
        for (const Exchange &exchange : rail.holdout) {
            errors.push_back(error_of(exchange));
        }
        const auto worst =
            static_cast<std::size_t>(std::max_element(errors.begin(), errors.end()) - errors.begin());
        const Exchange &which = rail.holdout[worst];
        rows.push_back({rail.name, std::to_string(errors.size()), percent(median(errors)),
                        percent(quantile(errors, 0.95)), percent(errors[worst]),
                        fmt::format("{} x {} B took {} us, {} predicted", which.packets, which.bytes,
                                    number(which.measured_ns / 1e3), number(which.predicted_ns / 1e3))});
    }
    return rows.size() > 1 ? aligned(rows, 1) : "";
}

std::string notes_text(const Findings &findings)
{
    std::string text;
    for (const RailFindings &rail : findings.rails) {
        for (const std::string &note : rail.notes) {
            text += fmt::format("{}: {}\n", rail.name, note);
        }
    }
    return text;
}

json record_of(const Findings &findings)
{
    json all = {{"schema", "fsbml-calibrate-1"},
                {"setting", findings.setting},
                {"duration_ns", of(findings.duration_ns)},
                {"rails", json::array()},
                {"reports", json::array()}};
    for (const RailFindings &rail : findings.rails) {
        all["rails"].push_back(of(rail));
    }
    for (const Run &run : findings.runs) {
        all["reports"].push_back(run.document);
    }
    return all;
}

} // namespace fsbml::bench
