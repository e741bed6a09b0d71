// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// The equal finish of a group of messages: the soonest that the last of them can be there.
#ifndef FSBML_SIM_BOUND_FILL_HPP
#define FSBML_SIM_BOUND_FILL_HPP

#include "costs.hpp"

#include <string>
#include <unordered_map>

namespace fsbml::sim::bound
{

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

} // namespace fsbml::sim::bound

#endif
