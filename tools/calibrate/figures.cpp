// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "calibrate.hpp"

#include "model/model.hpp"
#include "tools/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

const char *const measured_color = "#0072b2";
const char *const model_color = "#d55e00";

using Times = std::map<std::pair<unsigned, unsigned>, std::vector<double>>; // by n and s, in us

Times times_of(const Findings &findings, const std::string &key)
{
    Times times;
    for (const Run &run : findings.runs) {
        for (const fsbml_sample_t &s : run.samples) {
            if (key == run.table.rail[s.probe.rail].key && s.probe.kind == FSBML_PROBE_THERE
                && s.probe.delay_ns == 0) {
                times[{s.probe.packets, s.probe.bytes}].push_back(static_cast<double>(s.time_ns) / 1e3);
            }
        }
    }
    return times;
}

// The range of the sizes, with some more in between for the axis.
std::set<std::size_t> sizes_of(const std::vector<Measured> &points)
{
    const auto least = static_cast<std::size_t>(points.front().bytes);
    const auto most = static_cast<std::size_t>(points.back().bytes);
    std::set<std::size_t> sizes = {least, most};
    for (std::size_t size = 4; size < most; size *= 4) {
        if (size >= 2 * least && 3 * size <= 2 * most) {
            sizes.insert(size);
        }
    }
    return sizes;
}

std::string rows_of(const std::vector<Measured> &points)
{
    std::string rows;
    for (const Measured &point : points) {
        rows += fmt::format("{} {:.6g} {:.6g} {:.6g}\n", point.bytes, point.us, point.least, point.most);
    }
    return rows;
}

// The model's line, in enough pieces to look round where it is, and each of its pieces by itself.
template <typename Value>
std::string line_of(const std::set<std::size_t> &sizes, double from, double to, const Value &value)
{
    const double low = std::max(from, static_cast<double>(*sizes.begin()));
    const double high = std::min(to, static_cast<double>(*sizes.rbegin()));
    const int steps = 200;
    std::string rows;
    for (int i = 0; i <= steps && low < high; ++i) {
        const double bytes = low * std::pow(high / low, static_cast<double>(i) / steps);
        const double us = value(std::min(bytes, high)) / 1e3;
        rows += us > 0 ? fmt::format("{:.6g} {:.6g}\n", bytes, us) : "\n";
    }
    return rows;
}

std::string head(const Findings &findings, const RailFindings &rail, const std::string &what,
                 const std::set<std::size_t> &sizes, const std::string &axis)
{
    return "set title " + quoted(fmt::format("{} ({}): {}\\n{}", rail.name, rail.key, what, findings.setting))
           + "\n" + size_axis(sizes) + "set logscale y\nset format y \"%g\"\nset key top left\nset ylabel \""
           + axis + "\"\n";
}

std::string points_of(const std::string &name)
{
    return fmt::format(
        "  {0} using 1:2:3:4 with yerrorbars pointtype 7 pointsize 0.9 linewidth 1 linecolor rgb \"{1}\" "
        "title \"measured: lower quartile, least and most\"\n",
        name, measured_color);
}

void add_gap(const Findings &findings, const RailFindings &rail, std::vector<Plot> &plots)
{
    const std::vector<Measured> points = gaps_of(findings, rail.key);
    if (points.size() < 2) {
        return;
    }
    const fsbml_loggp_t &p = rail.typical.params;
    const std::set<std::size_t> sizes = sizes_of(points);
    const double end = 1e18;
    const auto gap = [&](double bytes) { return gap_ns(p, bytes); };
    std::string data = "$points << EOD\n" + rows_of(points) + "EOD\n";
    std::string plot = "plot ";
    // gnuplot complains about a line without points.
    const auto add = [&](const char *name, const std::string &rows, const std::string &how) {
        if (!rows.empty()) {
            data += fmt::format("${} << EOD\n{}EOD\n", name, rows);
            plot += fmt::format("${} with lines linewidth 2 linecolor rgb \"{}\" {}, \\\n  ", name,
                                model_color, how);
        }
    };
    add("below", line_of(sizes, 1, p.break_bytes > 0 ? p.break_bytes - 1 : end, gap),
        fmt::format("title \"model, g + G (s-1): g = {:.2f} us, G = {:.4g} ns/B\"", p.g_ns / 1e3,
                    p.G_ns_per_byte));
    if (p.break_bytes > 0) {
        add("above", line_of(sizes, p.break_bytes, end, gap),
            fmt::format("dashtype 2 title \"from {:g} B on: {:.2f} us and G = {:.4g} ns/B\"", p.break_bytes,
                        p.g_above_ns / 1e3, p.G_above_ns_per_byte));
        data += fmt::format(
            "set arrow from {0:g}, graph 0 to {0:g}, graph 1 nohead dashtype 3 linecolor rgb \"#999999\"\n",
            p.break_bytes);
    }
    plots.push_back({"gap-" + file_part(rail.name), head(findings, rail, "gap of a message", sizes,
                                                         "(PRTT(n,0,s) - PRTT(1,0,s)) / (n-1) in us")
                                                        + data + plot + points_of("$points")});
}

