// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What is measured as a job starts: which pairs measure; rough parameters of a rail, from a stream each
// way; the interference of rails.
#ifndef FSBML_START_HPP
#define FSBML_START_HPP

#include "api/fsbml_core.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fsbml
{

// Which pairs of ranks measure which rails. Nodes fall in classes by the rails that they have; each rail that
// is used beside another one is measured once, by a pair that has two or more rails in common. All processes
// make the same list from the same hellos.
//
// A rail that no two nodes share beside a second one needs no measurement: a process that reaches a peer by
// it has no choice there, and what it carries delays no other rail.
//
// First the hellos: next() names the rank to look at, tell() takes what it says, node by node and not rank by
// rank, as a hello tells how many ranks after it are of its node. Then plan().
class Classes
{
public:
    // Maximum nodes that are examined, and hellos (ranks that are not the first of their node included).
    // What only later nodes have stays unmeasured. A hello costs 0.1 ms with Open MPI 5.0, whose processes
    // ask their daemon for each.
    static constexpr std::uint32_t kMostNodes = 256;
    static constexpr std::uint32_t kMostLooks = 2 * kMostNodes;
    // Ranks without a hello (they do not run FSBML): asking for one that is not there can take seconds.
    // Behind such a rank, twice as many are passed over each time: a node full of them does not end the
    // search.
    static constexpr std::uint32_t kMostSilent = 8;
    // Of the classes that have a rail, so many are tried with each other for its sake.
    static constexpr std::size_t kPerRail = 6;

    // On one node, each rank stands for a node of its own.
    Classes(std::uint32_t ranks, bool one_node) : ranks_(ranks), one_node_(one_node) {}

    // False: all that is needed has been told.
    bool next(std::uint32_t &rank) const noexcept;
    // nullptr: the rank has no hello.
    void tell(std::uint32_t rank, const fsbml_hello_t *hello);

    // The first pair, which does not change any more once it is there, and is the same to processes that
    // look on and to those that do not.
    bool first(fsbml_pair_t &pair) const noexcept;

    // The first pair, then always the one that has most rails to measure which none before it has (greedy
    // cover); rails to measure are those and no others. A node that is in two pairs has them in two rounds,
    // but only where no other of its class is free.
    void plan(fsbml_pairs_t &out);

    // Elementary steps so far, for tests.
    std::uint64_t work() const noexcept { return work_; }

private:
    struct Rail {
        std::uint32_t level; // of exclusivity
        std::uint32_t key;   // index in digest_
    };
    struct Class {
        std::vector<Rail> rails;         // by falling level, then as told
        std::vector<std::uint32_t> keys; // of them, sorted
        std::vector<std::uint32_t> nodes;
        std::size_t taken = 0; // of the nodes, by pairs
    };
    struct Node {
        std::uint32_t rank;
        std::uint32_t free_round; // the first one in which it is in no pair
    };
    struct Candidate {
        std::size_t a, b;                // classes
        std::vector<std::uint32_t> keys; // that both have
    };

    std::uint32_t key_of(const char *text);
    std::size_t class_of(const fsbml_hello_t &hello);
    std::vector<std::uint32_t> shared(const Class &a, const Class &b);
    void look_for_first(std::size_t with);
    std::vector<Candidate> candidates();
    std::uint32_t take_node(Class &c, std::uint32_t not_this);
    void add_pair(fsbml_pairs_t &out, const Candidate &c, std::uint32_t a, std::uint32_t b);

    std::uint32_t ranks_;
    bool one_node_;
    std::uint32_t at_ = 0; // next rank to look at
    std::uint32_t looks_ = 0;
    std::uint32_t silent_ = 0, silent_step_ = 1;
    std::uint64_t accounted_ = 0; // ranks of the nodes so far
    std::uint64_t work_ = 0;

    std::map<std::string, std::uint32_t> keys_;
    std::vector<std::uint32_t> digest_; // of a key's text
    std::vector<bool> covered_;         // keys that a pair measures
    std::set<std::string> names_;       // of nodes
    std::vector<Node> nodes_;
    std::map<std::string, std::size_t> sets_; // text of a set of rails -> class
    std::vector<Class> classes_;
    bool has_first_ = false;
    Candidate first_{};
    std::uint32_t first_node_[2] = {0, 0};
};

// The rate of a rail by what the sender's kernel says of a stream, from those looks between which it was
// never through with what it had, and the receiver had room: then the processes may be away meanwhile.
class Backlog
{
public:
    void look(const fsbml_streaming_look_t &l) noexcept;
    double G() const noexcept; // ns per byte, 0: not known
    std::uint64_t acknowledged() const noexcept { return last_.acknowledged; }

private:
    fsbml_streaming_look_t last_{};
    bool in_row_ = false;
    std::uint64_t ns_ = 0, bytes_ = 0;
};

// A stream of messages on one rail, and the rate at which they arrive: no communication, no clock.
//
// The receiver tells of each message when it came and how much had come by then. What is under way is kept to
// what the rail carries in some milliseconds, and to a share of what has arrived: what a shaper's bucket
// lets pass in a moment then does not fill the queue of the slow rail behind it. The rate is that of the
// latter half, when a bucket is empty; how far the first half was ahead of it is what the bucket holds.
//
// A process that loses its processor leaves the rail idle, or takes in at once what came meanwhile. Both ends
// notice that by their own clocks. Behind a sender's pause other stamps begin to count together; what was
// under way at a receiver's does not count. Where the sender's kernel can be asked, more is under way then
// than a bucket holds, and what it says tells whether nothing was seen but what a bucket lets pass.
class Stream
{
public:
    explicit Stream(const fsbml_streaming_limits_t &limits) noexcept;

    // Bytes of the next message to be sent at `now`; 0: none at the moment, or no more at all.
    std::uint32_t next(std::uint64_t now_ns) noexcept;
    void sent(std::uint32_t bytes) noexcept { sent_ += bytes; }
    // `bytes` in all had arrived at `stamp_ns` of the receiver's clock; `away`: it had not looked for a while
    // before.
    void arrived(std::uint64_t bytes, std::uint64_t stamp_ns, bool away) noexcept;

    // Whether the sender's kernel is to be asked, and what it says.
    bool asks() const noexcept { return away_; }
    void look(const fsbml_streaming_look_t &l) noexcept { backlog_.look(l); }

    bool ended() const noexcept { return ended_; }
    bool drained() const noexcept { return ended_ && arrived_ >= sent_; }

    fsbml_rate_t rate() const;

private:
    struct Stamp {
        std::uint64_t ns = 0;
        std::uint64_t bytes = 0;
        bool first = false; // of those that count together
    };
    // The latter one of stamps that count together: the indices of those at which a packet had passed.
    using Half = std::vector<std::size_t>;
    void disturbed() noexcept;
    bool enough() const;
    std::size_t recent() const noexcept;
    std::uint64_t stall_ns() const;
    std::vector<std::size_t> packets(std::size_t begin, std::size_t end) const;
    std::vector<Half> halves() const;
    std::uint64_t took(const Half &half) const noexcept;
    double slope(std::size_t from, std::size_t to) const noexcept;
    double bucket(double G) const noexcept;
    double whole() const noexcept; // ns per byte; 0: not known

    fsbml_streaming_limits_t limits_;
    std::uint64_t sent_ = 0;
    std::uint64_t arrived_ = 0;
    std::uint64_t looked_ns_ = 0; // last time that something was to be sent
    std::uint64_t began_ns_ = 0;  // the first stamp, on the sender's clock; 0: none yet
    std::uint64_t came_ns_ = 0; // when something had arrived, last, on the sender's clock, and what there was
    std::uint64_t seen_ = 0;
    bool stalled_ = false;
    std::uint64_t beyond_ = 0; // what arrives up to here does not count
    std::uint64_t paused_ = 0; // the sender was away when so much was sent
    bool fresh_ = true;        // the next stamp that counts is the first of others
    bool away_ = false;
    bool ended_ = false;
    Stamp any_{}; // the first that was on time, and the last of all, whether they count or not
    Stamp last_{};
    bool late_ = false; // none was on time yet
    Backlog backlog_;
    std::size_t n_ = 0;
    std::array<Stamp, 256> stamp_;
};

// The fit of a rail that was swept: a few PRTTs of small messages and a stream each way (see
// fsbml_sweep_t). As fsbml_rate_better(), fsbml_sweep_fit() and so on.
fsbml_rate_t better(const fsbml_rate_t &one, const fsbml_rate_t &two) noexcept;
fsbml_fit_t sweep_fit(const fsbml_sweep_t &seen) noexcept;
void sweep_level(fsbml_fit_t *fits, std::size_t n);
bool fit_is_like(const fsbml_fit_t &fit, const fsbml_fit_t &other) noexcept;
bool sweep_confirms(const fsbml_sweep_t &seen, const fsbml_fit_t &fit) noexcept;

// together.cpp: interference of rails: streams on all of them at once, compared with the rates that each has
// alone.
//
// A rail that is slower beside the others, each time, is scheduled as what it is there: its gaps per byte are
// scaled. A rail with which all carry clearly less than without it, each time, is left out. Where sending
// keeps the processor busy, losses are the processor's, and nothing is scaled. Where the processor feeds all
// rails no faster than the best one alone, each process of a node uses one of the rails that are as good as
// the best, another process another one; slower rails are left out. Not so below a Gbit/s: there the
// processor is busy because other processes have it, as those that start a job do.
class Together
{
public:
    // `members`: rails (bits) that take part, the indices of fits, which are of rails alone.
    Together(const fsbml_fit_t *fits, std::uint32_t members) noexcept;

    // The rails on which streams are to be sent at once, 0: it is over.
    std::uint32_t next() const noexcept { return next_; }
    // Their rates in ns/byte, by rail, the share of the time that the processor was busy with sending, and
    // what they carried in all, in bytes/ns.
    void report(const double *ns_per_byte, double sending, double carried);
    // The rails could not be measured: they stay as they are.
    void give_up() noexcept;

    // Puts what came out into the fits: together, the gaps, and which rails are left out.
    void conclude(fsbml_fit_t *fits) const;
    std::uint32_t left_out() const noexcept { return left_out_; }

private:
    using Rates = std::array<double, FSBML_MAX_RAILS>; // ns per byte
    struct Suspect {
        std::uint32_t rail;        // a bit
        std::vector<double> rates; // bytes per ns of the others, in all
    };
    void begin() noexcept;
    void find_suspects();
    void judge();
    double fastest() const noexcept;
    double most() const noexcept;
    double least(std::size_t rail) const noexcept;
    double settled(std::size_t rail) const;
    bool scales() const;
    void feed(double sending, double carried);
    double fed(std::size_t run) const;
    void judge_processor();
    void level(fsbml_fit_t *fits) const noexcept;

    Rates alone_{};
    Rates without_{}; // bytes per ns of the others without a rail that was left out, and with it
    Rates with_{};
    std::uint32_t members_;
    std::uint32_t next_ = 0;
    std::uint32_t left_out_ = 0;
    bool busy_ = false;      // the processor, with sending
    bool feeds_one_ = false; // even with one rail alone
    double processor_ = 0.0; // then: the time of all beside each other by that of each alone; 0: not known
    std::uint32_t in_turn_ = 0;
    std::vector<Rates> beside_;       // a round of all at once each, with these members
    std::vector<double> busy_beside_; // and the share of the time that the processor was busy with sending
    // What each rail carries alone, and all of them (the last), in turn: where the processor is busy.
    std::array<std::vector<double>, FSBML_MAX_RAILS + 1> fed_;
    std::vector<double> sending_; // shares of the time, of one alone
    std::vector<Suspect> suspect_;
};

} // namespace fsbml

#endif
