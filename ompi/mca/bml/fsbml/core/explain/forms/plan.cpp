// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "explain/forms/forms.hpp"

#include "schedule/schedule.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

namespace fsbml
{

namespace
{

constexpr std::size_t kSizes[] = {64, 4096, 65536, 1 << 20};
constexpr std::uint64_t kNow = 1;

// Where a message went, and when it was all there.
struct Fate {
    std::vector<std::size_t> bytes; // by rail
    std::uint64_t arrival_ns = 0;
    bool in_fragments = false;
};

class Idle
{
public:
    explicit Idle(const fsbml_plan_t &plan)
        : plan_(plan), all_(static_cast<std::uint32_t>((std::uint64_t{1} << plan.n_rails) - 1)),
          rails_(std::make_unique<Scheduler>(plan.n_rails, plan.policy))
    {
        for (std::size_t i = 0; i < plan.n_rails; ++i) {
            static_cast<void>(rails_->set_model(i, plan.model[i]));
        }
    }

    Fate send(std::size_t bytes)
    {
        Fate fate{std::vector<std::size_t>(plan_.n_rails), 0, bytes > plan_.eager};
        if (fate.in_fragments) {
            fragments(fate, bytes);
            return fate;
        }
        std::size_t share[FSBML_MAX_RAILS] = {};
        if (!plan_.pieces || 0 == rails_->cut(kNow, bytes, all_, nullptr, share)) {
            std::fill(std::begin(share), std::end(share), std::size_t{0});
            share[best(bytes)] = bytes;
        }
        for (std::size_t i = 0; i < plan_.n_rails; ++i) {
            give(fate, i, share[i], 0);
        }
        return fate;
    }

private:
    std::size_t best(std::size_t bytes) const
    {
        return static_cast<std::size_t>(std::max(0, rails_->choose(kNow, bytes, all_)));
    }

    void give(Fate &fate, std::size_t rail, std::size_t bytes, std::uint64_t later_ns)
    {
        if (bytes > 0) {
            fate.bytes[rail] += bytes;
            fate.arrival_ns = std::max(fate.arrival_ns, later_ns + rails_->predict(rail, kNow, bytes));
            rails_->charge(rail, kNow, bytes);
        }
    }

    // The first one asks the receiver, whose answer the others await (ob1's rendezvous).
    void fragments(Fate &fate, std::size_t bytes)
    {
        const std::size_t size = std::max<std::size_t>(plan_.quantum, 1), first = best(size);
        give(fate, first, std::min(size, bytes), 0);
        rails_ = Idle(plan_).rails_; // by the answer its rail is idle again
        const std::uint64_t answered = fate.arrival_ns + rails_->predict(best(1), kNow, 1);
        for (std::size_t left = bytes - std::min(size, bytes); left > 0;) {
            const std::size_t some = std::min(size, left);
            give(fate, best(some), some, answered);
            left -= some;
        }
    }

    const fsbml_plan_t &plan_;
    const std::uint32_t all_;
    std::unique_ptr<Scheduler> rails_;
};

std::string size_column(std::size_t bytes)
{
    const char *const unit = bytes < 1024 ? "B" : bytes < (1 << 20) ? "KiB" : "MiB";
    const std::size_t n = bytes < 1024 ? bytes : bytes < (1 << 20) ? bytes >> 10 : bytes >> 20;
    char text[32];
    std::snprintf(text, sizeof text, "%4zu %-3s", n, unit);
    return text;
}

std::string time_column(std::uint64_t ns)
{
    char text[32];
    const auto us = static_cast<double>(ns) * 1e-3;
    std::snprintf(text, sizeof text, us < 10e3 ? "%8.1f us" : "%8.1f ms", us < 10e3 ? us : us * 1e-3);
    return text;
}

} // namespace

std::string plan_text(const fsbml_plan_t &plan)
{
    std::string text = "a message between two hosts, while nothing else is sent, by these parameters:\n";
    for (const std::size_t bytes : kSizes) {
        const Fate fate = Idle(plan).send(bytes);
        const std::size_t sum = std::accumulate(fate.bytes.begin(), fate.bytes.end(), std::size_t{0});
        std::string rails;
        for (std::size_t i = 0; i < plan.n_rails; ++i) {
            if (fate.bytes[i] == 0) {
                continue;
            }
            rails += (rails.empty() ? "" : ", ") + std::string(plan.name[i]);
            if (fate.bytes[i] < sum) {
                rails += " " + std::to_string((100 * fate.bytes[i] + sum / 2) / sum) + " %";
            }
        }
        text += "  " + size_column(bytes) + "  " + time_column(fate.arrival_ns) + "  " + rails;
        text += fate.in_fragments ? ", in fragments of " + std::to_string(plan.quantum) + " bytes\n" : "\n";
    }
    return text;
}

} // namespace fsbml
