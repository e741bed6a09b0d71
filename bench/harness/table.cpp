// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026      The FSBML developers. All rights reserved.
#include "harness.hpp"

#include "tools/arms/arms.hpp"
#include "tools/text/text.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace fsbml::bench
{
namespace
{

using Row = std::vector<std::string>;

std::string number(double value)
{
    const int digits = value < 10 ? 2 : value < 10000 ? 1 : 0;
    return fmt::format("{:.{}f}", value, digits);
}

std::string cell(const std::optional<Figure> &figure)
{
    if (!figure) {
        return "-";
    }
    const double percent = std::min(figure->spread * 100, 9999.0);
    return fmt::format("{} ±{:4.{}f}%", number(figure->median), percent, percent < 99.95 ? 1 : 0);
}

std::string cell(const std::optional<Ratio> &ratio)
{
    return ratio ? fmt::format("{:.2f}", ratio->median) : "-";
}

// A share near 1 takes one more digit, and says how sure it is.
std::string share_cell(const std::optional<Ratio> &share)
{
    return share ? fmt::format("{:.3f} ±{:.3f}", share->median, share->spread) : "-";
}

// The column that compares FSBML with other settings to FSBML: what is not FSBML in the arm's name.
std::string heading_of(const Arm &arm)
{
    std::string name = arm.name.substr(arm.name.find(':') + 1);
    const std::string prefix = "bml_fsbml_";
    name.erase(0, name.compare(0, prefix.size(), prefix) == 0 ? prefix.size() : 0);
    return name + "/fsbml";
}

// The columns that name a place: those that tell places apart.
class Labels
{
public:
    explicit Labels(const std::vector<Place> &places)
    {
        std::set<std::string> operations, variants, units;
        std::set<int> messages;
        std::set<std::size_t> sizes;
        for (const Place &place : places) {
            operations.insert(place.operation);
            variants.insert(place.variant);
            units.insert(place.unit);
            messages.insert(place.messages);
            sizes.insert(place.bytes);
        }
        // An exchange is named by its numbers.
        const bool exchange = operations.count("exchange") != 0;
        operation_ = operations.size() > 1 || (!exchange && messages.size() == 1 && sizes.size() == 1);
        variant_ = variants.size() > 1 || (variants.size() == 1 && !variants.begin()->empty());
        messages_ = exchange || messages.size() > 1 || (messages.size() == 1 && *messages.begin() != 1);
        bytes_ = sizes.size() > 1 || (sizes.size() == 1 && *sizes.begin() != 0);
        unit_ = units.size() > 1;
    }

    Row heading() const { return choose({"operation", "variant", "messages", "bytes", "unit"}); }
    Row of(const Place &place) const
    {
        return choose({place.operation, place.variant, std::to_string(place.messages),
                       std::to_string(place.bytes), place.unit});
    }
    std::size_t left() const { return (operation_ ? 1u : 0u) + (variant_ ? 1u : 0u); }

private:
    Row choose(const Row &all) const
    {
        const bool wanted[] = {operation_, variant_, messages_, bytes_, unit_};
        Row row;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (wanted[i]) {
                row.push_back(all[i]);
            }
        }
        return row;
    }

    bool operation_, variant_, messages_, bytes_, unit_;
};

// What belongs together, with empty lines in between: exchanges of so many messages, an operation and what is
// said of it
// ("sort", "sort-communication").
std::string group_of(const Place &place)
{
    return place.operation == "exchange" ? std::to_string(place.messages)
                                         : place.operation.substr(0, place.operation.find('-'));
}

// Of fewer rounds every verdict would be that it is unclear.
bool enough_rounds(const Results &results, const std::vector<Place> &places)
{
    return std::any_of(places.begin(), places.end(), [&](const Place &place) {
        return results.launches("fsbml", place).size() >= static_cast<std::size_t>(least_rounds);
    });
}

std::string share(const Traffic &traffic, const std::string &interface, const std::vector<std::string> &among)
{
    double all = 0;
    for (const std::string &name : among) {
        const auto found = traffic.find(name);
        all += found == traffic.end() ? 0 : static_cast<double>(found->second);
    }
    const auto own = traffic.find(interface);
    return all == 0 ? "-"
                    : fmt::format("{:.1f} %",
                                  own == traffic.end() ? 0 : 100 * static_cast<double>(own->second) / all);
}

} // namespace

bool only_bandwidths(const std::vector<Place> &places)
{
    return std::all_of(places.begin(), places.end(), [](const Place &place) { return place.unit == "MB/s"; });
}

