// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/forms/forms.hpp"

#include "explain/verdict/verdict.hpp"

#include <algorithm>

namespace fsbml
{

namespace
{

// How the page looks. Colours of rails can be told apart by the colour-blind, and have a contrast of 3 and
// more to the ground, writing of 4.5 and more, in light and in dark.
constexpr const char *kStyle = R"(
:root { color-scheme: light dark; --ground: #fbfbfa; --card: #ffffff; --ink: #1c1f24; --soft: #5b626d; --line: #e2e4e8;
  --empty: #eef0f3; --alarm: #b3261e; --fine: #1f5fa8; --cut: #ffffff;
  --c0: #1f5fa8; --c1: #b85607; --c2: #0d8577; --c3: #a8327a; --c4: #7a6a00; --c5: #5a4fcf; --c6: #68717e; --done: #1c1f24; --rule: #68717e;
  --on: #ffffff; }
@media (prefers-color-scheme: dark) {
:root { --ground: #14171b; --card: #1c2026; --ink: #e8eaed; --soft: #a3abb6; --line: #333941; --empty: #2a2f37;
  --alarm: #ff8a80; --fine: #6fb0f5; --cut: #1c2026;
  --c0: #6fb0f5; --c1: #f5a250; --c2: #4fc7b3; --c3: #ee8cc4; --c4: #d6c544; --c5: #aaa2ff; --c6: #98a1ad; --done: #e8eaed; --rule: #98a1ad;
  --on: #14171b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); -webkit-text-size-adjust: 100%;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
main { max-width: 58rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
.over { margin: 0 0 .5rem; color: var(--soft); font-size: .875rem; }
h1 { margin: 0 0 1rem; font-size: clamp(1.4rem, 1rem + 2vw, 2rem); line-height: 1.25; font-weight: 650; letter-spacing: -.01em; text-wrap: pretty; }
.verdict { padding: .25rem 0 .25rem 1.25rem; border-left: 5px solid var(--fine); margin-bottom: 1.5rem; }
.verdict.alarm { border-color: var(--alarm); }
.verdict .mark { display: block; margin-bottom: .25rem; font-size: .875rem; font-weight: 650; color: var(--fine); }
.verdict.alarm .mark { color: var(--alarm); }
.verdict p { margin: 0 0 .4rem; font-size: 1.0625rem; max-width: 44rem; }
.facts { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 0 0 2rem; padding: 0; list-style: none; color: var(--soft); font-size: .9375rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.1rem 1.25rem 1.25rem; margin: 0 0 1.25rem; }
h2 { margin: 0 0 .15rem; font-size: 1.125rem; line-height: 1.35; font-weight: 650; }
.caption { margin: 0 0 .9rem; color: var(--soft); font-size: .875rem; max-width: 46rem; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin: 0 0 .75rem; font-size: .875rem; }
.key { display: inline-flex; align-items: center; gap: .4rem; overflow-wrap: anywhere; }
.row { display: grid; grid-template-columns: 9.5rem minmax(0, 1fr) 14rem; column-gap: .9rem; align-items: center; font-size: .875rem; margin: .1rem 0; }
.tight .row { margin: 0; }
.label { overflow-wrap: anywhere; line-height: 1.25; }
.value { color: var(--soft); line-height: 1.25; }
svg.bar { display: block; width: 100%; overflow: visible; }
.ground { fill: var(--empty); }
.part { stroke: var(--card); stroke-width: 1.5; }
.c0 { fill: var(--c0); } .c1 { fill: var(--c1); } .c2 { fill: var(--c2); } .c3 { fill: var(--c3); }
.c4 { fill: var(--c4); } .c5 { fill: var(--c5); } .c6 { fill: var(--c6); } .done { fill: var(--done); } .rule { fill: var(--rule); }
text { font-size: 12.5px; font-weight: 600; text-anchor: middle; }
text.in { fill: var(--on); }
text.tick { fill: var(--soft); font-weight: 400; }
text.strong { fill: var(--ink); font-weight: 650; }
.grid { stroke: var(--line); stroke-width: 1; }
.one { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 4 3; }
.whisker { opacity: .45; }
.edge { stroke: var(--card); stroke-width: 7; }
.halo { stroke: var(--card); stroke-width: 4; }
.mean { stroke: var(--ink); stroke-width: 2; }
.median { stroke: var(--ink); stroke-width: 3; }
.cut { stroke: var(--cut); stroke-width: 4; }
.scroll { overflow-x: auto; margin: 0 -.25rem; padding: 0 .25rem; }
table { border-collapse: collapse; font-size: .875rem; min-width: 100%; }
th, td { text-align: right; padding: .4rem .5rem; border-bottom: 1px solid var(--line); white-space: nowrap; vertical-align: top; }
th { color: var(--soft); font-weight: 500; vertical-align: bottom; white-space: normal; line-height: 1.3; }
tr:last-child td { border-bottom: 0; }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; min-width: 5rem; overflow-wrap: anywhere; }
th:last-child, td:last-child { padding-right: 0; }
tbody th { text-align: left; overflow-wrap: anywhere; padding-bottom: 0; border-bottom: 0; color: var(--ink); font-weight: 650; }
th small { font-weight: 400; color: var(--soft); font-size: .8125rem; margin-left: .4rem; }
td small { display: block; color: var(--soft); font-size: .8125rem; }
ul.list { margin: .4rem 0 0; padding-left: 1.1rem; font-size: .9375rem; }
ul.list li { margin: .15rem 0; }
ul.notes { color: var(--soft); font-size: .8125rem; }
footer { color: var(--soft); font-size: .8125rem; }
@media (max-width: 40rem) {
  main { padding: 1.25rem .9rem 2rem; }
  section { padding: .9rem .9rem 1rem; }
  .row { grid-template-columns: minmax(0, 1fr) auto; margin: .45rem 0; column-gap: .6rem; }
  .row svg.bar { grid-column: 1 / -1; grid-row: 2; }
  .value { text-align: right; }
  .row.axis .value { grid-row: 3; grid-column: 1 / -1; }
}
@media print { section { break-inside: avoid; } }
)";

std::string section(const std::string &title, const std::string &caption, const std::string &body)
{
    return body.empty() ? ""
                        : "<section>\n<h2>" + html(title) + "</h2>\n"
                              + (caption.empty() ? "" : "<p class=\"caption\">" + html(caption) + "</p>\n")
                              + body + "</section>\n";
}

std::string cell(const std::string &text, const std::string &more = "")
{
    return "<td>" + html(text) + (more.empty() ? "" : "<small>" + html(more) + "</small>") + "</td>";
}

std::string table(std::initializer_list<const char *> heads, const std::string &rows)
{
    std::string s = "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>";
    for (const char *const head : heads) {
        s += "<th scope=\"col\">" + html(head) + "</th>";
    }
    return s + "</tr></thead>\n<tbody>\n" + rows + "</tbody></table></div>\n";
}

std::string list(const std::vector<std::string> &lines, const char *more = "")
{
    std::string s;
    for (const std::string &line : lines) {
        s += "<li>" + html(line) + "</li>\n";
    }
    return s.empty() ? s : "<ul class=\"list" + std::string(more) + "\">\n" + s + "</ul>\n";
}

std::string head(const fsbml_job_t &job, const Figures &f)
{
    const Verdict v = verdict(f);
    const bool named = nullptr != job.program && '\0' != *job.program;
    const std::string program = named ? clean(job.program) : "a job";
    std::string s = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>FSBML: "
                    + html(program) + "</title>\n<style>" + kStyle + "</style>\n</head>\n<body>\n<main>\n"
                    + "<p class=\"over\">FSBML: how the networks served " + html(program) + "</p>\n"
                    + "<div class=\"verdict" + (v.blame ? " alarm" : "") + "\">\n"
                    + (v.blame ? "<span class=\"mark\">Look at this first</span>" : "") + "<h1>"
                    + html(v.sentences.front()) + "</h1>\n";
    for (std::size_t i = 1; i < v.sentences.size(); ++i) {
        s += "<p>" + html(v.sentences[i]) + "</p>\n";
    }
    s += "</div>\n<ul class=\"facts\">\n";
    for (const std::string &part : about_job(job)) {
        s += "<li>" + html(part) + "</li>\n";
    }
    return s + "</ul>\n";
}

std::string rails_table(const Figures &f)
{
    std::string rows;
    for (std::size_t i = 0; i < f.n; ++i) {
        const fsbml_summary_rail_t &r = f.s.rail[i];
        const Quantiles &q = f.ratio[i];
        std::string about = clean_of(r.about);
        if (r.far_numa > 0) {
            about += (about.empty() ? "" : "; ") + std::string("far from the processor of ")
                     + plural(r.far_numa, "rank");
        }
        rows +=
            "<tr><th colspan=\"7\" scope=\"rowgroup\">" + html(f.name[i]) + " <small>" + html(about)
            + "</small></th></tr>\n<tr>"
            + cell(count_text(r.messages), r.messages > 0 ? share_text(f.message_share(i)) : "")
            + cell(size_text(static_cast<double>(r.bytes)), r.bytes > 0 ? share_text(f.byte_share(i)) : "")
            + cell(f.predicted(i) ? time_text(static_cast<double>(r.busy_ns)) : "-")
            + cell(f.predicted(i) ? time_text(static_cast<double>(r.backlog_max_ns)) : "-",
                   f.predicted(i) && r.backlog_max_ns > 0 ? "rank " + std::to_string(r.backlog_max_rank) : "")
            + cell(q.arrivals > 0 ? digits3(q.p50) : "-",
                   q.arrivals > 0 ? digits3(q.p10) + " to " + digits3(q.p90) : "")
            + cell(count_text(r.passed_over))
            + cell(r.interfaces > 0 ? size_text(static_cast<double>(r.interface_bytes)) : "-",
                   r.retransmitted > 0 ? count_text(r.retransmitted) + " sent again" : "")
            + "</tr>\n";
    }
    return rows.empty() ? rows
                        : table({"messages", "bytes", "busy", "most backlog", "observed / predicted",
                                 "passed over", "sent by interface"},
                                rows);
}

// "19.4 to 20.4": what has a unit has that of the upper end, and says it once where both have the same.
std::string range(const std::string &low, const std::string &high, double known)
{
    const std::size_t a = low.find(' ');
    const std::size_t b = high.find(' ');
    const bool alike = std::string::npos != a && std::string::npos != b && low.substr(a) == high.substr(b);
    return known > 0.0 ? (alike ? low.substr(0, a) + " to " + high.substr(0, b) : low + " to " + high) : "";
}

std::string parameters_table(const Figures &f)
{
    std::string rows;
    std::vector<std::string> notes;
    for (std::size_t i = 0; i < f.n; ++i) {
        if (nullptr == f.fit[i] || !f.fit[i]->fit.valid || f.fit[i]->fit.params.G_ns_per_byte <= 0.0) {
            continue;
        }
        const fsbml_fit_t &fit = f.fit[i]->fit;
        const fsbml_loggp_t &p = fit.params;
        rows += "<tr>" + cell(f.name[i]) + cell(digits3(1e3 / p.G_ns_per_byte));
        for (double fsbml_loggp_t::*const member :
             {&fsbml_loggp_t::L_ns, &fsbml_loggp_t::o_s_ns, &fsbml_loggp_t::o_r_ns, &fsbml_loggp_t::g_ns}) {
            rows += cell(time_text(p.*member),
                         range(time_text(fit.low.*member), time_text(fit.high.*member), fit.high.*member));
        }
        rows += cell(digits3(p.G_ns_per_byte) + " ns",
                     range(digits3(fit.low.G_ns_per_byte), digits3(fit.high.G_ns_per_byte),
                           fit.high.G_ns_per_byte))
                + cell(0 == fit.probes ? "-" : fixed(fit.residual * 100.0, 1) + " %") + "</tr>\n";
        notes.push_back(f.name[i] + ": " + fit_quality(fit));
    }
    return rows.empty() ? rows
                        : table({"rail", "MB/s", "latency L", "sender o_s", "receiver o_r", "per message g",
                                 "per byte G", "off by"},
                                rows)
                              + list(notes, " notes");
}

std::string peers(const Figures &f)
{
    std::vector<std::string> lines;
    for (std::uint32_t i = 0; i < f.s.n_peers && i < FSBML_MOST_PEERS; ++i) {
        const fsbml_summary_peer_t &p = f.s.peer[i];
        lines.push_back("rank " + std::to_string(p.from) + " to rank " + std::to_string(p.to) + " on "
                        + clean_of(p.rail) + ": " + time_text(static_cast<double>(p.extra_ns)) + " more");
    }
    if (f.s.more_peers > 0) {
        lines.push_back("and " + count_text(f.s.more_peers) + " more");
    }
    return list(lines);
}

// ----------------------------------------------------------- titles: what one sees

std::string shares_title(const Figures &f)
{
    std::size_t most = 0;
    for (std::size_t i = 1; i < f.n; ++i) {
        most = f.s.rail[i].bytes > f.s.rail[most].bytes ? i : most;
    }
    return f.bytes > 0 ? f.name[most] + " carried " + share_text(f.byte_share(most)) + " of the bytes"
                       : "What each rail carried";
}

std::string arrivals_title(const Figures &f)
{
    double worst = 1.0;
    std::size_t at = 0;
    bool enough = false;
    for (std::size_t i = 0; i < f.n; ++i) {
        const double r = f.ratio[i].p50;
        if (f.ratio[i].arrivals < kEnoughArrivals) {
            continue;
        }
        enough = true;
        if (std::max(r, 1.0 / r) > worst) {
            worst = std::max(r, 1.0 / r);
            at = i;
        }
    }
    if (!enough) {
        return "When messages arrived (too few were seen to judge by)";
    }
    if (worst < 1.25) {
        return "Messages arrived about when they were predicted to";
    }
    const bool late = f.ratio[at].p50 > 1.0;
    return "Messages on " + f.name[at] + " took " + (late ? "" : "only ") + times_text(f.ratio[at].p50)
           + " as long as predicted";
}

bool some_only(const Figures &f)
{
    return std::any_of(f.alternatives.begin(), f.alternatives.end(), [](const auto &a) { return a.some; });
}

std::string alternatives_title(const Figures &f)
{
    std::string better;
    double least = 0.99;
    for (const Alternative &a : f.alternatives) {
        if (!a.done && a.ratio > 0.0 && a.ratio < least) {
            least = a.ratio;
            better = a.name;
        }
    }
    return !better.empty() ? better + " would have been faster"
           : some_only(f)  ? "Nothing that all ranks could have done would have been faster"
                           : "Nothing else would have been faster";
}

std::string rates_title(const Figures &f)
{
    return 1 == f.rates.size() ? f.rates[0].name + " changed its rate"
                               : plural(f.rates.size(), "rail") + " changed their rates";
}

std::string rates_caption(const Figures &f)
{
    return "What a rail carries, as noticed while the job ran: from MPI_Init to MPI_Finalize, "
           + time_text(static_cast<double>(f.s.duration_ns)) + ", each up to its highest rate."
           + (f.s.changes.more > 0 ? ' ' + plural(f.s.changes.more, "smaller change") + " not shown." : "");
}

std::string ranks_title(const Figures &f)
{
    const fsbml_summary_rank_t &longest = f.s.rank[0];
    const double ratio = share_of(static_cast<double>(longest.time_ns), f.mean_time());
    return ratio < 1.25 ? "All ranks waited about equally long"
                        : "Rank " + std::to_string(longest.rank) + " waited " + times_text(ratio)
                              + " as long as the mean of all ranks";
}

std::string ranks_caption(const Figures &f)
{
    const std::uint32_t shown = std::min<std::uint32_t>(f.s.n_ranks, FSBML_MOST_RANKS);
    return "Time that a rank's messages were under way, by the model, and its bytes, coloured by rail; the "
           "line is the mean of all ranks, "
           + time_text(f.mean_time()) + '.'
           + (shown < f.s.ranks ? " These " + std::to_string(shown) + " of " + plural(f.s.ranks, "rank")
                                      + " waited longest."
                                : "");
}

} // namespace

std::string report_page(const fsbml_job_t &job)
{
    const Figures f(job);
    const Colours c(f);
    const std::string legend = f.n > 1 ? c.legend(f) : "";
    std::string s = head(job, f);
    s += section("Rails left out, or far too slow", "", list(f.left_out));
    if (f.messages > 0) {
        s += section(shares_title(f), "Share of each rail in all messages and bytes between nodes.",
                     legend + shares_plot(f, c));
        s += section("By size of message", "Share of each rail in the bytes of messages of that size.",
                     legend + sizes_plot(f, c));
    }
    s += section(
        alternatives_title(f),
        std::string("Time that messages were under way, by the model, in all ranks: as it was, and had "
                    "each message taken one rail, or the rails that Open MPI's rule takes.")
            + (some_only(f) ? " What only some ranks could have done has no bar." : ""),
        alternatives_plot(f, c));
    s += section(arrivals_title(f),
                 "Observed by predicted time. The box holds half of the messages, the strip 8 of 10, the "
                 "mark is the median; at 1 the prediction was right, to the right of it messages came late.",
                 arrivals_plot(f, c));
    s += section(rates_title(f), rates_caption(f), rates_plot(f, c));
    const std::string ranks = ranks_plot(f, c);
    s += section(ranks_title(f), ranks_caption(f), ranks.empty() ? ranks : legend + ranks);
    s += section("Peers that are farther than measured", "", peers(f));
    s += section("Rails",
                 "All ranks together. Busy and backlog are what was predicted; small figures are shares, "
                 "ranks, and where 8 of 10 messages are.",
                 rails_table(f));
    s += section("Parameters as measured",
                 "Small figures: 90 % of other samples would give a value in between.", parameters_table(f));
    return s
           + "<footer>Written by FSBML at the end of the job. Times by the model are predictions, not "
             "measurements.</footer>\n"
             "</main>\n</body>\n</html>\n";
}

} // namespace fsbml
