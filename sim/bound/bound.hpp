// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// A lower bound, which no schedule can beat, on the makespan of a workload on a cluster; and in a namespace
// of its own what it is worked out with.
#ifndef FSBML_SIM_BOUND_HPP
#define FSBML_SIM_BOUND_HPP

#include "sim/job/job.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fsbml::sim
{

struct BoundOptions {
    // No fragment but a message's last one is smaller: 1 for any rule; what a rule's quantum is, for that
    // rule; kWhole if messages are not cut at all.
    std::uint64_t least_fragment = 1;
    std::uint64_t whole_up_to = 0; // messages of no more bytes are not cut: an eager limit
};

constexpr std::uint64_t kWhole = ~std::uint64_t{0};

// `makespan` is the largest of the others. True for all that delivers no fragment of s bytes sooner than by
//   o_s(s) on the sender's processor,
//   gap(s) on its node's NIC of the rail, and L later on the receiver's NIC; each may run ahead by burst_ns,
//   o_r(s) on the receiver's processor:
// o_s(s) + L + gap(s) - gap(1) + o_r(s) on idle rails without a burst. With the `real` parameters at the best
// that jitter and changes make of them, for each way to cut messages and to choose rails; bottlenecks only
// add to it. Within a node messages are free. Exact to a picosecond a fragment.
struct Bound {
    Time makespan = 0;
    Time path = 0; // the longest chain, of groups of messages
    Time nics = 0; // what the NICs of a node have to do, before it the soonest start, behind it the rest
    Time processors = 0; // what a process has to do itself
};

// Throws std::invalid_argument for what makes no sense (a peer that does not exist, no rail between two
// nodes), std::runtime_error for a workload that never ends, naming the rank.
Bound lower_bound(const Cluster &cluster, const Workload &workload, const BoundOptions &options = {});

} // namespace fsbml::sim

namespace fsbml::sim::bound
{

// ---- Minimum costs of a message, on each resource and rail.

// Picoseconds: at 2^53 of them, 2.5 h, a double still tells one from the next.
using Ps = double;

// A message of `bytes` for a peer that the rails in `rails` reach. If a share f of it takes rail r, that rail
// is busy for at least f * gap[r], however the message is cut: f * s bytes in pieces of x bytes cost
// f * s * gap(x) / x, and gap(x) / x is least at an end of a straight piece. The same holds for overheads.
struct Kind {
    std::uint64_t bytes = 0;
    std::uint32_t rails = 0; // none: within a node, where it costs nothing
    bool cut = false;        // it may be
    std::vector<Ps> gap, out, in;
    std::vector<Ps> first_out, first_in, first_gap; // of the smallest piece there may be
    Ps least_out = 0;                               // of all rails
    Ps least_in = 0;
    Ps idle = 0; // from the begin of the first o_s to the end of the last o_r, all to itself
};

struct RailCosts {
    Ps latency = 0, gap1 = 0, burst = 0;
};

class Costs
{
public:
    Costs(const Cluster &cluster, const BoundOptions &options);

    std::uint32_t kind(std::uint64_t bytes, std::uint32_t rails);
    const Kind &operator[](std::uint32_t kind) const { return kinds_[kind]; }
    const RailCosts &rail(std::size_t r) const { return rails_[r]; }
    std::size_t rails() const { return rails_.size(); }
    std::size_t kinds() const { return kinds_.size(); }

    // The same with time running back: receivers then send.
    Costs reversed() const;

private:
    void fill_in(Kind &kind) const;

    std::vector<fsbml_loggp_t> real_; // at the best factor
    std::vector<RailCosts> rails_;
    BoundOptions options_;
    std::vector<Kind> kinds_;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> index_;
};

// Rails, as bits, that each node has. Throws std::invalid_argument.
std::vector<std::uint32_t> rails_of_nodes(const Cluster &cluster);

// A small linear program, by the dual simplex method: min c x with A x <= b, x >= 0, where c >= 0 (so that it
// begins with prices that are feasible, and has such ones whenever it stops). Returns the prices y >= 0 of
// the rows; what proves a bound by them need not trust that they are optimal.
class Simplex
{
public:
    Simplex(std::size_t rows, std::size_t columns);

    double &a(std::size_t row, std::size_t column) { return table_[row * (columns_ + 1) + column]; }
    double &b(std::size_t row) { return a(row, columns_); }
    double &c(std::size_t column) { return a(rows_, column); }

    std::vector<double> prices();

private:
    void pivot(std::size_t row, std::size_t column);

