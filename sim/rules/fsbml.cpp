// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "rules.hpp"

#include "api/fsbml_flow.h"

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace fsbml::sim
{

// A scheduler, and what a NIC has sent of all ranks' bytes.
struct FsbmlNode {
    std::unique_ptr<fsbml_sched_t, void (*)(fsbml_sched_t *)> scheduler{nullptr, fsbml_sched_destroy};
    std::vector<std::uint64_t> sent;
};

namespace
{

std::uint64_t nanoseconds(Time t)
{
    return static_cast<std::uint64_t>(t / kPsPerNs);
}

std::shared_ptr<FsbmlNode> make_node(const Cluster &cluster, fsbml_policy_t policy)
{
    auto node = std::make_shared<FsbmlNode>();
    node->scheduler.reset(fsbml_sched_create(cluster.rails.size(), policy));
    node->sent.assign(cluster.rails.size(), 0);
    if (!node->scheduler) {
        throw std::runtime_error("no scheduler");
    }
    for (std::size_t r = 0; r < cluster.rails.size(); ++r) {
        if (0 != fsbml_sched_set_model(node->scheduler.get(), r, &cluster.rails[r].believed)) {
            throw std::invalid_argument("the scheduler refuses the parameters of rail " + std::to_string(r));
        }
        fsbml_sched_doubt(node->scheduler.get(), r,
                          cluster.rails[r].guessed ? FSBML_DOUBT_ALL : FSBML_DOUBT_NONE);
    }
    return node;
}

// A process' feedback (core/flow/flow.hpp), and its transport, which has delivered what its NIC has sent:
// rails are judged, not receivers. A process looks all the time, also while it computes. What it is given is
// never refused: a rule has to choose at once.
class Transport
{
public:
    Transport(const Cluster &cluster, FsbmlNode &node, std::uint64_t quantum, bool alone)
        : cluster_(cluster), node_(node), feedback_(nullptr, fsbml_feedback_destroy),
          rails_(cluster.rails.size())
    {
        const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << rails_.size()) - 1);
        const fsbml_feedback_config_t config{node.scheduler.get(), all, alone, false, 0};
        feedback_.reset(fsbml_feedback_create(&config));
        if (!feedback_) {
            throw std::runtime_error("no feedback");
        }
        for (std::size_t r = 0; r < rails_.size(); ++r) {
            rails_[r].round_trip = static_cast<std::uint64_t>(2 * cluster.rails[r].real.L_ns);
            fsbml_feedback_quantum(feedback_.get(), r, quantum);
        }
    }

    int rail(int best, const Situation &fragment)
    {
        look_until(nanoseconds(fragment.now));
        if (fragment.bytes <= FSBML_FLOW_BULK) {
            return best;
        }
        fsbml_bulk_t piece{
            nullptr,        fragment.bytes,           fragment.bytes, static_cast<std::uint32_t>(best),
            fragment.rails, fragment.bytes <= kTrial, false};
        return fsbml_feedback_rail(feedback_.get(), nanoseconds(fragment.now), false, &piece);
    }

    void given(std::size_t rail, std::uint64_t bytes, std::uint64_t now)
    {
        rails_[rail].pass(now);
        rails_[rail].since = rails_[rail].fragments.empty() ? now : rails_[rail].since;
        rails_[rail].queued += bytes;
        rails_[rail].fragments.push_back(bytes);
    }

    void sent(std::size_t rail, std::uint64_t bytes, std::uint64_t now)
    {
        look_until(now);
        rails_[rail].pass(now);
        rails_[rail].queued -= bytes;
        rails_[rail].fresh += bytes - rails_[rail].part;
        rails_[rail].part = 0;
        rails_[rail].since = now;
        rails_[rail].fragments.pop_front();
        node_.sent[rail] += bytes;
    }

private:
    static constexpr std::uint64_t kLookNs = 1'000'000;
    static constexpr std::uint64_t kTrial = 16384; // larger pieces would have to be cut for a trial
    struct Rail {
        std::uint64_t queued = 0, fresh = 0; // bytes; sent since the look before
        std::deque<std::uint64_t> fragments; // that the NIC has not sent, the one that it is at first
        std::uint64_t since = 0, part = 0;   // it began; bytes of it that were told
        std::uint64_t round_trip = 0;        // ns
        std::uint64_t busy = 0, until = 0;   // ns since the look before; told until then

        void pass(std::uint64_t now)
        {
            busy += queued > 0 ? now - until : 0;
            until = now;
        }
    };

    // The looks since the last one; while nothing is queued they would tell nothing.
    void look_until(std::uint64_t now)
    {
        const bool any =
            std::any_of(rails_.begin(), rails_.end(), [](const Rail &r) { return r.queued > 0; });
        for (next_ = any ? next_ : now; next_ <= now; next_ += kLookNs) {
            look(next_);
        }
    }

    void look(std::uint64_t now)
    {
        if (!fsbml_feedback_begin(feedback_.get(), now)) {
            return;
        }
        for (std::size_t r = 0; r < rails_.size(); ++r) {
            if (fsbml_feedback_asks(feedback_.get(), r, now)) {
                fsbml_flow_seen_t seen{};
                seen.n = 1;
                rails_[r].pass(now);
                seen.look.busy_ns = rails_[r].busy;
                const std::uint64_t part = std::max(rails_[r].part, part_of(r, now));
                seen.look.bytes = rails_[r].fresh + part - rails_[r].part;
                seen.queued = rails_[r].queued - part;
                seen.in_flight = seen.queued;
                rails_[r].part = part;
                seen.round_trip_ns = rails_[r].round_trip;
                seen.payload = 1.0;
                seen.all_known = true;
                seen.counted = 1 + node_.sent[r];
                rails_[r].fresh = rails_[r].busy = 0;
                fsbml_feedback_seen(feedback_.get(), r, now, &seen);
            }
        }
        fsbml_feedback_end(feedback_.get(), 0);
    }

    // What the NIC has sent of the fragment that it is at, as TCP would tell; where others use it as well,
    // that is not known.
    std::uint64_t part_of(std::size_t rail, std::uint64_t now) const
    {
        const Rail &r = rails_[rail];
        double gap = cluster_.rails[rail].real.G_ns_per_byte;
        for (const Change &c : cluster_.rails[rail].changes) {
            gap = nanoseconds(c.at) <= r.since ? c.factor * cluster_.rails[rail].real.G_ns_per_byte : gap;
        }
        if (cluster_.ledger || r.fragments.empty() || !(gap > 0.0)) {
            return 0;
        }
        return std::min(r.fragments.front(),
                        static_cast<std::uint64_t>(static_cast<double>(now - r.since) / gap));
    }

    const Cluster &cluster_;
    FsbmlNode &node_;
    std::unique_ptr<fsbml_feedback_t, void (*)(fsbml_feedback_t *)> feedback_;
    std::vector<Rail> rails_;
    std::uint64_t next_ = 0; // look
};

