// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "replay.hpp"

#include "tools/text/text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace fsbml::replay
{
namespace
{

bool near(double simulated, double measured)
{
    return std::fabs(simulated - measured) <= kNear * measured;
}

std::string shares_text(const std::map<std::string, double> &shares)
{
    std::string text;
    for (const auto &[rail, share] : shares) {
        text += fmt::format("{}{:.0f}", text.empty() ? "" : "/", 100 * share);
    }
    return text.empty() ? "-" : text;
}

} // namespace

bool is_near(const Row &row)
{
    return near(row.simulated_ns, row.measured_ns);
}

bool may_be_near(const Row &row)
{
    const double closest =
        std::clamp(row.simulated_ns, row.measured_ns - row.spread_ns, row.measured_ns + row.spread_ns);
    return near(row.simulated_ns, closest);
}

bench::Bar judge(const std::vector<Row> &rows)
{
    const auto all = static_cast<double>(rows.size());
    const auto good = std::count_if(rows.begin(), rows.end(), is_near);
    const auto maybe = std::count_if(rows.begin(), rows.end(), may_be_near);
    bench::Bar bar;
    bar.text = "the simulator's makespan within 10 % of the virtual cluster's in 9 of 10 cases";
    bar.figures = fmt::format("{} of {}", good, rows.size());
    bar.met = !rows.empty() && static_cast<double>(good) >= kCases * all;
    bar.unclear = !bar.met && !rows.empty() && static_cast<double>(maybe) >= kCases * all;
    return bar;
}

std::string table_of(const std::vector<Row> &rows)
{
    std::vector<std::vector<std::string>> words = {{"case", "nodes and rails", "measured ms", "+-",
                                                    "simulated ms", "+-", "ratio", "within 10 %?",
                                                    "bytes by rail, %", "simulated"}};
    for (const Row &row : rows) {
        words.push_back(
            {row.name, fmt::format("{}, {}", row.nodes, row.rails),
             fmt::format("{:.3f}", row.measured_ns / 1e6), fmt::format("{:.3f}", row.spread_ns / 1e6),
             fmt::format("{:.3f}", row.simulated_ns / 1e6),
             fmt::format("{:.3f}", row.simulated_spread_ns / 1e6), fmt::format("{:.3f}", row.ratio()),
             is_near(row)       ? "yes"
             : may_be_near(row) ? "unclear"
                                : "NO",
             shares_text(row.measured_share), shares_text(row.simulated_share)});
    }
    return bench::aligned(words, 2);
}

nlohmann::ordered_json document_of(const std::vector<Row> &rows)
{
    const bench::Bar bar = judge(rows);
    nlohmann::ordered_json document = {{"schema", "fsbml-replay-1"}};
    document["cases"] = nlohmann::ordered_json::array();
    for (const Row &row : rows) {
        document["cases"].push_back({{"name", row.name},
                                     {"what", row.what},
                                     {"nodes", row.nodes},
                                     {"rails", row.rails},
                                     {"measured_ns", row.measured_ns},
                                     {"spread_ns", row.spread_ns},
                                     {"launches_ns", row.launches_ns},
                                     {"late_ns", row.late_ns},
                                     {"simulated_ns", row.simulated_ns},
                                     {"simulated_spread_ns", row.simulated_spread_ns},
                                     {"ratio", row.ratio()},
                                     {"near", is_near(row)},
                                     {"measured_share", row.measured_share},
                                     {"simulated_share", row.simulated_share}});
    }
    document["bar"] = {{"text", bar.text}, {"outcome", bar.outcome()}, {"figures", bar.figures}};
    return document;
}

std::vector<Row> rows_of(const nlohmann::ordered_json &document)
{
    std::vector<Row> rows;
    for (const auto &one : document.at("cases")) {
        Row row;
        one.at("name").get_to(row.name);
        one.at("what").get_to(row.what);
        one.at("nodes").get_to(row.nodes);
        one.at("rails").get_to(row.rails);
        one.at("measured_ns").get_to(row.measured_ns);
        one.at("spread_ns").get_to(row.spread_ns);
        one.at("launches_ns").get_to(row.launches_ns);
        one.at("late_ns").get_to(row.late_ns);
        one.at("simulated_ns").get_to(row.simulated_ns);
        one.at("simulated_spread_ns").get_to(row.simulated_spread_ns);
        one.at("measured_share").get_to(row.measured_share);
        one.at("simulated_share").get_to(row.simulated_share);
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace fsbml::replay
