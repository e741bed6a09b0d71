// Copyright (c) 2026      The FSBML developers. All rights reserved.
//
// SPDX-License-Identifier: BSD-3-Clause

#include "together.hpp"

#include "loggp.hpp"
#include "stats.hpp"

#include <algorithm>
#include <cstdio>

namespace fsbml
{

namespace
{

constexpr double kStreamNs = 4e6;
constexpr double kRoundNs = 12e6;      // of all streams of a round, each by itself
constexpr double kLeastStreamNs = 1e6; // below, a scheduler's time slice is all that one sees
constexpr std::uint32_t kFewest = 3;
constexpr std::uint32_t kMost = 512;
constexpr std::uint32_t kBytes = 8192;
constexpr std::size_t kShareRounds = 5; // to be sure that rails share something
constexpr std::size_t kLossRounds = 7;  // to be sure that one harms the others
constexpr double kLoss = 0.9;           // what they carry with it, by what they carry without
constexpr double kAgree = 1.1;          // the best two times, or rates, of what is no accident
constexpr double kSteady = 1.2;         // the best rate by the usual one
constexpr double kSending = 0.25;       // from this share on, the processor decides
constexpr std::size_t kMostSuspects = 4;
constexpr std::size_t kMostRuns = 128; // a bound of the time, whatever the rails do
constexpr double kBuckets =
    4.0; // of a shaper, that a stream takes at least: what a bucket hides tells nothing
constexpr double kLongestRestNs = 6e6; // a rail with a larger bucket takes no part

constexpr std::uint32_t bit(std::size_t rail) noexcept
{
    return UINT32_C(1) << rail;
}

std::size_t count(std::uint32_t rails) noexcept
{
    std::size_t n = 0;
    for (; 0 != rails; rails &= rails - 1) {
        ++n;
    }
    return n;
}

double best(const std::vector<double> &rates) noexcept
{
    return rates.empty() ? 0.0 : *std::max_element(rates.begin(), rates.end());
}

bool steady(const std::vector<double> &rates)
{
    return best(rates) <= kSteady * median(rates);
}

// In each of the last rounds.
bool always_less(const std::vector<double> &with, const std::vector<double> &without)
{
    const std::size_t n = std::min({kLossRounds, with.size(), without.size()});
    return n > 0
           && std::equal(with.end() - static_cast<std::ptrdiff_t>(n), with.end(),
                         without.end() - static_cast<std::ptrdiff_t>(n),
                         [](double a, double b) { return a < kLoss * b; });
}

double bytes_of(const fsbml_stream_t &s) noexcept
{
    return static_cast<double>(s.packets) * s.bytes;
}

} // namespace

fsbml_stream_t stream_for(const fsbml_fit_t &fit, double ns, std::uint32_t min_bytes,
                          std::uint32_t max_bytes) noexcept
{
    const std::uint32_t most = std::min(kBytes, max_bytes);
    const double fits = ns / (kFewest * fit.params.G_ns_per_byte); // of a slow rail
    fsbml_stream_t s{};
    s.bytes = fits < most ? static_cast<std::uint32_t>(fits) : most;
    s.bytes = std::max(s.bytes, std::min(min_bytes, max_bytes));
    const double messages = ns / std::max(gap_ns(fit.params, s.bytes), 1.0);
    s.packets = static_cast<std::uint32_t>(
        std::clamp(messages, static_cast<double>(kFewest), static_cast<double>(kMost)));
    return s;
}

bool scale_gaps(fsbml_fit_t &fit, double factor) noexcept
{
    fsbml_fit_t scaled = fit;
    for (fsbml_loggp_t *p : {&scaled.params, &scaled.low, &scaled.high}) {
        p->G_ns_per_byte *= factor;
        p->G_above_ns_per_byte *= factor;
        p->g_above_ns *= factor;
    }
    if (!valid(scaled.params)) {
        return false;
    }
    fit = scaled;
    return true;
}

fsbml_fit_t fit_alone(const fsbml_fit_t &fit) noexcept
{
    fsbml_fit_t alone = fit;
    if (fit.valid && fit.together > kShares) {
        (void) scale_gaps(alone, 1.0 / fit.together);
    }
    return alone;
}

Together::Together(const fsbml_fit_t *fits, std::uint32_t members, std::uint32_t min_bytes,
                   const std::uint32_t *max_bytes)
    : members_(members)
{
    const double n = static_cast<double>(count(members));
    const double each = std::clamp(kRoundNs / (n + 1.0), kLeastStreamNs, kStreamNs);
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (0 == (members & bit(i))) {
            continue;
        }
        if (!fits[i].valid || max_bytes[i] < min_bytes || fits[i].params.burst_ns > kLongestRestNs) {
            members_ &= ~bit(i);
        }
        if (0 != (members_ & bit(i))) {
            const fsbml_loggp_t &p = fits[i].params;
            rail_[i].stream =
                stream_for(fits[i], std::max(each, kBuckets * p.burst_ns), min_bytes, max_bytes[i]);
            rail_[i].base_ns = 2.0 * (p.L_ns + p.o_s_ns + p.o_r_ns);
            rest_ns_ = std::max(rest_ns_, p.burst_ns);
        }
    }
    plan_round(0);
}

