// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/forms/forms.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

constexpr std::size_t kColours = 6;
constexpr double kRoomForShare = 0.14; // of a bar, for "12 %"

std::string css_percent(double share)
{
    return fixed(std::clamp(share, 0.0, 1.0) * 100.0, 2) + '%';
}

std::string rect(double from, double width, int y, int height, const std::string &css,
                 const std::string &title)
{
    return "<rect x=\"" + css_percent(from) + "\" y=\"" + std::to_string(y) + "\" width=\""
           + css_percent(width) + "\" height=\"" + std::to_string(height) + "\" class=\"" + css + "\"><title>"
           + html(title) + "</title></rect>";
}

std::string vertical(double x, int from, int to, const char *css)
{
    return "<line x1=\"" + css_percent(x) + "\" x2=\"" + css_percent(x) + "\" y1=\"" + std::to_string(from)
           + "\" y2=\"" + std::to_string(to) + "\" class=\"" + css + "\"></line>";
}

std::string row(const std::string &label, const std::string &bar, const std::string &value, int height)
{
    return "<div class=\"row\"><span class=\"label\">" + html(label) + "</span><svg class=\"bar\" height=\""
           + std::to_string(height) + "\" role=\"img\" aria-label=\"" + html(label + ": " + value) + "\">"
           + bar + "</svg><span class=\"value\">" + html(value) + "</span></div>\n";
}

// Parts that sum up to at most 1, one after the other, within the first `whole` of the bar.
std::string stacked(const Figures &f, const Colours &c, const std::vector<double> &parts, double whole,
                    bool inscribed)
{
    std::string s = rect(0.0, 1.0, 4, 20, "ground", "");
    std::string text;
    double at = 0.0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double width = parts[i] * whole;
        if (width <= 0.0) {
            continue;
        }
        s += rect(at, width, 4, 20, "part " + c.of(i), f.name[i] + ": " + share_text(parts[i]));
        if (inscribed && width >= kRoomForShare) {
            text += "<text x=\"" + css_percent(at + width / 2.0) + "\" y=\"18.5\" class=\"in " + c.of(i)
                    + "\">" + html(share_text(parts[i])) + "</text>";
        }
        at += width;
    }
    return s + text;
}

template <class Part>
std::vector<double> parts_of(const Figures &f, double whole, Part &&part)
{
    std::vector<double> parts;
    for (std::size_t i = 0; i < f.n; ++i) {
        parts.push_back(share_of(static_cast<double>(part(f.s.rail[i])), whole));
    }
    return parts;
}

std::string power_text(int exponent)
{
    return exponent < 0 ? "1/" + std::to_string(1 << -exponent) : std::to_string(1 << exponent);
}

} // namespace

std::string html(const std::string &text)
{
    std::string s;
    const std::string plain = clean(text);
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const char c = plain[i];
        switch (c) {
        case ' ':
            s += is_within_number(plain, i) ? "&#160;" : " ";
            break;
        case '&':
            s += "&amp;";
            break;
        case '<':
            s += "&lt;";
            break;
        case '>':
            s += "&gt;";
            break;
        case '"':
            s += "&quot;";
            break;
        case '\'':
            s += "&#39;";
            break;
        default:
            s += c;
        }
    }
    return s;
}

// In the order of the rails, so that a picture and a table read alike.
Colours::Colours(const Figures &f) : name_(f.n, "c" + std::to_string(kColours))
{
    std::vector<std::size_t> order(f.n);
    for (std::size_t i = 0; i < f.n; ++i) {
        order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return f.s.rail[a].bytes > f.s.rail[b].bytes; });
    order.resize(std::min(order.size(), kColours));
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) {
        name_[order[i]] = "c" + std::to_string(i);
    }
}

std::string Colours::legend(const Figures &f) const
{
    const std::string rest = "c" + std::to_string(kColours);
    const auto entry = [](const std::string &css, const std::string &name) {
        return "<span class=\"key\"><svg width=\"12\" height=\"12\" aria-hidden=\"true\"><rect width=\"12\" "
               "height=\"12\" rx=\"2\" class=\""
               + css + "\"></rect></svg>" + html(name) + "</span>";
    };
    std::string s = "<p class=\"legend\">";
    for (std::size_t i = 0; i < name_.size(); ++i) {
        s += rest == name_[i] ? "" : entry(name_[i], f.name[i]);
    }
    const auto others = static_cast<std::size_t>(std::count(name_.begin(), name_.end(), rest));
    return s + (0 == others ? "" : entry(rest, plural(others, "other rail"))) + "</p>\n";
}

