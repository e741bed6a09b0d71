// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "goal.hpp"

#include "sim/traffic/traffic.hpp"

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace fsbml::sim
{
namespace
{

// LogGOPSim computes (size - 1) G with unsigned numbers.
std::uint64_t goal_bytes(std::uint64_t bytes)
{
    return std::max<std::uint64_t>(1, bytes);
}

// What receives get, which an op does not say, but a line of GOAL has to.
class Arriving
{
public:
    explicit Arriving(const Workload &w)
    {
        for (std::uint32_t from = 0; from < w.process.size(); ++from) {
            for (const Op &op : w.process[from]) {
                if (op.kind == Op::Kind::send) {
                    channels_[key(from, op.peer)].bytes.push_back(op.bytes);
                }
            }
        }
    }

    std::uint64_t from(std::uint32_t peer, std::uint32_t rank)
    {
        Channel &c = channels_.at(key(peer, rank));
        return c.bytes.at(c.next++);
    }

private:
    struct Channel {
        std::vector<std::uint64_t> bytes;
        std::size_t next = 0;
    };
    static std::uint64_t key(std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32 | to; }

    std::unordered_map<std::uint64_t, Channel> channels_;
};

class Schedule
{
public:
    Schedule(std::ostream &out, Time unit) : out_(out), unit_(unit) {}

    // After a send the next op begins once o is over: that is when it has started, for GOAL.
    void line(const std::string &what, bool is_send)
    {
        ++label_;
        const std::string self = 'l' + std::to_string(label_);
        out_ << self << ": " << what << '\n';
        if (label_ > 1) {
            out_ << self << (after_send_ ? " irequires l" : " requires l") << label_ - 1 << '\n';
        }
        after_send_ = is_send;
    }

    void compute(Time time)
    {
        computed_ += time;
        earliest_ += time;
        const Time units = computed_ / unit_ - written_; // rounded in sum, not each
        if (units > 0) {
            line("calc " + std::to_string(units), false);
            written_ += units;
        }
    }

    // There is no clock in GOAL: the pause that is left if nothing but computing took time.
    void until(Time time)
    {
        if (time > earliest_) {
            compute(time - earliest_);
        }
    }

    void begin(std::uint32_t rank)
    {
        out_ << "\nrank " << rank << " {\n";
        label_ = 0;
        after_send_ = false;
        computed_ = written_ = earliest_ = 0;
    }

    void end()
    {
        if (label_ == 0) {
            line("calc 0", false); // a schedule has an op at least
        }
        out_ << "}\n";
    }

private:
    std::ostream &out_;
    Time unit_;
    std::uint64_t label_ = 0;
    bool after_send_ = false;
    Time computed_ = 0, written_ = 0, earliest_ = 0;
};

} // namespace

void write_goal(std::ostream &out, const Workload &workload, Time unit)
{
    if (unit < 1) {
        throw std::invalid_argument("a unit of " + std::to_string(unit) + " ps");
    }
    check(workload);
    Arriving arriving(workload);
    std::uint64_t largest = 1; // it is not known which message a receive from any rank will take
    for (const std::vector<Op> &ops : workload.process) {
        for (const Op &op : ops) {
            largest = op.kind == Op::Kind::send ? std::max(largest, op.bytes) : largest;
        }
    }
    out << "num_ranks " << workload.process.size() << '\n';
    Schedule schedule(out, unit);
    for (std::uint32_t rank = 0; rank < workload.process.size(); ++rank) {
        schedule.begin(rank);
        for (const Op &op : workload.process[rank]) {
            switch (op.kind) {
            case Op::Kind::send:
                schedule.line("send " + std::to_string(goal_bytes(op.bytes)) + "b to "
                                  + std::to_string(op.peer) + " tag 0",
                              true);
                break;
            case Op::Kind::recv:
                schedule.line(
                    "recv "
                        + std::to_string(op.peer == kAnyPeer ? largest
                                                             : goal_bytes(arriving.from(op.peer, rank)))
                        + "b from " + (op.peer == kAnyPeer ? "-1" : std::to_string(op.peer)) + " tag 0",
                    false);
                break;
            case Op::Kind::compute:
                schedule.compute(op.time);
                break;
            case Op::Kind::until:
                schedule.until(op.time);
                break;
            }
        }
        schedule.end();
    }
    out.flush();
    if (!out) {
        throw std::runtime_error("the schedule could not be written");
    }
}

} // namespace fsbml::sim
