// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "trace.hpp"

#include "tools/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fsbml::trace
{
namespace
{

using bench::duration;

std::string time_text(std::uint64_t ns)
{
    return duration(static_cast<double>(ns));
}

std::string size(std::uint64_t bytes)
{
    if (bytes >= 1024 && bytes % 1048576 == 0) {
        return fmt::format("{} MiB", bytes / 1048576);
    }
    return bytes >= 1024 && bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024)
                                              : fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

std::string listed(const std::set<std::string> &words)
{
    return fmt::format("{}", fmt::join(words, ", "));
}

// Rounded down, so that 100 % is all of them.
std::string percent(std::uint64_t part, std::uint64_t all)
{
    if (all == 0) {
        return "-";
    }
    const auto tenths = static_cast<double>(part) * 1000 / static_cast<double>(all);
    return part == all ? "100 %"
                       : fmt::format("{:.1f} %", static_cast<double>(static_cast<int>(tenths)) / 10);
}

const char *s(std::uint64_t n)
{
    return n == 1 ? "" : "s";
}

nlohmann::ordered_json json_of(const Offer &offer)
{
    return {{"rail", offer.rail},
            {"arrival_ns", offer.arrival_ns},
            {"backlog_ns", offer.backlog_ns},
            {"extra_ns", offer.extra_ns}};
}

nlohmann::ordered_json json_of(const std::vector<Told> &list)
{
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Told &told : list) {
        nlohmann::ordered_json one = {{"rank", told.rank}, {"ns", told.ns}};
        one["peer"] = nullptr; // of another job
        if (told.peer != sim::DecisionReader::kElsewhere) {
            one["peer"] = told.peer;
        }
        one["bytes"] = told.bytes;
        one["chosen"] = json_of(told.chosen);
        one["other"] = nullptr;
        one["margin_ns"] = nullptr;
        if (told.other) {
            one["other"] = json_of(*told.other);
            one["margin_ns"] = told.margin_ns;
        }
        one["words"] = words_of(told);
        all.push_back(std::move(one));
    }
    return all;
}

} // namespace

std::string words_of(const Told &told)
{
    std::string text = fmt::format(
        "rank {} at {}, {} to {}: {} in {}", told.rank, time_text(told.ns), size(told.bytes),
        told.peer == sim::DecisionReader::kElsewhere ? "another job" : fmt::format("rank {}", told.peer),
        told.chosen.rail, time_text(told.chosen.arrival_ns));
    if (told.chosen.backlog_ns > 0) {
        text += fmt::format(", though it was busy for {}", time_text(told.chosen.backlog_ns));
    }
    if (!told.other) {
        return text + "; there was no choice";
    }
    text += fmt::format("; {} would have taken {}", told.other->rail,
                        told.margin_ns == 0 ? "as long" : time_text(told.other->arrival_ns));
    text += told.other->backlog_ns > 0
                ? fmt::format(", as it was busy for {}", time_text(told.other->backlog_ns))
                : ", and was idle";
    if (told.other->extra_ns > 0) {
        text += fmt::format(" and is {} farther from there", time_text(told.other->extra_ns));
    }
    return text;
}

std::string heading_of(const Findings &f)
{
    std::string text =
        fmt::format("{} process{} on {} node{}, rule {}: {} decision{} about {} message{}", f.processes,
                    f.processes == 1 ? "" : "es", f.nodes.size(), s(f.nodes.size()), listed(f.policies),
                    f.kept, s(f.kept), f.messages, s(f.messages));
    if (f.most_every > 1) {
        text += f.least_every == f.most_every
                    ? fmt::format("; one in {} was kept", f.most_every)
                    : fmt::format("; one in {} to {} was kept", f.least_every, f.most_every);
    }
    if (f.lost > 0) {
        text += fmt::format("; {} older one{} overwritten", f.lost, f.lost == 1 ? " was" : "s were");
    }
    if (f.considered != f.kept) {
        text += fmt::format(". {} of them {} asked for", f.considered, f.considered == 1 ? "is" : "are");
    }
    return text + ".\n";
}

std::string rails_table(const Findings &f)
{
    std::uint64_t bytes = 0;
    for (const RailFinding &rail : f.rails) {
        bytes += rail.bytes;
    }
    std::vector<std::vector<std::string>> rows = {
        {"rail", "", "messages", "bytes", "share", "ahead by", "busy, but sooner", "not the soonest"}};
    for (const RailFinding &rail : f.rails) {
        const std::optional<double> margin = median_margin(rail);
        rows.push_back(
            {rail.name, rail.key, std::to_string(rail.messages), std::to_string(rail.bytes),
             percent(rail.bytes, bytes),
             !margin ? "-" : (*margin < 0 ? "-" : "") + time_text(*margin < 0 ? -*margin : *margin),
             std::to_string(rail.sooner_though_busy), std::to_string(rail.behind)});
    }
    return bench::aligned(rows, 2)
           + "\nahead by: of the next best rail, in the median; busy, but sooner: another rail was idle and "
             "would still have been later.\n";
}

