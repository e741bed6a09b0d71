// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Small clusters and workloads for tests, and rules that do as they are told.
#ifndef FSBML_TESTS_SIM_CLUSTER_JOB_HPP
#define FSBML_TESTS_SIM_CLUSTER_JOB_HPP

#include "sim/engine/engine.hpp"
#include "workloads.hpp"

#include <functional>

namespace fsbml::sim
{

constexpr Time us(double n)
{
    return static_cast<Time>(n * 1000.0) * kPsPerNs;
}

inline Op compute(Time time)
{
    return {Op::Kind::compute, 0, 0, time};
}

inline Op until(Time time)
{
    return {Op::Kind::until, 0, 0, time};
}

inline Cluster cluster_of(const std::vector<fsbml_loggp_t> &rails, std::uint32_t nodes = 2,
                          std::uint32_t ranks_per_node = 1)
{
    Cluster c;
    c.nodes = nodes;
    c.ranks_per_node = ranks_per_node;
    for (const fsbml_loggp_t &p : rails) {
        RailSpec rail;
        rail.name = "rail" + std::to_string(c.rails.size());
        rail.real = rail.believed = p;
        c.rails.push_back(rail);
    }
    return c;
}

// What a rule was told of a fragment that was sent.
struct Sent {
    int rail;
    std::uint64_t bytes;
    Time decided, when;
};

// Each process takes the rails in this order, again and again, and cuts as the function says.
class ToldRules final : public RuleMaker
{
public:
    using Cut = std::function<void(const Situation &, std::vector<Rule::Piece> &)>;
    explicit ToldRules(std::vector<int> rails = {0}, Cut cut = nullptr)
        : rails_(std::move(rails)), cut_(std::move(cut))
    {
    }

    const char *name() const override { return "told"; }
    const char *source() const override { return "tests"; }
    std::unique_ptr<Rule> make(const Cluster & /*cluster*/, std::uint32_t /*rank*/, std::uint64_t) override
    {
        return std::make_unique<Told>(*this);
    }

    std::vector<Situation> asked; // of all processes, in the order of time
    std::vector<Sent> sent;

private:
    class Told final : public Rule
    {
    public:
        explicit Told(ToldRules &by) : by_(by) {}
        void cut(const Situation &whole, std::vector<Piece> &out) override
        {
            by_.cut_ ? by_.cut_(whole, out) : Rule::cut(whole, out);
        }
        int choose(const Situation &fragment) override
        {
            by_.asked.push_back(fragment);
            return by_.rails_[next_++ % by_.rails_.size()];
        }
        void sent(int rail, const Situation &fragment, Time when) override
        {
            by_.sent.push_back(Sent{rail, fragment.bytes, fragment.now, when});
        }

    private:
        ToldRules &by_;
        std::size_t next_ = 0;
    };

    std::vector<int> rails_;
    Cut cut_;
};

inline Outcome run(const Cluster &cluster, const std::vector<std::vector<Op>> &process, RuleMaker &rules,
                   std::uint64_t seed = 1)
{
    const Workload workload{"test", process};
    Simulation s;
    s.cluster = &cluster;
    s.workload = &workload;
    s.rules = &rules;
    s.seed = seed;
    s.keep_passages = true;
    return simulate(s);
}

inline Outcome run(const Cluster &cluster, const std::vector<std::vector<Op>> &process)
{
    ToldRules rules;
    return run(cluster, process, rules);
}

} // namespace fsbml::sim

#endif
