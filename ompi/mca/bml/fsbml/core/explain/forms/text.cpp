// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/forms/forms.hpp"

#include "explain/verdict/verdict.hpp"

#include <algorithm>

namespace fsbml
{

namespace
{

constexpr std::size_t kColumns = 100;
constexpr std::size_t kName = 13;
constexpr double fsbml_loggp_t::*kShown[] = {&fsbml_loggp_t::L_ns, &fsbml_loggp_t::o_s_ns,
                                             &fsbml_loggp_t::o_r_ns, &fsbml_loggp_t::g_ns,
                                             &fsbml_loggp_t::G_ns_per_byte};

std::string left(const std::string &text, std::size_t width)
{
    const std::string s = clipped(text, width);
    return s + std::string(width - width_of(s), ' ');
}

std::string right(const std::string &text, std::size_t width)
{
    const std::string s = clipped(text, width);
    return std::string(width - width_of(s), ' ') + s;
}

// Breaks at spaces, and where there is none; all lines but the first are indented by `more`.
std::string wrapped(const std::string &text, std::size_t indent, std::size_t more)
{
    std::string out;
    std::string line(indent, ' ');
    std::size_t used = indent;
    bool begun = false;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = text.find(' ', at);
        while (std::string::npos != end && is_within_number(text, end)) {
            end = text.find(' ', end + 1);
        }
        end = std::string::npos == end ? text.size() : end;
        std::string word = text.substr(at, end - at);
        at = end + 1;
        if (begun && used + 1 + width_of(word) > kColumns) {
            out += line + '\n';
            line.assign(more, ' ');
            used = more;
            begun = false;
        }
        while (used + width_of(word) > kColumns) {
            const std::string part = clipped(word, kColumns - used); // its last character is a mark
            const std::size_t bytes = part.size() - 1;
            out += line + word.substr(0, bytes) + '\n';
            word.erase(0, bytes);
            line.assign(more, ' ');
            used = more;
        }
        line += (begun ? " " : "") + word;
        used += (begun ? 1 : 0) + width_of(word);
        begun = true;
    }
    return out + line + '\n';
}

// None at the ends of lines.
std::string without_blanks(const std::string &text)
{
    std::string s;
    for (const char c : text) {
        if ('\n' == c) {
            s.erase(s.find_last_not_of(' ') + 1);
        }
        s += c;
    }
    return s;
}

// A count that would be too wide is rounded, not cut.
std::string count(std::uint64_t n, std::size_t width)
{
    static const char *const units[] = {"k", "M", "G", "T", "P", "E"};
    std::string s = std::to_string(n);
    double value = static_cast<double>(n);
    for (std::size_t i = 0; s.size() >= width && i < 6; ++i) {
        value /= 1000.0;
        s = digits3(value) + units[i];
    }
    return right(s, width);
}

void heading(std::string &s, const std::string &title)
{
    s += '\n' + title + '\n';
}

std::string percent(double share, bool any)
{
    return any ? fixed(share * 100.0, share > 0.0 && share < 0.01 ? 1 : 0) : "-";
}

void rails(std::string &s, const Figures &f)
{
    if (0 == f.n) {
        return;
    }
    heading(s, "Rails, all ranks together");
    s += "  " + left("", kName) + right("per cent of", 38) + right("most", 20) + right("seen/predicted", 18)
         + right("passed", 9) + '\n';
    s += "  " + left("rail", kName) + right("MB/s", 7) + right("L", 8) + right("messages", 11)
         + right("msgs", 6) + right("bytes", 6) + right("busy", 10) + right("backlog", 10) + right("10 %", 6)
         + right("50 %", 6) + right("90 %", 6) + right("over", 9) + '\n';
    for (std::size_t i = 0; i < f.n; ++i) {
        const fsbml_summary_rail_t &r = f.s.rail[i];
        const bool valid =
            nullptr != f.fit[i] && f.fit[i]->fit.valid && f.fit[i]->fit.params.G_ns_per_byte > 0.0;
        const fsbml_loggp_t p = valid ? f.fit[i]->fit.params : fsbml_loggp_t{};
        const Quantiles &q = f.ratio[i];
        s += "  " + left(f.name[i], kName) + right(valid ? digits3(1e3 / p.G_ns_per_byte) : "-", 7)
             + right(valid ? time_text(p.L_ns) : "-", 8) + count(r.messages, 11)
             + right(percent(f.message_share(i), f.messages > 0), 6)
             + right(percent(f.byte_share(i), f.bytes > 0), 6)
             + right(f.predicted(i) ? time_text(static_cast<double>(r.busy_ns)) : "-", 10)
             + right(f.predicted(i) ? time_text(static_cast<double>(r.backlog_max_ns)) : "-", 10);
        for (const double x : {q.p10, q.p50, q.p90}) {
            s += right(q.arrivals > 0 ? fixed(x, x < 10.0 ? 2 : 0) : "-", 6);
        }
        s += count(r.passed_over, 9) + '\n';
    }
    for (std::size_t i = 0; i < f.n; ++i) {
        const fsbml_summary_rail_t &r = f.s.rail[i];
        std::string more = clean_of(r.about);
        const auto add = [&](const std::string &what) { more += (more.empty() ? "" : "; ") + what; };
        if (r.interfaces > 0) {
            add("the interface carried " + size_text(static_cast<double>(r.interface_bytes)) + ", this job's "
                + size_text(static_cast<double>(r.bytes)));
        }
        if (r.retransmitted > 0) {
            add(plural(r.retransmitted, "packet") + " sent again");
        }
        if (r.far_numa > 0) {
            add("far from the processor of " + count_text(r.far_numa) + " of "
                + plural(std::max(r.processes, r.far_numa), "rank"));
        }
        if (!more.empty()) {
            s += wrapped(f.name[i] + ": " + more, 2, 6);
        }
    }
}

template <class Cell>
void by_size(std::string &s, const Figures &f, const std::string &title, Cell &&cell)
{
    heading(s, title);
    s += "  " + left("up to", kName);
    for (std::uint32_t c = 0; c < FSBML_CLASSES; ++c) {
        s += right(class_text(c), 9);
    }
    s += '\n';
    for (std::size_t i = 0; i < f.n; ++i) {
        s += "  " + left(f.name[i], kName);
        for (std::uint32_t c = 0; c < FSBML_CLASSES; ++c) {
            s += right(cell(f.s.rail[i].by_size[c], f.by_size[c]), 9);
        }
        s += '\n';
    }
}

void sizes(std::string &s, const Figures &f)
{
    if (0 == f.messages) {
        return;
    }
    by_size(s, f, "Messages by size, per cent by rail", [](const fsbml_class_t &c, const fsbml_class_t &all) {
        return percent(share_of(static_cast<double>(c.messages), static_cast<double>(all.messages)),
                       all.messages > 0);
    });
    s += "  " + left("messages", kName);
    for (const fsbml_class_t &c : f.by_size) {
        s += count(c.messages, 9);
    }
    s += '\n';
    by_size(s, f, "Bytes by size of message, per cent by rail",
            [](const fsbml_class_t &c, const fsbml_class_t &all) {
                return percent(share_of(static_cast<double>(c.bytes), static_cast<double>(all.bytes)),
                               all.bytes > 0);
            });
    s += "  " + left("bytes", kName);
    for (const fsbml_class_t &c : f.by_size) {
        s += right(size_text(static_cast<double>(c.bytes)), 9);
    }
    s += '\n';
    const bool seen = std::any_of(std::begin(f.by_size), std::end(f.by_size),
                                  [](const fsbml_class_t &c) { return c.arrivals > 0; });
    if (seen) {
        by_size(s, f, "Observed by predicted time of arrival, by size of message",
                [](const fsbml_class_t &c, const fsbml_class_t &) {
                    const bool known = c.arrivals > 0 && c.predicted_ns > 0;
                    return known ? digits3(static_cast<double>(c.observed_ns)
                                           / static_cast<double>(c.predicted_ns))
                                 : std::string("-");
                });
    }
}

void alternatives(std::string &s, const Figures &f)
{
    if (f.alternatives.empty()) {
        return;
    }
    heading(s,
            "What else could have been done, by the model: time that messages are under way, in all ranks");
    bool some = false;
    for (const Alternative &a : f.alternatives) {
        s += "  " + left(a.name, 36) + right(time_text(static_cast<double>(a.ns)), 12)
             + right(a.done          ? ""
                     : a.ratio > 0.0 ? digits3(a.ratio) + " times"
                                     : "-",
                     14)
             + (a.some ? " *" : "") + '\n';
        some = some || a.some;
    }
    if (some) {
        s += "  * of the processes that could have sent all on it; others could not\n";
    }
}

void rates(std::string &s, const Figures &f)
{
    if (f.rates.empty()) {
        return;
    }
    heading(s, "Rates over time, in Mbit/s, as noticed");
    for (const Rates &r : f.rates) {
        std::string line = r.name + ": " + digits3(r.changes.front()->before_mbps);
        for (const fsbml_change_t *const c : r.changes) {
            line += ", " + digits3(c->after_mbps) + " from " + time_text(static_cast<double>(c->ns)) + " on";
        }
        s += wrapped(line, 2, 6);
    }
    if (f.s.changes.more > 0) {
        s += "  and " + plural(f.s.changes.more, "smaller change") + '\n';
    }
}

void rest(std::string &s, const Figures &f)
{
    if (!f.left_out.empty()) {
        heading(s, "Rails left out, or far too slow");
        for (const std::string &line : f.left_out) {
            s += wrapped(line, 2, 6);
        }
    }
    const std::uint32_t peers = std::min<std::uint32_t>(f.s.n_peers, FSBML_MOST_PEERS);
    if (peers > 0) {
        heading(s, "Peers that are farther than measured");
        for (std::uint32_t i = 0; i < peers; ++i) {
            const fsbml_summary_peer_t &p = f.s.peer[i];
            s += wrapped("rank " + std::to_string(p.from) + " to rank " + std::to_string(p.to) + " on "
                             + clean_of(p.rail) + ": " + time_text(static_cast<double>(p.extra_ns)) + " more",
                         2, 6);
        }
        if (f.s.more_peers > 0) {
            s += "  and " + count_text(f.s.more_peers) + " more\n";
        }
    }
    const std::uint32_t ranks = std::min<std::uint32_t>(f.s.n_ranks, FSBML_MOST_RANKS);
    if (ranks > 0 && f.s.time_ns > 0) {
        heading(s, "Ranks whose messages were under way longest (the mean of all is "
                       + time_text(f.mean_time()) + ')');
        s += "    rank  " + left("node", 24) + "       time   messages        data  of which by rail\n";
        for (std::uint32_t i = 0; i < ranks; ++i) {
            const fsbml_summary_rank_t &r = f.s.rank[i];
            std::string line = "  " + right(std::to_string(r.rank), 6) + "  " + left(clean_of(r.node), 24)
                               + right(time_text(static_cast<double>(r.time_ns)), 11) + count(r.messages, 11)
                               + right(size_text(static_cast<double>(r.bytes)), 12) + ' ';
            for (std::size_t j = 0; j < f.n; ++j) {
                const std::string share = ' ' + fixed(r.rail_share[j] / 10.0, 0) + '%';
                if (f.n <= 6) {
                    line += right(share, 5);
                }
            }
            s += line + (f.n > 6 ? " see JSON" : "") + '\n';
        }
    }
}

void parameters(std::string &s, const Figures &f)
{
    const bool any =
        std::any_of(f.fit.begin(), f.fit.end(), [](const auto *r) { return nullptr != r && r->fit.valid; });
    if (!any) {
        return;
    }
    heading(s, "Parameters as measured; in brackets what 90 % of other samples give");
    s += "  " + left("rail", kName);
    for (const char *const head : {"L us", "o_s us", "o_r us", "g us", "G ns/B"}) {
        s += right(head, 15);
    }
    s += "  off by\n";
    for (std::size_t i = 0; i < f.n; ++i) {
        if (nullptr == f.fit[i] || !f.fit[i]->fit.valid) {
            continue;
        }
        const fsbml_fit_t &fit = f.fit[i]->fit;
        std::string values;
        std::string ranges;
        for (double fsbml_loggp_t::*const m : kShown) {
            const double unit = &fsbml_loggp_t::G_ns_per_byte == m ? 1.0 : 1e3;
            values += right(digits3(fit.params.*m / unit), 15);
            ranges += right(fit.high.*m > 0.0
                                ? '(' + digits3(fit.low.*m / unit) + " - " + digits3(fit.high.*m / unit) + ')'
                                : "",
                            15);
        }
        s += "  " + left(f.name[i], kName) + values
             + right(0 == fit.probes ? "-" : fixed(fit.residual * 100.0, 1) + " %", 8) + '\n';
        if (std::string::npos != ranges.find('(')) {
            s += "  " + left("", kName) + ranges + '\n';
        }
        s += wrapped(fit_quality(fit), 16, 16);
    }
}

} // namespace

