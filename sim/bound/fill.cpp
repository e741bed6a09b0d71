// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "bound.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <string>

namespace fsbml::sim::bound
{

namespace
{

constexpr Ps kNever = std::numeric_limits<Ps>::infinity();
constexpr std::size_t kBlends =
    12; // that the program tells apart; what it proposes is held against all kinds

struct UsedRail {
    std::size_t rail = 0;
    Ps least = kNever;  // T if anything takes it at all
    Ps offset = kNever; // what T is beyond the sum of its gaps
};

// Kinds of like size as one, of the mean.
struct Blend {
    std::uint32_t rails = 0;
    double count = 0;
    std::vector<Ps> gap, out, in; // of all of them
};

struct Prices {
    std::vector<double> rail; // in the order of the used rails
    double out = 0, in = 0;
};

class Program
{
public:
    Program(const Costs &costs, const std::vector<Part> &parts, const Common &common);
    Ps solve() const;

private:
    void blend();
    Prices propose(std::size_t prefix) const;
    Ps prove(const Prices &w, std::size_t prefix) const;

    const Costs &costs_;
    const std::vector<Part> &parts_;
    const Common common_;
    std::vector<UsedRail> rails_; // by `least`
    Ps out_offset_ = kNever, in_offset_ = kNever;
    std::vector<Blend> blends_;
};

Program::Program(const Costs &costs, const std::vector<Part> &parts, const Common &common)
    : costs_(costs), parts_(parts), common_(common)
{
    for (std::size_t r = 0; r < costs.rails(); ++r) {
        Ps out = kNever, in = kNever, gap = kNever;
        for (const Part &p : parts) {
            const Kind &k = costs[p.kind];
            if ((k.rails >> r & 1U) != 0) {
                out = std::min(out, k.first_out[r]);
                in = std::min(in, k.first_in[r]);
                gap = std::min(gap, k.first_gap[r]);
            }
        }
        if (std::isfinite(out)) {
            const RailCosts &c = costs.rail(r);
            const Ps after_first = c.latency + std::max(0.0, gap - c.gap1 - c.burst);
            const Ps way = common.both_ways ? 0 : c.latency;
            rails_.push_back({r, out + after_first + in, out + way + in - c.gap1 - c.burst});
            out_offset_ = std::min(out_offset_, after_first + in);
            in_offset_ = std::min(in_offset_, out + after_first);
        }
    }
    std::sort(rails_.begin(), rails_.end(),
              [](const UsedRail &a, const UsedRail &b) { return a.least < b.least; });
    blend();
}

void Program::blend()
{
    std::vector<const Part *> order;
    double total = 0;
    const auto weight = [this](const Part &p) {
        const Kind &k = costs_[p.kind];
        return p.count * (static_cast<double>(k.bytes) + 64.0);
    };
    for (const Part &p : parts_) {
        order.push_back(&p);
        total += weight(p);
    }
    std::sort(order.begin(), order.end(), [this](const Part *a, const Part *b) {
        const Kind &x = costs_[a->kind], &y = costs_[b->kind];
        return x.rails != y.rails ? x.rails < y.rails : x.bytes < y.bytes;
    });
    const bool all = order.size() <= kBlends;
    double filled = kNever;
    for (const Part *p : order) {
        const Kind &k = costs_[p->kind];
        if (all || filled >= total / kBlends || blends_.back().rails != k.rails) {
            filled = 0;
            blends_.push_back({k.rails, 0, std::vector<Ps>(costs_.rails()), std::vector<Ps>(costs_.rails()),
                               std::vector<Ps>(costs_.rails())});
        }
        filled += weight(*p);
        Blend &b = blends_.back();
        b.count += p->count;
        for (const UsedRail &u : rails_) {
            b.gap[u.rail] += p->count * k.gap[u.rail];
            b.out[u.rail] += p->count * k.out[u.rail];
            b.in[u.rail] += p->count * k.in[u.rail];
        }
    }
}

// The program with the first rails alone and T no less than theirs; its unknowns are shares of the blends,
// and last T beyond that.
Prices Program::propose(std::size_t prefix) const
{
    struct Share {
        std::size_t blend, rail;
    };
    std::vector<Share> shares;
    double scale = 1.0;
    for (std::size_t i = 0; i < blends_.size(); ++i) {
        for (std::size_t j = 0; j < prefix; ++j) {
            if ((blends_[i].rails >> rails_[j].rail & 1U) != 0) {
                shares.push_back({i, j});
                scale = std::max(scale, blends_[i].gap[rails_[j].rail]);
            }
        }
    }
    const std::size_t processors = prefix, classes = prefix + 2;
    Simplex program(classes + blends_.size(), shares.size() + 1);
    for (std::size_t v = 0; v < shares.size(); ++v) {
        const auto [i, j] = shares[v];
        const Blend &b = blends_[i];
        const std::size_t r = rails_[j].rail;
        program.a(j, v) = b.gap[r] / scale;
        program.a(processors, v) = common_.sender ? b.out[r] / scale : 0.0;
        program.a(processors + 1, v) = common_.receiver ? b.in[r] / scale : 0.0;
        program.a(classes + i, v) = -1.0;
        // A little for what none is, so that pivots do not go round in circles.
        program.c(v) = 1e-8 * (b.gap[r] + b.out[r] + b.in[r]) / scale / static_cast<double>(shares.size());
    }
    const Ps floor = rails_[prefix - 1].least;
    const std::size_t T = shares.size();
    program.c(T) = 1.0;
    for (std::size_t j = 0; j < prefix; ++j) {
        program.a(j, T) = -1.0;
        program.b(j) = (floor - rails_[j].offset) / scale;
    }
    program.a(processors, T) = program.a(processors + 1, T) = -1.0;
    program.b(processors) = (floor - out_offset_) / scale;
    program.b(processors + 1) = (floor - in_offset_) / scale;
    for (std::size_t i = 0; i < blends_.size(); ++i) {
        program.b(classes + i) = -1.0;
    }
    const std::vector<double> y = program.prices();
    Prices w;
    w.rail.assign(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(prefix));
    w.out = common_.sender ? y[processors] : 0.0;
    w.in = common_.receiver ? y[processors + 1] : 0.0;
    return w;
}

// The least T that these prices allow; it may be the first at which a rail beyond the prefix is of use.
Ps Program::prove(const Prices &w, std::size_t prefix) const
{
    const Ps next = prefix < rails_.size() ? rails_[prefix].least : kNever;
    double demand = 0;
    for (const Part &p : parts_) {
        const Kind &k = costs_[p.kind];
        double least = kNever;
        for (std::size_t j = 0; j < prefix; ++j) {
            const std::size_t r = rails_[j].rail;
            if ((k.rails >> r & 1U) != 0) {
                least = std::min(least, w.rail[j] * k.gap[r] + w.out * k.out[r] + w.in * k.in[r]);
            }
        }
        demand += p.count * least;
    }
    if (!std::isfinite(demand)) {
        return next;
    }
    double sum = w.out + w.in;
    double offsets = w.out * out_offset_ + w.in * in_offset_;
    for (std::size_t j = 0; j < prefix; ++j) {
        sum += w.rail[j];
        offsets += w.rail[j] * rails_[j].offset;
        const Ps until = j + 1 < rails_.size() ? rails_[j + 1].least : kNever;
        const Ps T = sum > 0 ? std::max(rails_[j].least, (demand + offsets) / sum) : rails_[j].least;
        if (T <= until || j + 1 == prefix) {
            return std::min(T, next);
        }
    }
    return next;
}

Ps Program::solve() const
{
    Ps best = rails_.front().least;
    for (std::size_t prefix = rails_.size(); prefix > 0; --prefix) {
        const Ps T = prove(propose(prefix), prefix);
        best = std::max(best, T);
        if (T > rails_[prefix - 1].least) {
            break; // with fewer rails it is no sooner
        }
    }
    return best;
}

} // namespace

// The j-th on a rail is there once that has been busy for j gaps: count these times from the least one on.
Ps Fill::alike(const Part &part) const
{
    const Kind &k = costs_[part.kind];
    using Next = std::pair<Ps, std::size_t>;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    std::vector<double> taken(costs_.rails(), 0);
    const auto then = [&](std::size_t r) {
        const RailCosts &c = costs_.rail(r);
        const Ps gaps = (taken[r] + 1) * k.gap[r] - c.gap1 - c.burst;
        return k.out[r] + c.latency + std::max(0.0, gaps) + k.in[r];
    };
    for (std::size_t r = 0; r < costs_.rails(); ++r) {
        if ((k.rails >> r & 1U) != 0) {
            next.push({then(r), r});
        }
    }
    for (double left = part.count; left > 1; --left) {
        const std::size_t r = next.top().second;
        next.pop();
        ++taken[r];
        next.push({then(r), r});
    }
    return next.top().first;
}

Ps Fill::time(const std::vector<Part> &parts, const Common &common) const
{
    if (parts.empty()) {
        return 0;
    }
    if (parts.size() == 1 && parts.front().count == 1 && !costs_[parts.front().kind].cut) {
        return alike(parts.front());
    }
    Ps T = Program(costs_, parts, common).solve();
    for (const Part &p : parts) {
        T = std::max(T, costs_[p.kind].idle);
    }
    const bool countable = parts.size() == 1 && !costs_[parts.front().kind].cut && !common.both_ways;
    return countable ? std::max(T, alike(parts.front())) : T;
}

Ps Fill::cached(const std::vector<Part> &parts, const Common &common)
{
    std::string key(1, static_cast<char>((common.sender ? 1 : 0) + (common.receiver ? 2 : 0)
                                         + (common.both_ways ? 4 : 0)));
    for (const Part &p : parts) {
        key.append(reinterpret_cast<const char *>(&p.kind), sizeof p.kind);
        key.append(reinterpret_cast<const char *>(&p.count), sizeof p.count);
    }
    const auto [at, fresh] = known_.try_emplace(std::move(key), 0.0);
    if (fresh) {
        at->second = time(parts, common);
    }
    return at->second;
}

const std::vector<Part> &Tally::parts()
{
    std::sort(seen_.begin(), seen_.end());
    parts_.clear();
    for (const std::uint32_t k : seen_) {
        parts_.push_back({k, static_cast<double>(count_[k])});
    }
    return parts_;
}

void Tally::clear()
{
    for (const std::uint32_t k : seen_) {
        count_[k] = 0;
    }
    seen_.clear();
    messages_ = 0;
}

} // namespace fsbml::sim::bound
