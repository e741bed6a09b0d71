// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "harness.hpp"

#include "tools/arms/arms.hpp"

namespace fsbml::bench
{
namespace
{

using nlohmann::json;

const char *word_for(Role role)
{
    switch (role) {
    case Role::fsbml:
        return "fsbml";
    case Role::policy:
        return "policy";
    case Role::r2:
        return "r2";
    case Role::peer:
        return "peer";
    case Role::rail:
        break;
    }
    return "rail";
}

json of(const Ratio &ratio)
{
    return {{"median", ratio.median}, {"spread", ratio.spread}, {"low", ratio.low},
            {"high", ratio.high},     {"sure", ratio.sure},     {"rounds", ratio.rounds}};
}

void put(json &object, const std::string &name, const std::optional<Ratio> &ratio)
{
    if (ratio) {
        object[name] = of(*ratio);
    }
}

json point_of(const Report &report, const Place &place)
{
    const Results &results = report.results;
    const std::vector<std::string> rails = names_of(report.arms, Role::rail);
    json point = {{"operation", place.operation}, {"variant", place.variant}, {"messages", place.messages},
                  {"bytes", place.bytes},         {"unit", place.unit},       {"arms", json::object()},
                  {"ratios", json::object()}};
    for (const Arm &arm : report.arms) {
        const std::optional<Figure> figure = results.at(arm.name, place);
        if (figure) {
            point["arms"][arm.name] = {{"median", figure->median},
                                       {"spread", figure->spread},
                                       {"launches", results.launches(arm.name, place)},
                                       {"traffic", results.traffic(arm.name, place)}};
        }
    }
    const std::optional<Ratio> best = ratio_to_best(results, "fsbml", rails, place);
    put(point["ratios"], "fsbml/best", best);
    put(point["ratios"], "fsbml/r2", ratio(results, "fsbml", "r2", place));
    if (every_rail(report.arms).size() > 1) {
        put(point["ratios"], "fsbml/ideal", ratio_to_ideal(results, "fsbml", rails, place));
        put(point["ratios"], "fsbml/sum", share_of_sum(results, "fsbml", rails, place));
    }
    for (const Arm &arm : report.arms) {
        if (arm.role == Role::policy) {
            put(point["ratios"], arm.name + "/fsbml", ratio(results, arm.name, "fsbml", place));
        }
    }
    for (const Arm &arm : report.arms) {
        if (const std::optional<double> share = share_of_below(results, report.below, arm.name, place)) {
            point["share_of_below"][arm.name] = *share;
        }
    }
    const std::optional<Ratio> judged = best ? best : ratio(results, "fsbml", "r2", place);
    if (judged) {
        static const char *const words[] = {"faster", "same", "slower", "unclear"};
        point["verdict"] = words[static_cast<int>(verdict(*judged))];
    }
    return point;
}

} // namespace

json document_of(const Report &report)
{
    json all = {{"schema", "fsbml-bench-1"}, {"bench", report.bench}, {"setting", report.setting}};
    for (const char *list : {"arms", "points", "rails", "bars"}) {
        all[list] = json::array();
    }
    for (const Arm &arm : report.arms) {
        json entry = {{"name", arm.name}, {"role", word_for(arm.role)}, {"options", arm.options}};
        if (const std::optional<double> seconds = report.results.init_seconds(arm.name)) {
            entry["init_seconds"] = *seconds;
        }
        all["arms"].push_back(entry);
    }
    for (const Place &place : report.results.places()) {
        all["points"].push_back(point_of(report, place));
    }
    for (const MeasuredRail &rail : report.rails.rails) {
        all["rails"].push_back({{"name", rail.name},
                                {"key", rail.key},
                                {"L_us", rail.latency_us},
                                {"o_s_us", rail.overhead_send_us},
                                {"o_r_us", rail.overhead_receive_us},
                                {"g_us", rail.gap_us},
                                {"G_ns_per_byte", rail.ns_per_byte}});
    }
    for (const Bar &bar : report.bars) {
        all["bars"].push_back(
            {{"bar", bar.text}, {"met", bar.met}, {"unclear", bar.unclear}, {"figures", bar.figures}});
    }
    all["conclusion"] = {{"sentence", report.conclusion.sentence},
                         {"noise", report.conclusion.noise},
                         {"points", report.conclusion.points},
                         {"unclear", report.conclusion.unclear},
                         {"conclusive", report.conclusion.conclusive()}};
    all["launches"] = report.results.lines();
    all["launches_below"] = report.below.lines();
    return all;
}

} // namespace fsbml::bench