class FsbmlRule final : public Rule
{
public:
    FsbmlRule(std::shared_ptr<FsbmlNode> node, std::unique_ptr<Transport> transport, std::uint64_t quantum,
              const FsbmlOptions &options)
        : node_(std::move(node)), transport_(std::move(transport)), eager_(options.eager), quantum_(quantum),
          pieces_(options.pieces)
    {
    }

    void cut(const Situation &whole, std::vector<Piece> &out) override
    {
        if (pieces_ && whole.bytes <= eager_ && into_pieces(whole, out)) {
            return;
        }
        const std::uint64_t most = whole.bytes <= eager_ ? whole.bytes : quantum_;
        std::uint64_t left = whole.bytes;
        do {
            const std::uint64_t bytes = std::min(left, most);
            out.push_back(Piece{bytes, -1});
            left -= bytes;
        } while (left > 0);
    }

    int choose(const Situation &fragment) override
    {
        const int best = fsbml_sched_choose_part(node_->scheduler.get(), nanoseconds(fragment.now),
                                                 fragment.bytes, fragment.whole, fragment.rails, nullptr);
        return transport_ && best >= 0 ? transport_->rail(best, fragment) : best;
    }

    void given(int rail, const Situation &fragment) override
    {
        fsbml_sched_charge(node_->scheduler.get(), static_cast<std::size_t>(rail), nanoseconds(fragment.now),
                           fragment.bytes);
        if (transport_) {
            transport_->given(static_cast<std::size_t>(rail), fragment.bytes, nanoseconds(fragment.now));
        }
    }

    void sent(int rail, const Situation &fragment, Time when) override
    {
        if (transport_) {
            transport_->sent(static_cast<std::size_t>(rail), fragment.bytes, nanoseconds(when));
        }
    }

private:
    bool into_pieces(const Situation &whole, std::vector<Piece> &out) const
    {
        std::size_t share[FSBML_MAX_RAILS];
        if (0
            == fsbml_sched_cut(node_->scheduler.get(), nanoseconds(whole.now), whole.bytes, whole.rails,
                               nullptr, share)) {
            return false;
        }
        for (std::uint32_t left = whole.rails; 0 != left; left &= left - 1) {
            const int rail = __builtin_ctz(left);
            if (0 != share[rail]) {
                out.push_back(Piece{share[rail], rail});
            }
        }
        return true;
    }

    std::shared_ptr<FsbmlNode> node_;
    std::unique_ptr<Transport> transport_; // null: there is no feedback
    std::uint64_t eager_, quantum_;
    bool pieces_;
};

} // namespace

FsbmlRules::FsbmlRules(const FsbmlOptions &options) : options_(options), name_("fsbml")
{
    if (FSBML_POLICY_ARRIVAL != options.policy) {
        name_ += std::string("-") + fsbml_policy_name(options.policy);
    }
}

std::unique_ptr<Rule> FsbmlRules::make(const Cluster &cluster, std::uint32_t rank, std::uint64_t /*seed*/)
{
    std::shared_ptr<FsbmlNode> node;
    if (cluster.ledger) {
        node = of_node_[rank % cluster.nodes].lock();
    }
    if (!node) {
        node = make_node(cluster, options_.policy);
    }
    if (cluster.ledger) {
        of_node_[rank % cluster.nodes] = node;
    }
    std::uint64_t quantum = options_.quantum;
    if (0 == quantum) {
        std::vector<fsbml_loggp_t> believed;
        for (const RailSpec &rail : cluster.rails) {
            believed.push_back(rail.believed);
        }
        quantum = fsbml_quantum(believed.data(), believed.size(), FSBML_QUANTUM_LOSS, FSBML_QUANTUM_LEAST,
                                options_.most);
    }
    auto transport =
        options_.feedback ? std::make_unique<Transport>(cluster, *node, quantum, !cluster.ledger) : nullptr;
    return std::make_unique<FsbmlRule>(std::move(node), std::move(transport), quantum, options_);
}

} // namespace fsbml::sim
