// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "records/table.hpp"

#include "formats/wire.hpp"
#include "model/loggp.hpp"

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
constexpr std::uint16_t kTableVersion = 4;
constexpr std::uint16_t kHelloVersion = 4; // goes with that of packets (bml_fsbml.h)

constexpr std::size_t text_max(std::size_t array) noexcept
{
    return array;
} // length byte + array - 1

// A valid fit has parameters that a scheduler takes; one that is not valid has at least numbers.
bool fit_consistent(const fsbml_fit_t &f) noexcept
{
    return fit_sane(f) && (!f.valid || valid(f.params));
}

constexpr std::uint64_t kFlagValid = 1;
constexpr std::uint64_t kFlagTight = 2;
constexpr std::uint64_t kFlagInTurn = 4;

void put_fit(wire::Writer &w, const fsbml_fit_t &f) noexcept
{
    w.put((f.valid ? kFlagValid : 0) | (f.tight ? kFlagTight : 0) | (f.in_turn ? kFlagInTurn : 0), 1);
    for (const fsbml_loggp_t *p : {&f.params, &f.back}) {
        for (double fsbml_loggp_t::*const m : kMembers) {
            w.put_double(p->*m);
        }
    }
    for (const double v : {f.duplex, f.together, f.residual}) {
        w.put_double(v);
    }
    w.put(f.probes, 4);
    w.put_text(f.reason);
}

void get_fit(wire::Reader &r, fsbml_fit_t &f) noexcept
{
    const std::uint64_t flags = r.get(1);
    f.valid = 0 != (flags & kFlagValid);
    f.tight = 0 != (flags & kFlagTight);
    f.in_turn = 0 != (flags & kFlagInTurn);
    for (fsbml_loggp_t *p : {&f.params, &f.back}) {
        for (double fsbml_loggp_t::*const m : kMembers) {
            p->*m = r.get_double();
        }
    }
    for (double *v : {&f.duplex, &f.together, &f.residual}) {
        *v = r.get_double();
    }
    f.probes = r.get_u32();
    r.get_text(f.reason);
    if (flags > (kFlagValid | kFlagTight | kFlagInTurn) || !fit_consistent(f)) {
        r.fail();
    }
}

} // namespace

// ------------------------------------------------------------------ table

std::size_t table_packed_max() noexcept
{
    constexpr std::size_t fit = 1 + (2 * kMemberCount + 3) * 8 + 4 + text_max(FSBML_REASON_MAX);
    return wire::kHeader + std::size_t{3} * 4 + 8 + text_max(FSBML_REASON_MAX)
           + FSBML_MAX_RAILS * (2 * text_max(FSBML_NAME_MAX) + std::size_t{2} * 4 + fit);
}

long table_pack(const fsbml_table_t &t, void *buf, std::size_t len) noexcept
{
    if (t.n_rails > FSBML_MAX_RAILS) {
        return -EINVAL;
    }
    wire::Writer w(buf, len);
    w.begin(kTableMagic, kTableVersion);
    w.put(t.n_rails, 4);
    w.put(t.pair[0], 4);
    w.put(t.pair[1], 4);
    w.put(t.duration_ns, 8);
    w.put_text(t.reason);
    for (std::uint32_t i = 0; i < t.n_rails; ++i) {
        if (!fit_consistent(t.rail[i].fit)) {
            return -EINVAL;
        }
        w.put_text(t.rail[i].key);
        w.put_text(t.rail[i].name);
        w.put(t.rail[i].pair[0], 4);
        w.put(t.rail[i].pair[1], 4);
        put_fit(w, t.rail[i].fit);
    }
    return w.end();
}

int table_unpack(fsbml_table_t &t, const void *buf, std::size_t len) noexcept
{
    wire::Reader r(buf, len);
    const int rc = r.begin(kTableMagic, kTableVersion);
    if (0 != rc) {
        return rc;
    }
    fsbml_table_t got{};
    got.n_rails = r.get_u32();
    got.pair[0] = r.get_u32();
    got.pair[1] = r.get_u32();
    got.duration_ns = r.get(8);
    r.get_text(got.reason);
    if (got.n_rails > FSBML_MAX_RAILS) {
        return -EBADMSG;
    }
    for (std::uint32_t i = 0; i < got.n_rails && r.good(); ++i) {
        r.get_text(got.rail[i].key);
        r.get_text(got.rail[i].name);
        got.rail[i].pair[0] = r.get_u32();
        got.rail[i].pair[1] = r.get_u32();
        get_fit(r, got.rail[i].fit);
    }
    if (!r.good() || !r.at_end()) {
        return -EBADMSG;
    }
    t = got;
    return 0;
}

// ------------------------------------------------------------------ hello

std::size_t hello_packed_max() noexcept
{
    return wire::kHeader + std::size_t{5} * 4 + text_max(FSBML_NAME_MAX)
           + FSBML_MAX_RAILS * (4 + text_max(FSBML_NAME_MAX));
}

long hello_pack(const fsbml_hello_t &h, void *buf, std::size_t len) noexcept
{
    if (h.n_rails > FSBML_MAX_RAILS) {
        return -EINVAL;
    }
    wire::Writer w(buf, len);
    w.begin(kHelloMagic, kHelloVersion);
    w.put(h.n_rails, 4);
    w.put(h.params_digest, 4);
    w.put_text(h.node);
    for (std::uint32_t i = 0; i < h.n_rails; ++i) {
        w.put(h.rail[i].exclusivity, 4);
        w.put_text(h.rail[i].key);
    }
    w.put(h.flags, 4);
    w.put(h.node_ranks, 4);
    w.put(h.run, 4);
    return w.end();
}

int hello_unpack(fsbml_hello_t &h, const void *buf, std::size_t len) noexcept
{
    wire::Reader r(buf, len);
    const int rc = r.begin(kHelloMagic, kHelloVersion);
    if (0 != rc) {
        return rc;
    }
    fsbml_hello_t got{};
    got.n_rails = r.get_u32();
    got.params_digest = r.get_u32();
    r.get_text(got.node);
    if (got.n_rails > FSBML_MAX_RAILS) {
        return -EBADMSG;
    }
    for (std::uint32_t i = 0; i < got.n_rails && r.good(); ++i) {
        got.rail[i].exclusivity = r.get_u32();
        r.get_text(got.rail[i].key);
    }
    got.flags = r.get_u32();
    got.node_ranks = r.get_u32();
    got.run = r.get_u32();
    if (!r.good() || !r.at_end()) {
        return -EBADMSG;
    }
    h = got;
    return 0;
}

// ------------------------------------------------------------- for people

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

template <std::size_t N>
std::string text_of(const char (&text)[N])
{
    return std::string(text, strnlen(text, N));
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
