// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

// MVAPICH's adaptive striping (MV2_USE_HSAM).
//
// Up to 16 KiB, rails are taken in turn (vbuf.c, MRAILI_Send_select_rail). A longer message is shared by
// weights, which begin equal, for each peer; when all its stripes are through, each rail's weight becomes
// mostly what its stripe's weight over its time says (ibv_rndv.c, MPIDI_CH3I_MRAILI_Rendezvous_rput_push and
// adjust_weights). No parameter is asked for: it learns.
//
// Interpretations: alpha is 0.9, a double, as late releases have it (in earlier ones it is an int, thus 0,
// and nothing is learned); a stripe is through when its NIC is; a weight never falls below 1, where the
// source asserts; all rails of a peer are used (stripe_factor 1).
#include "rules.hpp"

#include <algorithm>
#include <map>

namespace fsbml::sim
{

namespace
{

constexpr std::uint64_t kStripeAbove = 16384; // RDMA_DEFAULT_LARGE_MSG_RAIL_SHARING_THRESHOLD
constexpr int kTotalWeight = 3 * 1024;        // DYNAMIC_TOTAL_WEIGHT
constexpr double kAlpha = 0.9;

class Mvapich final : public Rule
{
public:
    explicit Mvapich(const Cluster &cluster)
        : rails_(cluster), expected_(rails_.size()), flight_(rails_.size())
    {
    }

    void cut(const Situation &whole, std::vector<Piece> &out) override
    {
        if (whole.bytes <= kStripeAbove) {
            out.push_back({whole.bytes, -1});
            return;
        }
        std::vector<int> &weight = weights(whole);
        std::vector<int> order = rails_.in(whole.rails);
        std::reverse(order.begin(), order.end()); // of equal ones the last (get_sorted_index)
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return at(weight, a) > at(weight, b); });
        std::uint64_t sum = 0;
        for (const int rail : order) {
            sum += static_cast<std::uint64_t>(at(weight, rail));
        }
        const std::int64_t id = next_stripe_++;
        Stripe &stripe = stripes_[id];
        stripe = Stripe{whole.peer, whole.now, 0, static_cast<int>(order.size()), weight, {}};
        stripe.finish.assign(rails_.size(), -1);
        std::uint64_t left = whole.bytes;
        for (const int rail : order) {
            const std::uint64_t share = static_cast<std::uint64_t>(at(weight, rail)) * (whole.bytes / sum);
            const std::uint64_t bytes = rail == order.back() ? left : share;
            out.push_back({bytes, rail});
            expected_[static_cast<std::size_t>(rail)].push_back({whole.peer, bytes, whole.now, id});
            left -= bytes;
            ++stripe.open;
        }
    }

    int choose(const Situation &fragment) override
    {
        const std::vector<int> rails = rails_.in(fragment.rails);
        turn_ = (turn_ + 1) % rails.size();
        return rails[turn_];
    }

    void given(int rail, const Situation &fragment) override
    {
        InFlight::Entry entry{fragment.peer, fragment.bytes, fragment.now, -1};
        std::deque<InFlight::Entry> &stripes = expected_[static_cast<std::size_t>(rail)];
        const auto found = std::find_if(stripes.begin(), stripes.end(), [&](const InFlight::Entry &e) {
            return e.peer == fragment.peer && e.bytes == fragment.bytes;
        });
        if (found != stripes.end()) {
            entry.mark = found->mark;
            stripes.erase(found);
        }
        flight_.add(rail, entry);
    }

    void sent(int rail, const Situation &fragment, Time when) override
    {
        const std::optional<InFlight::Entry> entry = flight_.take(rail, fragment);
        if (!entry || entry->mark < 0) {
            return;
        }
        Stripe &stripe = stripes_[entry->mark];
        stripe.finish[static_cast<std::size_t>(rail)] = when;
        if (0 == --stripe.open) {
            adjust(stripe);
            stripes_.erase(entry->mark);
        }
    }

private:
    struct Stripe {
        std::uint32_t peer = 0;
        Time start = 0;
        int open = 0;
        int rails = 0;            // rdma_num_rails
        std::vector<int> initial; // weights
        std::vector<Time> finish; // by rail; -1: not used
    };

    static int &at(std::vector<int> &v, int rail) { return v[static_cast<std::size_t>(rail)]; }

    std::vector<int> &weights(const Situation &s)
    {
        std::vector<int> &weight = weights_[s.peer];
        if (weight.empty()) {
            const std::vector<int> rails = rails_.in(s.rails);
            const int n = static_cast<int>(rails.size());
            weight.assign(rails_.size(), kTotalWeight / n);
            at(weight, rails.back()) = kTotalWeight - kTotalWeight / n * (n - 1);
        }
        return weight;
    }

    void adjust(const Stripe &stripe)
    {
        std::vector<int> &weight = weights_[stripe.peer];
        std::vector<double> speed(rails_.size(), 0.0);
        double total = 0.0;
        int used = 0;
        for (std::size_t i = 0; i < rails_.size(); ++i) {
            if (stripe.finish[i] >= 0) {
                const Time took = std::max<Time>(1, stripe.finish[i] - stripe.start);
                speed[i] = stripe.initial[i] / static_cast<double>(took);
                total += speed[i];
                ++used;
            }
        }
        for (std::size_t i = 0; i < rails_.size(); ++i) {
            if (stripe.finish[i] >= 0) {
                const double told = used * kTotalWeight * speed[i] / (total * stripe.rails);
                weight[i] = std::max(1, static_cast<int>(kAlpha * told + (1.0 - kAlpha) * weight[i]));
            }
        }
    }

    const Knowledge rails_; // their number only
    std::size_t turn_ = 0;
    std::map<std::uint32_t, std::vector<int>> weights_; // by peer
    std::int64_t next_stripe_ = 0;
    std::map<std::int64_t, Stripe> stripes_;
    std::vector<std::deque<InFlight::Entry>> expected_; // stripes cut and not given yet
    InFlight flight_;
};

} // namespace

void add_mvapich(std::vector<RuleMaker *> &all)
{
    static NamedMaker mvapich = maker<Mvapich>(
        "mvapich-adaptive",
        "MVAPICH2 2.3, mrail/src/gen2/ibv_rndv.c, adjust_weights; Liu, Vishnu, Panda, SC 2004");
    all.push_back(&mvapich);
}

} // namespace fsbml::sim
