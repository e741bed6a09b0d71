// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "fsbml.hpp"

#include <algorithm>
#include <stdexcept>

namespace fsbml::sim
{

namespace
{

std::uint64_t nanoseconds(Time t)
{
    return static_cast<std::uint64_t>(t / kPsPerNs);
}

std::shared_ptr<fsbml_sched_t> make_scheduler(const Cluster &cluster, fsbml_policy_t policy)
{
    std::shared_ptr<fsbml_sched_t> s(fsbml_sched_create(cluster.rails.size(), policy), fsbml_sched_destroy);
    if (!s) {
        throw std::runtime_error("no scheduler");
    }
    for (std::size_t r = 0; r < cluster.rails.size(); ++r) {
        if (0 != fsbml_sched_set_model(s.get(), r, &cluster.rails[r].believed)) {
            throw std::invalid_argument("the scheduler refuses the parameters of rail " + std::to_string(r));
        }
    }
    return s;
}

class FsbmlRule final : public Rule
{
public:
    FsbmlRule(std::shared_ptr<fsbml_sched_t> scheduler, std::uint64_t eager, std::uint64_t quantum)
        : scheduler_(std::move(scheduler)), eager_(eager), quantum_(quantum)
    {
    }

    void cut(const Situation &whole, std::vector<Piece> &out) override
    {
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
        return fsbml_sched_choose(scheduler_.get(), nanoseconds(fragment.now), fragment.bytes,
                                  fragment.rails);
    }

    void given(int rail, const Situation &fragment) override
    {
        fsbml_sched_charge(scheduler_.get(), static_cast<std::size_t>(rail), nanoseconds(fragment.now),
                           fragment.bytes);
    }

private:
    std::shared_ptr<fsbml_sched_t> scheduler_;
    std::uint64_t eager_, quantum_;
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
    std::shared_ptr<fsbml_sched_t> scheduler;
    if (cluster.ledger) {
        scheduler = of_node_[rank % cluster.nodes].lock();
    }
    if (!scheduler) {
        scheduler = make_scheduler(cluster, options_.policy);
    }
    if (cluster.ledger) {
        of_node_[rank % cluster.nodes] = scheduler;
    }
    std::uint64_t quantum = options_.quantum;
    if (0 == quantum) {
        std::vector<fsbml_loggp_t> believed;
        for (const RailSpec &rail : cluster.rails) {
            believed.push_back(rail.believed);
        }
        quantum =
            fsbml_quantum(believed.data(), believed.size(), options_.loss, options_.least, options_.most);
    }
    return std::make_unique<FsbmlRule>(std::move(scheduler), options_.eager, quantum);
}

} // namespace fsbml::sim
