// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// What decides which rails messages take: FSBML's own scheduler, its rivals, and what the rivals have in
// common.
#ifndef FSBML_SIM_RULES_HPP
#define FSBML_SIM_RULES_HPP

#include "sim/job/job.hpp"

#include <deque>
#include <functional>
#include <map>
#include <optional>

namespace fsbml::sim
{

// ---- FSBML itself: the component's scheduler, through the interface that the shim has.

struct FsbmlOptions {
    fsbml_policy_t policy = FSBML_POLICY_ARRIVAL;
    std::uint64_t eager = 65536;     // messages up to this are no fragments (btl/tcp's limit)
    bool pieces = true;              // these may be cut
    std::uint64_t quantum = 0;       // fragments of larger ones; 0: from the parameters, as the shim does
    std::uint64_t most = 128 * 1024; // bytes of them at most; btl/tcp's max_send_size
    bool feedback = true;            // rates and backlogs by what is delivered
};

struct FsbmlNode; // what ranks of a node share

// A scheduler for each process, with the feedback of what its rails have delivered. Where ranks of a node see
// each other's charges, they share a scheduler, whose virtual finishing times then are those of a ledger.
class FsbmlRules final : public RuleMaker
{
public:
    explicit FsbmlRules(const FsbmlOptions &options = {});

    const char *name() const override { return name_.c_str(); }
    const char *source() const override { return "FSBML, core/schedule/vft_scheduler.cpp"; }
    std::unique_ptr<Rule> make(const Cluster &cluster, std::uint32_t rank, std::uint64_t seed) override;

private:
    FsbmlOptions options_;
    std::string name_;
    std::map<std::uint32_t, std::weak_ptr<FsbmlNode>> of_node_; // as long as a process has it
};

// ---- The rules that FSBML's scheduler is measured against: what products do, what papers propose, and parts
// of its own. A new one: a file with an add_NAME(), declared below and listed in rivals().

// All of them, always in the same order. They live as long as the program; each make() begins anew.
const std::vector<RuleMaker *> &rivals();

// By name; null if there is none.
RuleMaker *rival(const std::string &name);

// FSBML's formula as a whole, in floating point: what the ablations among the rivals leave parts out of. It
// is no rival: it checks the component's integers.
RuleMaker &formula();

// Where a rule does not say itself how a message is cut, it is cut as the component does: up to the eager
// limit not at all, a longer one by fsbml_quantum of all rails that reach the peer, with the most that
// btl/tcp sends.
constexpr std::uint64_t kEager = 65536;
constexpr std::uint64_t kQuantumMost = 131072;

// ---- What the rivals have in common: what they know of the rails, what they have given to them, and their
// makers.

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

    // Cuts as the component does (kEager).
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
void add_ecf(std::vector<RuleMaker *> &all);     // ECF (mptcp.cpp)
void add_tent(std::vector<RuleMaker *> &all);    // Mooncake TENT
void add_vft(std::vector<RuleMaker *> &all);     // the thesis, and parts of FSBML's formula

} // namespace fsbml::sim

#endif
