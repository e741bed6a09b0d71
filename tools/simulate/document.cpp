// The runs as a document: docs/simulate.schema.json.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "simulate.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

namespace fsbml::bench
{
namespace
{

using Json = nlohmann::ordered_json;

// A ratio to nothing is not finite, which JSON cannot tell.
Json finite(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json rails_of(const RailSet &set)
{
    Json rails = Json::array();
    for (const sim::RailSpec &rail : set.rails) {
        const fsbml_loggp_t &p = rail.real;
        rails.push_back({{"name", rail.name},
                         {"L_ns", p.L_ns},
                         {"o_s_ns", p.o_s_ns},
                         {"o_r_ns", p.o_r_ns},
                         {"g_ns", p.g_ns},
                         {"G_ns_per_byte", p.G_ns_per_byte},
                         {"O_s_ns_per_byte", p.O_s_ns_per_byte},
                         {"O_r_ns_per_byte", p.O_r_ns_per_byte}});
    }
    return rails;
}

Json comparison(const Proof &proof, const std::vector<Trial> &runs, const std::string &against,
                const RatioOf &ratio)
{
    Json list = Json::array();
    for (std::size_t i = 0; i < proof.traffic.size(); ++i) {
        for (const bool wrong : {false, true}) {
            const auto spread = spread_of(runs, of_class(proof, i, wrong), ratio);
            if (spread) {
                list.push_back({{"against", against},
                                {"traffic", proof.traffic[i]->name},
                                {"wrong", wrong},
                                {"runs", spread->runs},
                                {"geometric_mean", finite(spread->geometric_mean)},
                                {"median", finite(spread->median)},
                                {"p99", finite(spread->p99)},
                                {"worst", finite(spread->worst)},
                                {"worst_rails", proof.sets[spread->where->set].name},
                                {"worst_seed", spread->where->seed}});
            }
        }
    }
    return list;
}

void append_all(Json &list, const Json &more)
{
    list.insert(list.end(), more.begin(), more.end());
}

} // namespace

std::string document_of(const Proof &proof, const std::vector<Trial> &runs, const std::vector<Bar> &bars)
{
    Json document{{"schema", "fsbml-simulate-1"},
                  {"ranks", proof.ranks},
                  {"ranks_per_node", proof.ranks_per_node},
                  {"ledger", proof.ledger && proof.ranks_per_node > 1},
                  {"first_seed", proof.first_seed},
                  {"seeds", proof.seeds},
                  {"wrong", proof.wrong},
                  {"search", proof.search}};
    for (const std::string &name : proof.rules) {
        document["rules"].push_back({{"name", name}, {"source", rule_of(name)->source()}});
    }
    for (const RailSet &set : proof.sets) {
        document["sets"].push_back(
            {{"name", set.name}, {"what", set.what}, {"trouble", set.trouble}, {"rails", rails_of(set)}});
    }
    for (const sim::Traffic *traffic : proof.traffic) {
        document["traffic"].push_back({{"name", traffic->name}, {"what", traffic->what}});
    }
    document["runs"] = Json::array();
    for (const Trial &run : runs) {
        document["runs"].push_back({{"set", run.set},
                                    {"traffic", run.traffic},
                                    {"seed", run.seed},
                                    {"wrong", run.wrong},
                                    {"bound_ps", run.bound},
                                    {"best_rail", run.best_rail},
                                    {"best_rail_ps", run.best_single},
                                    {"makespan_ps", run.makespan}});
        if (run.found) {
            document["runs"].back()["found_ps"] = *run.found;
        }
    }
    Json comparisons = comparison(proof, runs, "bound", by_bound());
    append_all(comparisons, comparison(proof, runs, "best rail", by_best_rail));
    for (std::size_t rule = 1; rule < proof.rules.size(); ++rule) {
        append_all(comparisons, comparison(proof, runs, proof.rules[rule], by_rule(rule)));
    }
    document["comparisons"] = comparisons;
    document["bars"] = Json::array();
    for (const Bar &bar : bars) {
        document["bars"].push_back({{"text", bar.text}, {"met", bar.met}, {"figures", bar.figures}});
    }
    return document.dump(1) + '\n';
}

} // namespace fsbml::bench
