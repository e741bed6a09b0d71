// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "simulate.hpp"

#include "tools/text/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

using Row = std::vector<std::string>;

std::string number(double value)
{
    return fmt::format("{:.{}f}", value, value < 10 ? 3 : 1);
}

// A table of FSBML's ratios, with true and with wrong parameters, by what the runs are of.
class Ratios
{
public:
    Ratios(const Proof &proof, const std::vector<Trial> &runs, const std::string &first, RatioOf ratio)
        : proof_(proof), runs_(runs), ratio_(std::move(ratio))
    {
        rows_.push_back({first, "worst with true parameters", "runs", "median", "p99", "worst"});
        if (proof.wrong > 0) {
            const std::string off = fmt::format("±{:.0f} %: ", proof.wrong * 100);
            rows_[0].insert(rows_[0].end(), {off + "median", "p99", "worst"});
        }
    }

    void row(const std::string &name, const std::function<Choice(bool wrong)> &chosen)
    {
        const std::optional<Spread> right = spread_of(runs_, chosen(false), ratio_);
        if (!right) {
            return;
        }
        Row row{name, name_of(proof_, *right->where), std::to_string(right->runs)};
        add(row, *right);
        if (const std::optional<Spread> wrong = spread_of(runs_, chosen(true), ratio_)) {
            add(row, *wrong);
        }
        rows_.push_back(row);
    }

    void classes()
    {
        for (std::size_t i = 0; i < proof_.traffic.size(); ++i) {
            row(proof_.traffic[i]->name, [&](bool wrong) { return of_class(proof_, i, wrong); });
        }
        row("all", [&](bool wrong) { return settled(proof_, wrong); });
    }

    void sets(bool trouble)
    {
        for (std::size_t i = 0; i < proof_.sets.size(); ++i) {
            if (proof_.sets[i].trouble == trouble) {
                row(proof_.sets[i].name, [&](bool wrong) { return of_set(i, wrong); });
            }
        }
    }

    std::string text(const std::string &heading) const
    {
        return rows_.size() < 2 ? "" : fmt::format("\n{}:\n{}", heading, aligned(rows_, 2));
    }

private:
    static void add(Row &row, const Spread &spread)
    {
        row.insert(row.end(), {number(spread.median), number(spread.p99), number(spread.worst)});
    }

    const Proof &proof_;
    const std::vector<Trial> &runs_;
    RatioOf ratio_;
    std::vector<Row> rows_;
};

std::string rules_table(const Proof &proof, const std::vector<Trial> &runs)
{
    std::vector<Row> rows{{"rule", "median", "p99", "worst"}};
    const std::string off = fmt::format("±{:.0f} %: ", proof.wrong * 100);
    if (proof.wrong > 0) {
        rows[0].insert(rows[0].end(), {off + "median", "p99", "worst"});
    }
    for (std::size_t rule = 0; rule < proof.rules.size(); ++rule) {
        Row row{proof.rules[rule]};
        for (const bool wrong : {false, true}) {
            if (const auto spread = spread_of(runs, settled(proof, wrong), by_bound(rule))) {
                row.insert(row.end(), {number(spread->median), number(spread->p99), number(spread->worst)});
            }
        }
        rows.push_back(row);
    }
    return fmt::format("\nMakespan by bound, each rule over all classes:\n{}", aligned(rows, 1));
}

// How much of what is left to the bound a better choice of rails could have.
std::string search_table(const Proof &proof, const std::vector<Trial> &runs)
{
    const RatioOf found_by_bound = [](const Trial &run) {
        return 0 == run.bound ? 1.0 : static_cast<double>(*run.found) / static_cast<double>(run.bound);
    };
    const RatioOf by_found = [](const Trial &run) {
        return 0 == *run.found ? 1.0 : static_cast<double>(run.makespan[0]) / static_cast<double>(*run.found);
    };
    std::vector<Row> rows{{"traffic", "worst by found", "runs", "by bound: median", "found: median", "worst",
                           "by found: median", "p99", "worst"}};
    const auto add = [&](const std::string &name, const Choice &chosen) {
        const Choice also = [&](const Trial &run) { return run.found && chosen(run); };
        const auto own = spread_of(runs, also, by_bound()), found = spread_of(runs, also, found_by_bound),
                   lost = spread_of(runs, also, by_found);
        if (own && found && lost) {
            rows.push_back({name, name_of(proof, *lost->where), std::to_string(own->runs),
                            number(own->median), number(found->median), number(found->worst),
                            number(lost->median), number(lost->p99), number(lost->worst)});
        }
    };
    for (std::size_t i = 0; i < proof.traffic.size(); ++i) {
        add(proof.traffic[i]->name, of_class(proof, i, false));
    }
    add("all", settled(proof, false));
    return rows.size() < 2 ? ""
                           : fmt::format("\nFSBML's makespan, and the least that {} steps of a search found "
                                         "which begins there, keeps the cuts and knows all beforehand:\n{}",
                                         proof.search, aligned(rows, 2));
}

// Class by rival. Names of rivals are too long for columns: these have the numbers of the table below.
std::string matrix(const Proof &proof, const std::vector<Trial> &runs, bool wrong)
{
    std::vector<Row> rows{{"traffic"}};
    for (std::size_t rule = 1; rule < proof.rules.size(); ++rule) {
        rows[0].push_back(fmt::format("({})", rule));
    }
    for (std::size_t i = 0; i < proof.traffic.size(); ++i) {
        Row row{proof.traffic[i]->name};
        for (std::size_t rule = 1; rule < proof.rules.size(); ++rule) {
            const auto spread = spread_of(runs, of_class(proof, i, wrong), by_rule(rule));
            row.push_back(spread ? fmt::format("{:.2f}{}", spread->geometric_mean,
                                               spread->geometric_mean > 1.01 ? "!" : " ")
                                 : "-");
        }
        rows.push_back(row);
    }
    return aligned(rows, 1);
}

