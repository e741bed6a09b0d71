// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/verdict/verdict.hpp"

#include "explain/account/account.hpp"
#include "formats/formats.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

constexpr double kFirstBin = -4.0; // log2
constexpr double kBinsPerOctave = 8.0;

// Within a bin, arrivals are taken to be spread evenly on the logarithmic scale.
double quantile(const std::uint64_t (&ratio)[FSBML_RATIO_BINS], std::uint64_t arrivals, double q) noexcept
{
    const double wanted = q * static_cast<double>(arrivals);
    double below = 0.0;
    std::size_t last = 0;
    for (std::size_t i = 0; i < FSBML_RATIO_BINS; ++i) {
        const auto here = static_cast<double>(ratio[i]);
        if (here > 0.0 && below + here >= wanted) {
            return std::exp2(kFirstBin + (static_cast<double>(i) + (wanted - below) / here) / kBinsPerOctave);
        }
        below += here;
        last = here > 0.0 ? i : last;
    }
    return std::exp2(kFirstBin + static_cast<double>(last + 1) / kBinsPerOctave);
}

std::string scaled(double value, const char *const *units, double step, std::size_t n)
{
    std::size_t i = 0;
    // What would be written as 1000 of one unit is 1 of the next.
    while (i + 1 < n && value >= step * (1.0 - 5e-4)) {
        value /= step;
        ++i;
    }
    return digits3(value) + ' ' + units[i];
}

std::vector<Rates> rates_of(const fsbml_summary_t &s, std::size_t n_rails)
{
    std::vector<Rates> all;
    for (std::uint32_t i = 0; i < s.changes.n && i < FSBML_MOST_CHANGES; ++i) {
        const fsbml_change_t &c = s.changes.change[i];
        if (c.rail >= n_rails || !is_change(c)) {
            continue;
        }
        const std::string node = clean_of(c.node);
        const std::string name = clean_of(c.name) + (node.empty() ? "" : " on " + node);
        auto at = std::find_if(all.begin(), all.end(),
                               [&](const Rates &r) { return r.rail == c.rail && r.name == name; });
        if (all.end() == at) {
            at = all.insert(all.end(), {c.rail, name, c.before_mbps, c.before_mbps, {}});
        }
        at->least = std::min({at->least, c.before_mbps, c.after_mbps});
        at->most = std::max({at->most, c.before_mbps, c.after_mbps});
        at->changes.push_back(&c);
    }
    return all;
}

} // namespace

std::string clean(const std::string &text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_character(text, at);
        const auto c = static_cast<unsigned char>(text[at]);
        if (0 == length) {
            out += "\xef\xbf\xbd";
        } else if (c < 0x20 || 0x7F == c || (0xC2 == c && static_cast<unsigned char>(text[at + 1]) < 0xA0)) {
            out += ' ';
        } else {
            out.append(text, at, length);
        }
        at += std::max<std::size_t>(length, 1);
    }
    return out;
}

std::size_t width_of(const std::string &text)
{
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return 0x80 != (static_cast<unsigned char>(c) & 0xC0); }));
}

std::string clipped(const std::string &text, std::size_t most)
{
    if (width_of(text) <= most) {
        return text;
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < most && at < text.size(); ++i) {
        at += std::max<std::size_t>(utf8_character(text, at), 1);
    }
    return text.substr(0, at) + '~';
}

std::string fixed(double value, int digits)
{
    if (!std::isfinite(value)) {
        return "-";
    }
    return fixed_text(value, digits);
}

std::string digits3(double value)
{
    const double size = std::fabs(value);
    int digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    if (size > 0.0 && size < 0.0995) {
        digits = std::min(9, 2 - static_cast<int>(std::floor(std::log10(size))));
    }
    std::string s = fixed(value, digits);
    while (std::string::npos != s.find('.') && ('0' == s.back() || '.' == s.back())) {
        const bool point = '.' == s.back();
        s.pop_back();
        if (point) {
            break;
        }
    }
    return s;
}

