// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "calibrate.hpp"

#include "model/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

using nlohmann::json;

template <std::size_t N>
void copy(const json &from, char (&to)[N])
{
    const std::string text = from.get<std::string>();
    text.copy(to, N - 1);
    to[std::min(text.size(), N - 1)] = '\0';
}

fsbml_loggp_t parameters_of(const json &object)
{
    fsbml_loggp_t p{};
    for (const Parameter &parameter : parameters) {
        // What an older or newer FSBML does not tell is not there.
        if (!object.is_null() && object.contains(parameter.key) && !object[parameter.key].is_null()) {
            p.*parameter.value = object[parameter.key].get<double>();
        }
    }
    return p;
}

fsbml_probe_kind_t kind_of(const std::string &word)
{
    if (word == "there") {
        return FSBML_PROBE_THERE;
    }
    if (word == "back") {
        return FSBML_PROBE_BACK;
    }
    if (word == "take") {
        return FSBML_PROBE_TAKE;
    }
    if (word == "both") {
        return FSBML_PROBE_BOTH;
    }
    throw std::runtime_error(fmt::format("there is no kind '{}' of probe", word));
}

double number_or_zero(const json &value)
{
    return value.is_null() ? 0 : value.get<double>();
}

fsbml_sample_t sample_of(const json &object, std::uint32_t rail)
{
    fsbml_sample_t sample{};
    sample.probe.kind = kind_of(object.at("kind").get<std::string>());
    sample.probe.rail = rail;
    sample.probe.packets = object.at("n").get<std::uint32_t>();
    sample.probe.bytes = object.at("s_bytes").get<std::uint32_t>();
    sample.probe.delay_ns = object.at("d_ns").get<std::uint64_t>();
    sample.time_ns = object.at("time_ns").get<std::uint64_t>();
    sample.predicted_ns = object.value("predicted_ns", std::uint64_t{0});
    return sample;
}

void read_rail(const json &object, std::uint32_t index, Run &run)
{
    fsbml_table_rail_t &rail = run.table.rail[index];
    copy(object.at("name"), rail.name);
    copy(object.at("key"), rail.key);
    copy(object.at("reason"), rail.fit.reason);
    rail.fit.valid = object.at("valid").get<bool>();
    rail.fit.params = parameters_of(object.at("parameters"));
    rail.fit.low = parameters_of(object.at("low"));
    rail.fit.high = parameters_of(object.at("high"));
    rail.fit.back = parameters_of(object.at("back"));
    rail.fit.duplex = number_or_zero(object.at("duplex"));
    rail.fit.together = number_or_zero(object.at("together"));
    rail.fit.residual = number_or_zero(object.at("residual"));
    rail.fit.in_turn = object.at("in_turn").get<bool>();
    rail.fit.tight = object.at("tight").get<bool>();
    rail.fit.probes = object.at("probes").get<std::uint32_t>();
    const json &cost = object.at("cost");
    run.cost.push_back({cost.at("probes"), cost.at("bytes"), cost.at("time_ns")});
    for (const json &sample : object.at("samples")) {
        run.samples.push_back(sample_of(sample, index));
    }
    for (const json &sample : object.at("holdout")) {
        run.holdout.push_back(sample_of(sample, index));
        fsbml_sample_t &last = run.holdout.back();
        if (last.predicted_ns == 0) {
            last.predicted_ns = static_cast<std::uint64_t>(
                std::llround(predict_prtt(rail.fit, FSBML_PROBE_THERE, last.probe.packets,
                                          static_cast<double>(last.probe.delay_ns), last.probe.bytes)));
        }
    }
}

} // namespace

Run read_run(std::istream &report)
{
    Run run;
    try {
        run.document = json::parse(report);
        const json &d = run.document;
        if (d.at("schema") != "fsbml-measurement-1") {
            throw std::runtime_error("it is not of the version that this tool reads");
        }
        run.openmpi = d.at("openmpi").is_null() ? "" : d.at("openmpi").get<std::string>();
        run.nodes = {d.at("nodes").at(0).get<std::string>(), d.at("nodes").at(1).get<std::string>()};
        run.table.pair[0] = d.at("ranks").at(0).get<std::uint32_t>();
        run.table.pair[1] = d.at("ranks").at(1).get<std::uint32_t>();
        run.table.duration_ns = d.at("duration_ns").get<std::uint64_t>();
        run.attempts = d.at("attempts").get<int>();
        copy(d.at("reason"), run.table.reason);
        for (const json &rail : d.at("rails")) {
            if (run.table.n_rails == FSBML_MAX_RAILS) {
                throw std::runtime_error("it has too many rails");
            }
            read_rail(rail, run.table.n_rails++, run);
        }
    } catch (const json::exception &error) {
        throw std::runtime_error(error.what());
    }
    return run;
}

} // namespace fsbml::bench
