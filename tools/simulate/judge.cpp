// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "simulate.hpp"

#include "tools/text/text.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

double divided(sim::Time a, sim::Time b)
{
    if (b == 0) {
        return a == 0 ? 1.0 : std::numeric_limits<double>::infinity();
    }
    return static_cast<double>(a) / static_cast<double>(b);
}

class Judge
{
public:
    Judge(const Proof &proof, const std::vector<Trial> &runs) : proof_(proof), runs_(runs) {}

    // Over all runs of all classes: the limits of the median and of the 99th percentile.
    void bound(bool wrong, double median, double p99)
    {
        const std::optional<Spread> all = spread_of(runs_, settled(proof_, wrong), by_bound());
        if (!all) {
            return;
        }
        const auto [value, traffic, missed, classes] =
            worst_class(wrong, by_bound(), &Spread::median, median);
        add(fmt::format("{}: makespan / bound <= {:.2f} in the median", parameters(wrong), median),
            all->median <= median,
            fmt::format("{:.4f} of {} runs; of a class at worst {:.3f} ({}), above in {} of {}", all->median,
                        all->runs, value, traffic, missed, classes));
        add(fmt::format("{}: makespan / bound <= {:.2f} in 99 of 100", parameters(wrong), p99),
            all->p99 <= p99,
            fmt::format("{:.4f}, at worst {:.3f} ({})", all->p99, all->worst, name_of(proof_, *all->where)));
    }

    // In each class: the limit of what of the ratios' spread decides.
    void classes(const std::string &text, bool wrong, const RatioOf &ratio, double Spread::*what,
                 double limit)
    {
        const auto [value, traffic, missed, classes] = worst_class(wrong, ratio, what, limit);
        if (classes == 0) {
            return;
        }
        std::string figures = fmt::format("worst {:.4f} ({})", value, traffic);
        figures += missed > 0 ? fmt::format(", missed in {} of {}", missed, classes) : "";
        add(fmt::format("{}: {}", parameters(wrong), text), missed == 0, figures);
    }

    // In each run.
    void everywhere(const std::string &text, bool wrong, const RatioOf &ratio, double limit)
    {
        const Choice chosen = settled(proof_, wrong);
        const std::optional<Spread> all = spread_of(runs_, chosen, ratio);
        if (!all) {
            return;
        }
        std::size_t missed = 0;
        for (const Trial &run : runs_) {
            missed += chosen(run) && !(ratio(run) <= limit) ? 1 : 0;
        }
        std::string figures = fmt::format("worst {:.4f} ({})", all->worst, name_of(proof_, *all->where));
        figures += missed > 0 ? fmt::format(", missed in {} of {}", missed, all->runs) : "";
        add(fmt::format("{}: {}", parameters(wrong), text), missed == 0, figures);
    }

    // Of each set of rails that FSBML has to learn of.
    void learned(double median)
    {
        for (std::size_t i = 0; i < proof_.sets.size(); ++i) {
            const std::optional<Spread> all =
                proof_.sets[i].learned ? spread_of(runs_, of_set(i, false), by_best_rail) : std::nullopt;
            if (all) {
                add(fmt::format("{}: <= {:.2f} x best rail of the moment in the median{}",
                                proof_.sets[i].name, median,
                                proof_.sets[i].from_start ? ", once it has learned" : ""),
                    all->median <= median,
                    fmt::format("{:.4f} of {} runs, at worst {:.3f} ({})", all->median, all->runs, all->worst,
                                name_of(proof_, *all->where)));
            }
        }
    }

    std::vector<Bar> bars() && { return std::move(bars_); }

private:
    struct Worst {
        double value = 0;
        std::string traffic;
        std::size_t missed = 0, classes = 0;
    };