std::string count_text(std::uint64_t n)
{
    std::string s = std::to_string(n);
    for (std::size_t i = s.size(); i > 3; i -= 3) {
        s.insert(i - 3, 1, ' ');
    }
    return s;
}

std::string time_text(double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    return 0.0 == ns ? "0" : scaled(ns, units, 1000.0, 4);
}

std::string size_text(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    return 0.0 == bytes ? "0 B" : scaled(bytes, units, 1024.0, 7);
}

std::string share_text(double share)
{
    if (share > 0.0 && share < 0.005) {
        return "less than 1 %";
    }
    if (share > 0.995 && share < 1.0) {
        return "over 99 %";
    }
    return fixed(share * 100.0, 0) + " %";
}

std::string times_text(double ratio)
{
    return fixed(ratio, ratio < 0.95 ? 2 : ratio < 9.95 ? 1 : 0) + " times";
}

std::string class_text(std::uint32_t c)
{
    const std::uint64_t limit = class_limit(c);
    return 0 == limit ? "more" : size_text(static_cast<double>(limit));
}

std::string plural(std::uint64_t n, const char *what)
{
    return count_text(n) + ' ' + what + (1 == n ? "" : "s");
}

std::string listed(const std::vector<std::string> &names)
{
    std::string s;
    for (std::size_t i = 0; i < names.size(); ++i) {
        s += (0 == i ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    }
    return s;
}

bool is_within_number(const std::string &text, std::size_t at) noexcept
{
    const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    return at > 0 && digit(at - 1) && at + 1 < text.size()
           && ('%' == text[at + 1] || (digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4)));
}

bool is_same_fault(const fsbml_summary_fault_t &a, const fsbml_summary_fault_t &b)
{
    const auto both_ways = [](const fsbml_summary_fault_t &f, const std::string &one,
                              const std::string &other) {
        const std::string why = clean_of(f.why);
        return std::string::npos != why.find("neither from " + one + " to " + other + " nor back")
               || 0 == why.find(one + " and " + other + " have the same address");
    };
    const std::string from = clean_of(a.from);
    const std::string to = clean_of(a.to);
    return clean_of(a.rail) == clean_of(b.rail)
           && (clean_of(a.why) == clean_of(b.why)
               || (from == clean_of(b.to) && to == clean_of(b.from)
                   && ((both_ways(a, from, to) && both_ways(b, to, from))
                       || (both_ways(a, to, from) && both_ways(b, from, to)))));
}

double share_of(double part, double whole) noexcept
{
    return whole > 0.0 ? part / whole : 0.0;
}

Quantiles quantiles(const std::uint64_t (&ratio)[FSBML_RATIO_BINS]) noexcept
{
    Quantiles q;
    for (const std::uint64_t n : ratio) {
        q.arrivals += n;
    }
    if (q.arrivals > 0) {
        q.p10 = quantile(ratio, q.arrivals, 0.10);
        q.p25 = quantile(ratio, q.arrivals, 0.25);
        q.p50 = quantile(ratio, q.arrivals, 0.50);
        q.p75 = quantile(ratio, q.arrivals, 0.75);
        q.p90 = quantile(ratio, q.arrivals, 0.90);
    }
    return q;
}