std::string rivals_table(const Proof &proof, const std::vector<Trial> &runs, bool wrong)
{
    std::vector<Row> rows{{"rival", "worst class", "worst run", "mean", "median", "class", "run"}};
    for (std::size_t rule = 1; rule < proof.rules.size(); ++rule) {
        const auto all = spread_of(runs, settled(proof, wrong), by_rule(rule));
        if (!all) {
            return "";
        }
        std::string where;
        double worst = 0;
        for (std::size_t i = 0; i < proof.traffic.size(); ++i) {
            const auto spread = spread_of(runs, of_class(proof, i, wrong), by_rule(rule));
            if (where.empty() || spread->geometric_mean > worst) {
                where = proof.traffic[i]->name;
                worst = spread->geometric_mean;
            }
        }
        rows.push_back({fmt::format("({}) {}", rule, proof.rules[rule]), where, name_of(proof, *all->where),
                        number(all->geometric_mean), number(all->median), number(worst), number(all->worst)});
    }
    return aligned(rows, 3);
}

std::string troubles_table(const Proof &proof, const std::vector<Trial> &runs)
{
    std::vector<Row> rows{{"rails", "best rival", "worst against any", "mean", "median", "worst"}};
    for (std::size_t set = 0; set < proof.sets.size(); ++set) {
        if (!proof.sets[set].trouble) {
            continue;
        }
        std::size_t best = 0, worst = 0;
        std::optional<Spread> least, most;
        for (std::size_t rule = 1; rule < proof.rules.size(); ++rule) {
            const auto spread = spread_of(runs, of_set(set, false), by_rule(rule));
            if (!least || spread->geometric_mean > least->geometric_mean) {
                least = spread;
                best = rule;
            }
            if (!most || spread->worst > most->worst) {
                most = spread;
                worst = rule;
            }
        }
        if (best > 0) {
            rows.push_back({proof.sets[set].name, proof.rules[best],
                            fmt::format("{}: {}", proof.rules[worst], name_of(proof, *most->where)),
                            number(least->geometric_mean), number(least->median), number(most->worst)});
        }
    }
    return rows.size() < 2
               ? ""
               : fmt::format("\nRails in trouble, FSBML's makespan by that of the rival that is best on them "
                             "(geometric mean, median), and the worst run against any:\n{}",
                             aligned(rows, 3));
}

} // namespace

std::string setting_text(const Proof &proof)
{
    std::string text =
        fmt::format("{} ranks, {} on each node{}; {} seeds from {}\n", proof.ranks, proof.ranks_per_node,
                    proof.ranks_per_node == 1 ? ""
                    : proof.ledger            ? ", which share a ledger"
                                              : ", without a ledger",
                    proof.seeds, proof.first_seed);
    text += "Bound: no rule is faster, however it cuts messages\n";
    if (proof.wrong > 0) {
        text += fmt::format(
            "Wrong parameters: L, o, g and G of each rail off by up to {:.0f} %, each by itself\n",
            proof.wrong * 100);
    }
    text += "\nRails:\n";
    std::vector<Row> rows;
    for (const RailSet &set : proof.sets) {
        rows.push_back({"  " + set.name, set.what});
    }
    return text + aligned(rows, 2);
}

std::string tables_text(const Proof &proof, const std::vector<Trial> &runs)
{
    std::string text;
    Ratios classes(proof, runs, "traffic", by_bound()), sets(proof, runs, "rails", by_bound());
    classes.classes();
    sets.sets(false);
    text += classes.text("FSBML's makespan by bound, by traffic") + sets.text("The same by rails");
    if (std::any_of(runs.begin(), runs.end(), settled(proof, false))) {
        text += rules_table(proof, runs);
    }
    text += search_table(proof, runs);
    Ratios singles(proof, runs, "traffic", by_best_rail), on_sets(proof, runs, "rails", by_best_rail);
    singles.classes();
    on_sets.sets(false);
    text += singles.text("FSBML's makespan by that of the best rail alone, by traffic");
    text += on_sets.text("The same by rails");
    for (const bool wrong : {false, true}) {
        const std::string table = proof.rules.size() > 1 ? rivals_table(proof, runs, wrong) : "";
        if (table.empty()) {
            continue;
        }
        text += fmt::format("\nFSBML's makespan by that of each rival, with {} parameters (mean and class: "
                            "geometric means):\n{}\nThe geometric mean of each class, ! above 1.01:\n{}",
                            wrong ? "wrong" : "true", table, matrix(proof, runs, wrong));
    }
    Ratios trouble(proof, runs, "rails", by_bound()), against(proof, runs, "rails", by_best_rail);
    trouble.sets(true);
    against.sets(true);
    text += trouble.text("Rails in trouble (no bar is about them), FSBML's makespan by bound");
    text += against.text("Rails in trouble, FSBML's makespan by that of the best rail alone");
    return text + troubles_table(proof, runs);
}

std::string bars_text(const std::vector<Bar> &bars)
{
    std::string text;
    for (const Bar &bar : bars) {
        text += fmt::format("  {:<7} {:<64} {}\n", bar.outcome(), bar.text, bar.figures);
    }
    return text.empty() ? "" : "\nBars:\n" + text;
}

} // namespace fsbml::bench
