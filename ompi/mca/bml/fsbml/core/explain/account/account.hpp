// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What the rails carried and saved, and rates that changed: of a process, added up over ranks, and on the
// way from one to the other; decisions as a file.
#ifndef FSBML_EXPLAIN_ACCOUNT_HPP
#define FSBML_EXPLAIN_ACCOUNT_HPP

#include "api/fsbml_explain.h"
#include "api/fsbml_observe.h"
#include "api/fsbml_trace.h"
#include "schedule/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace fsbml
{

// How long something was under way, of intervals that begin in order.
class UnderWay
{
public:
    void add(std::uint64_t begin_ns, std::uint64_t lasts_ns) noexcept
    {
        const std::uint64_t end = begin_ns + lasts_ns;
        total_ns_ += begin_ns >= end_ns_ ? lasts_ns : end > end_ns_ ? end - end_ns_ : 0;
        end_ns_ = end > end_ns_ ? end : end_ns_;
    }
    std::uint64_t total_ns() const noexcept { return total_ns_; }

private:
    std::uint64_t end_ns_ = 0, total_ns_ = 0;
};

// What a process' decisions come to: by rail and size, and by how much other rules would have been slower.
// Each message is replayed in the model when it is given to a rail, for each rule with virtual finishing
// times of its own. What a rule takes is how long messages were under way: the union of the times from when
// each was given to a rail until it would have arrived. Nothing grows with the number of messages.
class Account
{
public:
    explicit Account(std::size_t n_rails) noexcept;
    Account(const Account &) = delete;
    Account &operator=(const Account &) = delete;

    int set_model(std::size_t rail, const fsbml_loggp_t &p) noexcept;
    int set_r2(std::size_t rail, const fsbml_r2_rail_t &r) noexcept;
    int set_fragment(std::size_t rail, std::size_t bytes) noexcept;
    void decided(const fsbml_decision_t &d) noexcept;
    void arrived(const fsbml_arrival_t &a) noexcept;
    void add_to(fsbml_summary_t &to) const noexcept;

private:
    struct ByRail {
        fsbml_class_t by_size[FSBML_CLASSES];
        std::uint32_t ratio[FSBML_RATIO_BINS];
        UnderWay alone;
        std::uint64_t missed; // messages that it was no candidate for
    };
    // What r2 goes by. The defaults make every message eager.
    struct ByR2 {
        fsbml_r2_rail_t rail{1, 0, ~std::size_t{0}, 0};
        std::size_t fragment = 0; // 0: not known
        double given = 0.0;       // bytes of long messages
    };
    // Bounded whatever the size of the job: peers whose ranks differ by a multiple of it share a place.
    static constexpr std::size_t kPlaces = 256;

    void replay(const fsbml_decision_t &d) noexcept;
    std::size_t r2_chooses(const fsbml_decision_t &d) noexcept;
    std::size_t r2_eager(const fsbml_decision_t &d) noexcept;
    std::size_t r2_long(const fsbml_decision_t &d) noexcept;

    const std::size_t n_rails_;
    mutable std::mutex lock_; // of all below
    std::uint32_t measured_ = 0;
    Scheduler done_, alone_, r2_; // in `alone_`, each rail has all messages
    UnderWay done_time_, r2_time_;
    std::uint64_t replayed_ = 0;
    ByR2 by_r2_[FSBML_MAX_RAILS];
    std::uint8_t place_[kPlaces] = {}; // arr_index of ob1's list of eager rails to a peer
    bool chose_ = false;
    ByRail rail_[FSBML_MAX_RAILS] = {};
};

// Class of a size, and the size in bytes that a class goes up to, 0 for the last.
std::uint32_t class_of(std::uint64_t bytes) noexcept;
std::uint64_t class_limit(std::uint32_t c) noexcept;
std::uint32_t ratio_bin(std::uint64_t observed_ns, std::uint64_t predicted_ns) noexcept;

// ---- Rails that became slower or faster while the job ran: a bounded list, of a process or of many.

// Both rates are such as a network can have.
bool is_change(const fsbml_change_t &c) noexcept;

// Puts one in its place; of more than FSBML_MOST_CHANGES, the one whose rates differ least goes.
void add_change(fsbml_changes_t &into, const fsbml_change_t &c) noexcept;

// Adds another process' changes, n of them. What both tell of the same rail of the same node, within a second
// and from about the same rate on, is one change: the earlier of the two.
void merge_changes(fsbml_changes_t &into, const fsbml_change_t *other, std::uint32_t n) noexcept;

// Many summaries make one, of bounded size: sums, extremes, and the gravest of what cannot be added.
void add_peer(fsbml_summary_t &into, const fsbml_summary_peer_t &peer) noexcept;
void merge(fsbml_summary_t &into, const fsbml_summary_t &other) noexcept;

// A summary as a record (formats/wire.hpp), for the way to another process.
long summary_pack(const fsbml_summary_t &s, void *buf, std::size_t len) noexcept;
int summary_unpack(fsbml_summary_t &s, const void *buf, std::size_t len) noexcept;

// ---- Decisions as the text of a file, one of each process (docs/trace.md):
//
//   fsbml-decisions 2 rank R ranks N node NAME policy P origin T every E lost L messages M
//   rail KEY NAME PARAMETER=NUMBER ...    a line a rail, or `rail KEY NAME unmeasured`
//   NS PEER BYTES -> RAIL | RAIL ARRIVAL BACKLOG [+EXTRA] | ...    a line a decision
//   NS rate RAIL BEFORE AFTER    a line where a rail's rate has changed, in bits a second
//   end N                        so many decisions
//
// Parameters are those of a table's file, each with as many digits as tell it from all other numbers, so
// that a reader gets the scheduler's integers. Time stamps never run back, also where threads decided at
// once.

constexpr const char *kDecisions = "fsbml-decisions"; // the file's first word
constexpr unsigned kDecisionsVersion = 2;

// See fsbml_trace_store(). Throws nothing but std::bad_alloc, and that before the first decision.
int store_trace(const std::string &path, const fsbml_trace_t &t, std::string &reason);

} // namespace fsbml

#endif