std::string shares_plot(const Figures &f, const Colours &c)
{
    const auto m = static_cast<double>(f.messages);
    const auto b = static_cast<double>(f.bytes);
    return row("messages", stacked(f, c, parts_of(f, m, [](const auto &r) { return r.messages; }), 1.0, true),
               count_text(f.messages), 28)
           + row("bytes", stacked(f, c, parts_of(f, b, [](const auto &r) { return r.bytes; }), 1.0, true),
                 size_text(b), 28);
}

std::string sizes_plot(const Figures &f, const Colours &c)
{
    std::string s;
    for (std::uint32_t k = 0; k < FSBML_CLASSES; ++k) {
        const fsbml_class_t &all = f.by_size[k];
        if (0 == all.messages) {
            continue;
        }
        // Of messages of 0 bytes, there are only messages.
        const bool bytes = all.bytes > 0;
        const auto whole = static_cast<double>(bytes ? all.bytes : all.messages);
        const auto parts = parts_of(f, whole, [&](const fsbml_summary_rail_t &r) {
            return bytes ? r.by_size[k].bytes : r.by_size[k].messages;
        });
        s += row((k + 1 < FSBML_CLASSES ? "up to " : "") + class_text(k), stacked(f, c, parts, 1.0, true),
                 plural(all.messages, "message") + ", " + size_text(static_cast<double>(all.bytes)), 28);
    }
    return s;
}

std::string arrivals_plot(const Figures &f, const Colours &c)
{
    double low = 0.5;
    double high = 2.0;
    for (const Quantiles &q : f.ratio) {
        if (q.arrivals > 0) {
            low = std::min(low, q.p10);
            high = std::max(high, q.p90);
        }
    }
    const int first = static_cast<int>(std::floor(std::log2(low)));
    const int last = static_cast<int>(std::ceil(std::log2(high)));
    const auto x = [&](double ratio) { return (std::log2(ratio) - first) / (last - first); };
    // Ends of the scale have room for half of their writing.
    const auto place = [&](double ratio) { return 0.03 + 0.94 * std::clamp(x(ratio), 0.0, 1.0); };
    std::string grid;
    std::string axis;
    for (int e = first; e <= last; ++e) {
        const double at = place(std::exp2(e));
        grid += vertical(at, 0, 34, 0 == e ? "one" : "grid");
        if (last - first <= 6 || 0 == (e % 2)) {
            axis += "<text x=\"" + css_percent(at) + "\" y=\"13\" class=\"tick" + (0 == e ? " strong" : "")
                    + "\">" + power_text(e) + "</text>";
        }
    }
    std::string s;
    for (std::size_t i = 0; i < f.n; ++i) {
        const Quantiles &q = f.ratio[i];
        if (0 == q.arrivals) {
            continue;
        }
        const std::string title = f.name[i] + ": half of the messages within " + digits3(q.p25) + " and "
                                  + digits3(q.p75) + " times the prediction, 8 of 10 within " + digits3(q.p10)
                                  + " and " + digits3(q.p90);
        const std::string bar =
            grid + rect(place(q.p10), place(q.p90) - place(q.p10), 14, 6, "whisker " + c.of(i), title)
            + rect(place(q.p25), place(q.p75) - place(q.p25), 7, 20, "box " + c.of(i), title)
            + vertical(place(q.p50), 4, 30, "edge") + vertical(place(q.p50), 4, 30, "median");
        s += row(f.name[i], bar, digits3(q.p50) + ", median of " + count_text(q.arrivals), 34);
    }
    return s.empty() ? s
                     : "<div class=\"tight\">" + s
                           + "<div class=\"row axis\"><span class=\"label\"></span><svg class=\"bar\" "
                             "height=\"18\" aria-hidden=\"true\">"
                           + axis + "</svg><span class=\"value\">times the prediction</span></div></div>\n";
}

