// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Rules with a virtual finishing time: the thesis' own, and FSBML's formula with a part left out, to see what
// the part is worth. All are written anew, without the component's code.
#include "rules.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace fsbml::sim
{

namespace
{

// Least 2o + L + max(VFT, now), then VFT += g + G (s-1), in integers of 1/1024 ns (4.4.7). The choice leaves
// out G (s-1), though the delivery time of 4.4.4 has it.
// Interpretations: 2o is o_s + o_r; an idle rail's VFT is raised to `now` first (4.6, the listing in 4.4.8
// leaves it out); of a gap in two pieces, each is scaled alike. VFTs are a process' own: the thesis has no
// ledger.
class Thesis final : public FragmentRule
{
public:
    explicit Thesis(const Cluster &cluster) : FragmentRule(cluster), vft_(rails_.size(), 0)
    {
        for (std::size_t i = 0; i < rails_.size(); ++i) {
            const fsbml_loggp_t &p = rails_[i];
            scaled_.push_back({scale(p.o_s_ns + p.o_r_ns + p.L_ns), scale(p.g_ns), scale(p.G_ns_per_byte),
                               std::llround(p.break_bytes), scale(p.g_above_ns),
                               scale(p.G_above_ns_per_byte)});
        }
    }

    int choose(const Situation &fragment) override
    {
        const std::int64_t now = ticks(fragment.now);
        int best = -1;
        std::int64_t min = 0;
        for (const int rail : rails_.in(fragment.rails)) {
            const auto i = static_cast<std::size_t>(rail);
            const std::int64_t key = scaled_[i].two_o_L + std::max(vft_[i], now);
            if (best < 0 || min > key) {
                best = rail;
                min = key;
            }
        }
        return best;
    }

    void given(int rail, const Situation &fragment) override
    {
        const auto i = static_cast<std::size_t>(rail);
        const Scaled &p = scaled_[i];
        const std::int64_t s = std::max<std::int64_t>(1, static_cast<std::int64_t>(fragment.bytes));
        const bool above = p.break_at > 0 && s >= p.break_at;
        vft_[i] = std::max(vft_[i], ticks(fragment.now))
                  + (above ? p.g_above + p.G_above * (s - p.break_at) : p.g + p.G * (s - 1));
    }

private:
    struct Scaled {
        std::int64_t two_o_L, g, G, break_at, g_above, G_above;
    };

    static std::int64_t scale(double ns) { return std::llround(ns * 1024.0); }
    static std::int64_t ticks(Time now) { return now / kPsPerNs * 1024 + now % kPsPerNs * 1024 / kPsPerNs; }

    std::vector<Scaled> scaled_;
    std::vector<std::int64_t> vft_;
};

// max(now + o_s, VFT - credit) + L + gap(s) - gap(1) + (O_s + O_r) (s-1) + o_r, least of all
// (fsbml_sched_predict). As in the component, the credit is a part of the burst, but no more than the time
// of the message's bytes on the line that the size is on, and of two rails whose o_s + L + o_r differ by no
// more than measurements do (1.5 us up to 1/6, or 1/32), the one with the lower G counts as sooner. Without
// L, it is as if the model had none.
struct Parts {
    bool backlog, latency;
};

class Formula final : public FragmentRule
{
public:
    using Vfts = std::vector<double>;
    Formula(const Cluster &cluster, Parts parts, std::shared_ptr<Vfts> vft)
        : FragmentRule(cluster), parts_(parts), vft_(std::move(vft))
    {
        for (std::size_t i = 0; i < rails_.size(); ++i) {
            base_.push_back(settled_base(i));
        }
    }

    int choose(const Situation &fragment) override
    {
        const double now = ns(fragment.now);
        const double steps = std::max(1.0, static_cast<double>(fragment.bytes)) - 1.0;
        return least(rails_, fragment.rails, [&](std::size_t i) {
            const fsbml_loggp_t &p = rails_[i];
            const bool above = p.break_bytes > 0.0 && steps + 1.0 >= p.break_bytes;
            const double per_byte =
                (above ? p.G_above_ns_per_byte : p.G_ns_per_byte) + p.O_s_ns_per_byte + p.O_r_ns_per_byte;
            const double all = per_byte * (std::max(1.0, static_cast<double>(fragment.whole)) - 1.0);
            const double credit =
                p.burst_ns < 20e6 ? std::min(p.burst_ns / 4.0, all) : std::min(p.burst_ns, 32.0 * all);
            const double wait = parts_.backlog ? std::max(0.0, (*vft_)[i] - credit - now - p.o_s_ns) : 0.0;
            return wait + base_[i] + rails_.gap(i, fragment.bytes) - rails_.gap(i, 1)
                   + (p.O_s_ns_per_byte + p.O_r_ns_per_byte) * steps;
        });
    }

    void given(int rail, const Situation &fragment) override
    {
        const auto i = static_cast<std::size_t>(rail);
        (*vft_)[i] = std::max((*vft_)[i], ns(fragment.now)) + rails_.gap(i, fragment.bytes);
    }

private:
    double base(std::size_t i) const
    {
        return rails_[i].o_s_ns + (parts_.latency ? rails_[i].L_ns : 0.0) + rails_[i].o_r_ns;
    }

    double settled_base(std::size_t i) const
    {
        constexpr double bit = 1e-3; // ns: what tells the two apart
        double settled = base(i);
        for (std::size_t k = 0; k < rails_.size(); ++k) {
            const bool alike =
                std::abs(base(i) - base(k)) <= std::max(base(k) / 32.0, std::min(base(k) / 6.0, 1500.0));
            const bool first = rails_[k].G_ns_per_byte < rails_[i].G_ns_per_byte
                               || (rails_[k].G_ns_per_byte == rails_[i].G_ns_per_byte && k < i);
            const double both = rails_[i].o_s_ns + rails_[i].o_r_ns;
            if (alike && first && settled <= base(k) + both) {
                settled = base(k) + both + bit;
            }
        }
        return settled;
    }

    const Parts parts_;
    const std::shared_ptr<Vfts> vft_; // of a process, or with a ledger of its node
    std::vector<double> base_;
};

class FormulaMaker final : public RuleMaker
{
public:
    FormulaMaker(const char *name, const char *source, Parts parts)
        : name_(name), source_(source), parts_(parts)
    {
    }

    const char *name() const override { return name_; }
    const char *source() const override { return source_; }

    std::unique_ptr<Rule> make(const Cluster &cluster, std::uint32_t rank, std::uint64_t) override
    {
        std::shared_ptr<Formula::Vfts> vft;
        if (cluster.ledger) {
            vft = ledgers_[{&cluster, rank % cluster.nodes}].lock();
        }
        if (!vft) {
            vft = std::make_shared<Formula::Vfts>(cluster.rails.size(), 0.0);
        }
        if (cluster.ledger) {
            ledgers_[{&cluster, rank % cluster.nodes}] = vft;
        }
        return std::make_unique<Formula>(cluster, parts_, std::move(vft));
    }

private:
    const char *name_, *source_;
    const Parts parts_;
    // Each lasts as long as the rules of a node: the next job's begins anew.
    std::map<std::pair<const Cluster *, std::uint32_t>, std::weak_ptr<Formula::Vfts>> ledgers_;
};

} // namespace

RuleMaker &formula()
{
    static FormulaMaker maker{"formula", "FSBML, fsbml_schedule.h: least arrival time", Parts{true, true}};
    return maker;
}

void add_vft(std::vector<RuleMaker *> &all)
{
    static NamedMaker thesis = maker<Thesis>("thesis", "Lichei 2006, 4.4.8");
    static FormulaMaker no_backlog{"no-backlog", "FSBML's arrival time with all rails idle: ablation",
                                   Parts{false, true}};
    static FormulaMaker no_latency{"no-latency", "FSBML's arrival time without L: ablation",
                                   Parts{true, false}};
    all.insert(all.end(), {&thesis, &no_backlog, &no_latency});
}

} // namespace fsbml::sim
