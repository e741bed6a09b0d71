// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>

namespace fsbml::sim
{
namespace
{

using Kind = Operation::Kind;

constexpr double kNotYet = -1.0;
constexpr double kSame = 1e-9; // of the time: rounding does not tell two events apart
constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Sending {
    std::uint32_t rank, at, peer, height;
    double m, left, rate;
};

class Run
{
public:
    Run(const PlogPT &model, const Program &program, const Unlucky &unlucky, double jitter)
        : model_(model), program_(program), unlucky_(unlucky), jitter_(jitter), next_(program.size(), 0)
    {
        check();
        pair_up();
        for (const auto &operations : program) {
            times_.of.emplace_back(operations.size());
        }
    }

    PatternTimes operator()()
    {
        for (;;) {
            settle();
            const double then = next_event();
            if (then == std::numeric_limits<double>::infinity()) {
                break;
            }
            advance(then);
        }
        for (std::size_t rank = 0; rank < program_.size(); ++rank) {
            if (next_[rank] != program_[rank].size()) {
                throw std::runtime_error("rank " + std::to_string(rank) + " waits for ever");
            }
            if (!program_[rank].empty()) {
                times_.end = std::max(times_.end, times_.of[rank].back().l);
            }
        }
        return times_;
    }

private:
    struct Begun {
        double when;
        std::uint32_t rank, peer, height;
    };

    void check() const
    {
        const std::size_t leaves = std::size_t{1} << model_.depth();
        if (program_.size() > leaves) {
            throw std::invalid_argument("more ranks than the tree has leaves");
        }
        for (std::uint32_t rank = 0; rank < program_.size(); ++rank) {
            for (std::size_t at = 0; at < program_[rank].size(); ++at) {
                const Operation &o = program_[rank][at];
                const bool wait = o.kind == Kind::wait;
                if (wait ? o.of >= at || program_[rank][o.of].kind == Kind::wait
                         : o.peer == rank || o.peer >= program_.size()) {
                    throw std::invalid_argument("operation " + std::to_string(at) + " of rank "
                                                + std::to_string(rank));
                }
            }
        }
    }

    // The n-th irecv from a peer is of its n-th isend.
    void pair_up()
    {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> receives;
        for (std::uint32_t rank = 0; rank < program_.size(); ++rank) {
            for (std::uint32_t at = 0; at < program_[rank].size(); ++at) {
                if (program_[rank][at].kind == Kind::irecv) {
                    receives[{program_[rank][at].peer, rank}].push_back(at);
                }
            }
        }
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> used;
        for (std::uint32_t rank = 0; rank < program_.size(); ++rank) {
            receive_of_.emplace_back(program_[rank].size(), kNone);
            for (std::size_t at = 0; at < program_[rank].size(); ++at) {
                const Operation &o = program_[rank][at];
                const std::pair<std::uint32_t, std::uint32_t> way{rank, o.peer};
                if (o.kind == Kind::isend && used[way] < receives[way].size()) {
                    receive_of_[rank][at] = receives[way][used[way]++];
                }
            }
        }
    }

    bool same(double a, double b) const { return std::abs(a - b) <= kSame * std::max(now_, 1e-300); }

    // All that happens at `now_`: processes go on, isends end, some of them are lost.
    void settle()
    {
        std::vector<Sending> risky;
        bool first = true;
        for (bool more = true; more;) {
            go_on();
            more = false;
            if (first) {
                first = false;
                more = end_of(risky);
            } else if (!risky.empty()) {
                lose(risky);
                if (!risky.empty()) { // nothing to collide with yet, unless this one's next is it
                    finish(risky.front(), now_);
                    risky.erase(risky.begin());
                }
                more = true;
            }
        }
        share();
    }

    bool end_of(std::vector<Sending> &risky)
    {
        std::vector<Sending> on;
        bool any = false;
        for (const Sending &s : sending_) {
            const bool over = s.rate > 0.0 && same(now_ + s.left / s.rate, now_);
            any = any || over;
            if (!over) {
                on.push_back(s);
            } else if (model_.fills_buffer(s.height, s.rate, s.m) && unlucky_(s.rank, s.height)) {
                risky.push_back(s);
            } else {
                finish(s, now_);
            }
        }
        sending_ = on;
        return any;
    }

    // (14)
    void lose(std::vector<Sending> &risky)
    {
        std::vector<Sending> safe;
        for (const Sending &s : risky) {
            const bool hit = std::any_of(begun_.begin(), begun_.end(), [&](const Begun &b) {
                return b.peer == s.peer && b.rank != s.rank
                       && (now_ - b.when <= jitter_ || same(now_, b.when))
                       && model_.switch_between(s.height, b.height);
            });
            if (hit) {
                ++times_.timeouts;
                finish(s, now_ + model_.timeout());
            } else {
                safe.push_back(s);
            }
        }
        risky = safe;
    }

