// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What a report's figures mean, in sentences, and the figures; the cause of a path's fault.
#ifndef FSBML_EXPLAIN_VERDICT_HPP
#define FSBML_EXPLAIN_VERDICT_HPP

#include "api/fsbml_diagnosis.h"
#include "api/fsbml_explain.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace fsbml
{

// ---- What a report shows, worked out once for all its forms: names, shares, quantiles, alternatives; and
// numbers as users read them, whatever the program's locale.

// UTF-8 without control characters, whatever the bytes are.
std::string clean(const std::string &text);

// A record's array, which may be full to its end.
template <std::size_t N>
std::string clean_of(const char (&text)[N])
{
    return clean(std::string(text, strnlen(text, N)));
}

// Characters, not bytes.
std::size_t width_of(const std::string &text);
// At most so many characters.
std::string clipped(const std::string &text, std::size_t most);

std::string fixed(double value, int digits);
// So many digits that count: "10.4", "1.25".
std::string digits3(double value);
std::string count_text(std::uint64_t n);                   // "12 345 678"
std::string time_text(double ns);                          // "12.3 us", "1.05 ms", "3.2 s"
std::string size_text(double bytes);                       // "512 B", "4.5 MiB"
std::string share_text(double share);                      // of 1: "9 %", "less than 1 %"
std::string times_text(double ratio);                      // "3.1 times", "12 times"
std::string class_text(std::uint32_t c);                   // "4 KiB", the last one "more"
std::string plural(std::uint64_t n, const char *what);     // "1 rank", "2 ranks"
std::string listed(const std::vector<std::string> &names); // "a, b and c"

// Of the blank at this place: does it part the digits of a number, or a number and its per cent?
bool is_within_number(const std::string &text, std::size_t at) noexcept;

// Do both ends tell of the same? What holds both ways ("neither from a to b nor back") each begins with
// itself.
bool is_same_fault(const fsbml_summary_fault_t &a, const fsbml_summary_fault_t &b);

// part / whole; 0 if there is no whole.
double share_of(double part, double whole) noexcept;

constexpr std::uint64_t kEnoughArrivals = 20; // to speak of their median

// Of observed by predicted arrival.
struct Quantiles {
    std::uint64_t arrivals = 0; // 0: nothing is known
    double p10 = 0.0, p25 = 0.0, p50 = 0.0, p75 = 0.0, p90 = 0.0;
};
Quantiles quantiles(const std::uint64_t (&ratio)[FSBML_RATIO_BINS]) noexcept;

// What else could have been done, or was.
struct Alternative {
    std::string name;
    std::uint64_t ns = 0;
    double ratio = 0.0; // to what was done; 0: not comparable
    bool done = false;  // what the job did
    bool some = false;  // not all processes with a choice could have done it
    int rail = -1;
};

// A rail of a node whose rate has changed.
struct Rates {
    std::size_t rail;                            // its place
    std::string name;                            // "eth1 on node0", as it is called there
    double least, most;                          // Mbit/s, of all that follow
    std::vector<const fsbml_change_t *> changes; // in the order of time, one at least

    bool fell() const { return least < changes.front()->before_mbps; }
};

struct Figures {
    explicit Figures(const fsbml_job_t &job);

    const fsbml_summary_t &s;
    const fsbml_table_t *table;
    std::size_t n;                               // rails
    std::vector<std::string> name;               // of each rail, never empty
    std::vector<Quantiles> ratio;                // of each rail
    std::vector<const fsbml_table_rail_t *> fit; // nullptr: the rail is not in the table
    std::uint64_t messages = 0, bytes = 0;       // sums over the rails
    fsbml_class_t by_size[FSBML_CLASSES] = {};   // sums over the rails
    std::vector<Alternative> alternatives;       // the job first, r2 last; empty: no message had a choice
    int best_alone = -1;   // the fastest rail that all processes with a choice could have used alone
    double r2_ratio = 0.0; // 0: not known
    std::vector<std::string> left_out; // rails that carry nothing somewhere, and why, as lines
    std::vector<Rates> rates;          // that have changed, those first that did so first

    double message_share(std::size_t rail) const
    {
        return share_of(double(s.rail[rail].messages), double(messages));
    }
    // Is there a prediction of how busy the rail was to be?
    bool predicted(std::size_t rail) const
    {
        return s.chose > 0 && (nullptr == fit[rail] || fit[rail]->fit.valid);
    }
    double byte_share(std::size_t rail) const { return share_of(double(s.rail[rail].bytes), double(bytes)); }
    // Of 1: by how much the job's time is less than that of the best rail alone; may be negative.
    double saved() const;
    // The mean time that messages of a rank with a choice were under way.
    double mean_time() const { return share_of(double(s.time_ns), double(s.chose)); }
};

// What is said of rails whose rates have changed while the job ran. A sentence for each rail of a node that
// fell below its first rate, or for each that only rose: the first change, and what came of it.
void add_changed(const Figures &f, bool fell, std::vector<std::string> &to);

// What a job's figures say, in plain sentences: first what is wrong with a rail, then what the rails gave.
struct Verdict {
    std::vector<std::string> sentences; // at least one; the first is the headline
    bool blame = false;                 // the headline blames a rail
};

Verdict verdict(const Figures &f);

// The cause of a rail's fault, from what the two ends see. Strong signs first: what an end says of itself (no
// carrier, its network, its address) before what follows from frames that came or did not.
struct Diagnosis {
    fsbml_fault_kind_t kind = FSBML_FAULT_OTHER;
    std::string why; // "": nothing is known
};

Diagnosis diagnose(const fsbml_end_t &here, const fsbml_end_t *there);
Diagnosis diagnose_speed(const fsbml_end_t &here, const fsbml_end_t *there, double G_ns, double G_before_ns);

} // namespace fsbml

#endif
