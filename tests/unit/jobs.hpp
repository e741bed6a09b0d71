// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Jobs to be reported: their sums agree, as those of a real one do.
#ifndef FSBML_TESTS_UNIT_JOBS_HPP
#define FSBML_TESTS_UNIT_JOBS_HPP

#include "api/fsbml_explain.h"
#include "explain/forms/forms.hpp"
#include "model.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

template <std::size_t N>
void put(char (&to)[N], const std::string &text)
{
    std::memset(to, 0, N);
    std::memcpy(to, text.data(), std::min(text.size(), N)); // may be full to its end
}

struct Job {
    // Too large for the stack of many a test.
    std::unique_ptr<fsbml_summary_t> summary = std::make_unique<fsbml_summary_t>();
    std::unique_ptr<fsbml_table_t> table = std::make_unique<fsbml_table_t>();
    fsbml_job_t job{};

    fsbml_summary_t &s() { return *summary; }
    fsbml_summary_rail_t &rail(std::size_t i) { return summary->rail[i]; }

    const fsbml_job_t &get()
    {
        job.summary = summary.get();
        job.table = table.get();
        job.program = "./solver";
        job.openmpi = "5.0.7";
        job.policy = "arrival";
        job.ended = "2026-11-22 07:00:00 UTC";
        return job;
    }

    // Rails of these rates in MB/s; every rank could choose.
    Job(std::uint32_t ranks, std::uint32_t nodes, std::initializer_list<double> rates)
    {
        s().ranks = s().heard = s().chose = ranks;
        s().nodes = nodes;
        s().duration_ns = 12340000000;
        for (const double rate : rates) {
            const std::uint32_t i = s().n_rails++;
            put(rail(i).key, "tcp:10.71." + std::to_string(i + 1) + ".0/24");
            put(rail(i).name, "eth" + std::to_string(i));
            put(rail(i).about, "10.71." + std::to_string(i + 1) + ".2, "
                                   + std::to_string(static_cast<int>(rate * 8)) + " Mbit/s");
            rail(i).processes = rail(i).alone_processes = ranks;
            rail(i).interfaces = nodes;
            fsbml_table_rail_t &t = table->rail[table->n_rails++];
            std::memcpy(t.key, rail(i).key, sizeof t.key);
            std::memcpy(t.name, rail(i).name, sizeof t.name);
            t.fit.valid = t.fit.tight = true;
            t.fit.params = loggp(20000.0 * (i + 1), 2000.5, 2100.25, 3000.0, 1e3 / rate);
            t.fit.low = t.fit.high = t.fit.params;
            for (double fsbml_loggp_t::*const m :
                 {&fsbml_loggp_t::L_ns, &fsbml_loggp_t::o_s_ns, &fsbml_loggp_t::o_r_ns, &fsbml_loggp_t::g_ns,
                  &fsbml_loggp_t::G_ns_per_byte}) {
                t.fit.low.*m *= 0.97;
                t.fit.high.*m *= 1.02;
            }
            t.fit.residual = 0.0125;
            t.fit.probes = 100 + i;
        }
        table->duration_ns = 180000000;
        s().r2_ns = 0;
    }

    // Messages of a size on a rail, and how late they were: observed by predicted, in the median.
    Job &sent(std::uint32_t i, std::uint64_t messages, std::uint64_t bytes_each, double late = 1.0)
    {
        std::uint32_t c = 0;
        while (c + 1 < FSBML_CLASSES && bytes_each > (std::uint64_t{64} << (2 * c))) {
            ++c;
        }
        fsbml_class_t &k = rail(i).by_size[c];
        const std::uint64_t bytes = messages * bytes_each;
        const double each =
            24000.0 + static_cast<double>(bytes_each) * table->rail[i].fit.params.G_ns_per_byte;
        for (fsbml_class_t *const to : {&k}) {
            to->messages += messages;
            to->bytes += bytes;
            to->arrivals += messages;
            to->predicted_ns += static_cast<std::uint64_t>(each * static_cast<double>(messages));
            to->observed_ns += static_cast<std::uint64_t>(each * static_cast<double>(messages) * late);
        }
        rail(i).messages += messages;
        rail(i).bytes += bytes;
        rail(i).busy_ns += static_cast<std::uint64_t>(each * static_cast<double>(messages));
        rail(i).interface_bytes += bytes + bytes / 20 + 100 * messages;
        rail(i).backlog_max_ns = 3200000;
        s().messages += messages;
        s().bytes += bytes;
        for (int d = -4; d <= 4; ++d) { // spread over half an octave to both sides
            const int bin = static_cast<int>(std::floor((std::log2(late) + 4.0) * 8.0)) + d;
            const std::uint64_t weight = static_cast<std::uint64_t>(d < 0 ? 5 + d : 5 - d);
            rail(i).ratio[bin < 0                   ? 0
                          : bin >= FSBML_RATIO_BINS ? FSBML_RATIO_BINS - 1
                                                    : bin] += messages * weight / 25;
        }
        for (std::uint32_t other = 0; other < s().n_rails; ++other) {
            rail(other).passed_over += other == i ? 0 : messages;
        }
        return *this;
    }

