// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/forms/forms.hpp"

#include "explain/verdict/verdict.hpp"
#include "formats/formats.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml
{

namespace
{

class Document : public JsonWriter
{
public:
    explicit Document(const Figures &f) : f_(f) {}

    void whole(const char *name, std::uint64_t value) { out_ << ", \"" << name << "\": " << value; }

    void whole_or_null(const char *name, std::uint64_t value, bool known)
    {
        out_ << ", \"" << name << "\": ";
        if (known) {
            out_ << value;
        } else {
            out_ << "null";
        }
    }

    void real(const char *name, double value, bool known)
    {
        out_ << ", ";
        number(name, known ? value : std::nan(""));
    }

    // An array of n objects or values, each on a line of its own.
    template <class Each>
    void array(const char *name, std::size_t n, Each &&each)
    {
        out_ << ",\n \"" << name << "\": [";
        for (std::size_t i = 0; i < n; ++i) {
            out_ << (0 == i ? "\n  " : ",\n  ");
            each(i);
        }
        out_ << ']';
    }

    void rail_seen(std::size_t i)
    {
        const fsbml_summary_rail_t &r = f_.s.rail[i];
        const bool kernel = r.kernel_busy_ns > 0;
        const Quantiles &q = f_.ratio[i];
        out_ << "{\"key\": " << json_text(r.key) << ", \"name\": " << json_string(f_.name[i])
             << ", \"about\": " << ('\0' == r.about[0] ? "null" : json_text(r.about));
        whole("processes", r.processes);
        whole("far_numa", r.far_numa);
        whole("messages", r.messages);
        whole("bytes", r.bytes);
        whole("passed_over", r.passed_over);
        whole("busy_ns", r.busy_ns);
        whole_or_null("kernel_busy_ns", r.kernel_busy_ns, kernel);
        whole_or_null("retransmitted", r.retransmitted, kernel || r.retransmitted > 0);
        whole("backlog_max_ns", r.backlog_max_ns);
        whole_or_null("backlog_max_rank", r.backlog_max_rank, r.backlog_max_ns > 0);
        whole("interfaces", r.interfaces);
        whole_or_null("interface_bytes", r.interface_bytes, r.interfaces > 0);
        whole("alone_processes", r.alone_processes);
        whole_or_null("alone_ns", r.alone_ns, r.alone_processes > 0);
        out_ << ",\n   \"by_size\": [";
        for (std::uint32_t c = 0; c < FSBML_CLASSES; ++c) {
            const fsbml_class_t &k = r.by_size[c];
            out_ << (0 == c ? "" : ",\n    ") << "{\"up_to_bytes\": ";
            if (c + 1 < FSBML_CLASSES) {
                out_ << (std::uint64_t{64} << (2 * c));
            } else {
                out_ << "null";
            }
            whole("messages", k.messages);
            whole("bytes", k.bytes);
            whole("arrivals", k.arrivals);
            whole_or_null("predicted_ns", k.predicted_ns, k.arrivals > 0);
            whole_or_null("observed_ns", k.observed_ns, k.arrivals > 0);
            out_ << '}';
        }
        out_ << "],\n   \"observed_by_predicted\": {\"arrivals\": " << q.arrivals;
        real("p10", q.p10, q.arrivals > 0);
        real("p25", q.p25, q.arrivals > 0);
        real("p50", q.p50, q.arrivals > 0);
        real("p75", q.p75, q.arrivals > 0);
        real("p90", q.p90, q.arrivals > 0);
        out_ << ", \"bins\": [";
        for (std::size_t b = 0; b < FSBML_RATIO_BINS; ++b) {
            out_ << (0 == b ? "" : ", ") << r.ratio[b];
        }
        out_ << "]}}";
    }

    void fault(std::size_t i)
    {
        const fsbml_summary_fault_t &x = f_.s.fault[i];
        out_ << "{\"rail\": " << json_text(x.rail) << ", \"from\": " << json_text(x.from)
             << ", \"to\": " << json_text(x.to) << ", \"kind\": " << x.kind
             << ", \"why\": " << json_text(x.why) << '}';
    }

    void peer(std::size_t i)
    {
        const fsbml_summary_peer_t &x = f_.s.peer[i];
        out_ << "{\"from\": " << x.from << ", \"to\": " << x.to << ", \"rail\": " << json_text(x.rail)
             << ", \"extra_ns\": " << x.extra_ns << '}';
    }

    void change(std::size_t i)
    {
        const fsbml_change_t &x = f_.s.changes.change[i];
        out_ << "{\"rail\": " << json_text(x.name) << ", \"node\": " << json_text(x.node);
        whole("ns", x.ns);
        real("before_mbps", x.before_mbps, true);
        real("after_mbps", x.after_mbps, true);
        out_ << '}';
    }

    void rank(std::size_t i)
    {
        const fsbml_summary_rank_t &x = f_.s.rank[i];
        out_ << "{\"rank\": " << x.rank << ", \"node\": " << json_text(x.node)
             << ", \"messages\": " << x.messages << ", \"bytes\": " << x.bytes
             << ", \"time_ns\": " << x.time_ns << ", \"per_1000_of_bytes\": [";
        for (std::size_t j = 0; j < f_.n; ++j) {
            out_ << (0 == j ? "" : ", ") << x.rail_share[j];
        }
        out_ << "]}";
    }

    void measurement(const fsbml_table_t &t)
    {
        out_ << "{\"ranks\": [" << t.pair[0] << ", " << t.pair[1] << "], \"duration_ns\": " << t.duration_ns
             << ", \"reason\": " << json_text(t.reason) << ", \"rails\": [";
        for (std::uint32_t i = 0; i < t.n_rails && i < FSBML_MAX_RAILS; ++i) {
            out_ << (0 == i ? "" : ",") << "\n   {";
            rail(t.rail[i]);
            out_ << '}';
        }
        out_ << "]}";
    }

private:
    const Figures &f_;
};

} // namespace

std::string report_json(const fsbml_job_t &job)
{
    const Figures f(job);
    const fsbml_summary_t &s = f.s;
    const Verdict v = verdict(f);
    const bool chose = s.chose > 0;
    const bool best = f.best_alone >= 0 && s.time_ns > 0;
    Document d(f);
    Text &out = d.out();
    out << "{\"schema\": \"fsbml-report-1\",\n \"program\": " << json_text_or_null(job.program)
        << ", \"openmpi\": " << json_text_or_null(job.openmpi)
        << ", \"policy\": " << json_text_or_null(job.policy)
        << ", \"ended\": " << json_text_or_null(job.ended);
    d.array("sentences", v.sentences.size(), [&](std::size_t i) { out << json_string(v.sentences[i]); });
    out << ",\n \"blames_a_rail\": " << (v.blame ? "true" : "false");
    d.whole("ranks", s.ranks);
    d.whole("heard", s.heard);
    d.whole("nodes", s.nodes);
    d.whole("chose", s.chose);
    d.whole("duration_ns", s.duration_ns);
    d.whole("messages", s.messages);
    d.whole("bytes", s.bytes);
    d.whole_or_null("time_ns", s.time_ns, chose);
    d.whole_or_null("r2_ns", s.r2_ns, chose && s.r2_ns > 0);
    d.real("r2_ratio", f.r2_ratio, f.r2_ratio > 0.0);
    out << ", \"best_alone\": ";
    if (best) {
        out << json_string(f.name[static_cast<std::size_t>(f.best_alone)]);
    } else {
        out << "null";
    }
    d.real("saved", f.saved(), best);
    d.array("rails", f.n, [&](std::size_t i) { d.rail_seen(i); });
    d.array("faults", std::min<std::size_t>(s.n_faults, FSBML_MOST_FAULTS),
            [&](std::size_t i) { d.fault(i); });
    d.whole("more_faults", s.more_faults);
    d.array("peers", std::min<std::size_t>(s.n_peers, FSBML_MOST_PEERS), [&](std::size_t i) { d.peer(i); });
    d.whole("more_peers", s.more_peers);
    d.array("changes", std::min<std::size_t>(s.changes.n, FSBML_MOST_CHANGES),
            [&](std::size_t i) { d.change(i); });
    d.whole("more_changes", s.changes.more);
    d.array("slowest_ranks", std::min<std::size_t>(s.n_ranks, FSBML_MOST_RANKS),
            [&](std::size_t i) { d.rank(i); });
    out << ",\n \"measurement\": ";
    if (nullptr == f.table) {
        out << "null";
    } else {
        d.measurement(*f.table);
    }
    out << "}\n";
    return out.str();
}

} // namespace fsbml