    std::size_t rows_, columns_;
    std::vector<double> table_;      // the last row is c, the last column b
    std::vector<std::size_t> basic_; // of each row: columns x first, then slacks
    std::vector<std::size_t> free_;  // of each column
};

// ---- The equal finish of a group of messages: the soonest that the last of them can be there.

struct Part {
    std::uint32_t kind = 0;
    double count = 0;
};

// What messages have in common, beside the NICs.
struct Common {
    bool sender = false, receiver = false; // a process
    bool both_ways = false;                // some are sent and some received by the NICs that they share
};

// Messages that share a node's NICs, be it the senders' or the receivers' node, and none of which begins
// before time 0. T, the least time by which the last can be delivered, is that of a linear program: shares of
// the messages on rails, with
//   on each rail r in use    sum of gaps <= T - (o_s + L - gap(1) + o_r) + burst,  T >= o_s + L + o_r
//     (without L if both ways: one that is sent may be the first, and one that is received the last)
//   on a single sender       sum of o_s  <= T - least (L + o_r)
//   on a single receiver     sum of o_r  <= T - least (o_s + L)
// The program only proposes: for whatever prices w >= 0 of these resources, T is at least what
//   sum over messages of the least price on a rail <= sum over resources of w * (their time)
// demands (weak duality), and that alone is what is returned. Rails are taken in the order of their least T:
// one that T does not reach is of no use. Messages of one kind that are not cut are counted besides.
class Fill
{
public:
    explicit Fill(const Costs &costs) : costs_(costs) {}

    // Parts sorted by kind, each kind once.
    Ps time(const std::vector<Part> &parts, const Common &common) const;
    // The same, remembered.
    Ps cached(const std::vector<Part> &parts, const Common &common);

private:
    Ps alike(const Part &part) const;

    const Costs &costs_;
    std::unordered_map<std::string, Ps> known_;
};

// Counts kinds of messages, to make parts of them.
class Tally
{
public:
    explicit Tally(std::size_t kinds) : count_(kinds, 0) {}
    void add(std::uint32_t kind)
    {
        if (count_[kind]++ == 0) {
            seen_.push_back(kind);
        }
        ++messages_;
    }
    std::size_t messages() const { return messages_; }
    const std::vector<Part> &parts();
    void clear();

private:
    std::vector<std::uint32_t> count_;
    std::vector<std::uint32_t> seen_;
    std::size_t messages_ = 0;
    std::vector<Part> parts_;
};

// ---- What a workload's processes do, with each receive knowing its message; and the same with time running
// back.

constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Message {
    std::uint32_t from = 0, to = 0, kind = 0;
    std::uint32_t send_step = 0, receive_step = kNone; // kNone: taken by an `any`, or by none
    std::uint32_t run = 0;                             // of sends with nothing between them, of its sender
    std::uint32_t before = kNone;                      // the one before it from the same to the same process
    std::uint32_t answers = kNone; // the last that its sender has from its receiver, when it sends it
};

struct Step {
    enum class Kind : std::uint8_t {
        send,    // its message may begin, then `time` of the processor
        receive, // `time` of the processor, and not before its message is there
        any,     // one more message is there
        release, // what an `any` took: its messages may begin, back in time
        compute, // `time` of the processor
        until,   // not before `time`
    };
    Kind kind = Kind::compute;
    std::uint32_t message = kNone;
    Ps time = 0;
};

struct Graph {
    std::uint32_t nodes = 0, ranks_per_node = 1;
    bool backward = false;
    std::vector<std::vector<Step>> process;
    std::vector<Message> messages;
    std::vector<std::vector<std::uint32_t>> loose; // by process: messages to it that no `receive` names

    std::uint32_t node(std::uint32_t rank) const { return rank % nodes; }
};

// Adds the kinds of messages to `costs`. Throws as lower_bound() does.
Graph graph_of(const Cluster &cluster, const Workload &workload, Costs &costs);

// Sends are receives of the same messages, from the last one on. Where `any` took some, all of them begin
// with the first of these (which was the last). `until` has no meaning.
Graph reversed(const Graph &graph);

// When each message can begin at the soonest, and each process be done.
struct Earliest {
    std::vector<Ps> start; // by message: when its sender's processor can begin with it
    Ps last = 0;           // everything is over
};

// Goes through the processes in the order of their clocks, none of which is ever later than in a schedule:
// a receive is over no sooner than the one before it, and than its message is there, alone on idle rails.
//
// Where a process has received a run of messages and goes on, groups of messages make it later. Each message
// of a group has been delivered by then, and none began before the first of them could: so the group's equal
// finish (Fill) lies between these two. Groups are the messages
//   from all senders, in this run (also the late ones alone) and in the 2, 4, 8, ... last ones: the
//     receiver's NICs;
//   from one sender, since a run of its sends began, and 2, 4, 8, ... runs: NICs and both processors;
//   that the process itself has sent, and whose receivers answer in this run: its NICs, and behind them what
//   the receiver does between and the answer's way.
// And its processor has had to do what lay between two such places. As these places follow each other along
// the path, phases add up.
Earliest earliest(const Graph &graph, const Costs &costs);

} // namespace fsbml::sim::bound

#endif
