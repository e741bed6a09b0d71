// Findings in the decisions of a job's processes, one file after the other.
// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "trace.hpp"

#include "tools/text/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

namespace fsbml::trace
{
namespace
{

namespace fs = std::filesystem;

bool has_decisions(const std::string &path)
{
    std::ifstream stream(path);
    std::string word;
    stream >> word;
    return word == sim::DecisionReader::kFirstWord;
}

std::vector<std::string> files_of(const std::vector<std::string> &paths)
{
    if (paths.size() > 1 || !fs::is_directory(paths.at(0))) {
        return paths;
    }
    std::vector<std::string> files;
    for (const auto &entry : fs::directory_iterator(paths[0])) {
        if (entry.is_regular_file() && has_decisions(entry.path().string())) {
            files.push_back(entry.path().string());
        }
    }
    if (files.empty()) {
        throw std::runtime_error(fmt::format("no file in '{}' has decisions of a process", paths[0]));
    }
    std::sort(files.begin(), files.end());
    return files;
}

// Keeps the first few in an order.
template <class Before>
void keep(std::vector<Told> &list, std::size_t limit, const Told &told, Before before)
{
    if (list.size() == limit && (limit == 0 || !before(told, list.back()))) {
        return;
    }
    list.insert(std::upper_bound(list.begin(), list.end(), told, before), told);
    list.resize(std::min(list.size(), limit));
}

class Looking
{
public:
    explicit Looking(const Wanted &wanted) : wanted_(wanted) {}

    void file(const std::string &path)
    {
        std::ifstream stream(path);
        if (!stream || fs::is_directory(path)) {
            throw std::runtime_error(fmt::format("cannot read '{}'", path));
        }
        sim::TraceLines lines(stream, path);
        if (!lines.next()) {
            lines.fail("it is empty");
        }
        sim::DecisionReader reader(lines);
        const sim::DecisionHeader &head = reader.header();
        if ((ranks_ != 0 && head.ranks != ranks_) || !seen_.insert(head.rank).second) {
            lines.fail(head.ranks != ranks_ ? "it is of another job: its number of ranks is another one"
                                            : fmt::format("rank {} is there twice", head.rank));
        }
        ranks_ = head.ranks;
        begin(head);
        const sim::DecisionReplay replay(head);
        for (fsbml_decision_t d; reader.next(d);) {
            decision(path, head, replay, d);
        }
        found_.kept += reader.count();
        for (const sim::RateChange &c : reader.changes()) {
            if (wanted_.rail.empty() || is_wanted(head.rails[c.rail])) {
                found_.changes.push_back({head.rank, head.rails[c.rail].name, head.node, c.ns,
                                          static_cast<double>(c.before) / 1e6,
                                          static_cast<double>(c.after) / 1e6});
            }
        }
    }

    Findings done()
    {
        if (wanted_.peer && *wanted_.peer >= ranks_) {
            throw std::runtime_error(
                fmt::format("there is no rank {}: there are {}, counted from 0", *wanted_.peer, ranks_));
        }
        if (!wanted_.rail.empty() && !rail_is_known_) {
            throw std::runtime_error(
                fmt::format("there is no rail '{}' among {}", wanted_.rail, bench::names_of(found_.rails)));
        }
        std::stable_sort(found_.changes.begin(), found_.changes.end(),
                         [](const Changed &a, const Changed &b) { return a.ns < b.ns; });
        return std::move(found_);
    }

private:
    // Rails are the same on all nodes by their key, whatever they are called there; several of a process may
    // have one key.
    void begin(const sim::DecisionHeader &head)
    {
        ++found_.processes;
        found_.nodes.insert(head.node);
        found_.policies.insert(fsbml_policy_name(head.policy));
        found_.messages += head.messages;
        found_.lost += head.lost;
        found_.least_every = found_.processes == 1 ? head.every : std::min(found_.least_every, head.every);
        found_.most_every = std::max(found_.most_every, head.every);
        rail_of_.clear();
        std::map<std::string, std::size_t> of_key;
        for (const sim::DecisionRail &rail : head.rails) {
            const auto [at, is_new] =
                rails_.emplace(std::pair(rail.key, of_key[rail.key]++), found_.rails.size());
            if (is_new) {
                RailFinding added;
                added.key = rail.key;
                added.name = rail.name;
                found_.rails.push_back(std::move(added));
            }
            rail_of_.push_back(at->second);
            rail_is_known_ = rail_is_known_ || is_wanted(rail);
        }
    }

    bool is_wanted(const sim::DecisionRail &rail) const
    {
        return wanted_.rail == rail.name || wanted_.rail == rail.key;
    }