Together::Set &Together::set_of(std::uint32_t rails)
{
    const auto same =
        std::find_if(sets_.begin(), sets_.end(), [&](const Set &s) { return s.rails == rails; });
    if (sets_.end() != same) {
        return *same;
    }
    sets_.emplace_back();
    sets_.back().rails = rails;
    return sets_.back();
}

const Together::Set *Together::find(std::uint32_t rails) const noexcept
{
    const auto same =
        std::find_if(sets_.begin(), sets_.end(), [&](const Set &s) { return s.rails == rails; });
    return sets_.end() != same ? &*same : nullptr;
}

// The latency is no part of what rails do to each other; nor can it be nearly all of a stream's time.
double Together::streaming_ns(std::size_t rail, double time_ns) const noexcept
{
    return std::max(time_ns - rail_[rail].base_ns, time_ns / 4.0);
}

double Together::alone_rate(std::size_t rail) const
{
    const Set *alone = find(bit(rail));
    return nullptr != alone ? best(alone->rates) : 0.0;
}

void Together::plan_round(std::uint32_t suspects)
{
    round_.clear();
    at_ = 0;
    if (count(members_) < 2 || runs_ >= kMostRuns) {
        return;
    }
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (0 != (members_ & bit(i))) {
            round_.push_back(bit(i));
        }
    }
    round_.push_back(members_);
    for (std::size_t i = 0; i < FSBML_MAX_RAILS && count(members_) > 2; ++i) {
        if (0 != (suspects & bit(i))) {
            round_.push_back(members_ & ~bit(i));
        }
    }
}

void Together::report(const double *time_ns, double sending_ns)
{
    const std::uint32_t rails = next();
    if (0 == rails) {
        return;
    }
    Set &set = set_of(rails);
    double rate = 0.0;
    double longest = 0.0;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (0 != (rails & bit(i))) {
            const double took = streaming_ns(i, time_ns[i]);
            const double least = set.rates.empty() ? took : set.least_ns[i];
            const double second = set.rates.size() < 2 ? std::max(least, took) : set.second_ns[i];
            set.least_ns[i] = std::min(least, took);
            set.second_ns[i] = std::min(second, std::max(least, took));
            rate += bytes_of(rail_[i].stream) / took;
            longest = std::max(longest, time_ns[i]);
        }
    }
    set.rates.push_back(rate);
    set.sending = std::min(set.sending, sending_ns / longest);
    ++runs_;
    if (++at_ == round_.size()) {
        ++rounds_;
        judge_round();
    }
}

void Together::give_up() noexcept
{
    round_.clear();
    at_ = 0;
    shared_ = false;
}

