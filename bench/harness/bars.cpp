// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "harness.hpp"

#include "tools/arms/arms.hpp"

#include <cmath>
#include <functional>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

using Choice = std::function<bool(const Place &)>;

class Judge
{
public:
    Judge(const Results &results, std::vector<std::string> rails)
        : results_(results), rails_(std::move(rails))
    {
    }

    // fsbml's time by that of the best of `against` is at most `limit` at every chosen place; no such place:
    // not met.
    void at_most(const std::string &bar, const std::vector<std::string> &against, double limit,
                 const Choice &chosen)
    {
        ratio_bar(bar, limit, true, chosen,
                  [&](const Place &place) { return ratio_to_best(results_, "fsbml", against, place); });
    }

    void r2_at_least(const std::string &bar, double limit, const Choice &chosen)
    {
        ratio_bar(bar, limit, false, chosen,
                  [&](const Place &place) { return ratio(results_, "r2", "fsbml", place); });
    }

    void init_at_most(const std::string &bar, double limit)
    {
        std::optional<double> ours = results_.init_seconds("fsbml");
        std::optional<double> theirs = results_.init_seconds("r2");
        bool known = ours && theirs;
        double added = known ? *ours - *theirs : 0;
        bars_.push_back(
            {bar, known && added <= limit, known ? fmt::format("{:.3f} s", added) : "not measured"});
    }

    // The long run of a rail is its largest messages, many of them, in the best launch: a busy machine slows
    // a launch down, but the link is what it is.
    void calibration(const std::string &bar, double limit, const std::vector<MeasuredRail> &measured)
    {
        const Place longest{"exchange", "", 32, 65536, "us"};
        bool met = true;
        std::string figures;
        for (const std::string &rail : rails_) {
            std::optional<Figure> figure = results_.at(rail, longest);
            const MeasuredRail *found = nullptr;
            for (const MeasuredRail &candidate : measured) {
                found = candidate.name == rail ? &candidate : found;
            }
            figures += (figures.empty() ? "" : ", ") + rail + " ";
            if (!figure || found == nullptr) {
                met = false;
                figures += "not measured";
                continue;
            }
            double expected = figure->least * 1000 / static_cast<double>(longest.bytes);
            double error = found->ns_per_byte / expected - 1;
            met = met && std::fabs(error) <= limit;
            figures += fmt::format("{:.2f} ns/B ({:+.1f} %)", found->ns_per_byte, error * 100);
        }
        bars_.push_back({bar, met && !rails_.empty(), figures});
    }

    std::vector<Bar> bars() && { return std::move(bars_); }

private:
    using RatioAt = std::function<std::optional<Ratio>(const Place &)>;

    // The worst chosen place decides, and is named.
    void ratio_bar(const std::string &bar, double limit, bool upper, const Choice &chosen,
                   const RatioAt &ratio_at)
    {
        std::optional<Ratio> worst;
        Place where;
        int places = 0;
        int missed = 0;
        int noise = 0;
        for (const Place &place : results_.places()) {
            std::optional<Ratio> value = chosen(place) ? ratio_at(place) : std::nullopt;
            if (!value) {
                continue;
            }
            ++places;
            const bool miss = upper ? value->median > limit : value->median < limit;
            missed += miss ? 1 : 0;
            // The interval of fewer rounds is not worth that name.
            noise +=
                miss && value->rounds >= least_rounds && value->low <= limit && limit <= value->high ? 1 : 0;
            if (!worst || (upper ? value->median > worst->median : value->median < worst->median)) {
                worst = value;
                where = place;
            }
        }
        std::string figures = "not measured";
        if (worst) {
            figures = fmt::format("worst {:.3f} ± {:.3f} ({})", worst->median, worst->spread, name_of(where));
            if (missed > 0) {
                figures += fmt::format(", missed at {} of {}", missed, places);
                figures += noise > 0 ? fmt::format(", within the noise at {}", noise) : "";
            }
        }
        bars_.push_back({bar, worst && missed == 0, figures, missed > 0 && missed == noise});
    }

    const Results &results_;
    std::vector<std::string> rails_;
    std::vector<Bar> bars_;
};

void judge_onetoone(Judge &judge, const std::vector<std::string> &rails,
                    const std::vector<MeasuredRail> &measured)
{
    auto middle = [](const Place &p) { return p.messages == 32 && (p.bytes == 4096 || p.bytes == 16384); };
    judge.at_most("N=32, 4 and 16 KiB: fsbml <= 0.95 x best rail", rails, 0.95, middle);
    judge.r2_at_least("N=32, 4 and 16 KiB: r2 >= 10 x fsbml", 10, middle);
    judge.at_most("N=32, 64 KiB: fsbml <= 0.94 x best rail", rails, 0.94,
                  [](const Place &p) { return p.messages == 32 && p.bytes == 65536; });
    judge.at_most("N=1..32, 16 B to 1 KiB: fsbml <= 1.03 x best rail", rails, 1.03,
                  [](const Place &p) { return p.bytes <= 1024; });
    judge.calibration("G within 5 % of 1/(long-run throughput)", 0.05, measured);
    judge.init_at_most("MPI_Init takes <= 0.5 s longer than with r2", 0.5);
}

} // namespace

std::vector<Bar> judge(const std::string &experiment, const Results &results,
                       const std::vector<std::string> &rails, const std::vector<MeasuredRail> &measured)
{
    Judge judge(results, rails);
    if (experiment == "onetoone") {
        judge_onetoone(judge, rails, measured);
    } else if (experiment == "equal") {
        judge.at_most("N>=8, 4 to 64 KiB: fsbml <= 0.53 x one rail", rails, 0.53,
                      [](const Place &p) { return p.messages >= 8 && p.bytes >= 4096; });
    } else if (experiment == "single") {
        judge.at_most("everywhere: fsbml <= 1.02 x r2", {"r2"}, 1.02, [](const Place &) { return true; });
    } else if (experiment == "collectives") {
        for (const char *operation : {"barrier", "allreduce", "alltoall"}) {
            judge.at_most(std::string(operation) + ": fsbml <= 1.10 x fast rail alone", rails, 1.10,
                          [&](const Place &p) { return p.operation == operation; });
        }
    }
    return std::move(judge).bars();
}

} // namespace fsbml::bench