void add_single(const Findings &findings, const RailFindings &rail, std::vector<Plot> &plots)
{
    const std::vector<Measured> points = singles_of(findings, rail.key);
    if (points.size() < 2) {
        return;
    }
    const std::set<std::size_t> sizes = sizes_of(points);
    fsbml_fit_t fit{};
    const fsbml_loggp_t &p = fit.params = rail.typical.params;
    const auto time = [&](double bytes) { return predict_prtt(fit, FSBML_PROBE_THERE, 1, 0, bytes); };
    const std::string data = "$points << EOD\n" + rows_of(points) + "EOD\n$model << EOD\n"
                             + line_of(sizes, 1, 1e18, time) + "EOD\n";
    plots.push_back(
        {"prtt-" + file_part(rail.name),
         head(findings, rail, "a message there and back", sizes, "PRTT(1,0,s) in us") + data
             + fmt::format("plot $model with lines linewidth 2 linecolor rgb \"{}\" title \"model: "
                           "L = {:.2f}, o_s = {:.2f}, o_r = {:.2f} us\" noenhanced, \\\n",
                           model_color, p.L_ns / 1e3, p.o_s_ns / 1e3, p.o_r_ns / 1e3)
             + points_of("$points")});
}

// Predicted by measured, over the time: 1 is right.
void add_holdout(const Findings &findings, std::vector<Plot> &plots)
{
    static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"};
    std::string data, plot;
    std::size_t index = 0;
    for (const RailFindings &rail : findings.rails) {
        if (rail.holdout.empty()) {
            continue;
        }
        data += fmt::format("$rail{} << EOD\n", index);
        for (const Exchange &e : rail.holdout) {
            data += fmt::format("{:.6g} {:.6g}\n", e.measured_ns / 1e3,
                                100 * (e.predicted_ns / e.measured_ns - 1));
        }
        data += "EOD\n";
        plot +=
            fmt::format(", \\\n  $rail{} with points pointtype {} pointsize 1 linecolor rgb \"{}\" title {}",
                        index, 5 + 2 * (index % 4), colors[index % 6], quoted(rail.name));
        ++index;
    }
    if (index > 0) {
        plots.push_back(
            {"holdout",
             "set title "
                 + quoted("Exchanges that were not measured: predicted against measured\\n"
                          + findings.setting)
                 + "\nset logscale x\nset format x \"%g\"\nset xlabel \"measured time of an "
                   "exchange in us\"\nset ylabel \"prediction off by, in percent\"\n"
                   "set key top right\nset zeroaxis\n"
                 + data
                 + "plot 5 with lines dashtype 3 linecolor rgb \"#999999\" title \"within 5 %\", -5 "
                   "with lines dashtype 3 linecolor rgb \"#999999\" notitle"
                 + plot + "\n"});
    }
}

} // namespace

std::vector<Measured> singles_of(const Findings &findings, const std::string &key)
{
    std::vector<Measured> points;
    for (const auto &[at, times] : times_of(findings, key)) {
        if (at.first == 1) {
            points.push_back({static_cast<double>(at.second), quantile(times, 0.25), quantile(times, 0),
                              quantile(times, 1)});
        }
    }
    return points;
}

std::vector<Measured> gaps_of(const Findings &findings, const std::string &key)
{
    const Times times = times_of(findings, key);
    std::map<unsigned, Measured> by_size;
    for (const auto &[at, many] : times) {
        const auto one = times.find({1, at.second});
        if (at.first == 1 || one == times.end()) {
            continue;
        }
        const double base = quantile(one->second, 0.25);
        const auto gap = [&, packets = at.first](double us) { return (us - base) / (packets - 1); };
        Measured point{static_cast<double>(at.second), gap(quantile(many, 0.25)), gap(quantile(many, 0)),
                       gap(quantile(many, 1))};
        // On a logarithmic axis there is no place below 0. Of several n, the largest tells most, and comes
        // last.
        if (point.us > 0) {
            point.least = point.least > 0 ? point.least : point.us;
            by_size[at.second] = point;
        }
    }
    std::vector<Measured> points;
    for (const auto &[bytes, point] : by_size) {
        points.push_back(point);
    }
    return points;
}

std::vector<Plot> figures_of(const Findings &findings)
{
    std::vector<Plot> plots;
    for (const RailFindings &rail : findings.rails) {
        if (rail.typical.valid) {
            add_gap(findings, rail, plots);
            add_single(findings, rail, plots);
        }
    }
    add_holdout(findings, plots);
    return plots;
}

} // namespace fsbml::bench