std::string words_of(const Changed &c)
{
    return fmt::format("rank {} on {} at {}: {} {} from {:.3g} to {:.3g} Mbit/s", c.rank, c.node,
                       time_text(c.ns), c.rail, c.after_mbps < c.before_mbps ? "fell" : "rose", c.before_mbps,
                       c.after_mbps);
}

std::string changes_of(const Findings &f, std::size_t limit)
{
    std::string text = f.changes.empty() ? "" : "\nRates that changed:\n";
    for (std::size_t i = 0; i < f.changes.size() && i < limit; ++i) {
        text += "  " + words_of(f.changes[i]) + "\n";
    }
    return f.changes.size() <= limit ? text
                                     : text + fmt::format("  and {} later\n", f.changes.size() - limit);
}

std::string lists_of(const Findings &f)
{
    std::string text;
    const auto add = [&](const char *title, const std::vector<Told> &list) {
        if (!list.empty()) {
            text += fmt::format("\n{}:\n", title);
            for (const Told &told : list) {
                text += "  " + words_of(told) + "\n";
            }
        }
    };
    add("The narrowest decisions", f.narrowest);
    add("The costliest", f.costliest);
    return text;
}

std::string replay_of(const Findings &f)
{
    if (f.considered == 0) {
        return "There is no decision to replay.\n";
    }
    std::string text = fmt::format(
        "Replayed: {} of {} decisions' predicted arrivals are what the models say (within {} ns); the "
        "rail that got the message was the one with the earliest arrival in {}.\n",
        f.agree, f.considered, sim::DecisionReplay::kRounding, percent(f.earliest, f.considered));
    if (f.policies.size() > 1 || *f.policies.begin() != fsbml_policy_name(FSBML_POLICY_ARRIVAL)) {
        text += "The earliest arrival is not what all of these rules choose by.\n";
    } else if (f.earliest != f.considered) {
        text +=
            "The others were chosen a moment before, when it was so, or the best rail had no room for the "
            "message.\n";
    }
    if (f.agree != f.considered && !f.changes.empty()) {
        text += "Since rates changed, arrivals are predicted by those of the moment, not by the models.\n";
    }
    if (!f.first_disagreement.empty()) {
        text += fmt::format("The first that is not: {}.\n", f.first_disagreement);
    }
    return text;
}

nlohmann::ordered_json document_of(const Findings &f, const Wanted &wanted)
{
    using nlohmann::ordered_json;
    ordered_json document = {{"schema", "fsbml-trace-1"},
                             {"processes", f.processes},
                             {"nodes", f.nodes},
                             {"policies", f.policies},
                             {"messages", f.messages},
                             {"decisions", f.kept},
                             {"lost", f.lost},
                             {"every", {{"least", f.least_every}, {"most", f.most_every}}}};
    document["wanted"] = {{"peer", nullptr}, {"rail", nullptr}};
    if (wanted.peer) {
        document["wanted"]["peer"] = *wanted.peer;
    }
    if (!wanted.rail.empty()) {
        document["wanted"]["rail"] = wanted.rail;
    }
    ordered_json &rails = document["rails"] = ordered_json::array();
    for (const RailFinding &rail : f.rails) {
        const std::optional<double> margin = median_margin(rail);
        rails.push_back({{"name", rail.name},
                         {"key", rail.key},
                         {"messages", rail.messages},
                         {"bytes", rail.bytes},
                         {"median_margin_ns", margin ? ordered_json(*margin) : ordered_json(nullptr)},
                         {"sooner_though_busy", rail.sooner_though_busy},
                         {"behind", rail.behind}});
    }
    document["narrowest"] = json_of(f.narrowest);
    document["costliest"] = json_of(f.costliest);
    ordered_json &changes = document["changes"] = ordered_json::array();
    for (const Changed &c : f.changes) {
        changes.push_back({{"rank", c.rank},
                           {"node", c.node},
                           {"rail", c.rail},
                           {"ns", c.ns},
                           {"before_mbps", c.before_mbps},
                           {"after_mbps", c.after_mbps},
                           {"words", words_of(c)}});
    }
    document["replay"] = {{"decisions", f.considered},
                          {"agree", f.agree},
                          {"earliest", f.earliest},
                          {"rounding_ns", sim::DecisionReplay::kRounding}};
    if (!f.first_disagreement.empty()) {
        document["replay"]["first_disagreement"] = f.first_disagreement;
    }
    return document;
}

} // namespace fsbml::trace
