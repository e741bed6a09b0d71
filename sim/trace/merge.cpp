// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Sends of all records in the order of their time, and each receive `receive_after` its send: in that order
// all of it can happen, one after the other, so nothing waits for ever.
#include "trace.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <queue>
#include <utility>

namespace fsbml::sim
{
namespace
{

constexpr Time kMostTime = std::numeric_limits<Time>::max();

struct Sent {
    Time at = 0;
    std::uint32_t from = 0, to = 0;
    std::uint64_t bytes = 0;
};

class Record
{
public:
    explicit Record(const TraceRecord &record) : lines_(*record.in, record.name)
    {
        if (!lines_.next()) {
            lines_.fail("there is no header: fsbml-sends 1 rank R ranks N origin NS");
        }
        if (lines_.at(DecisionReader::kFirstWord)) {
            begin_decisions();
            return;
        }
        lines_.keyword("fsbml-sends");
        if (const std::uint64_t version = lines_.number("the version"); version != 1) {
            lines_.fail("version " + std::to_string(version) + ", but only 1 is known");
        }
        lines_.keyword("rank");
        const std::uint64_t rank = lines_.number("the rank");
        lines_.keyword("ranks");
        ranks_ = lines_.ranks();
        if (rank >= ranks_) {
            lines_.fail("rank " + std::to_string(rank) + " of " + std::to_string(ranks_)
                        + ", counted from 0");
        }
        rank_ = static_cast<std::uint32_t>(rank);
        lines_.keyword("origin");
        origin_ = lines_.number("the origin");
        lines_.done();
    }

    std::uint32_t rank() const { return rank_; }
    std::uint32_t ranks() const { return ranks_; }
    std::uint64_t origin() const { return origin_; }
    const Sent &sent() const { return sent_; }
    [[noreturn]] void fail(const std::string &why) const { lines_.fail(why); }

    // Its times count from its own origin, those of the trace from the earliest one.
    void shift(std::uint64_t earliest)
    {
        const std::uint64_t later = origin_ - earliest;
        if (later > static_cast<std::uint64_t>(kMostTime / kPsPerNs)) {
            fail("begins more than 106 days after others");
        }
        shift_ = static_cast<Time>(later) * kPsPerNs;
    }

    // The next send; false after the last one. Unlike a trace, which users write, a record has an end line:
    // else its process has not come to the end.
    bool next() { return decisions_ ? next_decision() : next_send(); }

private:
    void begin_decisions()
    {
        decisions_ = std::make_unique<DecisionReader>(lines_);
        rank_ = decisions_->header().rank;
        ranks_ = decisions_->header().ranks;
        origin_ = decisions_->header().origin_ns;
        if (decisions_->header().every > 1 || decisions_->header().lost > 0) {
            fail_as_sample();
        }
    }
    [[noreturn]] void fail_as_sample() const
    {
        lines_.fail("it is no record of all messages, but a sample: " + decisions_->not_all());
    }

    // All decisions of a process are all that it sends, but for what goes to other jobs, which are not in a
    // trace.
    bool next_decision()
    {
        fsbml_decision_t d;
        do {
            if (!decisions_->next(d)) {
                if (!decisions_->not_all().empty()) {
                    fail_as_sample();
                }
                return false;
            }
        } while (d.peer == DecisionReader::kElsewhere);
        const Time at = static_cast<Time>(d.now_ns) * kPsPerNs;
        if (at > kMostTime - shift_) {
            lines_.fail("more than 106 days after the beginning");
        }
        sent_ = {at + shift_, rank_, d.peer, d.bytes};
        return true;
    }

    bool next_send()
    {
        if (!lines_.next()) {
            lines_.fail("it is cut off: there is no 'end' line");
        }
        if (lines_.at("end")) {
            lines_.end(count_);
            return false;
        }
        const Time at = lines_.time("the time stamp");
        if (at > kMostTime - shift_) {
            lines_.fail("more than 106 days after the beginning");
        }
        if (at + shift_ < sent_.at) {
            lines_.fail("its time stamp is before that of the send before");
        }
        sent_.at = at + shift_;
        sent_.from = rank_;
        sent_.to = lines_.rank("the peer", ranks_);
        sent_.bytes = lines_.number("the number of bytes");
        if (sent_.to == rank_) {
            lines_.fail("the peer is the rank itself");
        }
        lines_.done();
        ++count_;
        return true;
    }

