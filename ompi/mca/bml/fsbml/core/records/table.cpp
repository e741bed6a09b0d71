// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "records/records.hpp"

#include "formats/formats.hpp"
#include "formats/wire.hpp"
#include "model/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <vector>

namespace fsbml
{

namespace
{

constexpr std::uint32_t kTableMagic = 0x54425346; // "FSBT"
constexpr std::uint32_t kHelloMagic = 0x48425346; // "FSBH"
constexpr std::uint16_t kTableVersion = 5;
constexpr std::uint16_t kHelloVersion = 6; // goes with that of packets (peers/peers.h)

constexpr std::size_t text_max(std::size_t array) noexcept
{
    return array;
} // length byte + array - 1

// A valid fit has parameters that a scheduler takes; one that is not valid has at least numbers.
bool fit_consistent(const fsbml_fit_t &f) noexcept
{
    return fit_sane(f) && (!f.valid || valid(f.params));
}

// The bounds of a fit are for the measuring pair: they are not sent.
template <class Visit, class Fit>
bool walk_fit(const Visit &v, Fit &f) noexcept
{
    v.flags(f.valid, f.tight, f.in_turn);
    for (auto *p : {&f.params, &f.back}) {
        for (double fsbml_loggp_t::*const m : kMembers) {
            v(p->*m);
        }
    }
    v(f.duplex), v(f.together), v(f.residual), v(f.probes), v(f.reason);
    return fit_consistent(f);
}

constexpr auto kTable = [](const auto &v, auto &t) noexcept {
    bool good = v.at_most(t.n_rails, FSBML_MAX_RAILS);
    v(t.pair[0]), v(t.pair[1]), v(t.duration_ns), v(t.reason);
    for (std::uint32_t i = 0; good && i < t.n_rails; ++i) {
        auto &rail = t.rail[i];
        v(rail.key), v(rail.name), v(rail.pair[0]), v(rail.pair[1]), v(rail.round_trip_ns);
        good = walk_fit(v, rail.fit);
    }
    return good;
};

constexpr auto kHello = [](const auto &v, auto &h) noexcept {
    const bool good = v.at_most(h.n_rails, FSBML_MAX_RAILS);
    v(h.params_digest), v(h.node);
    for (std::uint32_t i = 0; good && i < h.n_rails; ++i) {
        v(h.rail[i].exclusivity), v(h.rail[i].key);
    }
    v(h.flags), v(h.node_ranks), v(h.run);
    return good;
};

} // namespace

// ------------------------------------------------------------------ table

std::size_t table_packed_max() noexcept
{
    constexpr std::size_t fit = 1 + (2 * kMemberCount + 3) * 8 + 4 + text_max(FSBML_REASON_MAX);
    return wire::kHeader + std::size_t{3} * 4 + 8 + text_max(FSBML_REASON_MAX)
           + FSBML_MAX_RAILS * (2 * text_max(FSBML_NAME_MAX) + std::size_t{2} * 4 + 8 + fit);
}

long table_pack(const fsbml_table_t &t, void *buf, std::size_t len) noexcept
{
    return wire::pack(kTableMagic, kTableVersion, t, buf, len, kTable);
}

int table_unpack(fsbml_table_t &t, const void *buf, std::size_t len) noexcept
{
    return wire::unpack(kTableMagic, kTableVersion, t, buf, len, kTable);
}

// ------------------------------------------------------------------ hello

std::size_t hello_packed_max() noexcept
{
    return wire::kHeader + std::size_t{5} * 4 + text_max(FSBML_NAME_MAX)
           + FSBML_MAX_RAILS * (4 + text_max(FSBML_NAME_MAX));
}

long hello_pack(const fsbml_hello_t &h, void *buf, std::size_t len) noexcept
{
    return wire::pack(kHelloMagic, kHelloVersion, h, buf, len, kHello);
}

int hello_unpack(fsbml_hello_t &h, const void *buf, std::size_t len) noexcept
{
    return wire::unpack(kHelloMagic, kHelloVersion, h, buf, len, kHello);
}

// ------------------------------------------------------------- for users

namespace
{

__attribute__((format(printf, 2, 3))) void append(std::string &s, const char *format, ...)
{
    char text[512];
    std::va_list args;
    va_start(args, format);
    (void) std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    s += text;
}

} // namespace

namespace
{

// Of the other direction, and of several at once, only what is remarkable.
constexpr double kRemarkable = 0.05;

bool differs(double a, double b) noexcept
{
    return 0.0 != b && std::fabs(a - b) > kRemarkable * std::max(a, b);
}

std::string remarks(const fsbml_fit_t &f)
{
    std::string s;
    const fsbml_loggp_t &there = f.params;
    const fsbml_loggp_t &back = f.back;
    if (differs(there.G_ns_per_byte, back.G_ns_per_byte) || differs(there.g_ns, back.g_ns)
        || differs(there.o_s_ns, back.o_s_ns)) {
        append(s, "; the other way o_s %.2f us, g %.2f us, G %.4g ns/B", back.o_s_ns / 1e3, back.g_ns / 1e3,
               back.G_ns_per_byte);
    }
    if (f.duplex > 1.0 + kRemarkable) {
        append(s, "; both ways at once take %.2f times one", f.duplex);
    }
    if (f.together > 1.0 + kRemarkable) {
        append(s, "; beside the other rails it takes %.2f times that alone", f.together);
    }
    return s.empty() ? s : s.substr(2);
}

// An optional column is there if one rail has something in it.
void append_break(std::string &s, const fsbml_loggp_t &p)
{
    if (p.break_bytes > 0.0) {
        append(s, " %8.0f %10.4g", p.break_bytes, p.G_above_ns_per_byte);
    } else {
        append(s, " %8s %10s", "-", "-");
    }
}

// What is known about rails: a column each, as wide as its longest cell.
class AboutColumns
{
public:
    AboutColumns(const fsbml_rail_about_t *about, std::uint32_t n)
    {
        if (nullptr == about) {
            return;
        }
        rows_.push_back({"address", "Mbit/s", "device", "PCI", "NUMA"});
        for (std::uint32_t i = 0; i < n; ++i) {
            const fsbml_rail_about_t &a = about[i];
            rows_.push_back({text_of(a.address), a.speed_mbps > 0 ? std::to_string(a.speed_mbps) : "",
                             text_of(a.device), text_of(a.pci), a.numa >= 0 ? std::to_string(a.numa) : ""});
        }
    }

