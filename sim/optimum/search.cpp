// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "optimum.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

namespace fsbml::sim
{

namespace
{

struct Message {
    std::uint32_t rails = 0; // that reach the peer
    std::vector<Rule::Piece> pieces;
};
using Plan = std::vector<std::vector<Message>>; // by rank, in the order of sending

// Another rule's decisions, written down.
class Scribe final : public Rule
{
public:
    Scribe(std::unique_ptr<Rule> rule, std::vector<Message> &messages)
        : rule_(std::move(rule)), messages_(messages)
    {
    }

    void cut(const Situation &whole, std::vector<Piece> &out) override
    {
        rule_->cut(whole, out);
        messages_.push_back({whole.rails, out});
        next_ = 0;
    }
    int choose(const Situation &fragment) override
    {
        std::vector<Piece> &pieces = messages_.back().pieces;
        while (pieces.at(next_).rail >= 0) {
            ++next_;
        }
        return pieces[next_].rail = rule_->choose(fragment);
    }
    void given(int rail, const Situation &fragment) override { rule_->given(rail, fragment); }
    void sent(int rail, const Situation &fragment, Time when) override { rule_->sent(rail, fragment, when); }

private:
    std::unique_ptr<Rule> rule_;
    std::vector<Message> &messages_;
    std::size_t next_ = 0; // piece
};

class Player final : public Rule
{
public:
    explicit Player(const std::vector<Message> &messages) : messages_(messages) {}

    void cut(const Situation &, std::vector<Piece> &out) override { out = messages_.at(next_++).pieces; }
    int choose(const Situation &) override { return -1; } // the pieces have rails

private:
    const std::vector<Message> &messages_;
    std::size_t next_ = 0;
};

class Scribes final : public RuleMaker
{
public:
    Scribes(RuleMaker &rules, Plan &plan) : rules_(rules), plan_(plan) {}
    const char *name() const override { return rules_.name(); }
    const char *source() const override { return rules_.source(); }
    std::unique_ptr<Rule> make(const Cluster &cluster, std::uint32_t rank, std::uint64_t seed) override
    {
        return std::make_unique<Scribe>(rules_.make(cluster, rank, seed), plan_.at(rank));
    }

private:
    RuleMaker &rules_;
    Plan &plan_;
};

class Players final : public RuleMaker
{
public:
    explicit Players(const Plan &plan) : plan_(plan) {}
    const char *name() const override { return "search"; }
    const char *source() const override { return "a plan, improved by trying"; }
    std::unique_ptr<Rule> make(const Cluster &, std::uint32_t rank, std::uint64_t) override
    {
        return std::make_unique<Player>(plan_.at(rank));
    }

private:
    const Plan &plan_;
};

// A fragment that could go elsewhere.
struct Choice {
    Rule::Piece *piece;
    std::vector<int> rails;
};

std::vector<Choice> choices_in(Plan &plan)
{
    std::vector<Choice> choices;
    for (std::vector<Message> &messages : plan) {
        for (Message &message : messages) {
            std::vector<int> rails;
            for (std::uint32_t left = message.rails; 0 != left; left &= left - 1) {
                rails.push_back(__builtin_ctz(left));
            }
            for (Rule::Piece &piece : message.pieces) {
                if (rails.size() > 1) {
                    choices.push_back({&piece, rails});
                }
            }
        }
    }
    return choices;
}

} // namespace

Time searched(const Simulation &simulation, std::uint64_t steps, Time goal)
{
    if (simulation.rendezvous.above > 0) {
        throw std::invalid_argument("no search with a rendezvous");
    }
    Plan plan(simulation.workload->process.size());
    Scribes scribes(*simulation.rules, plan);
    Players players(plan);
    Simulation run = simulation;
    run.keep_passages = false;
    run.rules = &scribes;
    Time least = simulate(run).makespan;
    run.rules = &players;
    std::vector<Choice> choices = choices_in(plan);
    std::mt19937_64 random(simulation.seed);
    for (std::uint64_t step = 0; step < steps && least > goal && !choices.empty(); ++step) {
        std::vector<std::pair<Rule::Piece *, int>> before;
        for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
            const Choice &choice = choices[random() % choices.size()];
            before.emplace_back(choice.piece, choice.piece->rail);
            choice.piece->rail = choice.rails[random() % choice.rails.size()];
        }
        const Time makespan = simulate(run).makespan;
        if (makespan <= least) {
            least = makespan;
            continue;
        }
        for (auto undo = before.rbegin(); undo != before.rend(); ++undo) {
            undo->first->rail = undo->second;
        }
    }
    return least;
}

} // namespace fsbml::sim