Figures::Figures(const fsbml_job_t &job)
    : s(*job.summary), table(job.table), n(std::min<std::size_t>(job.summary->n_rails, FSBML_MAX_RAILS))
{
    const std::size_t measured =
        nullptr == table ? 0 : std::min<std::size_t>(table->n_rails, FSBML_MAX_RAILS);
    for (std::size_t i = 0; i < n; ++i) {
        const fsbml_summary_rail_t &r = s.rail[i];
        const std::string key = clean_of(r.key);
        name.push_back(clean_of(r.name));
        if (name.back().empty()) {
            name.back() = key.empty() ? "rail " + std::to_string(i) : key;
        }
        ratio.push_back(quantiles(r.ratio));
        fit.push_back(nullptr);
        for (std::size_t j = 0; j < measured && nullptr == fit[i]; ++j) {
            if (0 == std::strncmp(table->rail[j].key, r.key, FSBML_NAME_MAX)) {
                fit[i] = &table->rail[j];
            }
        }
        messages += r.messages;
        bytes += r.bytes;
        for (std::size_t c = 0; c < FSBML_CLASSES; ++c) {
            by_size[c].messages += r.by_size[c].messages;
            by_size[c].bytes += r.by_size[c].bytes;
            by_size[c].arrivals += r.by_size[c].arrivals;
            by_size[c].predicted_ns += r.by_size[c].predicted_ns;
            by_size[c].observed_ns += r.by_size[c].observed_ns;
        }
    }
    // Alike names would be one to a reader; the key tells them apart.
    std::vector<std::string> all = name;
    for (std::size_t i = 0; i < n; ++i) {
        if (std::count(all.begin(), all.end(), all[i]) > 1 && '\0' != s.rail[i].key[0]) {
            name[i] = all[i] + " (" + clean_of(s.rail[i].key) + ')';
        }
    }

    if (s.chose > 0 && s.time_ns > 0) {
        const auto time = static_cast<double>(s.time_ns);
        alternatives.push_back({"this job", s.time_ns, 1.0, true, false, -1});
        for (std::size_t i = 0; i < n; ++i) {
            const fsbml_summary_rail_t &r = s.rail[i];
            const bool some = r.alone_processes < s.chose;
            if (r.alone_processes > 0) {
                alternatives.push_back({name[i] + " alone", r.alone_ns,
                                        some ? 0.0 : static_cast<double>(r.alone_ns) / time, false, some,
                                        static_cast<int>(i)});
            }
            if (!some && r.alone_ns > 0 && (best_alone < 0 || r.alone_ns < s.rail[best_alone].alone_ns)) {
                best_alone = static_cast<int>(i);
            }
        }
        if (s.r2_ns > 0) {
            r2_ratio = static_cast<double>(s.r2_ns) / time;
            alternatives.push_back({"Open MPI's rule (r2)", s.r2_ns, r2_ratio, false, false, -1});
        }
    }

    rates = rates_of(s, n);

    const std::uint32_t faults = std::min<std::uint32_t>(s.n_faults, FSBML_MOST_FAULTS);
    for (std::uint32_t i = 0; i < faults; ++i) {
        const fsbml_summary_fault_t &f = s.fault[i];
        const auto *const back = std::find_if(s.fault, s.fault + faults, [&](const auto &o) {
            return &o != &f && '\0' != f.to[0] && clean_of(o.from) == clean_of(f.to)
                   && clean_of(o.to) == clean_of(f.from) && is_same_fault(o, f);
        });
        if (back < &f) {
            continue; // told with the other way
        }
        const std::string from = clean_of(f.from);
        const std::string to = clean_of(f.to);
        std::string line = clean_of(f.rail);
        if (!from.empty()) {
            line += to.empty() ? " on " + from : ", " + from + " to " + to;
        }
        left_out.push_back(line + (s.fault + faults == back ? "" : " and back") + ": " + clean_of(f.why));
    }
    if (s.more_faults > 0) {
        left_out.push_back("and " + count_text(s.more_faults) + " more");
    }
    for (std::size_t j = 0; j < measured; ++j) {
        const fsbml_table_rail_t &r = table->rail[j];
        if (!r.fit.valid) {
            const std::string called = clean_of(r.name).empty() ? clean_of(r.key) : clean_of(r.name);
            const std::string why = clean_of(r.fit.reason);
            left_out.push_back(called + ": not used, " + (why.empty() ? "it could not be measured" : why));
        }
    }
}

double Figures::saved() const
{
    const double alone = best_alone < 0 ? 0.0 : static_cast<double>(s.rail[best_alone].alone_ns);
    return alone > 0.0 ? 1.0 - static_cast<double>(s.time_ns) / alone : 0.0;
}

} // namespace fsbml
