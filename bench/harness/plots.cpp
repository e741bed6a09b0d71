// Plots of a run: their data and scripts.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "harness.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

// Told apart without red against green; FSBML stands out.
const char *color_of(const Arm &arm, std::size_t index)
{
    static const char *const others[] = {"#0072b2", "#56b4e9", "#999999", "#cc79a7", "#e69f00", "#f0e442"};
    return arm.role == Role::fsbml ? "#d55e00" : arm.role == Role::r2 ? "#000000" : others[index % 6];
}

std::string label_of(const Arm &arm)
{
    return arm.role == Role::rail ? arm.name + " alone" : arm.role == Role::r2 ? "r2, all rails" : arm.name;
}

// Places that differ in size only.
struct Series {
    std::string operation, variant, unit;
    int messages;

    bool operator<(const Series &other) const
    {
        return std::tie(operation, variant, messages, unit)
               < std::tie(other.operation, other.variant, other.messages, other.unit);
    }
};

std::string curve_name(const Series &series)
{
    std::string name = series.operation;
    name += series.variant.empty() ? "" : "-" + series.variant;
    name += series.messages == 1 ? "" : fmt::format("-{}-messages", series.messages);
    return file_part(name);
}

std::string title_of(const Report &report, const Series &series)
{
    std::string title = series.operation == "exchange"
                            ? fmt::format("{} message{} out, {} back", series.messages,
                                          series.messages == 1 ? "" : "s", series.messages)
                            : series.operation;
    title += series.variant.empty() ? "" : " (" + series.variant + ")";
    return "set title " + quoted(title + "\\n" + report.setting) + "\n";
}

// A line an arm, with half the distance of the quartiles as error bars. `value` turns a figure into what is
// drawn.
template <typename Value>
std::string lines_over_size(const Report &report, const std::vector<Place> &places, const Value &value)
{
    std::string data;
    std::string plot;
    for (std::size_t index = 0; index < report.arms.size(); ++index) {
        const Arm &arm = report.arms[index];
        std::string rows;
        for (const Place &place : places) {
            const std::optional<Figure> figure = report.results.at(arm.name, place);
            // There is no place for others on a logarithmic axis.
            if (figure && figure->median > 0) {
                const double y = value(*figure, place);
                rows += fmt::format("{} {:.6g} {:.6g} {:.6g}\n", std::max<std::size_t>(place.bytes, 1), y,
                                    y * (1 - std::min(figure->spread, 0.9)), y * (1 + figure->spread));
            }
        }
        if (rows.empty()) {
            continue;
        }
        data += fmt::format("$arm{} << EOD\n{}EOD\n", index, rows);
        plot += fmt::format(
            "{}$arm{} using 1:2:3:4 with yerrorlines linewidth {} pointtype {} linecolor rgb \"{}\" title {}",
            plot.empty() ? "plot " : ", \\\n  ", index, arm.role == Role::fsbml ? 3 : 1.5, 5 + index % 8,
            color_of(arm, index), quoted(label_of(arm)));
    }
    return data + plot + "\n";
}

void add_series(const Report &report, const Series &series, const std::vector<Place> &places,
                std::vector<Plot> &plots)
{
    std::set<std::size_t> sizes;
    for (const Place &place : places) {
        sizes.insert(place.bytes);
    }
    const std::string head =
        title_of(report, series) + size_axis(sizes) + "set logscale y\nset format y \"%g\"\n";
    if (is_rate(series.unit)) {
        plots.push_back({curve_name(series) + "-rate",
                         head + "set ylabel \"" + series.unit + "\"\nset key bottom right\n"
                             + lines_over_size(report, places, [](const Figure &figure, const Place &) {
                                   return figure.median;
                               })});
        return;
    }
    plots.push_back({curve_name(series) + "-time",
                     head + "set ylabel \"median time in " + series.unit + "\"\nset key top left\n"
                         + lines_over_size(report, places, [](const Figure &figure, const Place &) {
                               return figure.median;
                           })});
    if (series.operation == "exchange" || series.operation == "latency") {
        const double per_second = series.unit == "us" ? 1 : series.unit == "ns" ? 1e3 : 1e-6;
        plots.push_back({curve_name(series) + "-bandwidth",
                         head + "set ylabel \"bandwidth in MB/s\"\nset key bottom right\n"
                             + lines_over_size(report, places, [&](const Figure &figure, const Place &place) {
                                   return static_cast<double>(std::max<std::size_t>(place.bytes, 1))
                                          / figure.median * per_second;
                               })});
    }
}

// Under its bars a place needs only what tells it from the others.
std::string short_name(const Place &place, const std::vector<Place> &places)
{
    const auto differs = [&](auto member) {
        return std::any_of(places.begin(), places.end(), [&](const Place &other) {
            return other.operation == place.operation && other.*member != place.*member;
        });
    };
    std::string name = place.operation;
    name += differs(&Place::variant) ? " " + place.variant : "";
    name += differs(&Place::bytes) ? fmt::format(" {} B", place.bytes) : "";
    return name;
}

