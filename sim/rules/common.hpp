// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What the rivals have in common: what they know of the rails, what they have given to them, and their
// makers.
#ifndef FSBML_SIM_RULES_COMMON_HPP
#define FSBML_SIM_RULES_COMMON_HPP

#include "rivals.hpp"

#include <deque>
#include <functional>
#include <optional>

namespace fsbml::sim
{

// The parameters that each rule gets, in ns and bytes.
class Knowledge
{
public:
    explicit Knowledge(const Cluster &cluster);

    std::size_t size() const { return rails_.size(); }
    const fsbml_loggp_t &operator[](std::size_t rail) const { return rails_[rail]; }

    // Bytes a ns, of long messages: 1/G.
    double bandwidth(std::size_t rail) const;
    // Of the first byte: o_s + L + o_r.
    double small(std::size_t rail) const;
    double gap(std::size_t rail, std::uint64_t bytes) const;

    // The rails of a mask, in order of their index, or the one with the largest bandwidth first (equal ones
    // in order of their index).
    std::vector<int> in(std::uint32_t mask) const;
    std::vector<int> by_bandwidth(std::uint32_t mask) const;

    // Cuts as the component does (rivals.hpp).
    std::uint64_t quantum(std::uint32_t mask) const;
    void cut(const Situation &whole, std::vector<Rule::Piece> &out) const;

private:
    std::vector<fsbml_loggp_t> rails_;
};

// Pieces of `size` bytes and a rest; at least one, if empty.
void cut_every(std::uint64_t bytes, std::uint64_t size, std::vector<Rule::Piece> &out);

// Of a mask, the first rail with the least value.
template <class F>
int least(const Knowledge &rails, std::uint32_t mask, F value)
{
    int best = -1;
    double lowest = 0.0;
    for (const int rail : rails.in(mask)) {
        const double v = value(static_cast<std::size_t>(rail));
        if (best < 0 || v < lowest) {
            best = rail;
            lowest = v;
        }
    }
    return best;
}

inline double ns(Time t)
{
    return static_cast<double>(t) / static_cast<double>(kPsPerNs);
}

// What a process has given to its rails, and has not heard of again.
class InFlight
{
public:
    struct Entry {
        std::uint32_t peer = 0;
        std::uint64_t bytes = 0;
        Time since = 0;
        std::int64_t mark = -1; // the rule's own
    };

    explicit InFlight(std::size_t rails) : queues_(rails), bytes_(rails, 0) {}

    void add(int rail, const Entry &entry);
    // The oldest of this peer and size; none if it was not given.
    std::optional<Entry> take(int rail, const Situation &fragment);
    std::uint64_t bytes(std::size_t rail) const { return bytes_[rail]; }

private:
    std::vector<std::deque<Entry>> queues_;
    std::vector<std::uint64_t> bytes_;
};

// A rule that decides fragment by fragment, of messages cut as the component does.
class FragmentRule : public Rule
{
public:
    explicit FragmentRule(const Cluster &cluster) : rails_(cluster) {}
    void cut(const Situation &whole, std::vector<Piece> &out) override { rails_.cut(whole, out); }

protected:
    const Knowledge rails_;
};

class NamedMaker final : public RuleMaker
{
public:
    using Make = std::function<std::unique_ptr<Rule>(const Cluster &, std::uint64_t seed)>;
    NamedMaker(const char *name, const char *source, Make how)
        : name_(name), source_(source), make_(std::move(how))
    {
    }

    const char *name() const override { return name_; }
    const char *source() const override { return source_; }
    std::unique_ptr<Rule> make(const Cluster &cluster, std::uint32_t, std::uint64_t seed) override
    {
        return make_(cluster, seed);
    }

private:
    const char *name_, *source_;
    Make make_;
};

// Of rules that are made of the cluster, and of `more`.
template <class Kind, class... More>
NamedMaker maker(const char *name, const char *source, More... more)
{
    return {name, source,
            [=](const Cluster &c, std::uint64_t) { return std::make_unique<Kind>(c, more...); }};
}

// Each file's makers; rivals() lists them.
void add_turns(std::vector<RuleMaker *> &all);   // round robin, weighted ones, one rail alone
void add_ob1(std::vector<RuleMaker *> &all);     // Open MPI
void add_ucx(std::vector<RuleMaker *> &all);     // UCX
void add_mvapich(std::vector<RuleMaker *> &all); // MVAPICH
void add_mptcp(std::vector<RuleMaker *> &all);   // Linux' Multipath TCP
void add_ecf(std::vector<RuleMaker *> &all);     // ECF
void add_tent(std::vector<RuleMaker *> &all);    // Mooncake TENT
void add_vft(std::vector<RuleMaker *> &all);     // the thesis, and parts of FSBML's formula

} // namespace fsbml::sim

#endif
