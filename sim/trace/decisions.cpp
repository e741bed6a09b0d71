// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "trace.hpp"

#include "model/model.hpp"

#include <algorithm>
#include <limits>
#include <locale>
#include <sstream>
#include <utility>

namespace fsbml::sim
{
namespace
{

constexpr std::uint64_t kMostNs = static_cast<std::uint64_t>(std::numeric_limits<Time>::max() / kPsPerNs);

void parameter(TraceLines &lines, fsbml_loggp_t &model, const std::string &word)
{
    const std::size_t at = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, at);
    const auto found = std::find(std::begin(kMemberNames), std::end(kMemberNames), name);
    if (found == std::end(kMemberNames)) {
        lines.fail("there is no parameter '" + name.substr(0, 40) + "'");
    }
    std::istringstream in(word.substr(std::min(at + 1, word.size())));
    in.imbue(std::locale::classic());
    double value = 0;
    if (!(in >> std::noskipws >> value) || in.peek() != std::istringstream::traits_type::eof()) {
        lines.fail("'" + word.substr(0, 80) + "' is not a parameter and its value");
    }
    model.*kMembers[found - std::begin(kMemberNames)] = value;
}

} // namespace

DecisionReader::DecisionReader(TraceLines &lines) : lines_(lines)
{
    lines.expect_names();
    lines.keyword(kFirstWord);
    if (const std::uint64_t version = lines.number("the version"); version < 1 || version > 2) {
        lines.fail("version " + std::to_string(version) + ", but only 1 and 2 are known");
    }
    lines.keyword("rank");
    const std::uint64_t rank = lines.number("the rank");
    lines.keyword("ranks");
    header_.ranks = lines.ranks();
    if (rank >= header_.ranks) {
        lines.fail("rank " + std::to_string(rank) + " of " + std::to_string(header_.ranks)
                   + ", counted from 0");
    }
    header_.rank = static_cast<std::uint32_t>(rank);
    lines.keyword("node");
    header_.node = lines.word("the node");
    lines.keyword("policy");
    const std::string policy(lines.word("the policy"));
    if (0 != fsbml_policy_parse(policy.c_str(), &header_.policy)) {
        lines.fail("there is no policy '" + policy.substr(0, 40) + "'");
    }
    const auto after = [&](const char *keyword, const char *what, std::uint64_t &value) {
        lines.keyword(keyword);
        value = lines.number(what);
    };
    after("origin", "the origin", header_.origin_ns);
    after("every", "the interval", header_.every);
    after("lost", "the number of those that are lost", header_.lost);
    after("messages", "the number of messages", header_.messages);
    lines.done();
    if (header_.every == 0) {
        lines.fail("one in 0 decisions is none");
    }
    for (first_is_read_ = lines.next(); first_is_read_ && lines.at("rail"); first_is_read_ = lines.next()) {
        rail();
    }
    if (header_.rails.empty()) {
        lines.fail("there is no rail");
    }
}

void DecisionReader::rail()
{
    lines_.keyword("rail");
    DecisionRail r;
    r.key = lines_.word("the rail's key");
    r.name = lines_.word("the rail's name");
    for (const DecisionRail &other : header_.rails) {
        if (other.name == r.name) {
            lines_.fail("rail " + r.name + " is there twice");
        }
    }
    if (header_.rails.size() == FSBML_MAX_RAILS) {
        lines_.fail("more than " + std::to_string(FSBML_MAX_RAILS) + " rails");
    }
    r.measured = lines_.more() && !lines_.at("unmeasured");
    if (!r.measured) {
        lines_.word("what is known of rail"); // "unmeasured", or nothing
        lines_.done();
    }
    while (lines_.more()) {
        parameter(lines_, r.model, std::string(lines_.word("a parameter")));
    }
    if (r.measured && !fsbml_loggp_valid(&r.model)) {
        lines_.fail("the parameters of rail " + r.name + " are not complete, or out of range");
    }
    header_.rails.push_back(std::move(r));
}

std::uint32_t DecisionReader::named(const char *what)
{
    const std::string_view name = lines_.word(what);
    for (std::size_t i = 0; i < header_.rails.size(); ++i) {
        if (header_.rails[i].name == name) {
            return static_cast<std::uint32_t>(i);
        }
    }
    lines_.fail(std::string(what) + " is '" + std::string(name.substr(0, 64))
                + "', which no line above is about");
}

void DecisionReader::stamp(std::uint64_t ns)
{
    if (ns > kMostNs) {
        lines_.fail("more than 106 days after the beginning");
    }
    if (ns < last_ns_) {
        lines_.fail("its time stamp is before that of the line before");
    }
    last_ns_ = ns;
}

void DecisionReader::change(std::uint64_t ns)
{
    RateChange c;
    c.ns = ns;
    lines_.keyword("rate");
    c.rail = named("the rail whose rate changed");
    c.before = lines_.number("the rate before");
    c.after = lines_.number("the rate after");
    lines_.done();
    if (0 == c.before || 0 == c.after) {
        lines_.fail("a rate of 0 is none");
    }
    if (FSBML_MOST_CHANGES == changes_.size()) {
        lines_.fail("more than " + std::to_string(FSBML_MOST_CHANGES) + " changes of rates");
    }
    changes_.push_back(c);
}

bool DecisionReader::next(fsbml_decision_t &d)
{
    d = fsbml_decision_t{};
    for (bool is_change = true; is_change;) {
        if (!std::exchange(first_is_read_, false) && !lines_.next()) {
            lines_.fail("it is cut off: there is no 'end' line");
        }
        if (lines_.at("end")) {
            lines_.end(count_);
            return false;
        }
        d.now_ns = lines_.number("the time stamp");
        stamp(d.now_ns);
        is_change = lines_.more() && lines_.at("rate");
        if (is_change) {
            change(d.now_ns);
        }
    }
    if (lines_.more() && lines_.at("elsewhere")) {
        lines_.word("");
        d.peer = kElsewhere;
    } else {
        d.peer = lines_.rank("the peer", header_.ranks);
    }
    if (d.peer == header_.rank) {
        lines_.fail("the peer is the rank itself");
    }
    d.bytes = lines_.number("the number of bytes");
    lines_.keyword("->");
    d.rail = named("the rail that got it");
    while (lines_.more()) {
        lines_.keyword("|");
        const std::uint32_t i = named("a candidate");
        if (0 != (d.candidates >> i & 1)) {
            lines_.fail("candidate " + header_.rails[i].name + " is there twice");
        }
        d.candidates |= std::uint32_t{1} << i;
        d.arrival_ns[i] = lines_.number("its arrival");
        d.backlog_ns[i] = lines_.number("its backlog");
        if (lines_.more() && !lines_.at("|")) {
            d.extra_ns[i] = lines_.added("what its destination adds");
        }
        if (d.extra_ns[i] > d.arrival_ns[i]) {
            lines_.fail("the destination adds more than all of the way");
        }
    }
    ++count_;
    return true;
}

std::string DecisionReader::not_all() const
{
    if (header_.every > 1) {
        return "one in " + std::to_string(header_.every) + " decisions was kept";
    }
    if (header_.lost > 0) {
        return "the first " + std::to_string(header_.lost) + " decisions were overwritten by later ones";
    }
    if (header_.messages != count_) {
        return std::to_string(header_.messages) + " messages were sent, but " + std::to_string(count_)
               + " decisions are there";
    }
    return "";
}

} // namespace fsbml::sim
