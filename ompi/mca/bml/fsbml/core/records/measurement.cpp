// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "records/records.hpp"

#include "formats/formats.hpp"

namespace fsbml
{

namespace
{

class Writer : public JsonWriter
{
public:
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
};

void put_rail(Writer &w, const fsbml_measurement_t &report, std::uint32_t index)
{
    const char *const next = ",\n    ";
    w.out() << (0 == index ? "" : ",") << "\n   {";
    w.rail(report.table->rail[index]);
    w.out() << next;
    w.cost(report.sample, report.n_samples, index);
    w.out() << next;
    w.samples("samples", report.sample, report.n_samples, index);
    w.out() << next;
    w.samples("holdout", report.holdout, report.n_holdout, index);
    w.out() << '}';
}

} // namespace

std::string measurement_text(const fsbml_measurement_t &report)
{
    const fsbml_table_t &table = *report.table;
    Writer w;
    w.out() << "{\"schema\": \"fsbml-measurement-1\",\n \"openmpi\": " << json_text_or_null(report.openmpi)
            << ",\n \"nodes\": [" << json_text_or_null(report.node[0]) << ", "
            << json_text_or_null(report.node[1]) << "], \"ranks\": [" << table.pair[0] << ", "
            << table.pair[1] << "],\n \"duration_ns\": " << table.duration_ns
            << ", \"attempts\": " << report.attempts << ", \"reason\": " << json_text(table.reason)
            << ",\n \"rails\": [";
    for (std::uint32_t i = 0; i < table.n_rails && i < FSBML_MAX_RAILS; ++i) {
        put_rail(w, report, i);
    }
    w.out() << "]}\n";
    return w.out().str();
}

} // namespace fsbml
