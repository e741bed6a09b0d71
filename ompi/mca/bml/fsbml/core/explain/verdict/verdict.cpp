// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/verdict/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace fsbml
{

namespace
{

constexpr double kLate = 2.0;              // observed / predicted, in the median
constexpr double kUneven = 2.0;            // the shortest messages' lateness by the longest ones'
constexpr std::uint64_t kSomeArrivals = 5; // to speak of a size
constexpr double kForeign = 1.5;           // carried / given
constexpr double kForeignBytes = 1048576.0;
constexpr double kHeaders =
    256.0; // bytes that a small message takes beside its own, its acknowledgement included
constexpr double kSegment = 1448.0; // bytes of data in a frame of Ethernet
constexpr double kResent = 0.01;
constexpr std::uint64_t kFewResent = 10;
constexpr double kNotable = 0.01; // of the time
constexpr std::size_t kMostBlames = 4;

using Sentences = std::vector<std::string>;

std::string with_stop(std::string s)
{
    return s + (s.empty() || nullptr == std::strchr(".?!", s.back()) ? "." : "");
}

// ------------------------------------------------------------------ faults

// Faults of one rail for one reason are one sentence: which nodes, as few names as tell it.
struct FaultGroup {
    const fsbml_summary_fault_t *first;
    std::string rail, why;
    bool only_slow;
    std::vector<std::pair<std::string, std::string>> pairs;
};

std::vector<FaultGroup> fault_groups(const fsbml_summary_t &s)
{
    std::vector<FaultGroup> groups;
    for (std::uint32_t i = 0; i < s.n_faults && i < FSBML_MOST_FAULTS; ++i) {
        const fsbml_summary_fault_t &fault = s.fault[i];
        const std::string rail = clean_of(fault.rail);
        const std::string why = clean_of(fault.why);
        const bool only_slow = fault.kind >= FSBML_FAULT_ONLY_SLOW;
        auto group = std::find_if(groups.begin(), groups.end(), [&](const FaultGroup &g) {
            return g.only_slow == only_slow && is_same_fault(*g.first, fault);
        });
        if (groups.end() == group) {
            group = groups.insert(groups.end(), {&fault, rail, why, only_slow, {}});
        }
        std::string a = clean_of(fault.from);
        std::string b = clean_of(fault.to);
        if (b < a && !b.empty()) {
            std::swap(a, b); // both ways are one pair of nodes
        }
        if (group->pairs.end() == std::find(group->pairs.begin(), group->pairs.end(), std::make_pair(a, b))) {
            group->pairs.emplace_back(a, b);
        }
    }
    return groups;
}

std::string where(const FaultGroup &g)
{
    const auto &[a, b] = g.pairs.front();
    if (a.empty()) {
        return "";
    }
    if (b.empty()) {
        return 1 == g.pairs.size() ? " on " + a
                                   : " on " + a + " and " + plural(g.pairs.size() - 1, "other node");
    }
    if (1 == g.pairs.size()) {
        return " between " + a + " and " + b;
    }
    for (const std::string &one : {a, b}) { // a node that all pairs have is the one to look at
        if (std::all_of(g.pairs.begin(), g.pairs.end(),
                        [&](const auto &p) { return one == p.first || one == p.second; })) {
            return " between " + one + " and " + plural(g.pairs.size(), "other node");
        }
    }
    return " between " + a + " and " + b + ", and between " + plural(g.pairs.size() - 1, "other pair")
           + " of nodes";
}

void faults(const Figures &f, Sentences &to)
{
    for (const FaultGroup &g : fault_groups(f.s)) {
        const std::string rail = g.rail.empty() ? "A rail" : g.rail;
        const std::string why = g.why.empty() ? "why is not known" : g.why;
        to.push_back(with_stop(rail + (g.only_slow ? " is far slower than it should be" : " carried nothing")
                               + where(g) + ": " + why));
    }
}

// ------------------------------------------------------------------- rails

bool is_given(const Figures &f, std::size_t i)
{
    return nullptr != f.fit[i] && 0 == f.fit[i]->fit.probes;
}

// A slow rail is so for long messages; what else they wait for makes short ones late most of all.
bool short_ones_most(const Figures &f, std::size_t i)
{
    double shortest = 0.0;
    double longest = 0.0;
    for (const fsbml_class_t &c : f.s.rail[i].by_size) {
        if (c.arrivals >= kSomeArrivals && c.predicted_ns > 0) {
            longest = share_of(static_cast<double>(c.observed_ns), static_cast<double>(c.predicted_ns));
            shortest = shortest > 0.0 ? shortest : longest;
        }
    }
    return shortest > kUneven * longest;
}

// With all rails late, it is rather what they share.
void late(const Figures &f, Sentences &to)
{
    std::vector<std::size_t> known;
    std::vector<std::size_t> slow;
    for (std::size_t i = 0; i < f.n; ++i) {
        if (f.ratio[i].arrivals >= kEnoughArrivals) {
            known.push_back(i);
            if (f.ratio[i].p50 >= kLate) {
                slow.push_back(i);
            }
        }
    }
    const auto slower = [&](std::size_t a, std::size_t b) { return f.ratio[a].p50 < f.ratio[b].p50; };
    if (slow.size() > 1 && slow.size() == known.size()) {
        const double least = f.ratio[*std::min_element(slow.begin(), slow.end(), slower)].p50;
        const double most = f.ratio[*std::max_element(slow.begin(), slow.end(), slower)].p50;
        const bool short_ones =
            std::all_of(slow.begin(), slow.end(), [&](auto i) { return short_ones_most(f, i); });
        if (short_ones || most < 2.0 * least) {
            const bool given = std::all_of(slow.begin(), slow.end(), [&](auto i) { return is_given(f, i); });
            to.push_back("Messages took " + times_text(least)
                         + " as long as predicted and more on every rail (in the median)"
                         + (short_ones ? ", short ones most of all" : "")
                         + ": the processors are too busy to take them in, or "
                         + (short_ones ? "others use the network now and then."
                            : given    ? "the network is slower than the given parameters say."
                                       : "the network is slower than when it was measured."));
            return;
        }
    }
    std::sort(slow.begin(), slow.end(), [&](std::size_t a, std::size_t b) { return slower(b, a); });
    for (const std::size_t i : slow) {
        to.push_back("Messages on " + f.name[i] + " took " + times_text(f.ratio[i].p50)
                     + " as long as predicted (in the median)"
                     + (short_ones_most(f, i)
                            ? ", short ones most of all: the processors are too busy to take them in, or "
                              "others use it now and then."
                        : is_given(f, i) ? ": it is slower than the given parameters say, or others use it."
                                         : ": it is slower than when it was measured, or others use it."));
    }
}

// What the job gave the interface, which is looked at from when the measurement is over: its bytes and
// headers.
double given(const Figures &f, std::size_t i)
{
    const fsbml_summary_rail_t &r = f.s.rail[i];
    return static_cast<double>(r.bytes) + kHeaders * static_cast<double>(r.messages);
}

void foreign(const Figures &f, Sentences &to)
{
    for (std::size_t i = 0; i < f.n; ++i) {
        const fsbml_summary_rail_t &r = f.s.rail[i];
        const auto carried = static_cast<double>(r.interface_bytes);
        const double own = given(f, i);
        if (0 == r.interfaces || carried <= kForeign * own || carried - own <= kForeignBytes) {
            continue;
        }
        if (0 == r.bytes) {
            to.push_back(f.name[i] + " carried " + size_text(carried)
                         + ", none of it this job's: other programs use it.");
        } else {
            to.push_back(f.name[i] + " carried " + times_text(carried / static_cast<double>(r.bytes))
                         + " what this job gave it: other programs use it.");
        }
    }
}

void resent(const Figures &f, Sentences &to)
{
    for (std::size_t i = 0; i < f.n; ++i) {
        const fsbml_summary_rail_t &r = f.s.rail[i];
        const double segments =
            std::max(static_cast<double>(r.bytes) / kSegment, static_cast<double>(r.messages));
        const double share = share_of(static_cast<double>(r.retransmitted), segments);
        if (r.retransmitted >= kFewResent && share > kResent) {
            to.push_back(f.name[i] + " lost packets: "
                         + (share < 1.0 ? fixed(share * 100.0, 0) + " %" : "more than all")
                         + " of them had to be sent again. Its cable or port is bad, or its switch gets more "
                           "at once than it can queue.");
        }
    }
}

// -------------------------------------------------------------- what it gave

std::string nothing_to_choose(const Figures &f)
{
    const std::string begin = "FSBML had nothing to choose: ";
    const std::string since = "FSBML had nothing to choose, as ";
    const std::string reason = nullptr == f.table ? "" : clean_of(f.table->reason);
    if (0 == f.n) {
        return begin + "no rail was found.";
    }
    if (1 == f.n) {
        return begin + "there is one rail only, " + f.name[0] + '.';
    }
    if (0 == f.messages && 0 == f.s.messages) {
        return begin + "no message went over a rail.";
    }
    if (!reason.empty()) {
        return with_stop(since + "the rails were not measured: " + reason);
    }
    Sentences whys;
    std::string first;
    for (std::size_t i = 0; i < f.n; ++i) {
        if (nullptr != f.fit[i] && !f.fit[i]->fit.valid && '\0' != f.fit[i]->fit.reason[0]) {
            first = whys.empty() ? f.name[i] : first;
            whys.push_back(clean_of(f.fit[i]->fit.reason));
        }
    }
    if (!whys.empty()) {
        const bool all = f.n == whys.size()
                         && f.n == static_cast<std::size_t>(std::count(whys.begin(), whys.end(), whys[0]));
        return with_stop(since + (all ? "no rail has parameters: " : first + " has no parameters: ")
                         + whys[0]);
    }
    return begin + "each message had one rail only that reaches its destination.";
}

// Why a rail that was there carried nothing, if it is not told already.
std::string idle(const Figures &f, std::size_t i)
{
    const bool fault =
        std::any_of(f.s.fault, f.s.fault + std::min<std::uint32_t>(f.s.n_faults, FSBML_MOST_FAULTS),
                    [&](const fsbml_summary_fault_t &x) { return clean_of(x.rail) == f.name[i]; });
    if (fault) {
        return "";
    }
    if (nullptr != f.fit[i] && !f.fit[i]->fit.valid) {
        const std::string why = clean_of(f.fit[i]->fit.reason);
        return with_stop(f.name[i] + " was not used: " + (why.empty() ? "it could not be measured" : why));
    }
    if (f.s.rail[i].passed_over > 0) {
        return f.name[i] + " carried nothing: another rail was predicted to be faster for each message.";
    }
    return f.name[i] + " carried nothing: it was no choice for any message.";
}

std::string carried(const Figures &f, const std::vector<std::size_t> &rails)
{
    Sentences names;
    double share = 0.0;
    for (const std::size_t i : rails) {
        names.push_back(f.name[i]);
        share += f.bytes > 0 ? f.byte_share(i) : f.message_share(i);
    }
    const std::string subject =
        names.size() > 3 ? "The other " + std::to_string(names.size()) + " rails" : listed(names);
    return subject + " carried " + share_text(std::min(share, 1.0))
           + (f.bytes > 0 ? " of the bytes" : " of the messages");
}

void gain(const Figures &f, Sentences &to)
{
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < f.n; ++i) {
        if (f.s.rail[i].messages > 0) {
            used.push_back(i);
        }
    }
    if (used.empty()) {
        to.push_back("No rail carried anything.");
        return;
    }
    if (1 == used.size()) {
        to.push_back("Only " + f.name[used[0]] + " carried anything.");
        std::size_t more = 0;
        for (std::size_t i = 0; i < f.n; ++i) {
            const std::string why = i == used[0] ? "" : idle(f, i);
            if (!why.empty() && ++more <= 2) {
                to.push_back(why);
            }
        }
        return;
    }
    std::vector<std::size_t> others;
    const auto main = f.best_alone >= 0
                          ? static_cast<std::size_t>(f.best_alone)
                          : *std::max_element(used.begin(), used.end(), [&](std::size_t a, std::size_t b) {
                                return f.s.rail[a].bytes < f.s.rail[b].bytes;
                            });
    std::copy_if(used.begin(), used.end(), std::back_inserter(others),
                 [&](std::size_t i) { return i != main; });
    const std::string share = carried(f, others);
    const double saved = f.saved();
    const std::string against = " (by the model, against " + f.name[main] + " alone).";
    if (f.best_alone < 0) {
        to.push_back(
            share
            + ". What that saved is not known: no rail was a choice for each message of every process.");
    } else if (saved >= kNotable) {
        to.push_back(share + " and saved about " + share_text(saved) + " of the communication time"
                     + against);
    } else if (saved > -kNotable) {
        to.push_back(share + ", but saved next to nothing" + against);
    } else {
        to.push_back(share + ", but " + f.name[main] + " alone would have taken "
                     + share_text(1.0 - 1.0 / (1.0 - saved)) + " less time (by the model).");
    }
}

void against_r2(const Figures &f, Sentences &to)
{
    const std::string rule = "Open MPI's rule (r2) would have taken ";
    if (f.r2_ratio >= 1.5) {
        to.push_back(rule + "about " + times_text(f.r2_ratio) + " as long.");
    } else if (f.r2_ratio >= 1.05) {
        to.push_back(rule + "about " + share_text(f.r2_ratio - 1.0) + " longer.");
    } else if (f.r2_ratio > 0.95) {
        to.push_back(rule + "about as long.");
    } else if (f.r2_ratio > 0.0) {
        to.push_back(rule + "about " + share_text(1.0 - f.r2_ratio) + " less time.");
    }
}

} // namespace

Verdict verdict(const Figures &f)
{
    Verdict v;
    const fsbml_summary_t &s = f.s;
    if (0 == s.heard) {
        v.sentences.push_back("Nothing is known of this job: none of its ranks told anything.");
        return v;
    }
    faults(f, v.sentences);
    add_changed(f, true, v.sentences);
    late(f, v.sentences);
    foreign(f, v.sentences);
    resent(f, v.sentences);
    v.blame = !v.sentences.empty();
    if (v.sentences.size() > kMostBlames) {
        const std::size_t more = v.sentences.size() - kMostBlames;
        v.sentences.resize(kMostBlames);
        v.sentences.push_back(
            "There "
            + std::string(1 == more ? "is one more finding" : "are " + count_text(more) + " more findings")
            + " of this kind, see below.");
    }
    if (0 == s.chose) {
        v.sentences.push_back(nothing_to_choose(f));
    } else {
        gain(f, v.sentences);
        against_r2(f, v.sentences);
    }
    add_changed(f, false, v.sentences);
    if (s.heard < s.ranks) {
        v.sentences.push_back(count_text(s.ranks - s.heard) + " of " + plural(s.ranks, "rank")
                              + " told nothing: what they did is not in here.");
    }
    return v;
}

} // namespace fsbml
