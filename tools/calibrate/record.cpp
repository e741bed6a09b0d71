// All that came out, as one JSON document.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "record.hpp"

#include "tools/text/statistics.hpp"

namespace fsbml::bench
{
namespace
{

using nlohmann::json;

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