std::string alternatives_plot(const Figures &f, const Colours &c)
{
    // One that is far worse than the rest must not make all others invisible.
    double most = 0.0;
    for (const Alternative &a : f.alternatives) {
        most = std::max(most, a.some ? 0.0 : static_cast<double>(a.ns));
    }
    const double scale =
        f.alternatives.empty() ? 0.0 : std::min(most, 12.0 * static_cast<double>(f.alternatives[0].ns));
    std::string s;
    for (const Alternative &a : f.alternatives) {
        const double share = a.some ? 0.0 : share_of(static_cast<double>(a.ns), scale);
        const std::string css = a.done        ? "done"
                                : a.rail >= 0 ? c.of(static_cast<std::size_t>(a.rail))
                                              : "rule";
        std::string value = time_text(static_cast<double>(a.ns));
        if (a.some) { // no bar, as it is no alternative for the whole job
            value +=
                " in " + count_text(f.s.rail[a.rail].alone_processes) + " of " + plural(f.s.chose, "rank");
        } else if (!a.done) {
            value += ", " + digits3(a.ratio) + " times";
        }
        std::string bar = rect(0.0, 1.0, 4, 20, "ground", "")
                          + rect(0.0, share, 4, 20, "part " + css, a.name + ": " + value);
        if (share > 1.0) { // broken off
            bar += vertical(0.955, 0, 28, "cut") + vertical(0.97, 0, 28, "cut");
        }
        s += row(a.name, bar, value, 28);
    }
    return s;
}

std::string rates_plot(const Figures &f, const Colours &c)
{
    constexpr int kTop = 4;
    constexpr int kHeight = 40;
    double ends = std::max(1.0, static_cast<double>(f.s.duration_ns));
    for (const Rates &r : f.rates) {
        ends = std::max(ends, static_cast<double>(r.changes.back()->ns));
    }
    std::string s;
    for (const Rates &r : f.rates) {
        std::string bar = rect(0.0, 1.0, kTop, kHeight, "ground", "");
        const auto piece = [&](double from, double to, double mbps) {
            const int height = std::max(1, static_cast<int>(std::lround(kHeight * mbps / r.most)));
            bar += rect(from / ends, (to - from) / ends, kTop + kHeight - height, height, c.of(r.rail),
                        digits3(mbps) + " Mbit/s from " + time_text(from) + " to " + time_text(to));
        };
        double from = 0.0;
        double mbps = r.changes.front()->before_mbps;
        for (const fsbml_change_t *const change : r.changes) {
            piece(from, static_cast<double>(change->ns), mbps);
            from = static_cast<double>(change->ns);
            mbps = change->after_mbps;
        }
        piece(from, ends, mbps);
        s += row(r.name, bar, digits3(r.least) + " to " + digits3(r.most) + " Mbit/s", 2 * kTop + kHeight);
    }
    return s;
}

std::string ranks_plot(const Figures &f, const Colours &c)
{
    const std::uint32_t n = std::min<std::uint32_t>(f.s.n_ranks, FSBML_MOST_RANKS);
    double most = f.mean_time();
    for (std::uint32_t i = 0; i < n; ++i) {
        most = std::max(most, static_cast<double>(f.s.rank[i].time_ns));
    }
    if (most <= 0.0) { // nothing was predicted
        return "";
    }
    // Within the bar also where all ranks waited alike.
    const double mean = std::min(share_of(f.mean_time(), most), 0.998);
    std::string s;
    for (std::uint32_t i = 0; i < n; ++i) {
        const fsbml_summary_rank_t &r = f.s.rank[i];
        const std::string node = clean_of(r.node);
        std::vector<double> parts;
        for (std::size_t j = 0; j < f.n; ++j) {
            parts.push_back(r.rail_share[j] / 1000.0);
        }
        s += row("rank " + std::to_string(r.rank) + (node.empty() ? "" : " on " + node),
                 stacked(f, c, parts, share_of(static_cast<double>(r.time_ns), most), false)
                     + vertical(mean, 1, 27, "halo") + vertical(mean, 1, 27, "mean"),
                 time_text(static_cast<double>(r.time_ns)) + ", " + size_text(static_cast<double>(r.bytes)),
                 28);
    }
    return s;
}

} // namespace fsbml