// Bars: a group a place, a bar an arm.
void add_bars(const Report &report, const std::string &unit, const std::vector<Place> &places,
              std::vector<Plot> &plots)
{
    std::string rows;
    for (const Place &place : places) {
        rows += '"' + short_name(place, places) + '"';
        for (const Arm &arm : report.arms) {
            const std::optional<Figure> figure = report.results.at(arm.name, place);
            rows += figure ? fmt::format(" {:.6g}", figure->median) : " ?";
        }
        rows += '\n';
    }
    std::string plot;
    for (std::size_t index = 0; index < report.arms.size(); ++index) {
        plot += fmt::format("{}$rows using {}:xtic(1) linecolor rgb \"{}\" title {}",
                            index == 0 ? "plot " : ", \\\n  ", index + 2, color_of(report.arms[index], index),
                            quoted(label_of(report.arms[index])));
    }
    plots.push_back(
        {"all-in-" + file_part(unit), "$rows << EOD\n" + rows + "EOD\nset title "
                                          + quoted(report.bench + "\\n" + report.setting)
                                          + "\nset style data histogram\nset style histogram clustered gap "
                                            "1\nset style fill solid 0.8 border -1\n"
                                            "set ylabel \"median, "
                                          + unit + (is_rate(unit) ? " (more is better)" : " (less is better)")
                                          + "\"\nset logscale y\nset format y \"%g\"\nset xtics rotate by "
                                            "-30 noenhanced\nset key outside top center horizontal\n"
                                          + plot + "\n"});
}

// Percent of the bytes on each interface, a stack a place, for the arms that had a choice.
void add_shares(const Report &report, std::vector<Plot> &plots)
{
    const std::vector<std::string> interfaces = used_interfaces(report.results);
    if (interfaces.size() < 2) {
        return;
    }
    static const char *const colors[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442"};
    for (const Arm &arm : report.arms) {
        std::string rows;
        for (const Place &place : report.results.places()) {
            const Traffic traffic = report.results.traffic(arm.name, place);
            double all = 0;
            for (const std::string &name : interfaces) {
                all += traffic.count(name) != 0 ? static_cast<double>(traffic.at(name)) : 0;
            }
            if (all == 0) {
                continue;
            }
            rows += '"'
                    + (place.operation == "exchange" ? fmt::format("{} x {}", place.messages, place.bytes)
                                                     : fmt::format("{} {}", place.operation, place.bytes))
                    + '"';
            for (const std::string &name : interfaces) {
                rows += fmt::format(" {:.3f}", traffic.count(name) != 0
                                                   ? 100 * static_cast<double>(traffic.at(name)) / all
                                                   : 0);
            }
            rows += '\n';
        }
        if (arm.role == Role::rail || rows.empty()) {
            continue;
        }
        std::string plot;
        for (std::size_t index = 0; index < interfaces.size(); ++index) {
            plot += fmt::format("{}$rows using {}:xtic(1) linecolor rgb \"{}\" title {}",
                                index == 0 ? "plot " : ", \\\n  ", index + 2, colors[index % 6],
                                quoted(interfaces[index]));
        }
        plots.push_back(
            {"share-" + file_part(arm.name),
             "$rows << EOD\n" + rows + "EOD\nset title "
                 + quoted("Share of the bytes on each rail: " + label_of(arm) + "\\n" + report.setting)
                 + "\nset style data histogram\nset style histogram rowstacked\nset style fill solid 0.8 "
                   "border -1\n"
                   "set boxwidth 0.75\nset yrange [0:100]\nset ylabel \"percent of the bytes\"\n"
                   "set xtics rotate by -45 noenhanced font \",9\"\nset key outside top center horizontal\n"
                 + plot + "\n"});
    }
}

} // namespace

std::vector<Plot> plots_of(const Report &report)
{
    std::map<Series, std::vector<Place>> groups;
    for (const Place &place : report.results.places()) {
        groups[{place.operation, place.variant, place.unit, place.messages}].push_back(place);
    }
    std::vector<Plot> plots;
    std::map<std::string, std::vector<Place>> single; // by unit: no sizes to draw over
    for (const auto &[series, places] : groups) {
        if (places.size() >= 3) {
            add_series(report, series, places, plots);
        } else {
            std::vector<Place> &list = single[series.unit];
            list.insert(list.end(), places.begin(), places.end());
        }
    }
    for (const auto &[unit, places] : single) {
        add_bars(report, unit, places, plots);
    }
    add_shares(report, plots);
    return plots;
}

} // namespace fsbml::bench