    void decision(const std::string &path, const sim::DecisionHeader &head, const sim::DecisionReplay &replay,
                  const fsbml_decision_t &d)
    {
        if ((wanted_.peer && d.peer != *wanted_.peer)
            || (!wanted_.rail.empty() && !is_wanted(head.rails[d.rail]))) {
            return;
        }
        ++found_.considered;
        found_.earliest += replay.earliest(d) ? 1 : 0;
        if (replay.agrees(d)) {
            ++found_.agree;
        } else if (found_.first_disagreement.empty()) {
            tell_disagreement(path, head, replay, d);
        }
        const Told told = apart(head, replay, d);
        RailFinding &rail = found_.rails[rail_of_[d.rail]];
        ++rail.messages;
        rail.bytes += d.bytes;
        keep(found_.costliest, wanted_.limit, told,
             [](const Told &a, const Told &b) { return a.chosen.arrival_ns > b.chosen.arrival_ns; });
        if (!told.other) {
            return;
        }
        rail.margins.push_back(told.margin_ns);
        rail.behind += replay.earliest(d) ? 0 : 1;
        rail.sooner_though_busy += replay.earliest(d) && d.backlog_ns[d.rail] > 0 && other_is_idle(replay, d);
        keep(found_.narrowest, wanted_.limit, told,
             [](const Told &a, const Told &b) { return std::llabs(a.margin_ns) < std::llabs(b.margin_ns); });
    }

    static bool other_is_idle(const sim::DecisionReplay &replay, const fsbml_decision_t &d)
    {
        for (std::uint32_t left = replay.choice(d); left != 0; left &= left - 1) {
            if (d.backlog_ns[__builtin_ctz(left)] == 0) {
                return true;
            }
        }
        return false;
    }

    static Offer offer(const sim::DecisionHeader &head, const fsbml_decision_t &d, std::size_t i)
    {
        return {head.rails[i].name, d.arrival_ns[i], d.backlog_ns[i], d.extra_ns[i]};
    }

    static Told apart(const sim::DecisionHeader &head, const sim::DecisionReplay &replay,
                      const fsbml_decision_t &d)
    {
        Told told;
        told.rank = head.rank;
        told.peer = d.peer;
        told.ns = d.now_ns;
        told.bytes = d.bytes;
        told.chosen = offer(head, d, d.rail);
        const std::uint32_t choice = replay.choice(d);
        if ((choice >> d.rail & 1) == 0) { // it was none of those that the rule would take
            return told;
        }
        std::optional<std::size_t> best;
        for (std::uint32_t left = choice & ~(std::uint32_t{1} << d.rail); left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(__builtin_ctz(left));
            best = !best || d.arrival_ns[i] < d.arrival_ns[*best] ? i : *best;
        }
        if (best) {
            told.other = offer(head, d, *best);
            told.margin_ns = static_cast<std::int64_t>(d.arrival_ns[*best] - d.arrival_ns[d.rail]);
        }
        return told;
    }

    void tell_disagreement(const std::string &path, const sim::DecisionHeader &head,
                           const sim::DecisionReplay &replay, const fsbml_decision_t &d)
    {
        for (std::uint32_t left = d.candidates; left != 0; left &= left - 1) {
            const auto i = static_cast<std::size_t>(__builtin_ctz(left));
            const std::uint64_t again = replay.arrival(d, i);
            if (again > d.arrival_ns[i] || d.arrival_ns[i] - again > sim::DecisionReplay::kRounding) {
                found_.first_disagreement =
                    fmt::format("{}: the decision at {} ns about {} bytes says {} ns of {}, the model {} ns",
                                path, d.now_ns, d.bytes, d.arrival_ns[i], head.rails[i].name, again);
                return;
            }
        }
    }

    const Wanted &wanted_;
    Findings found_;
    std::uint32_t ranks_ = 0;
    std::set<std::uint32_t> seen_;
    std::map<std::pair<std::string, std::size_t>, std::size_t> rails_; // by key, and which one of it
    std::vector<std::size_t> rail_of_;                                 // of the file's rails
    bool rail_is_known_ = false;
};

} // namespace

Findings look_into(const std::vector<std::string> &paths, const Wanted &wanted)
{
    Looking looking(wanted);
    for (const std::string &path : files_of(paths)) {
        looking.file(path);
    }
    return looking.done();
}

std::optional<double> median_margin(const RailFinding &rail)
{
    std::vector<std::int64_t> all = rail.margins;
    if (all.empty()) {
        return std::nullopt;
    }
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    const auto upper = static_cast<double>(*middle);
    return all.size() % 2 == 1 ? upper
                               : (upper + static_cast<double>(*std::max_element(all.begin(), middle))) / 2;
}

} // namespace fsbml::trace
