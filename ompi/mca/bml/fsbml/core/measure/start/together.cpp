// Copyright (c) 2026      The FSBML developers. All rights reserved.
// SPDX-License-Identifier: BSD-3-Clause

#include "measure/start/start.hpp"

#include "model/model.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

namespace fsbml
{

namespace
{

constexpr std::size_t kRounds = 7; // to be sure
constexpr double kLoss = 0.9;      // what they carry with it, by what they carry without
constexpr double kSending = 0.7;   // from this share on, the processor decides
constexpr double kFeeds =
    0.15; // ... but not of rails that carry less alone, in bytes/ns: every processor feeds those
constexpr double kGain = 1.1;    // what several rails must carry more than one, for a process that is busy
constexpr double kAlone = 0.55;  // from this share of the time on, sending on one rail keeps it busy
constexpr double kNearly = 0.99; // what is said of the gain of others where it does not
constexpr double kAsGood = 0.7;  // by the best, alone
constexpr double kPasses = 2e6;  // ns of a bucket: half of a run, and it may be all of what passed
constexpr std::size_t kFed = 5;  // runs of each rail, and of all, for that, ...
constexpr std::size_t kSure = 7; // ... and to leave one out
constexpr std::size_t kAll = FSBML_MAX_RAILS;
constexpr std::size_t kMostSuspects = 4; // each needs runs of its own

constexpr std::uint32_t bit(std::size_t rail) noexcept
{
    return UINT32_C(1) << rail;
}

bool has(std::uint32_t rails, std::size_t rail) noexcept
{
    return 0 != (rails & bit(rail));
}

bool several(std::uint32_t rails) noexcept
{
    return 0 != (rails & (rails - 1));
}

// Bytes per ns of some rails.
double rate_of(std::uint32_t rails, const double *ns_per_byte) noexcept
{
    double rate = 0.0;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        rate += has(rails, i) ? 1.0 / ns_per_byte[i] : 0.0;
    }
    return rate;
}

} // namespace

Together::Together(const fsbml_fit_t *fits, std::uint32_t members) noexcept : members_(members)
{
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (has(members, i)) {
            alone_[i] = fits[i].params.G_ns_per_byte;
            members_ &= fits[i].valid ? ~UINT32_C(0) : ~bit(i);
        }
    }
    begin();
}

// All that are left, from the beginning.
void Together::begin() noexcept
{
    beside_.clear();
    busy_beside_.clear();
    suspect_.clear();
    next_ = several(members_) ? members_ : 0;
}

void Together::give_up() noexcept
{
    beside_.clear();
    next_ = 0;
}

// Rails without which the others, by what each carries alone, might carry more; the slowest first.
void Together::find_suspects()
{
    const double all = most();
    const double sum = rate_of(members_, alone_.data());
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (has(members_, i) && all < kLoss * (sum - 1.0 / alone_[i])) {
            suspect_.push_back(Suspect{bit(i), {}});
        }
    }
    std::stable_sort(suspect_.begin(), suspect_.end(), [&](const Suspect &a, const Suspect &b) {
        return rate_of(a.rail, alone_.data()) < rate_of(b.rail, alone_.data());
    });
    suspect_.resize(std::min(suspect_.size(), kMostSuspects));
}

void Together::report(const double *ns_per_byte, double sending, double carried)
{
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (has(next_, i) && !(ns_per_byte[i] > 0.0)) {
            give_up();
            return;
        }
    }
    if (busy_) {
        feed(sending, carried);
        return;
    }
    const double rate = rate_of(next_, ns_per_byte);
    if (next_ != members_) {
        std::find_if(suspect_.begin(), suspect_.end(), [&](const Suspect &s) {
            return next_ == (members_ & ~s.rail);
        })->rates.push_back(rate);
        judge();
        return;
    }
    busy_beside_.push_back(sending);
    beside_.emplace_back();
    std::copy_n(ns_per_byte, FSBML_MAX_RAILS, beside_.back().begin());
    if (sending > kSending && fastest() > kFeeds) {
        busy_ = true;
        feed(sending, carried);
        return;
    }
    bool shares = false;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (has(members_, i)) {
            shares = shares || least(i) > kShares * alone_[i];
        }
    }
    if (!shares) {
        next_ = 0;
    } else if (beside_.size() >= kRounds) {
        find_suspects();
        judge();
    }
}

// All, and each rail alone, in turn: the processor's speed changes from moment to moment. What a rail's own
// stream said of it does not count, since that is hardly ever steady on such rails. The second best run of
// each does: disturbances make runs longer, but the best one may be a chance.
void Together::feed(double sending, double carried)
{
    if (next_ != members_) {
        sending_.push_back(sending);
    }
    const std::uint32_t after = next_ == members_ ? members_ : members_ & ~(next_ | (next_ - 1));
    fed_[next_ == members_ ? kAll : static_cast<std::size_t>(__builtin_ctz(next_))].push_back(carried);
    if (0 != after) {
        next_ = after & -after;
    } else if (fed_[kAll].size() < kFed) {
        next_ = members_;
    } else {
        judge_processor();
    }
}

double Together::fed(std::size_t run) const
{
    return order_statistic(fed_[run], fed_[run].size() - 2);
}