    // Row 0 is that of the heads, the others are rails.
    std::string row(std::size_t i) const
    {
        std::string s;
        for (std::size_t c = 0; i < rows_.size() && c < rows_[i].size(); ++c) {
            std::size_t width = 1;
            for (const Row &row : rows_) {
                width = std::max(width, row[c].size());
            }
            const std::string &cell = rows_[i][c].empty() ? kUnknown : rows_[i][c];
            append(s, "  %-*s", static_cast<int>(width), cell.c_str());
        }
        return s;
    }

private:
    using Row = std::vector<std::string>;
    const std::string kUnknown = "-";
    std::vector<Row> rows_;
};

} // namespace

std::string table_text(const fsbml_table_t &t, const fsbml_rail_about_t *about)
{
    std::string s;
    const std::string reason = text_of(t.reason);
    if (!reason.empty()) {
        append(s, "not measured: %s\n", reason.c_str());
    }
    const std::uint32_t n = std::min<std::uint32_t>(t.n_rails, FSBML_MAX_RAILS);
    if (0 == n) {
        return s;
    }
    int name_width = 4;
    int key_width = 3;
    bool breaks = false;
    for (std::uint32_t i = 0; i < n; ++i) {
        name_width = std::max(name_width, static_cast<int>(text_of(t.rail[i].name).size()));
        key_width = std::max(key_width, static_cast<int>(text_of(t.rail[i].key).size()));
        breaks = breaks || t.rail[i].fit.params.break_bytes > 0.0;
    }
    const AboutColumns known(about, n);
    append(s, "%-*s%s  %-*s %10s %8s %8s %8s %10s %10s %8s", name_width, "rail", known.row(0).c_str(),
           key_width, "key", "L us", "o_s us", "o_r us", "g us", "G ns/B", "MB/s", "burst B");
    append(s, "%s %6s %8s %12s\n", breaks ? "  break B    G above" : "", "probes", "residual", "until");
    for (std::uint32_t i = 0; i < n; ++i) {
        const fsbml_fit_t &f = t.rail[i].fit;
        const fsbml_loggp_t &p = f.params;
        append(s, "%-*s%s  %-*s", name_width, text_of(t.rail[i].name).c_str(), known.row(i + 1).c_str(),
               key_width, text_of(t.rail[i].key).c_str());
        if (f.valid) { // 1 byte a ns is 1000 MB/s
            append(s, " %10.2f %8.2f %8.2f %8.2f %10.4g %10.4g %8.0f", p.L_ns / 1e3, p.o_s_ns / 1e3,
                   p.o_r_ns / 1e3, p.g_ns / 1e3, p.G_ns_per_byte, 1e3 / p.G_ns_per_byte,
                   p.burst_ns / p.G_ns_per_byte);
        } else {
            append(s, " %10s %8s %8s %8s %10s %10s %8s", "-", "-", "-", "-", "-", "-", "-");
        }
        if (breaks) {
            append_break(s, f.valid ? p : fsbml_loggp_t{});
        }
        if (f.valid) {
            append(s, " %6u %6.2f %% %12s\n", f.probes, f.residual * 100.0, f.tight ? "tight" : "disturbed");
        } else {
            append(s, " %6u %8s %12s\n", f.probes, "-", "-");
        }
    }
    for (std::uint32_t i = 0; i < n; ++i) {
        const fsbml_fit_t &f = t.rail[i].fit;
        const std::string name = text_of(t.rail[i].name);
        const std::string why = text_of(f.reason);
        const std::string more = f.valid ? remarks(f) : "";
        if (!why.empty()) {
            append(s, "%s: %s%s\n", name.c_str(), f.valid ? "note: " : "not used: ", why.c_str());
        }
        if (!more.empty()) {
            append(s, "%s: %s\n", name.c_str(), more.c_str());
        }
        if (nullptr != about && about[i].far_numa) {
            append(s, "%s: at NUMA node %d, and this process runs on others: that is in its o and L\n",
                   name.c_str(), static_cast<int>(about[i].numa));
        }
    }
    return s;
}

} // namespace fsbml