    // By the model: as it was, rail by rail, r2.
    Job &took(std::uint64_t ns, std::initializer_list<double> alone, double r2)
    {
        s().time_ns = ns;
        std::uint32_t i = 0;
        for (const double ratio : alone) {
            rail(i++).alone_ns = static_cast<std::uint64_t>(ratio * static_cast<double>(ns));
        }
        s().r2_ns = static_cast<std::uint64_t>(r2 * static_cast<double>(ns));
        return *this;
    }

    Job &fault(const std::string &rail, const std::string &from, const std::string &to,
               const std::string &why, std::uint32_t kind = 1)
    {
        fsbml_summary_fault_t &f = s().fault[s().n_faults++];
        put(f.rail, rail);
        put(f.from, from);
        put(f.to, to);
        put(f.why, why);
        f.kind = kind;
        return *this;
    }

    Job &changed(std::uint32_t i, const std::string &node, double seconds, double before, double after)
    {
        fsbml_change_t c{};
        c.rail = i;
        put(c.name, "rail" + std::to_string(i));
        put(c.node, node);
        c.ns = static_cast<std::uint64_t>(seconds * 1e9);
        c.before_mbps = before;
        c.after_mbps = after;
        fsbml_changes_add(&s().changes, &c);
        return *this;
    }

    Job &slowest(std::uint32_t rank, const std::string &node, std::uint64_t time_ns,
                 std::initializer_list<std::uint32_t> share)
    {
        fsbml_summary_rank_t &r = s().rank[s().n_ranks++];
        r.rank = rank;
        put(r.node, node);
        r.time_ns = time_ns;
        r.messages = time_ns / 100000;
        r.bytes = time_ns / 60;
        std::uint32_t i = 0;
        for (const std::uint32_t x : share) {
            r.rail_share[i++] = x;
        }
        return *this;
    }
};

// Two good rails of 200 and 20 Mbit/s.
inline Job two_rails()
{
    Job j(2, 2, {25.0, 2.5});
    j.sent(0, 21000, 40)
        .sent(0, 8000, 4096)
        .sent(1, 300, 4096, 1.05)
        .sent(0, 1800, 32768, 1.1)
        .sent(1, 190, 32768, 0.95);
    j.took(3400000000, {1.087, 9.8}, 10.4);
    j.slowest(1, "node1", 1750000000, {915, 85}).slowest(0, "node0", 1650000000, {905, 95});
    return j;
}

// Three rails on eight nodes, the second of which does not reach one of them.
inline Job many_ranks()
{
    Job j(64, 8, {125.0, 125.0, 12.5});
    for (std::uint32_t i = 0; i < 2; ++i) {
        put(j.rail(i).about, "10.71." + std::to_string(i + 1) + ".2, 1 Gbit/s, 0000:3b:00."
                                 + std::to_string(i) + ", NUMA node " + std::to_string(i));
        j.sent(i, 1500000 - 600000 * i, 64)
            .sent(i, 600000 - 250000 * i, 1000, 1.2)
            .sent(i, 90000 - 38000 * i, 16000, 1.1);
        j.sent(i, 41000 - 17000 * i, 250000).sent(i, 2000 - 800 * i, 4000000, 0.9);
    }
    j.sent(2, 1000, 16000, 3.3).sent(2, 2100, 250000, 3.4);
    j.rail(1).far_numa = 32;
    j.rail(1).retransmitted = 120;
    j.took(900000000000, {1.52, 1.55, 13.9}, 2.4);
    j.rail(1).alone_processes = 56;
    for (const char *const node : {"node0", "node1", "node2", "node4"}) {
        j.fault("eth1", node, "node3", "frames above 1400 bytes do not pass (MTU black hole)");
    }
    j.s().n_peers = 2;
    for (std::uint32_t i = 0; i < 2; ++i) {
        j.s().peer[i].from = 3 * i;
        j.s().peer[i].to = 40 + i;
        put(j.s().peer[i].rail, "eth0");
        j.s().peer[i].extra_ns = 123000 - 40000 * i;
    }
    j.s().more_peers = 5;
    for (std::uint32_t i = 0; i < FSBML_MOST_RANKS; ++i) {
        const bool behind = i < 8;
        j.slowest(behind ? 24 + i : 40 + i, behind ? "node3" : "node6", 21000000000 - 600000000ULL * i,
                  {behind ? 920U : 620U, behind ? 0U : 340U, behind ? 80U : 40U});
    }
    return j;
}

// --------------------------------------------------------- its report

inline std::string report(const fsbml_job_t &job, fsbml_form_t form)
{
    return FSBML_FORM_JSON == form   ? fsbml::report_json(job)
           : FSBML_FORM_HTML == form ? fsbml::report_page(job)
                                     : fsbml::report_text(job);
}

inline nlohmann::json parsed(Job &j)
{
    return nlohmann::json::parse(report(j.get(), FSBML_FORM_JSON));
}

inline std::vector<std::string> sentences(Job &j)
{
    return parsed(j)["sentences"];
}

inline std::string headline(Job &j)
{
    return sentences(j).front();
}

// Any of them, in the form that users read first.
inline bool says(Job &j, const std::string &part)
{
    const auto all = sentences(j);
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string &s) { return std::string::npos != s.find(part); });
}

#endif