void Together::judge_processor()
{
    double best = 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (has(members_, i)) {
            best = std::max(best, fed(i));
            sum += fed(i);
        }
    }
    const double all = fed(kAll);
    next_ = 0;
    processor_ = all > 0.0 ? sum / all : 0.0;
    if (all >= std::min(kGain * best, kLoss * sum)) {
        return;
    }
    if (fed_[kAll].size() < kSure) {
        next_ = members_;
        return;
    }
    feeds_one_ = median(sending_) >= kAlone;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        with_[i] = all;
        without_[i] = best;
        if (has(members_, i)) {
            (fed(i) >= kAsGood * best ? in_turn_ : left_out_) |= bit(i);
        }
    }
    members_ &= ~left_out_;
}

// Each suspect's runs, then the one whose loss is the greatest is left out, if that is so each time.
void Together::judge()
{
    for (const Suspect &s : suspect_) {
        if (s.rates.size() < kRounds) {
            next_ = members_ & ~s.rail;
            return;
        }
    }
    const double all = most();
    const Suspect *worst = nullptr;
    double most = all / kLoss;
    for (const Suspect &s : suspect_) {
        const double least = *std::min_element(s.rates.begin(), s.rates.end());
        if (least > most) {
            worst = &s;
            most = least;
        }
    }
    next_ = 0;
    if (nullptr == worst) {
        return;
    }
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (has(worst->rail, i)) {
            with_[i] = all;
            without_[i] = most;
        }
    }
    left_out_ |= worst->rail;
    members_ &= ~worst->rail;
    begin(); // the others, among themselves
}

// What the fastest rail carries alone, in bytes/ns.
double Together::fastest() const noexcept
{
    double fastest = 0.0;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        fastest = has(members_, i) ? std::max(fastest, 1.0 / alone_[i]) : fastest;
    }
    return fastest;
}

// What all have carried at once in the best round.
double Together::most() const noexcept
{
    double most = 0.0;
    for (const Rates &r : beside_) {
        most = std::max(most, rate_of(members_, r.data()));
    }
    return most;
}

// A rail's gap per byte in its best round.
double Together::least(std::size_t rail) const noexcept
{
    double least = kMaxG;
    for (const Rates &r : beside_) {
        least = std::min(least, r[rail]);
    }
    return least;
}

// The lower middle of all that was seen of a rail.
double Together::settled(std::size_t rail) const
{
    std::vector<double> seen{alone_[rail]};
    std::transform(beside_.begin(), beside_.end(), std::back_inserter(seen),
                   [&](const Rates &r) { return r[rail]; });
    const std::size_t middle = (seen.size() - 1) / 2;
    return order_statistic(std::move(seen), middle);
}

// Whether a rail that is slower beside the others is to be taken for one that is as slow as that. Not where
// the processor was busy with sending: a message alone takes no longer for it, and what bulk takes, looks
// tell (core/flow).
bool Together::scales() const
{
    return !busy_ && beside_.size() >= kRounds && median(busy_beside_) <= kSending;
}

// What differs between rails that the processor feeds in turn is what it did at that moment: all get the same
// parameters, both ways, so that both ends of a path prefer the same one.
void Together::level(fsbml_fit_t *fits) const noexcept
{
    fsbml_loggp_t all{};
    double sum = 0.0;
    double n = 0.0;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (has(in_turn_, i)) {
            const fsbml_loggp_t &back = fits[i].back;
            all = 0.0 == n ? fits[i].params : all;
            sum += fits[i].params.G_ns_per_byte + back.G_ns_per_byte;
            n += back.G_ns_per_byte > 0.0 ? 2.0 : 1.0;
        }
    }
    all.G_ns_per_byte = n > 0.0 ? sum / n : 0.0;
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        if (has(in_turn_, i)) {
            fits[i].params = all;
            fits[i].back = {};
        }
    }
}

void Together::conclude(fsbml_fit_t *fits) const
{
    level(fits);
    for (std::size_t i = 0; i < FSBML_MAX_RAILS; ++i) {
        fsbml_fit_t &fit = fits[i];
        if (has(left_out_, i)) {
            fit.valid = false;
            (void) std::snprintf(fit.reason, sizeof fit.reason,
                                 "left out: with it the rails carry %.3g MB/s together, without it %.3g (%s)",
                                 with_[i] * 1e3, without_[i] * 1e3,
                                 busy_ ? "the processor is busy with sending" : "a shared link or bus?");
        } else if (has(in_turn_, i)) {
            fit.in_turn = true;
            const double ratio = without_[i] / with_[i];
            fit.together = feeds_one_ ? std::max(ratio, 1.0) : std::min(ratio, kNearly);
            if (several(in_turn_)) {
                remark(
                    fit,
                    feeds_one_
                        ? "a process feeds it no faster with the others: each uses one"
                        : "a process feeds it no faster with the others: of several on a node, each uses one");
            }
        } else if (has(members_, i) && !several(members_) && 0 != left_out_) {
            fit.together = 1.0;
        } else if (has(members_, i) && !beside_.empty() && !fit.tight && fit.params.burst_ns < kPasses
                   && settled(i) < kAsGood * alone_[i]) {
            fit.together = 1.0;
            (void) scale_gaps(fit, settled(i) / alone_[i]); // it was disturbed alone, and less so here
        } else if (has(members_, i) && !beside_.empty()) {
            const double factor = std::max(least(i) / alone_[i], 1.0);
            const bool sure = scales() && factor > kShares;
            fit.together = sure && scale_gaps(fit, factor) ? factor : std::min(factor, kShares);
            if (processor_ > kShares) {
                remark(fit, "beside the others it is limited by the processor");
            }
        }
    }
}

} // namespace fsbml
