// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "formats/formats.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace fsbml
{

namespace
{

struct Field {
    const char *name;
    double fsbml_loggp_t::*value;
};
constexpr Field kFields[] = {{"L_ns", &fsbml_loggp_t::L_ns},
                             {"o_s_ns", &fsbml_loggp_t::o_s_ns},
                             {"o_r_ns", &fsbml_loggp_t::o_r_ns},
                             {"g_ns", &fsbml_loggp_t::g_ns},
                             {"G_ns_per_byte", &fsbml_loggp_t::G_ns_per_byte},
                             {"burst_ns", &fsbml_loggp_t::burst_ns},
                             {"O_s_ns_per_byte", &fsbml_loggp_t::O_s_ns_per_byte},
                             {"O_r_ns_per_byte", &fsbml_loggp_t::O_r_ns_per_byte},
                             {"break_bytes", &fsbml_loggp_t::break_bytes},
                             {"g_above_ns", &fsbml_loggp_t::g_above_ns},
                             {"G_above_ns_per_byte", &fsbml_loggp_t::G_above_ns_per_byte}};

} // namespace

std::size_t utf8_character(const std::string &text, std::size_t at)
{
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const unsigned first = byte(at);
    const std::size_t length = first < 0x80    ? 1
                               : first < 0xC2  ? 0
                               : first < 0xE0  ? 2
                               : first < 0xF0  ? 3
                               : first <= 0xF4 ? 4
                                               : 0;
    for (std::size_t i = 1; i < length; ++i) {
        if (0x80 != (byte(at + i) & 0xC0)) {
            return 0;
        }
    }
    const unsigned second = byte(at + 1);
    const bool overlong = (0xE0 == first && second < 0xA0) || (0xF0 == first && second < 0x90);
    const bool none = (0xED == first && second > 0x9F) || (0xF4 == first && second > 0x8F);
    return overlong || none ? 0 : length;
}

std::string json_string(const std::string &text)
{
    std::string out = "\"";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_character(text, at);
        const char c = text[at];
        if ('"' == c || '\\' == c) {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || 0x7F == c) {
            char escape[8];
            (void) std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            out += escape;
        } else if (0 == length) {
            out += "\\ufffd";
        } else {
            out.append(text, at, length);
        }
        at += std::max<std::size_t>(length, 1);
    }
    return out + '"';
}

void JsonWriter::number(const char *name, double value)
{
    out_ << '"' << name << "\": ";
    if (std::isfinite(value)) {
        out_ << value;
    } else {
        out_ << "null";
    }
}

void JsonWriter::known(const char *name, double value)
{
    number(name, 0.0 == value ? std::nan("") : value);
}

void JsonWriter::parameters(const char *name, const fsbml_loggp_t &p)
{
    const bool empty = std::all_of(std::begin(kFields), std::end(kFields),
                                   [&](const Field &f) { return 0.0 == p.*f.value; });
    out_ << '"' << name << "\": " << (empty ? "null" : "{");
    for (const Field &f : kFields) {
        if (!empty) {
            out_ << (&f == kFields ? "" : ", ");
            number(f.name, p.*f.value);
        }
    }
    out_ << (empty ? "" : "}");
}

void JsonWriter::rail(const fsbml_table_rail_t &rail)
{
    const fsbml_fit_t &fit = rail.fit;
    const char *const next = ",\n    ";
    out_ << "\"name\": " << json_text(rail.name) << ", \"key\": " << json_text(rail.key) << next
         << "\"valid\": " << (fit.valid ? "true" : "false") << ", \"reason\": " << json_text(fit.reason)
         << next;
    parameters("parameters", fit.params);
    out_ << next;
    parameters("low", fit.low);
    out_ << next;
    parameters("high", fit.high);
    out_ << next;
    parameters("back", fit.back);
    out_ << next;
    known("duplex", fit.duplex);
    out_ << ", ";
    known("together", fit.together);
    out_ << ", ";
    number("residual", fit.residual);
    out_ << ", \"in_turn\": " << (fit.in_turn ? "true" : "false")
         << ", \"tight\": " << (fit.tight ? "true" : "false") << ", \"probes\": " << fit.probes;
}

} // namespace fsbml