// Sets the rails' factors, all in all; true if one says that rails share something.
bool Together::shares() noexcept
{
    bool any = false;
    const Set *all = find(members_);
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        const Set *alone = find(bit(i));
        if (0 != (members_ & bit(i)) && nullptr != all && nullptr != alone) {
            const double usual_ns = bytes_of(rail_[i].stream) / median(alone->rates);
            rail_[i].factor = std::max(all->least_ns[i] / alone->least_ns[i], 1.0);
            rail_[i].shares = all->least_ns[i] > kShares * usual_ns
                              && (rounds_ < kShareRounds || all->second_ns[i] <= kAgree * all->least_ns[i]);
            any = any || rail_[i].shares;
        }
    }
    return any;
}

// Rails without which all might carry more, those that give least first; few, as each needs runs of its own.
std::uint32_t Together::suspects() const
{
    const Set *all = find(members_);
    if (nullptr == all || all->sending > kSending) {
        return 0;
    }
    std::vector<std::pair<double, std::size_t>> by_rate;
    double sum = 0.0;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (0 != (members_ & bit(i))) {
            by_rate.emplace_back(alone_rate(i), i);
            sum += alone_rate(i);
        }
    }
    std::sort(by_rate.begin(), by_rate.end());
    std::uint32_t some = 0;
    for (const auto &[rate, i] : by_rate) {
        const Set *without = find(members_ & ~bit(i));
        const double at_most = nullptr != without ? best(without->rates) : sum - rate;
        if (best(all->rates) < kLoss * at_most && count(some) < kMostSuspects) {
            some |= bit(i);
        }
    }
    return some;
}

// Leaves out the rail whose loss is the greatest, if one is clear: the best with it is below what is usual
// without, and in every round.
bool Together::leave_one_out(std::uint32_t suspects)
{
    const Set &all = *find(members_);
    double most = best(all.rates) / kLoss;
    std::size_t worst = FSBML_MAX_RAILS;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        const Set *without = 0 != (suspects & bit(i)) ? find(members_ & ~bit(i)) : nullptr;
        if (nullptr == without || without->rates.size() < kLossRounds || without->sending > kSending
            || !steady(without->rates) || !always_less(all.rates, without->rates)) {
            continue;
        }
        const double usual = median(without->rates);
        if (usual > most) {
            most = usual;
            worst = i;
        }
    }
    if (FSBML_MAX_RAILS == worst || !steady(all.rates)) {
        return false;
    }
    rail_[worst].with = best(all.rates);
    rail_[worst].without = most;
    members_ &= ~bit(worst);
    left_out_ |= bit(worst);
    return true;
}

void Together::judge_round()
{
    const bool some_share = shares();
    const std::uint32_t suspected = suspects();
    if (0 != suspected && rounds_ >= kLossRounds && leave_one_out(suspected)) {
        rounds_ = 0; // the others, among themselves
        for (std::size_t i = 0; i < FSBML_MAX_RAILS && 1 == count(members_); ++i) {
            rail_[i].factor = 0 != (members_ & bit(i)) ? 1.0 : rail_[i].factor;
        }
        plan_round(0);
        return;
    }
    const bool doubt = (some_share && rounds_ < kShareRounds) || (0 != suspected && rounds_ <= kLossRounds);
    if (doubt) {
        plan_round(suspected);
    } else {
        shared_ = some_share && rounds_ >= kShareRounds;
        round_.clear();
        at_ = 0;
    }
}

void Together::conclude(fsbml_fit_t *fits) const
{
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        fsbml_fit_t &fit = fits[i];
        if (0 != (left_out_ & bit(i))) {
            fit.valid = false;
            fit.together = rail_[i].factor;
            (void) std::snprintf(fit.reason, sizeof fit.reason,
                                 "left out: with it the rails carry %.3g MB/s together, without it %.3g (a "
                                 "shared link, bus or processor?)",
                                 rail_[i].with * 1e3, rail_[i].without * 1e3);
        } else if (0 != (members_ & bit(i)) && runs_ > 0) {
            const bool scaled = shared_ && rail_[i].shares && scale_gaps(fit, rail_[i].factor);
            fit.together = scaled ? rail_[i].factor : std::min(rail_[i].factor, kShares);
        }
    }
}

} // namespace fsbml
