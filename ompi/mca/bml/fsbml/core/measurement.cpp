// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "measurement.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <locale>
#include <sstream>

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

// Bytes of the character of UTF-8 that begins there; 0: none does (RFC 3629).
std::size_t character(const std::string &text, std::size_t at)
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

// A record's array, which may be full to its end.
template <std::size_t N>
std::string text_in(const char (&text)[N])
{
    return json_string(std::string(text, strnlen(text, N)));
}

std::string text_of(const char *text)
{
    return nullptr == text ? "null" : json_string(text);
}

class Writer
{
public:
    Writer()
    {
        out_.imbue(std::locale::classic());
        out_.precision(10);
    }

    std::ostringstream &out() { return out_; }

    void number(const char *name, double value)
    {
        out_ << '"' << name << "\": ";
        if (std::isfinite(value)) {
            out_ << value;
        } else {
            out_ << "null";
        }
    }

    // 0 stands for "not known".
    void known(const char *name, double value) { number(name, 0.0 == value ? std::nan("") : value); }

    // Of a record that is all 0, nothing is known.
    void parameters(const char *name, const fsbml_loggp_t &p)
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

    void samples(const char *name, const fsbml_sample_t *sample, std::size_t n, std::uint32_t rail)
    {
        bool first = true;
        out_ << '"' << name << "\": [";
        for (std::size_t i = 0; i < n; ++i) {
            const fsbml_probe_t &p = sample[i].probe;
            if (p.rail != rail || p.warm_up) {
                continue;
            }
            out_ << (first ? "" : ",") << "\n      {\"kind\": \"" << kind(p.kind)
                 << "\", \"n\": " << p.packets << ", \"d_ns\": " << p.delay_ns << ", \"s_bytes\": " << p.bytes
                 << ", \"time_ns\": " << sample[i].time_ns;
            if (sample[i].predicted_ns > 0) {
                out_ << ", \"predicted_ns\": " << sample[i].predicted_ns;
            }
            out_ << '}';
            first = false;
        }
        out_ << "]";
    }

    // Of all probes, those to warm up included: messages both ways, the answer of one as large as they are.
    void cost(const fsbml_sample_t *sample, std::size_t n, std::uint32_t rail)
    {
        std::uint64_t probes = 0;
        std::uint64_t bytes = 0;
        std::uint64_t time_ns = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const fsbml_probe_t &p = sample[i].probe;
            if (p.rail == rail) {
                const std::uint64_t messages = p.packets * (FSBML_PROBE_BOTH == p.kind ? 2ULL : 1ULL);
                const bool answered = FSBML_PROBE_THERE == p.kind; // else by a message of the least size
                ++probes;
                bytes += (messages + (answered ? 1 : 0)) * p.bytes;
                time_ns += sample[i].time_ns;
            }
        }
        out_ << "\"cost\": {\"probes\": " << probes << ", \"bytes\": " << bytes
             << ", \"time_ns\": " << time_ns << '}';
    }

private:
    static const char *kind(fsbml_probe_kind_t kind)
    {
        switch (kind) {
        case FSBML_PROBE_BACK:
            return "back";
        case FSBML_PROBE_TAKE:
            return "take";
        case FSBML_PROBE_BOTH:
            return "both";
        case FSBML_PROBE_THERE:
            break;
        }
        return "there";
    }

    std::ostringstream out_;
};

void put_rail(Writer &w, const fsbml_measurement_t &report, std::uint32_t index)
{
    const fsbml_table_rail_t &rail = report.table->rail[index];
    const fsbml_fit_t &fit = rail.fit;
    const char *const next = ",\n    ";
    w.out() << (0 == index ? "" : ",") << "\n   {\"name\": " << text_in(rail.name)
            << ", \"key\": " << text_in(rail.key) << next << "\"valid\": " << (fit.valid ? "true" : "false")
            << ", \"reason\": " << text_in(fit.reason) << next;
    w.parameters("parameters", fit.params);
    w.out() << next;
    w.parameters("low", fit.low);
    w.out() << next;
    w.parameters("high", fit.high);
    w.out() << next;
    w.parameters("back", fit.back);
    w.out() << next;
    w.known("duplex", fit.duplex);
    w.out() << ", ";
    w.known("together", fit.together);
    w.out() << ", ";
    w.number("residual", fit.residual);
    w.out() << ", \"tight\": " << (fit.tight ? "true" : "false") << ", \"probes\": " << fit.probes << next;
    w.cost(report.sample, report.n_samples, index);
    w.out() << next;
    w.samples("samples", report.sample, report.n_samples, index);
    w.out() << next;
    w.samples("holdout", report.holdout, report.n_holdout, index);
    w.out() << '}';
}

} // namespace

std::string json_string(const std::string &text)
{
    std::string out = "\"";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = character(text, at);
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

std::string measurement_text(const fsbml_measurement_t &report)
{
    const fsbml_table_t &table = *report.table;
    Writer w;
    w.out() << "{\"schema\": \"fsbml-measurement-1\",\n \"openmpi\": " << text_of(report.openmpi)
            << ",\n \"nodes\": [" << text_of(report.node[0]) << ", " << text_of(report.node[1])
            << "], \"ranks\": [" << table.pair[0] << ", " << table.pair[1]
            << "],\n \"duration_ns\": " << table.duration_ns << ", \"attempts\": " << report.attempts
            << ", \"reason\": " << text_in(table.reason) << ",\n \"rails\": [";
    for (std::uint32_t i = 0; i < table.n_rails && i < FSBML_MAX_RAILS; ++i) {
        put_rail(w, report, i);
    }
    w.out() << "]}\n";
    return w.out().str();
}

} // namespace fsbml
