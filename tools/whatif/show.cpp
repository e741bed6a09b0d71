// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "whatif.hpp"

#include "tools/text/text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

namespace fsbml::whatif
{
namespace
{

using bench::duration;

std::string shares_of(const Row &row)
{
    std::uint64_t all = 0;
    for (const RailUse &rail : row.rails) {
        all += rail.bytes;
    }
    std::string text;
    for (const RailUse &rail : row.rails) {
        const double share = all > 0 ? 100.0 * static_cast<double>(rail.bytes) / static_cast<double>(all) : 0;
        text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", rail.name, share);
    }
    return text;
}

// Where processes send by the clock, the job takes its time anyhow: what counts is when messages arrive.
double cost_of(const Job &job, const Row &row)
{
    return job.clocked ? row.message_ns : row.communication_ns;
}

const Row &row_of(const Findings &findings, Kind kind)
{
    return *std::find_if(findings.rows.begin(), findings.rows.end(),
                         [&](const Row &row) { return row.kind == kind && row.rule == "fsbml"; });
}

std::string listed(const std::vector<std::string> &words)
{
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    }
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

// "X would make communication 38 % shorter": of `after` against `before`; `verb` is "would " or empty.
std::string compared(const Job &job, const std::string &what, const std::string &verb, double before,
                     double after)
{
    const char *const of = job.clocked ? "the way of a message" : "communication";
    if (!(before > 0)) {
        return fmt::format("{} {}change nothing: communication takes no time.", what, verb);
    }
    const double percent = 100 * (1 - after / before);
    if (std::fabs(percent) < 0.5) {
        return fmt::format("{} {}leave {} as long as it is.", what, verb, of);
    }
    return fmt::format("{} {}make {} {:.0f} % {}.", what, verb, of, std::fabs(percent),
                       percent > 0 ? "shorter" : "longer");
}

std::string sentence_of_rails(const Job &job, const Study &study, const Findings &findings)
{
    const Row *best = nullptr;
    for (const Row &row : findings.rows) {
        if (row.kind == Kind::alone && (best == nullptr || cost_of(job, row) < cost_of(job, *best))) {
            best = &row;
        }
    }
    const double now = cost_of(job, row_of(findings, Kind::as_it_is));
    if (best == nullptr) {
        return fmt::format("On {}, {} takes {}.", study.rails[0].name,
                           job.clocked ? "the way of a message" : "communication", duration(now));
    }
    return compared(job,
                    fmt::format("Against {} alone, the best of the rails, {} together", best->rails[0].name,
                                study.rails.size() == 2 ? "both" : fmt::format("all {}", study.rails.size())),
                    "", cost_of(job, *best), now);
}

} // namespace

std::string rails_table(const Study &study)
{
    std::vector<std::vector<std::string>> rows = {{"rail", "", "rate", "L", "o_s", "o_r", "g"}};
    const auto add = [&](const Rail &rail, const char *mark) {
        rows.push_back({rail.name, mark, rate_text(rate_of(rail)), duration(rail.params.L_ns),
                        duration(rail.params.o_s_ns), duration(rail.params.o_r_ns),
                        duration(rail.params.g_ns)});
    };
    for (const Rail &rail : study.rails) {
        add(rail, "");
    }
    for (const Rail &rail : study.changes.empty() ? Rails{} : study.changed) {
        add(rail, "changed");
    }
    return bench::aligned(rows, 2);
}

std::string rows_table(const Job &job, const Findings &findings)
{
    const double now = cost_of(job, findings.rows.at(0));
    std::vector<std::vector<std::string>> rows = {
        {"rails", "rule", "job", "communication", "a message", "against as it is", "bytes"}};
    for (const Row &row : findings.rows) {
        rows.push_back({row.name, row.rule, duration(row.job_ns), duration(row.communication_ns),
                        duration(row.message_ns),
                        now > 0 ? fmt::format("{:+.1f} %", 100 * (cost_of(job, row) / now - 1)) : "-",
                        shares_of(row)});
    }
    return bench::aligned(rows, 2);
}

std::string sentence_of(const Job &job, const Study &study, const Findings &findings)
{
    if (job.messages == 0) {
        return "The job sends nothing between nodes, so that rails make no difference.";
    }
    if (study.changes.empty()) {
        return sentence_of_rails(job, study, findings);
    }
    return compared(job, listed(study.changes), "would ", cost_of(job, row_of(findings, Kind::as_it_is)),
                    cost_of(job, row_of(findings, Kind::changed)));
}

nlohmann::ordered_json document_of(const Job &job, const Study &study, const Findings &findings)
{
    using nlohmann::ordered_json;
    static const char *const kinds[] = {"as it is", "alone", "without", "changed"};
    const auto parameters = [](const Rails &rails) {
        ordered_json all = ordered_json::array();
        for (const Rail &rail : rails) {
            const fsbml_loggp_t &p = rail.params;
            all.push_back({{"name", rail.name},
                           {"rate_bits_per_second", rate_of(rail)},
                           {"L_ns", p.L_ns},
                           {"o_s_ns", p.o_s_ns},
                           {"o_r_ns", p.o_r_ns},
                           {"g_ns", p.g_ns},
                           {"G_ns_per_byte", p.G_ns_per_byte}});
        }
        return all;
    };
    ordered_json document = {{"schema", "fsbml-whatif-1"},
                             {"job",
                              {{"name", job.workload.name},
                               {"ranks", job.ranks},
                               {"nodes", job.nodes},
                               {"ranks_per_node", job.ranks_per_node},
                               {"messages", job.messages},
                               {"bytes", job.bytes},
                               {"clocked", job.clocked},
                               {"computation_ns", findings.computation_ns}}},
                             {"seed", study.seed},
                             {"rails", parameters(study.rails)}};
    if (!study.changes.empty()) {
        document["changes"] = study.changes;
        document["changed_rails"] = parameters(study.changed);
    }
    ordered_json &cases = document["cases"] = ordered_json::array();
    for (const Row &row : findings.rows) {
        ordered_json rails = ordered_json::array();
        for (const RailUse &use : row.rails) {
            rails.push_back({{"name", use.name},
                             {"fragments", use.messages},
                             {"bytes", use.bytes},
                             {"busy_ns", use.busy_ns}});
        }
        cases.push_back({{"kind", kinds[static_cast<std::size_t>(row.kind)]},
                         {"name", row.name},
                         {"rule", row.rule},
                         {"job_ns", row.job_ns},
                         {"communication_ns", row.communication_ns},
                         {"message_ns", row.message_ns},
                         {"rails", rails}});
    }
    document["sentence"] = sentence_of(job, study, findings);
    return document;
}

} // namespace fsbml::whatif