    Worst worst_class(bool wrong, const RatioOf &ratio, double Spread::*what, double limit) const
    {
        Worst worst;
        for (std::size_t i = 0; i < proof_.traffic.size(); ++i) {
            const std::optional<Spread> spread = spread_of(runs_, of_class(proof_, i, wrong), ratio);
            if (!spread) {
                continue;
            }
            const double value = (*spread).*what;
            if (worst.classes == 0 || value > worst.value) {
                worst.value = value;
                worst.traffic = proof_.traffic[i]->name;
            }
            ++worst.classes;
            worst.missed += value <= limit ? 0 : 1;
        }
        return worst;
    }

    std::string parameters(bool wrong) const
    {
        return wrong ? fmt::format("wrong by {:.0f} %", proof_.wrong * 100) : "true";
    }

    void add(const std::string &text, bool met, const std::string &figures)
    {
        Bar bar;
        bar.text = text;
        bar.met = met;
        bar.figures = figures;
        bars_.push_back(bar);
    }

    const Proof &proof_;
    const std::vector<Trial> &runs_;
    std::vector<Bar> bars_;
};

} // namespace

std::optional<Spread> spread_of(const std::vector<Trial> &runs, const Choice &chosen, const RatioOf &ratio)
{
    Spread spread;
    std::vector<double> ratios;
    double logarithms = 0;
    for (const Trial &run : runs) {
        if (!chosen(run)) {
            continue;
        }
        const double value = ratio(run);
        ratios.push_back(value);
        logarithms += std::log(value);
        if (spread.where == nullptr || value > spread.worst) {
            spread.worst = value;
            spread.where = &run;
        }
    }
    if (ratios.empty()) {
        return std::nullopt;
    }
    spread.runs = ratios.size();
    spread.geometric_mean = std::exp(logarithms / static_cast<double>(ratios.size()));
    spread.median = median(ratios);
    spread.p99 = quantile(ratios, 0.99);
    return spread;
}

RatioOf by_bound(std::size_t rule)
{
    return [rule](const Trial &run) { return divided(run.makespan[rule], run.bound); };
}

RatioOf by_rule(std::size_t rule)
{
    return [rule](const Trial &run) { return divided(run.makespan[0], run.makespan[rule]); };
}

double by_best_rail(const Trial &run)
{
    return divided(run.makespan[0], run.best_single);
}

std::string name_of(const Proof &proof, const Trial &run)
{
    return fmt::format("{} on {}, seed {}", proof.traffic[run.traffic]->name, proof.sets[run.set].name,
                       run.seed);
}

Choice of_class(const Proof &proof, std::size_t traffic, bool wrong)
{
    return [&proof, traffic, wrong](const Trial &run) {
        return run.traffic == traffic && run.wrong == wrong && !proof.sets[run.set].trouble;
    };
}

Choice of_set(std::size_t set, bool wrong)
{
    return [set, wrong](const Trial &run) { return run.set == set && run.wrong == wrong; };
}

Choice settled(const Proof &proof, bool wrong)
{
    return [&proof, wrong](const Trial &run) { return run.wrong == wrong && !proof.sets[run.set].trouble; };
}

std::vector<Bar> judge(const Proof &proof, const std::vector<Trial> &runs)
{
    Judge judge(proof, runs);
    judge.bound(false, 1.02, 1.08);
    // The bars are for parameters that are wrong by as much as the project promises.
    if (std::abs(proof.wrong - 0.2) < 1e-9) {
        judge.bound(true, 1.06, 1.20);
    }
    judge.classes("<= 1.00 x best rail in the median of each class", false, by_best_rail, &Spread::median,
                  1.00);
    judge.everywhere("<= 1.03 x best rail in each run", false, by_best_rail, 1.03);
    judge.learned(1.10);
    for (const bool wrong : {false, true}) {
        for (std::size_t rule = 1; rule < proof.rules.size(); ++rule) {
            judge.classes(fmt::format("<= 1.01 x {} in each class", proof.rules[rule]), wrong, by_rule(rule),
                          &Spread::geometric_mean, 1.01);
        }
    }
    return std::move(judge).bars();
}

} // namespace fsbml::bench
