// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Decisions that a process has kept (docs/trace.md), read one at a time.
#ifndef FSBML_SIM_TRACE_DECISIONS_HPP
#define FSBML_SIM_TRACE_DECISIONS_HPP

#include "lines.hpp"

#include "api/fsbml_core.h"
#include "api/fsbml_observe.h"

#include <vector>

namespace fsbml::sim
{

struct DecisionRail {
    std::string key, name;
    bool measured = false;
    fsbml_loggp_t model{};
};

struct DecisionHeader {
    std::uint32_t rank = 0, ranks = 0;
    std::string node;
    fsbml_policy_t policy = FSBML_POLICY_ARRIVAL;
    std::uint64_t origin_ns = 0; // of the day
    std::uint64_t every = 1, lost = 0, messages = 0;
    std::vector<DecisionRail> rails;
};

// A rail that became slower or faster.
struct RateChange {
    std::uint64_t ns = 0; // from the origin on
    std::uint32_t rail = 0;
    std::uint64_t before = 0, after = 0; // bits a second
};

class DecisionReader
{
public:
    static constexpr const char *kFirstWord = "fsbml-decisions";
    static constexpr std::uint32_t kElsewhere = ~std::uint32_t{0}; // a peer of another job

    // The lines' first one, the header, is read and no word of it taken. Reads on up to the first decision.
    // Throws TraceError, as all does here.
    explicit DecisionReader(TraceLines &lines);

    const DecisionHeader &header() const { return header_; }
    // The next one, with now_ns from the origin on; false after the last one. Without an end line, the file
    // is cut off.
    bool next(fsbml_decision_t &d);
    std::uint64_t count() const { return count_; }
    // Those that were read on the way.
    const std::vector<RateChange> &changes() const { return changes_; }
    // Why it is no record of all sends, or "". Known once all is read.
    std::string not_all() const;

private:
    void rail();
    void stamp(std::uint64_t ns);
    void change(std::uint64_t ns);
    std::uint32_t named(const char *what);

    TraceLines &lines_;
    DecisionHeader header_;
    std::vector<RateChange> changes_;
    std::uint64_t count_ = 0, last_ns_ = 0;
    bool first_is_read_ = false;
};

} // namespace fsbml::sim

#endif
