// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Files of docs/trace.md: workloads, read and written; decisions, read and put again to the scheduler's rule;
// what processes have recorded, merged to one workload.
#ifndef FSBML_SIM_TRACE_HPP
#define FSBML_SIM_TRACE_HPP

#include "api/fsbml_core.h"
#include "api/fsbml_observe.h"
#include "sim/job/job.hpp"

#include <iosfwd>
#include <istream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fsbml
{
class Models;
}

namespace fsbml::sim
{

// ---- The text form of workloads, docs/trace.md, read and written an op at a time: no more than a line is
// held.

struct TraceHeader {
    std::uint32_t ranks = 0;
    std::string name;
};

// Takes a trace: its header, then ops, those of a rank in its order, then the end.
class TraceSink
{
public:
    virtual ~TraceSink() = default;
    virtual void begin(const TraceHeader &header) = 0;
    virtual void op(std::uint32_t rank, const Op &op) = 0;
    virtual void end() = 0;
};

// Keeps all of it.
class TraceCollector final : public TraceSink
{
public:
    void begin(const TraceHeader &header) override
    {
        workload.name = header.name;
        workload.process.resize(header.ranks);
    }
    void op(std::uint32_t rank, const Op &op) override { workload.process.at(rank).push_back(op); }
    void end() override {}

    Workload workload;
};

// Malformed input: "line 7: ..." or "NAME, line 7: ...".
class TraceError : public std::runtime_error
{
public:
    TraceError(const std::string &source, std::uint64_t line, const std::string &why);
    std::uint64_t line() const { return line_; }

private:
    std::uint64_t line_;
};

// Throws TraceError, and std::runtime_error if the stream itself fails. That receives match sends it does not
// look at: check() of sim/traffic does.
void read_trace(std::istream &in, TraceSink &sink);
Workload read_trace(std::istream &in);

// Throws std::invalid_argument for what the form cannot say (a negative time, a peer that does not exist, a
// size of a receive, a name with a control character), std::runtime_error if the stream fails.
class TraceWriter : public TraceSink
{
public:
    explicit TraceWriter(std::ostream &out) : out_(out) {}
    void begin(const TraceHeader &header) override;
    void op(std::uint32_t rank, const Op &op) override;
    void end() override;

private:
    std::ostream &out_;
    std::uint32_t ranks_ = 0;
    std::uint64_t ops_ = 0;
    std::string line_;
};
void write_trace(std::ostream &out, const Workload &workload);

// Lines of words, with comments: what a trace and the files that are merged to one have in common.
class TraceLines
{
public:
    TraceLines(const TraceLines &) = delete;
    TraceLines &operator=(const TraceLines &) = delete;

    static constexpr std::size_t kLongest = 1000; // characters of a line
    static constexpr std::size_t kLongestOfNames = 6000;
    static constexpr std::uint32_t kMostRanks = 1U << 20;

    // `source` names it in errors; empty: there is only one.
    TraceLines(std::istream &in, std::string source);

    // From the next line on there may be names of all rails, and in names a '#': comments begin with a word.
    void expect_names()
    {
        longest_ = kLongestOfNames;
        names_ = true;
    }

    // The next line that is not empty, without its comment. False at the end.
    bool next();
    // Its next word; what is named by `what` is missing if there is none.
    std::string_view word(const char *what);
    std::uint64_t number(const char *what); // 0 to 2^64 - 1, decimal
    std::uint64_t added(const char *what);  // the same with a '+' before
    std::uint32_t ranks();                  // 1 to kMostRanks
    std::uint32_t rank(const char *what, std::uint32_t ranks);
    std::uint32_t peer_or_any(std::uint32_t ranks);
    Time time(const char *what); // ns with up to three decimals, 0 or more
    void keyword(const char *is);
    bool at(std::string_view is) const; // begins the line with that word
    // The line "end N", after which nothing may come, counts them right.
    void end(std::uint64_t count);
    std::string name(); // all that is left, inner spaces kept
    bool more();        // words on the line
    void done();        // nothing may be left

    [[noreturn]] void fail(const std::string &why) const { throw TraceError(source_, line_, why); }

private:
    bool read();

    std::istream &in_;
    std::string source_;
    std::string text_;
    std::string_view left_;
    std::uint64_t line_ = 0;
    bool over_ = false;
    std::size_t longest_ = kLongest;
    bool names_ = false;
};

// Neither empty nor with a character that would not come back.
bool valid_trace_name(const std::string &name);

// A time as the reader takes it: ns, and decimals only if need be.
void append_ns(std::string &to, Time time);

// ---- Decisions that a process has kept (docs/trace.md), read one at a time.

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

// Decisions put again to the scheduler's rule, with the models that their file has.
class DecisionReplay
{
public:
    // What a file says in whole ns is cut off: a backlog is up to 1 ns more than it says, and so is an
    // arrival. By the scheduler's own integers, what is worked out from a backlog in ns is the arrival in ns,
    // or 1 ns less.
    static constexpr std::uint64_t kRounding = 1;

    explicit DecisionReplay(const DecisionHeader &header);
    ~DecisionReplay();

    // What the rail delivers after, by the model and the backlog that the decision says, and what its
    // destination adds.
    std::uint64_t arrival(const fsbml_decision_t &d, std::size_t rail) const;

    // The candidates among which the rule chooses: those with a model, or all if none has one.
    std::uint32_t choice(const fsbml_decision_t &d) const;
    // That all candidates' arrivals are what comes out again.
    bool agrees(const fsbml_decision_t &d) const;
    // That no candidate's arrival is before that of the rail that got the message.
    bool earliest(const fsbml_decision_t &d) const;

private:
    std::unique_ptr<Models> models_;
    std::uint32_t measured_ = 0;
};

// ---- One trace from what each process of a job has recorded of its sends (docs/trace.md).

struct TraceRecord {
    std::string name; // for errors: of its file
    std::istream *in = nullptr;
};

struct TraceMerge {
    std::string name; // of the trace
    // Receives are not recorded. A process receives a message before the first of its own sends that comes
    // more than so long after the message's; or all at its end, so that it sends when it did, come what may.
    static constexpr Time kAtEnd = -1;
    Time receive_after = kAtEnd;
};

// The records may come in any order. Decisions are a record, too, if they are those of all messages. Holds a
// line of each, and the messages of the last `receive_after` or, at the end, a number for each pair of ranks.
// The result ends, as check() has it. Throws TraceError.
void merge(const std::vector<TraceRecord> &records, const TraceMerge &how, TraceSink &sink);

} // namespace fsbml::sim

#endif