    TraceLines lines_;
    std::unique_ptr<DecisionReader> decisions_; // none in a record of sends
    Sent sent_;
    std::uint64_t origin_ = 0, count_ = 0;
    std::uint32_t rank_ = 0, ranks_ = 0;
    Time shift_ = 0;
};

// By rank: each there once, and all of the same job. Records stay where they are: their words point into
// them.
std::vector<std::unique_ptr<Record>> open(const std::vector<TraceRecord> &records)
{
    if (records.empty()) {
        throw std::invalid_argument("there is nothing to merge");
    }
    std::vector<std::unique_ptr<Record>> all(records.size());
    std::uint64_t earliest = std::numeric_limits<std::uint64_t>::max();
    for (const TraceRecord &record : records) {
        auto r = std::make_unique<Record>(record);
        if (r->ranks() != records.size()) {
            r->fail("of " + std::to_string(r->ranks()) + " ranks, but there are "
                    + std::to_string(records.size()) + " records");
        }
        if (all[r->rank()]) {
            r->fail("rank " + std::to_string(r->rank()) + " is there twice");
        }
        earliest = std::min(earliest, r->origin());
        all[r->rank()] = std::move(r);
    }
    for (const auto &r : all) {
        r->shift(earliest);
    }
    return all;
}

class Receives
{
public:
    Receives(Time after, TraceSink &sink) : after_(after), sink_(sink) {}

    void add(const Sent &s)
    {
        if (after_ == TraceMerge::kAtEnd) {
            ++late_[{s.to, s.from}];
        } else {
            waiting_.push_back(s);
        }
    }
    // All that are due before a time; one that is due at it comes after what is sent then.
    void before(Time time)
    {
        for (; !waiting_.empty() && waiting_.front().at < time - after_; waiting_.pop_front()) {
            receive(waiting_.front().to, waiting_.front().from);
        }
    }
    void rest()
    {
        for (const Sent &s : waiting_) {
            receive(s.to, s.from);
        }
        for (const auto &[pair, count] : late_) {
            for (std::uint64_t i = 0; i < count; ++i) {
                receive(pair.first, pair.second);
            }
        }
    }

private:
    void receive(std::uint32_t rank, std::uint32_t peer) { sink_.op(rank, Op{Op::Kind::recv, peer, 0, 0}); }

    Time after_;
    TraceSink &sink_;
    std::deque<Sent> waiting_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> late_; // receiver, sender
};

} // namespace

void merge(const std::vector<TraceRecord> &records, const TraceMerge &how, TraceSink &sink)
{
    if (how.receive_after < 0 && how.receive_after != TraceMerge::kAtEnd) {
        throw std::invalid_argument("received " + std::to_string(how.receive_after)
                                    + " ps after it was sent");
    }
    const std::vector<std::unique_ptr<Record>> all = open(records);
    sink.begin({static_cast<std::uint32_t>(all.size()), how.name});

    using Next = std::pair<Time, std::uint32_t>; // when, and the rank
    std::priority_queue<Next, std::vector<Next>, std::greater<>> sends;
    for (const auto &r : all) {
        if (r->next()) {
            sends.emplace(r->sent().at, r->rank());
        }
    }
    Receives receives(how.receive_after, sink);
    std::vector<Time> clock(all.size(), 0);
    while (!sends.empty()) {
        const auto [at, rank] = sends.top();
        sends.pop();
        receives.before(at);
        if (clock[rank] != at) {
            sink.op(rank, Op{Op::Kind::until, 0, 0, at});
            clock[rank] = at;
        }
        const Sent &s = all[rank]->sent();
        sink.op(rank, Op{Op::Kind::send, s.to, s.bytes, 0});
        receives.add(s);
        if (all[rank]->next()) {
            sends.emplace(s.at, rank);
        }
    }
    receives.rest();
    sink.end();
}

} // namespace fsbml::sim