std::string results_table(const Results &results, const std::vector<Arm> &arms)
{
    const std::vector<Place> places = results.places();
    const Labels labels(places);
    const std::vector<std::string> rails = names_of(arms, Role::rail);
    const bool ours = !names_of(arms, Role::fsbml).empty();
    const bool r2 = !names_of(arms, Role::r2).empty();
    Row heading = labels.heading();
    // Rails alone first, FSBML last, whatever the order of launches is.
    std::vector<Arm> columns = arms;
    std::stable_sort(columns.begin(), columns.end(), [](const Arm &a, const Arm &b) {
        const auto rank = [](const Arm &arm) {
            return arm.role == Role::rail     ? 0
                   : arm.role == Role::peer   ? 1
                   : arm.role == Role::r2     ? 2
                   : arm.role == Role::policy ? 3
                                              : 4;
        };
        return std::make_pair(rank(a), a.role == Role::rail ? a.name : "")
               < std::make_pair(rank(b), b.role == Role::rail ? b.name : "");
    });
    for (const Arm &arm : columns) {
        heading.push_back(arm.role == Role::rail ? arm.name + " alone" : arm.name);
    }
    if (ours && !rails.empty()) {
        heading.push_back("fsbml/best");
    }
    if (ours && r2) {
        heading.push_back(rails.empty() ? "fsbml/r2" : "r2/fsbml");
    }
    for (const Arm &arm : columns) {
        if (ours && arm.role == Role::policy) {
            heading.push_back(heading_of(arm));
        }
    }
    const bool bandwidth = only_bandwidths(places);
    const bool ideal = ours && every_rail(arms).size() > 1;
    if (ideal) {
        heading.push_back(bandwidth ? "fsbml/sum" : "fsbml/ideal");
    }
    const bool judged = ours && (!rails.empty() || r2) && enough_rounds(results, places);
    if (judged) {
        heading.push_back("verdict");
    }
    std::vector<Row> rows = {heading};
    std::optional<Place> last;
    for (const Place &place : places) {
        if (last && group_of(*last) != group_of(place)) {
            rows.push_back({});
        }
        last = place;
        Row row = labels.of(place);
        for (const Arm &arm : columns) {
            row.push_back(cell(results.at(arm.name, place)));
        }
        std::optional<Ratio> compared;
        if (ours && !rails.empty()) {
            compared = ratio_to_best(results, "fsbml", rails, place);
            row.push_back(cell(compared));
        }
        if (ours && r2) {
            const std::optional<Ratio> other =
                rails.empty() ? ratio(results, "fsbml", "r2", place) : ratio(results, "r2", "fsbml", place);
            row.push_back(cell(other));
            compared = rails.empty() ? other : compared;
        }
        for (const Arm &arm : columns) {
            if (ours && arm.role == Role::policy) {
                row.push_back(cell(ratio(results, arm.name, "fsbml", place)));
            }
        }
        if (ideal) {
            row.push_back(bandwidth ? share_cell(share_of_sum(results, "fsbml", rails, place))
                                    : cell(ratio_to_ideal(results, "fsbml", rails, place)));
        }
        if (judged) {
            row.push_back(compared ? word_of(verdict(*compared)) : "-");
        }
        rows.push_back(row);
    }
    return aligned(rows, labels.left());
}

std::string layers_table(const Results &upper, const Results &below, const std::vector<Arm> &arms)
{
    std::vector<Place> places = upper.places();
    places.erase(std::remove_if(places.begin(), places.end(),
                                [&](const Place &place) {
                                    return std::none_of(arms.begin(), arms.end(), [&](const Arm &arm) {
                                        return share_of_below(upper, below, arm.name, place).has_value();
                                    });
                                }),
                 places.end());
    if (places.empty()) {
        return "";
    }
    const Labels labels(places);
    std::vector<Row> rows = {labels.heading()};
    for (const Arm &arm : arms) {
        rows[0].push_back(arm.name);
    }
    for (const Place &place : places) {
        Row row = labels.of(place);
        for (const Arm &arm : arms) {
            const std::optional<double> share = share_of_below(upper, below, arm.name, place);
            row.push_back(share ? fmt::format("{:.0f} %", *share * 100) : "-");
        }
        rows.push_back(row);
    }
    return aligned(rows, labels.left());
}

std::vector<std::string> used_interfaces(const Results &results)
{
    Traffic sum;
    for (const Place &place : results.places()) {
        for (const std::string &arm : results.arms()) {
            for (const auto &[name, bytes] : results.traffic(arm, place)) {
                sum[name] += name == "lo" ? 0 : bytes;
            }
        }
    }
    double all = 0;
    for (const auto &entry : sum) {
        all += static_cast<double>(entry.second);
    }
    std::vector<std::string> used;
    for (const auto &[name, bytes] : sum) {
        if (static_cast<double>(bytes) > all / 100) {
            used.push_back(name);
        }
    }
    return used;
}

std::string traffic_table(const Results &results, const std::vector<Arm> &arms)
{
    const std::vector<std::string> interfaces = used_interfaces(results);
    std::vector<Place> places = results.places();
    if (interfaces.size() < 2 || places.empty()) {
        return "";
    }
    int most = 0;
    for (const Place &place : places) {
        most = std::max(most, place.messages);
    }
    places.erase(std::remove_if(places.begin(), places.end(),
                                [&](const Place &place) {
                                    return place.operation == "exchange" && place.messages != most;
                                }),
                 places.end());
    const Labels labels(places);
    Row heading = labels.heading();
    std::vector<std::string> shown;
    for (const Arm &arm : arms) {
        if (arm.role != Role::rail) {
            shown.push_back(arm.name);
            for (const std::string &interface : interfaces) {
                heading.push_back(arm.name + ": " + interface);
            }
        }
    }
    std::vector<Row> rows = {heading};
    for (const Place &place : places) {
        Row row = labels.of(place);
        for (const std::string &arm : shown) {
            for (const std::string &interface : interfaces) {
                row.push_back(share(results.traffic(arm, place), interface, interfaces));
            }
        }
        rows.push_back(row);
    }
    return shown.empty() ? "" : aligned(rows, labels.left());
}

} // namespace fsbml::bench