std::string fit_quality(const fsbml_fit_t &fit)
{
    std::string reason = clean_of(fit.reason);
    const std::size_t cut = reason.rfind("; ");
    if (reason.size() + 1 >= sizeof fit.reason && std::string::npos != cut) {
        reason = reason.substr(0, cut) + "; ..."; // there was no room for all of the last remark
    }
    const std::string how = 0 == fit.probes
                                ? "given, not measured"
                                : plural(fit.probes, "probe") + (fit.tight ? "" : ", less sure than wanted");
    return how + (reason.empty() ? "" : "; " + reason);
}

std::vector<std::string> about_job(const fsbml_job_t &job)
{
    const fsbml_summary_t &s = *job.summary;
    std::vector<std::string> parts = {
        plural(s.ranks, "rank") + " on " + plural(s.nodes, "node"),
        time_text(static_cast<double>(s.duration_ns)) + " from MPI_Init to MPI_Finalize",
        plural(s.messages, "message") + ", " + size_text(static_cast<double>(s.bytes))};
    const auto add = [&](const char *before, const char *what) {
        if (nullptr != what && '\0' != *what) {
            parts.push_back(before + clean(what));
        }
    };
    add("Open MPI ", job.openmpi);
    add("rule: ", job.policy);
    add("ended ", job.ended);
    return parts;
}

std::string report_text(const fsbml_job_t &job)
{
    const Figures f(job);
    const bool named = nullptr != job.program && '\0' != *job.program;
    std::string s = wrapped("FSBML: rails of " + (named ? clean(job.program) : "a job"), 0, 2);
    std::string about;
    for (const std::string &part : about_job(job)) {
        about += (about.empty() ? "" : "; ") + part;
    }
    s += wrapped(about, 0, 2) + '\n';
    for (const std::string &sentence : verdict(f).sentences) {
        s += wrapped(sentence, 2, 2);
    }
    rails(s, f);
    sizes(s, f);
    alternatives(s, f);
    rates(s, f);
    rest(s, f);
    parameters(s, f);
    return without_blanks(s);
}

} // namespace fsbml