    // (15)
    void finish(const Sending &s, double f)
    {
        times_.of[s.rank][s.at].f = f;
        const std::uint32_t at = receive_of_[s.rank][s.at];
        if (at != kNone) {
            times_.of[s.peer][at].f = f + model_.rail().L;
        }
    }

    // (11), (12)
    void go_on()
    {
        for (std::uint32_t rank = 0; rank < program_.size(); ++rank) {
            for (; next_[rank] < program_[rank].size(); ++next_[rank]) {
                const Operation &o = program_[rank][next_[rank]];
                OperationTimes &t = times_.of[rank][next_[rank]];
                t.e = next_[rank] > 0 ? times_.of[rank][next_[rank] - 1].l : 0.0;
                if (o.kind == Kind::wait) {
                    const double f = times_.of[rank][o.of].f;
                    if (f == kNotYet || (f > now_ && !same(f, now_))) {
                        break;
                    }
                    t.l = std::max(t.e, f);
                    continue;
                }
                t.l = t.e;
                if (o.kind == Kind::isend) {
                    const std::uint32_t h = height(rank, o.peer);
                    const double amount = model_.b(1) * model_.rail().g(o.m); // (6)
                    sending_.push_back(Sending{rank, next_[rank], o.peer, h, o.m, amount, 0.0});
                    begun_.push_back(Begun{t.e, rank, o.peer, h});
                }
            }
        }
    }

    // (7): an edge is the tree of leaves below it, its height, and a direction.
    void share()
    {
        std::map<std::pair<std::uint32_t, std::uint32_t>, double> up, down;
        const auto edge = [](std::uint32_t rank, std::uint32_t h) {
            return std::make_pair(h, rank >> (h - 1));
        };
        for (const Sending &s : sending_) {
            for (std::uint32_t h = 1; h <= s.height; ++h) {
                ++up[edge(s.rank, h)];
                ++down[edge(s.peer, h)];
            }
        }
        for (Sending &s : sending_) {
            s.rate = std::numeric_limits<double>::infinity();
            for (std::uint32_t h = 1; h <= s.height; ++h) {
                s.rate = std::min(s.rate, model_.b(h) / std::max(up[edge(s.rank, h)], down[edge(s.peer, h)]));
            }
        }
        begun_.erase(
            std::remove_if(begun_.begin(), begun_.end(),
                           [&](const Begun &b) { return now_ - b.when > jitter_ && !same(now_, b.when); }),
            begun_.end());
    }

    double next_event() const
    {
        double then = std::numeric_limits<double>::infinity();
        for (const Sending &s : sending_) {
            then = std::min(then, now_ + s.left / s.rate);
        }
        for (std::size_t rank = 0; rank < program_.size(); ++rank) {
            if (next_[rank] < program_[rank].size()) {
                const double f = times_.of[rank][program_[rank][next_[rank]].of].f;
                then = f == kNotYet ? then : std::min(then, f);
            }
        }
        return then;
    }

    void advance(double then)
    {
        for (Sending &s : sending_) {
            s.left = std::max(0.0, s.left - s.rate * (then - now_));
        }
        now_ = then;
    }

    const PlogPT &model_;
    const Program &program_;
    const Unlucky &unlucky_;
    const double jitter_;
    std::vector<std::uint32_t> next_;                    // operation, by rank
    std::vector<std::vector<std::uint32_t>> receive_of_; // an isend's irecv at its peer
    std::vector<Sending> sending_;
    std::vector<Begun> begun_; // isends of the last `jitter_`
    double now_ = 0.0;
    PatternTimes times_;
};

} // namespace

bool none_unlucky(std::uint32_t /*sender*/, std::uint32_t /*height*/)
{
    return false;
}

Program program_of(const Workload &workload)
{
    Program program;
    for (std::uint32_t rank = 0; rank < workload.process.size(); ++rank) {
        std::vector<Operation> operations;
        for (const Op &op : workload.process[rank]) {
            const bool send = op.kind == Op::Kind::send;
            if ((!send && op.kind != Op::Kind::recv) || op.peer == kAnyPeer || op.peer == rank) {
                throw std::invalid_argument("rank " + std::to_string(rank)
                                            + " does what PlogPT has no word for");
            }
            const std::uint32_t at = static_cast<std::uint32_t>(operations.size());
            operations.push_back(Operation{send ? Kind::isend : Kind::irecv, op.peer,
                                           send ? static_cast<double>(op.bytes) : 0.0, 0});
            operations.push_back(Operation{Kind::wait, 0, 0.0, at});
        }
        program.push_back(operations);
    }
    return program;
}

PatternTimes run_pattern(const PlogPT &model, const Program &program, const Unlucky &unlucky, double jitter)
{
    return Run(model, program, unlucky, jitter)();
}

} // namespace fsbml::sim
