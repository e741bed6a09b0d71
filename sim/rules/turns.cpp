// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// Rules that take rails in turn, by weight or not, and rules that take one alone. None knows what is under
// way, none knows the time.
//
// Interpretations: "in turn" is by process, not by peer (thesis 4.4.6); where a peer is reached by some rails
// only, the others are passed over. Long messages are cut before (thesis 4.3.3: "we assume that this
// fragmentation is already done"), except for the single rail, which would not gain from it.
#include "rules.hpp"

#include <algorithm>
#include <cmath>

namespace fsbml::sim
{

namespace
{

class RoundRobin final : public FragmentRule
{
public:
    using FragmentRule::FragmentRule;

    int choose(const Situation &fragment) override
    {
        const std::vector<int> rails = rails_.in(fragment.rails);
        const auto next = std::upper_bound(rails.begin(), rails.end(), last_);
        last_ = next == rails.end() ? rails.front() : *next;
        return last_;
    }

private:
    int last_ = -1;
};

// At each choice, each rail that is eligible gains its weight; the one with most pays what all gained.
// Weights are bandwidths, in whole bytes a ms: sums stay exact.
class SmoothRoundRobin final : public FragmentRule
{
public:
    explicit SmoothRoundRobin(const Cluster &cluster) : FragmentRule(cluster), current_(rails_.size(), 0) {}

    int choose(const Situation &fragment) override
    {
        std::int64_t total = 0;
        std::size_t best = current_.size();
        for (const int rail : rails_.in(fragment.rails)) {
            const auto i = static_cast<std::size_t>(rail);
            const std::int64_t weight = std::max<std::int64_t>(1, std::llround(1e6 * rails_.bandwidth(i)));
            current_[i] += weight;
            total += weight;
            if (best == current_.size() || current_[i] > current_[best]) {
                best = i;
            }
        }
        current_[best] -= total;
        return static_cast<int>(best);
    }

private:
    std::vector<std::int64_t> current_;
};

// Each rail has the virtual time at which it is through with what it was given; a task goes where it would be
// through first. A task costs 1/share, as in the thesis, or, as in the original, its bytes/share. Virtual
// time does not advance by itself: what reaches a peer by one rail only is made up for later (4.3.4.3 has no
// clock either).
class FairQueuing final : public FragmentRule
{
public:
    FairQueuing(const Cluster &cluster, bool by_size)
        : FragmentRule(cluster), finish_(rails_.size(), 0.0), by_size_(by_size)
    {
    }

    int choose(const Situation &fragment) override
    {
        const double size = by_size_ ? std::max(1.0, static_cast<double>(fragment.bytes)) : 1.0;
        const auto through = [&](std::size_t i) { return finish_[i] + size / rails_.bandwidth(i); };
        const int rail = least(rails_, fragment.rails, through);
        finish_[static_cast<std::size_t>(rail)] = through(static_cast<std::size_t>(rail));
        return rail;
    }

private:
    std::vector<double> finish_;
    const bool by_size_;
};

// The best rail alone, for all sizes: picked once for all, of those that reach a peer. With a pick by size,
// two rails would be in use, which is what UCX does (ucx.cpp).
class Single final : public Rule
{
public:
    Single(const Cluster &cluster, bool by_latency) : rails_(cluster)
    {
        order_ = rails_.by_bandwidth(~std::uint32_t{0});
        std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
            const auto i = static_cast<std::size_t>(a), k = static_cast<std::size_t>(b);
            const bool alike = by_latency || rails_.bandwidth(i) == rails_.bandwidth(k);
            return alike && rails_.small(i) < rails_.small(k);
        });
    }

    int choose(const Situation &fragment) override
    {
        return *std::find_if(order_.begin(), order_.end(),
                             [&](int rail) { return 0 != (fragment.rails >> rail & 1U); });
    }

private:
    const Knowledge rails_;
    std::vector<int> order_;
};

} // namespace

void add_turns(std::vector<RuleMaker *> &all)
{
    static NamedMaker round_robin =
        maker<RoundRobin>("round-robin", "Lichei 2006, 4.3.4.1; libfabric mrail, aws-ofi-nccl");
    static NamedMaker weighted = maker<SmoothRoundRobin>(
        "weighted-round-robin", "nginx 1.3.1, ngx_http_upstream_round_robin.c, 52327e0627f4 (smooth)");
    static NamedMaker fair =
        maker<FairQueuing>("fair-queuing", "Lichei 2006, 4.3.4.3 (each task costs 1/share)", false);
    static NamedMaker fair_bytes = maker<FairQueuing>(
        "fair-queuing-bytes", "Demers, Keshav, Shenker, SIGCOMM 1989 (finish number += bytes/share)", true);
    static NamedMaker single =
        maker<Single>("single-bandwidth", "an administrator's btl_tcp_if_include: largest bandwidth", false);
    static NamedMaker quick =
        maker<Single>("single-latency", "an administrator's btl_tcp_if_include: least o_s + L + o_r", true);
    all.insert(all.end(), {&round_robin, &weighted, &fair, &fair_bytes, &single, &quick});
}

} // namespace fsbml::sim
